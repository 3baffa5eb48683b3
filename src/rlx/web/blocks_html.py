"""Which macro of `blocks.html` draws which block."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import get_args

from jinja2 import Environment
from markupsafe import Markup

from rlx.ids import EnvKey
from rlx.model import Block, Code

_ODD = re.compile(r"[^\w./+-]")

MACROS = {
    "kv": "kv",
    "shares": "shares",
    "stats": "stats",
    "settings": "settings",
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


SHOWN_LINES = 600
"""Lines of a block of code that a page shows; the rest is one link away."""
UNFOLDED = 100
"""Lines up to which a block of code is shown at once; of a longer one the first `HEAD`."""
HEAD = 40
PAGE_LINES = 3_000
"""Lines of code that one page shows in all."""


@dataclass(slots=True)
class Anchors:
    """What code of which file one page shows: its id, its first and its last line. Filled while the page is drawn."""

    shown: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    left: int = PAGE_LINES
    """Lines of code that the page may still show."""

    def claim(self, path: str, first: int, last: int) -> str | None:
        """An id that says the file's name; None when an earlier block has it."""
        id = _ODD.sub("_", path)
        if id in self.taken:
            return None
        self.taken.add(id)
        self.shown[path] = (id, first, last)
        return id

    def line(self, path: str, number: int) -> str | None:
        """The id of a line of `path`, where it is on the page."""
        id, first, last = self.shown.get(path, ("", 1, 0))
        return f"{id}-L{number}" if first <= number <= last else None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where on which page a block stands: for its links, and for ids no other block has."""

    key: EnvKey
    ref: str | None
    id: str
    rendered: bool = False
    """Prompts are shown as rendered Markdown."""
    anchors: Anchors | None = None

    def within(self, part: int | str) -> "Spot":
        return replace(self, id=f"{self.id}.{part}")

    def code_span(self, total: int) -> tuple[int, int]:
        """How many lines of a block of code are shown at once, and how many with what is folded."""
        head, last = (total, total) if total <= UNFOLDED else (HEAD, min(total, SHOWN_LINES))
        if self.anchors is not None:
            last = min(last, self.anchors.left)
            self.anchors.left -= last
        return min(head, last), last

    def code_id(self, block: Code, shown: int) -> str:
        """What the ids of a block's lines begin with: the file's name when nothing else on the page has it."""
        if self.anchors is None or block.path is None or block.first_line > 1:
            return self.id
        return self.anchors.claim(block.path, 1, shown) or self.id


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
