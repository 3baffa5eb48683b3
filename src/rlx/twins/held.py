"""What is withheld, told by file: one reason, and the lines it stands on."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from rlx.answers.shown import Withheld
from rlx.texts import Say

_LINES = re.compile(r"(.+): lines? (\d+)(?:-(\d+))?", re.DOTALL)


class Held(NamedTuple):
    where: str
    """A path, or a place in one that is no line."""
    reason: Say
    lines: tuple[tuple[int, int], ...] = ()
    """First and last of each stretch; empty when it is the whole of `where`."""


def by_file(items: Sequence[Withheld]) -> tuple[Held, ...]:
    """Neighbours in one file that are withheld for one reason are told together."""
    places = [_place(item) for item in items]
    return tuple(
        Held(where, reason, tuple(place for held in group for place in held.lines))
        for (where, reason), group in groupby(places, key=lambda held: (held.where, held.reason))
    )


def spelled(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _place(item: Withheld) -> Held:
    found = _LINES.fullmatch(item.where)
    if found is None:
        return Held(item.where, item.reason)
    first = int(found[2])
    return Held(found[1], item.reason, ((first, int(found[3] or first)),))
