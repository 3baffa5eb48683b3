"""Words that tell a row apart: without those that many rows begin with, of a program what it says it does."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

_SHARED: Final = 40
"""Characters from which a beginning is a preamble."""
_ROWS: Final = 3
"""Rows that share it."""
_KEPT: Final = 12
_LOOKED: Final = 20_000
_PROGRAM: Final = re.compile(r"\s*(?:from \w|import \w|def \w|class \w|@\w|#!/)")
_SAYS: Final = re.compile(r"(?:\"{3}|'{3})\s*(.{3,2000}?)\s*(?:\"{3}|'{3}|>>>|$)", re.DOTALL)


def preambles(texts: Sequence[str]) -> tuple[str, ...]:
    """Beginnings that at least three of `texts` share, the longest first, each cut at the end of a line or sentence."""
    known = sorted({text[:_LOOKED] for text in texts})
    found: dict[str, None] = {}
    for first, last in zip(known, known[_ROWS - 1 :], strict=False):
        shared = _whole(_common(first, last))
        if len(shared) >= _SHARED:
            found[shared] = None
    return tuple(sorted(found, key=len, reverse=True)[:_KEPT])


def own_words(text: str, shared: Sequence[str]) -> str:
    """`text` without the longest preamble that leaves something to read."""
    for beginning in shared:
        rest = text[len(beginning) :].strip()
        if text.startswith(beginning) and sum(char.isalnum() for char in rest[:200]) >= _ROWS:
            return rest
    return text


def said(text: str) -> str:
    """Of a program, such as a function to complete, what its last docstring says; any other text as it is."""
    if not _PROGRAM.match(text):
        return text
    at = text.rfind("def ", 0, _LOOKED)
    found = _SAYS.search(text, max(at, 0), _LOOKED)
    return found[1] if found else text


def _common(first: str, last: str) -> str:
    """What both begin with."""
    return first[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))]


def _whole(text: str) -> str:
    """Cut where a line, a sentence or a clause ends, so that what is left begins with a word of its own."""
    for end in ("\n", ". ", "? ", ": "):
        at = text.rfind(end)
        if at + len(end) >= _SHARED:
            return text[: at + len(end)]
    return ""
