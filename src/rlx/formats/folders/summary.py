"""The page of a dataset of folders: its parts as shares, what is odd, and how much of it was inferred."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rlx.answers import ShownJson, name
from rlx.formats.folders.support import dataset_support
from rlx.formats.harbor.summary import shares
from rlx.index.records import Counts, SummaryView
from rlx.model import Block, Note, Section, Text
from rlx.texts import Say, say

_OVERVIEW: Final = ("difficulty", "category", "group", "length", "timeout")
_WORLD: Final = ("graded", "runs", "base")
_NAMED: Final = 4
_LONG: Final = 80
"""Characters of a name that a sentence can bear."""


def summary_view(header: ShownJson, counts: Counts) -> SummaryView:
    facts: Any = header.value
    sections = (
        Section("overview", say("folders.section.overview"), tuple(shares(counts, _OVERVIEW, facts["spread"]))),
        Section("environment", say("folders.section.world"), tuple(shares(counts, _WORLD, {}))),
        Section("problems", say("folders.section.problems"), tuple(_problems(facts["problems"]))),
    )
    how = tuple(_how(facts))
    support = dataset_support(how[0], is_terminal=set(facts["rules"]) == {"settings"})
    return SummaryView(tuple(section for section in sections if section.blocks), how, support)


def claimed(roots: Sequence[str]) -> Say:
    """Where the tasks are, in one sentence."""
    if list(roots) == [""]:
        return say("folders.claim.root")
    first = roots[0] if roots else ""
    return say("folders.claim.folders", n=len(roots), first=f"{first[:_LONG]}…" if len(first) > _LONG else first)


def _how(facts: Mapping[str, Any]) -> Iterator[Text]:
    if facts["root"]:
        yield say("folders.claim.root")
    else:
        first = facts["first"]
        first = f"{first[:_LONG]}…" if len(first) > _LONG else first
        yield say("folders.claim.folders", n=facts["tasks"], first=first)
    for rule, n in facts["rules"].items():
        yield say(f"folders.how.{rule}", n=n)
    if set(facts["rules"]) != {"settings"}:
        yield say("folders.how.inferred")


def _problems(problems: Mapping[str, Sequence[str]]) -> Iterator[Block]:
    refs = problems.get("unparsed", ())
    if refs:
        told = [*refs[:_NAMED], *(["…"] if len(refs) > _NAMED else [])]
        yield Note(say("folders.overview.unread", n=len(refs)), "warn", name(", ".join(told)))
