"""The page of an environment of prompts: how its columns are read, and its parts."""

from collections.abc import Iterator, Sequence
from typing import Final

from rlx.formats.processors.prompts.page import role_rows
from rlx.formats.processors.prompts.roles import Cast
from rlx.index.records import Counts
from rlx.model import Block, Count, KeyValues, Note, Section, Shares
from rlx.texts import say

_DRAWN: Final = ("difficulty", "category", "outcome", "reward", "model", "graded", "tools", "runs")
_TOP: Final = 8


def sections(found: Cast | None, counts: Counts, keys: Sequence[str] = _DRAWN) -> tuple[Section, ...]:
    rows = tuple(role_rows(found)) if found else ()
    known = (
        Section("overview", say("prompts.section.overview"), tuple(shares(counts, keys))),
        Section("roles", say("prompts.section.roles"), (Note(say("prompts.roles")), KeyValues(rows)) if rows else ()),
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
