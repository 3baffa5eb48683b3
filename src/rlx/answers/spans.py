"""Masking of stretches of a text so that its lines keep their numbers."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rlx.answers.shown import MARK, Masked, Withheld, show
from rlx.texts import Say

type Span = tuple[int, int]
"""Start and end, in characters."""

PATH = re.compile(r"\.{0,2}/[\w./{}*~ -]*|~?[\w-]+(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]\w{0,4}")
_ORDINARY = re.compile(r"[\w.+-]+@[\w.-]+|(?:[A-Za-z][\w-]*\.)+[A-Za-z]{1,6}|[\d./: -]+")
"""Addresses, file names, dates: too common to be masked wherever they stand."""
_SPREAD = 400
CONTINUED = "⋯"
"""Stands on the further lines of a stretch that was replaced."""
_REPORTED = 50


@dataclass(slots=True)
class Mask:
    """Stretches of one text to be replaced, with the reason of each."""

    text: str
    spans: dict[Span, Say] = field(default_factory=dict)

    def add(self, start: int, end: int, reason: Say) -> None:
        if start < end:
            self.spans.setdefault((start, end), reason)

    def covers(self, start: int, end: int) -> bool:
        return any(left <= start and end <= right for left, right in self.spans)

    def apply(self, path: str) -> Masked:
        """The text with each stretch replaced: `MARK` on its first line, `CONTINUED` on the others."""
        starts = line_starts(self.text)
        out: list[str] = []
        lines: set[int] = set()
        places: dict[tuple[str, Say], None] = {}
        at = 0
        for (start, end), reason in merge(self.spans.items()):
            first, last = bisect_right(starts, start), bisect_right(starts, end - 1)
            out.append(self.text[at:start])
            out.append(replacement(self.text[start:end]))
            at = end
            lines.update(range(first, last + 1))
            where = f"{path}: line {first}" if first == last else f"{path}: lines {first}-{last}"
            places[where, reason] = None
        out.append(self.text[at:])
        named = tuple(Withheld(where, reason) for where, reason in list(places)[:_REPORTED])
        return Masked(show("".join(out)), tuple(sorted(lines)), named)


def line_starts(text: str) -> list[int]:
    """Offsets at which lines begin; lines end at newlines alone."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def merge(spans: Iterable[tuple[Span, Say]]) -> list[tuple[Span, Say]]:
    """Spans in order, those that touch joined under the first one's reason."""
    merged: list[tuple[Span, Say]] = []
    for (start, end), reason in sorted(spans, key=lambda item: item[0]):
        if merged and start <= merged[-1][0][1]:
            (left, right), first = merged[-1]
            merged[-1] = ((left, max(right, end)), first)
        else:
            merged.append(((start, end), reason))
    return merged


def replacement(piece: str) -> str:
    """What stands for `piece`: as many lines, a trailing newline and carriage returns kept."""
    lines = piece.split("\n")
    filled = [MARK if at == 0 else CONTINUED for at in range(len(lines))]
    if lines[-1] == "":
        filled[-1] = ""
    return "\n".join(f"{new}\r" if old.endswith("\r") else new for old, new in zip(lines, filled, strict=True))


def spread(mask: Mask, texts: Iterable[str], start: int, end: int, reason: Say) -> None:
    """Mask long answers wherever else they stand in a stretch: in messages, comments and docstrings."""
    for text in sorted(set(texts))[:_SPREAD]:
        if len(text) >= 8 and not (text.isidentifier() or PATH.fullmatch(text) or _ORDINARY.fullmatch(text)):
            for at in occurrences(mask.text, text, start, end):
                mask.add(at, at + len(text), reason)


def occurrences(text: str, piece: str, start: int, end: int) -> Iterator[int]:
    """Where `piece` stands by itself, not within a longer word."""
    at = text.find(piece, start, end)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(piece) : at + len(piece) + 1]
        if not ((before.isalnum() and piece[0].isalnum()) or (after.isalnum() and piece[-1].isalnum())):
            yield at
        at = text.find(piece, at + 1, end)
