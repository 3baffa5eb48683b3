"""The page of an environment of rows: its parts, and how they are graded."""

from collections.abc import Iterator, Sequence
from typing import Final

from rlx.index.records import Counts
from rlx.model import Block, Count, Section, Shares, Steps, Text
from rlx.texts import say

_DRAWN: Final = ("difficulty", "category", "outcome", "reward", "model", "graded", "tools", "runs")
_TOP: Final = 8


def sections(grading: Sequence[Text] | None, counts: Counts, keys: Sequence[str] = _DRAWN) -> tuple[Section, ...]:
    """What rows are told apart by, and how they are graded, a sentence each."""
    known = (
        Section("overview", say("rows.section.overview"), tuple(shares(counts, keys))),
        Section("grading", say("rows.section.grading"), (Steps(tuple(grading)),) if grading else ()),
    )
    return tuple(section for section in known if section.blocks)


def shares(counts: Counts, keys: Sequence[str] = _DRAWN) -> Iterator[Block]:
    """The facets that tell rows apart, drawn as parts of the whole."""
    for key in keys:
        values = counts.facets.get(key, ())
        if len(values) < 2:
            continue
        parts = tuple(Count(item.value, item.n, (key, str(item.value))) for item in values[:_TOP])
        note = say("prompts.more", n=len(values) - _TOP) if len(values) > _TOP else None
        yield Shares(say(f"facet.{key}"), parts, counts.tasks, note)
