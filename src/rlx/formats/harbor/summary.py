"""The page of a dataset of Harbor tasks: its parts as shares, its manifests, what is odd, how it is read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rlx.answers import ShownJson, name
from rlx.formats.harbor.facets import ORDERED
from rlx.formats.harbor.phrases import duration
from rlx.formats.harbor.sizes import LENGTHS, NO_LIMIT, TIMEOUTS
from rlx.formats.harbor.support import dataset_support
from rlx.index.records import Counts, SummaryView
from rlx.model import Block, Count, Disclose, KeyValues, Note, Row, Section, Shares, Steps, Text
from rlx.texts import Say, say

_OVERVIEW = ("difficulty", "category", "group", "language", "graded", "length", "timeout")
_WORLD = ("runs", "base", "network", "setup", "sandbox")
_TOLD = frozenset({"graded"})
"""Told in words already; a picture only where tasks differ."""
_SCALES = {"length": LENGTHS, "timeout": TIMEOUTS}
"""Ranges of numbers: those in the middle that nothing falls into are drawn too."""
_TOP = 8
_NAMED = 4
_LONG = 80
"""Characters of a name that a sentence can bear."""


def summary_view(header: ShownJson, counts: Counts) -> SummaryView:
    facts: Any = header.value
    sections = [
        Section("overview", say("harbor.section.overview"), tuple(shares(counts, _OVERVIEW, facts["spread"]))),
        Section("grading", say("harbor.section.graded"), (Steps(tuple(_grading(counts))),)),
        Section("environment", say("harbor.section.world"), tuple(shares(counts, _WORLD, {}))),
        Section("problems", say("harbor.section.problems"), tuple(_problems(facts["problems"]))),
        Section("manifest", say("harbor.section.manifest"), tuple(_manifests(facts["manifests"]))),
    ]
    how = tuple(_how(facts, counts))
    told = tuple(section for section in sections if section.blocks and section.blocks != (Steps(()),))
    return SummaryView(told, how, dataset_support(how[0]))


def evidence(facts: Mapping[str, Any]) -> Say:
    """Where the tasks are, in one sentence."""
    n, first = facts["tasks"], facts["first"]
    first = f"{first[:_LONG]}…" if len(first) > _LONG else first
    if facts["root"]:
        return say("harbor.claim.root")
    return say("harbor.claim.folders", n=n, first=first)


def shares(counts: Counts, keys: Sequence[str], spreads: Mapping[str, Any]) -> Iterator[Block]:
    """How tasks fall into the values of each facet; `spreads` are `rlx.formats.harbor.sizes.spread` by facet."""
    for key in keys:
        values = {str(value.value): value for value in counts.facets.get(key, ())}
        if not values or (key in _TOLD and len(values) < 2):
            continue
        names = _scale(key, values) or list(values)[:_TOP]
        parts = tuple(Count(name(item), values[item].n if item in values else 0, (key, item)) for item in names)
        rest = 0 if key in _SCALES else len(values) - len(parts)
        note = say("harbor.overview.more", n=rest) if rest > 0 else _spread(key, spreads.get(key))
        told = sum(value.n for value in values.values())
        if note is None and told < counts.tasks and key in _OVERVIEW:
            note = say("harbor.overview.told", n=told, total=counts.tasks)
        yield Shares(say(f"facet.{key}"), parts, counts.tasks, note, ordered=key in ORDERED and key != "sandbox")


def _scale(key: str, values: Collection[str]) -> list[str]:
    """The ranges to draw: from the first to the last that occurs, and what is no range where it occurs."""
    ranges = [item for item in _SCALES.get(key, ()) if item != NO_LIMIT]
    places = [place for place, item in enumerate(ranges) if item in values]
    drawn = ranges[places[0] : places[-1] + 1] if places else []
    return [*drawn, NO_LIMIT] if NO_LIMIT in values else drawn


def _spread(key: str, found: Mapping[str, float] | None) -> Say | None:
    if found is None:
        return None
    least, middle, most = (found[part] for part in ("least", "middle", "most"))
    if key == "length":
        if least == most:
            return say("harbor.overview.words", n=int(most))
        return say("harbor.overview.words_between", least=int(least), most=int(most), middle=int(middle))
    if least == most:
        return duration(most)
    return say("harbor.overview.time_between", least=duration(least), most=duration(most))


def _grading(counts: Counts) -> Iterator[Say]:
    """How tasks are graded, over all of them."""
    graded = {str(value.value): value.n for value in counts.facets.get("graded", ())}
    needs = {str(value.value): value.n for value in counts.facets.get("setup", ())}
    one, named, missing = (graded.get(kind, 0) for kind in ("One score", "Named scores", "Not found"))
    if one and named:
        yield say("harbor.overview.graded_both", one=one, named=named)
    elif one or named:
        yield _graded(counts.tasks, one + named, "single" if one else "named")
    if missing:
        yield say("harbor.overview.graded_missing", n=missing)
    for need, key in (("Model judge", "judge"), ("Separate grader", "separate"), ("Steps", "steps")):
        if needs.get(need):
            yield say(f"harbor.overview.graded_{key}", n=needs[need])


def _graded(tasks: int, graded: int, kind: str) -> Say:
    if tasks == 1:
        return say(f"harbor.overview.graded_only_{kind}")
    return say(f"harbor.overview.graded_{'each_' if graded == tasks else ''}{kind}", n=graded)


def _problems(problems: Mapping[str, Sequence[str]]) -> Iterator[Block]:
    for key in ("unparsed", "missing"):
        refs = problems.get(key, ())
        if refs:
            yield Note(
                say(f"harbor.overview.{key}", n=len(refs)),
                "warn",
                name(", ".join([*refs[:_NAMED], *(["…"] if len(refs) > _NAMED else [])])),
            )


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
