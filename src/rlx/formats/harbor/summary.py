"""The page of a dataset of Harbor tasks: its parts as shares, its manifests, what is odd, how it is read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlx.answers import ShownJson, name
from rlx.formats.harbor.support import dataset_support
from rlx.index.records import Counts, SummaryView
from rlx.model import Block, Count, Disclose, KeyValues, Note, Row, Section, Shares, Text
from rlx.texts import Say, say

_OVERVIEW = ("difficulty", "category", "group", "language")
_GRADING = ("graded", "setup")
_WORLD = ("runs", "base", "network", "sandbox")
_ORDERED = frozenset({"difficulty"})
_TOP = 8


def summary_view(header: ShownJson, counts: Counts) -> SummaryView:
    facts: Any = header.value
    sections = [
        Section("overview", say("harbor.section.overview"), tuple(_shares(counts, _OVERVIEW))),
        Section("grading", say("harbor.section.grading"), tuple(_shares(counts, _GRADING))),
        Section("environment", say("harbor.section.world"), tuple(_shares(counts, _WORLD))),
        Section("problems", say("harbor.section.problems"), tuple(_problems(facts["problems"]))),
        Section("manifest", say("harbor.section.manifest"), tuple(_manifests(facts["manifests"]))),
    ]
    how = tuple(_how(facts, counts))
    return SummaryView(tuple(section for section in sections if section.blocks), how, dataset_support(how[0]))


def evidence(facts: Mapping[str, Any]) -> Say:
    """Where the tasks are, in one sentence."""
    n, first = facts["tasks"], facts["first"]
    if facts["root"]:
        return say("harbor.claim.root")
    return say("harbor.claim.folders", n=n, first=first)


def _shares(counts: Counts, keys: Sequence[str]) -> Iterator[Block]:
    for key in keys:
        values = counts.facets.get(key, ())
        if not values or (key in _OVERVIEW and len(values) < 2):
            continue
        parts = tuple(Count(value.value, value.n, (key, str(value.value))) for value in values[:_TOP])
        rest = len(values) - len(parts)
        note = say("harbor.overview.more", n=rest) if rest > 0 else None
        yield Shares(say(f"facet.{key}"), parts, counts.tasks, note, ordered=key in _ORDERED)


def _problems(problems: Mapping[str, Sequence[str]]) -> Iterator[Block]:
    for key in ("unparsed", "missing"):
        refs = problems.get(key, ())
        if refs:
            yield Note(say(f"harbor.overview.{key}", n=len(refs)), "warn", name(", ".join(refs[:_TOP])))


def _manifests(manifests: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for item in manifests:
        if item["problem"]:
            yield Note(say("harbor.manifest.unread", path=item["path"]), "warn", name(item["problem"]))
            continue
        rows = [Row(say("harbor.manifest.file"), name(item["path"]), code=True), *_manifest_rows(item)]
        yield KeyValues(tuple(rows))
        if item["missing"]:
            names: tuple[Text, ...] = tuple(name(ref) for ref in item["missing"])
            told = KeyValues((Row(say("harbor.manifest.absent_names"), names, code=True),))
            yield Disclose(say("harbor.manifest.absent", n=item["absent"]), (told,))


def _manifest_rows(item: Mapping[str, Any]) -> Iterator[Row]:
    for key in ("name", "version", "description"):
        if item[key]:
            label = "about" if key == "description" else key
            yield Row(say(f"harbor.package.{label}"), name(item[key]))
    for key in ("authors", "keywords"):
        if item[key]:
            yield Row(say(f"harbor.package.{key}"), tuple(name(value) for value in item[key]))
    if item["listed"]:
        yield Row(say("harbor.manifest.listed"), say("harbor.manifest.tasks", n=item["listed"]))


def _how(facts: Mapping[str, Any], counts: Counts) -> Iterator[Text]:
    yield evidence(facts)
    if facts["groups"]:
        yield say("harbor.how.groups", n=facts["groups"])
    yield say("harbor.how.parsed")
