"""Which macro of `blocks.html` draws which block."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from jinja2 import Environment
from markupsafe import Markup

from rlx.ids import EnvKey
from rlx.model import Block

MACROS = {
    "kv": "kv",
    "shares": "shares",
    "stats": "stats",
    "markdown": "markdown",
    "prompt": "prompt",
    "code": "code",
    "note": "note",
    "value": "value",
    "messages": "messages",
    "transcript": "transcript",
    "tools": "tools",
    "steps": "steps",
    "links": "linked",
    "disclose": "disclose",
    "files": "tree",
    "custom": "custom",
}


@dataclass(frozen=True, slots=True)
class Spot:
    """Where on which page a block stands: for its links, and for ids no other block has."""

    key: EnvKey
    ref: str | None
    id: str
    rendered: bool = False
    """Prompts are shown as rendered Markdown."""

    def within(self, number: int) -> "Spot":
        return Spot(self.key, self.ref, f"{self.id}-{number}", self.rendered)


class Blocks:
    """Draws blocks in one language."""

    def __init__(self, environment: Environment, variables: dict[str, object]) -> None:
        self._module = environment.get_template("blocks.html").make_module({**variables, "blocks": self})

    def draw(self, block: Block, spot: Spot) -> Markup:
        """HTML of `block`. Raises `LookupError` for a type without a macro."""
        macro = MACROS.get(block.type)
        if macro is None:
            raise LookupError(f"No HTML macro for the block type {block.type!r}.")
        return Markup(getattr(self._module, macro)(block, spot))  # noqa: S704 - macros escape what they print


def known_blocks() -> Iterator[str]:
    """Every block type of the contract."""
    for kind in get_args(Block.__value__):
        yield kind.__dataclass_fields__["type"].default
