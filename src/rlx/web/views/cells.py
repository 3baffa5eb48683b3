"""One cell of a table as HTML: short, folded where it is long, what is withheld drawn as such."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rlx.answers.shown import MARK
from rlx.texts import say, words
from rlx.web import inert
from rlx.web.views.base import Asked

SHORT = 140
"""Characters of a cell that are shown at once."""
LONG = 6000
"""Characters that unfold; the text view has the rest."""
_BUDGET = 400_000
"""Characters that unfold on one page."""
_LINES = 3


@dataclass(frozen=True, slots=True)
class Cell:
    html: Markup
    more: Markup | None = None
    """The long form, when `html` is its beginning."""
    kind: str = "text"
    """text, json (written as a machine writes it), none (null or absent)."""


class Cells:
    """Draws the cells of one page, within what one page may hold."""

    ABSENT: Final = object()

    class Number(str):
        """A number of a text table, as it is written there."""

        __slots__ = ()

    def __init__(self, asked: Asked) -> None:
        lock = Markup('<svg class="i" aria-hidden="true"><use href="{}"/></svg>').format(asked.links.icon("lock"))
        word = words(say("web.is_withheld"), asked.language)
        self._held = Markup('<i class="held">{}{}</i>').format(lock, word)
        self._left = _BUDGET

    def draw(self, value: object) -> Cell:
        if value is self.ABSENT or value is None:
            return Cell(Markup() if value is self.ABSENT else Markup("null"), kind="none")
        is_text = isinstance(value, str)
        kind = "text" if is_text else "json"
        text = str(value) if is_text else json.dumps(value, ensure_ascii=False)
        short = _beginning(text)
        if short == text:
            return Cell(self.html(text), kind=kind)
        if isinstance(value, Mapping | list):
            text = json.dumps(value, ensure_ascii=False, indent=2)
        long = text[: max(0, min(LONG, self._left))]
        self._left -= len(long)
        if len(long) <= len(short):
            return Cell(self.html(f"{short}…"), kind=kind)
        return Cell(self.html(f"{short}…"), self.html(long if len(long) == len(text) else f"{long}…"), kind)

    def html(self, text: str) -> Markup:
        """`text` with nothing in it that could act, and a mark where an answer stood."""
        return self._held.join(inert.mark(part) for part in text.replace("\r\n", "\n").split(MARK))


def _beginning(text: str) -> str:
    """`text` when it is short, else its first words, on one line."""
    if len(text) <= SHORT and text.count("\n") < _LINES:
        return text
    short = " ".join(text[: 4 * SHORT].split())[:SHORT]
    cut = short.rfind("‹")
    return short if cut < 0 or MARK in short[cut:] else short[:cut]
