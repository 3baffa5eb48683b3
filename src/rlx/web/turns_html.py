"""What the pages of conversations need beyond their words: texts in two parts, what is withheld marked, gists."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rlx.answers.shown import MARK
from rlx.model import Tool
from rlx.twins.turns import arguments, count, folded, grouped, signature
from rlx.web import inert
from rlx.web.views.media import FILMS, PICTURES, SOUNDS

LINES: Final = 60
"""Lines of a text from which it is folded after two thirds."""
CHARACTERS: Final = 6000
_GIST: Final = 160
_BRIEF: Final = 300


@dataclass(frozen=True, slots=True)
class Playable:
    """Kinds of media that a browser shows."""

    pictures: frozenset[str] = PICTURES
    sounds: frozenset[str] = SOUNDS
    films: frozenset[str] = FILMS


GLOBALS: Final[Mapping[str, object]] = {
    "grouped": grouped,
    "folded": folded,
    "turn_count": count,
    "arguments": arguments,
    "signature": signature,
    "speakers": frozenset({"user", "assistant", "system", "developer", "tool"}),
    "playable": Playable(),
}


def said_parts(text: str, held: Markup, lines: int = LINES) -> tuple[Markup, Markup, int]:
    """The beginning of a text, the rest when it is long, and how many lines the rest has; `held` stands for answers."""
    text = text.replace("\r\n", "\n").rstrip("\n")
    at = _fold(text, lines)
    rest = text[at:].removeprefix("\n")
    return _shown(text[:at], held), _shown(rest, held), rest.count("\n") + 1 if rest else 0


def gist(text: str) -> str:
    """How a text begins, in one line."""
    words = " ".join(text[: 4 * _GIST].split())
    return words if len(words) <= _GIST else f"{words[:_GIST].rstrip()}…"


def tool_brief(tool: Tool) -> tuple[str, bool]:
    """What a description says first, and whether that is all of it."""
    whole = (tool.description or "").strip()
    brief = whole.partition("\n\n")[0]
    if len(brief) > _BRIEF:
        brief = f"{brief[:_BRIEF].rsplit(' ', 1)[0]}…"
    return brief, brief == whole


def _fold(text: str, lines: int) -> int:
    """Where a long text is folded: at the end of a line, or within one that is long itself."""
    if len(text) <= CHARACTERS and text.count("\n") < lines:
        return len(text)
    head = text[: CHARACTERS * 2 // 3]
    kept = head.split("\n")[: lines * 2 // 3]
    at = len("\n".join(kept))
    return at - len(kept[-1]) - 1 if at == len(head) < len(text) and len(kept) > 1 else at


def _shown(text: str, held: Markup) -> Markup:
    marked = inert.mark(text)
    if MARK not in text:
        return marked
    return held.join(Markup(part) for part in marked.split(MARK))  # noqa: S704 - parts of what `mark` escaped
