"""Which tables hold rollouts, and how each row is read."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rlx.answers import Policy, Shown, ShownJson, name, record
from rlx.errors import BadInput
from rlx.formats.conversation import turns
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import apart, brief_of, filled, is_name, searched, title_of, usual_facets
from rlx.formats.processors.prompts import summary
from rlx.formats.processors.prompts.preambles import own_words, preambles
from rlx.formats.processors.support import support
from rlx.formats.processors.traces import measures, page
from rlx.formats.processors.traces.policy import policy_of
from rlx.formats.processors.traces.shapes import NAMES, TOOLS, agent_turns, said, talk_of
from rlx.formats.rows.kinds import is_single, plain_name
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Facets, Message, Support
from rlx.texts import Say, say

_VERSION: Final = re.compile(r"[\w.-]{1,20}")
_MOST: Final = 0.5
"""Part of the first rows in which an agent must speak."""
_BESIDE: Final = frozenset(
    path for path in (*measures.REWARDS, *measures.MODELS, *measures.AGENTS, "exit_status") if "." not in path
) | {"info", "final_metrics"}
"""Columns that tell a rollout from an example to learn from."""
_TOOLS: Final = 12
_MAX_NAME: Final = 120
_LOOKED: Final = 40_000
_TASK: Final = re.compile(
    r"^(?:#+ )?(?:ISSUE|TASK|PROBLEM)(?: DESCRIPTION| STATEMENT)?:[ \t]*\n"
    r"|<(?:issue|pr|task|problem)_?(?:description|statement)?>",
    re.MULTILINE,
)
"""Where the task begins in words that are the same for many."""


class Traces:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "traces"
    framework = "rows"
    version = 2

    def match(self, table: Table) -> Match | None:
        talks = [talk for row in table.sample if (talk := talk_of(row)) is not None]
        if not talks or len(talks) < len(table.sample) * _MOST:
            return None
        kind, column = Counter((talk.kind, talk.column) for talk in talks).most_common(1)[0][0]
        if kind == "atif":
            return Match(0.85, say("traces.match.atif", versions=_versions(table.sample)))
        if kind == "swe-agent":
            return Match(0.85, say("traces.match.swe_agent"))
        if kind == "inspect":
            return Match(0.85, say("traces.match.inspect"))
        beside = next((name for name in table.columns if name in _BESIDE and name != column), None)
        if beside is not None:
            return Match(0.85, say("traces.match.outcome", column=column[:60], beside=beside))
        if any(_goes_on(row[column]) for row in table.sample if row.get(column)):
            return Match(0.5, say("traces.match.chat", column=column[:60]))
        return None

    def reading(self, table: Table, roles: Roles) -> "TracesReading":
        if roles:
            raise BadInput("Where rows are rollouts, columns have the roles that their names give them.")
        talks = {talk for row in table.sample if (talk := talk_of(row)) is not None}
        match = self.match(table)
        evidence = match.evidence if match is not None and isinstance(match.evidence, Say) else say("traces.silent")
        shared = preambles([_asked(said(row, talk))[0] for row in table.sample if (talk := talk_of(row)) is not None])
        return TracesReading(policy_of(talks, table.sample), evidence, _titles(table.paths), shared)


@dataclass(frozen=True, slots=True)
class TracesReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    policy: Policy
    evidence: Say
    titles: Mapping[str, str]
    """Of rows that are files by themselves, by path."""
    shared: tuple[str, ...]
    """What many conversations begin with."""
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        talk = talk_of(row.value)
        return self._card(row, said(row.value, talk) if talk is not None else ())

    def view(self, row: ShownRow) -> TaskView:
        talk = talk_of(row.value)
        spoken = said(row.value, talk) if talk is not None else ()
        card = self._card(row, spoken)
        return TaskView(page.sections(row, talk, spoken, card), page.glance(card), (), self._support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        return SummaryView(summary.sections(None, counts), (self.evidence,), self._support())

    def _card(self, row: ShownRow, spoken: Sequence[Message]) -> RowCard:
        asked, marked = _asked(spoken)
        own = asked if marked else own_words(asked, self.shared)
        title = self._title(row, own)
        texts = [item.text for item in spoken if item.kind == "message"]
        return RowCard(
            title if title.strip() else name(row.ref),
            brief_of(own, title),
            self._facets(row.value, spoken),
            searched([own, *texts[:1], *texts[-1:]]),
            measures.numbers_of(row.value, spoken),
            measures.task_of(row.value) or self._instance(row.path, own),
        )

    def _instance(self, path: str, own: str) -> str | None:
        """The same for attempts of SWE-agent, which are files called as their task is, in a folder for each run."""
        file = path.rpartition("/")[2]
        if path not in self.titles or ".traj" not in file:
            return None
        return measures.digest(f"{file.partition('.traj')[0]}\n{title_of(own)}")

    def _title(self, row: ShownRow, own: str) -> Shown:
        """The name of its file or of its task, with that of the attempt; else what was asked."""
        filed = self.titles.get(row.path)
        named = filed or measures.task_name(row.value)
        if named is None or not (filed or is_name(named)):
            return title_of(own)
        attempt = measures.attempt_of(row.value)
        return apart(named, *(() if attempt is None else (attempt,)))

    def _facets(self, row: Mapping[str, Any], spoken: Sequence[Message]) -> Facets:
        used = {
            *NAMES,
            *TOOLS,
            *measures.TASKS,
            *measures.MODELS,
            *measures.AGENTS,
            *measures.REWARDS,
            *measures.STATUS,
        }
        found: dict[str, tuple[Shown, ...]] = dict(usual_facets(row, used))
        found["outcome"] = (name(measures.outcome_of(row)),)
        for key, told in (("model", measures.model_of(row)), ("agent", measures.agent_of(row))):
            if told is not None:
                found[key] = (name(told[:_MAX_NAME]),)
        called = dict.fromkeys(item.name for item in spoken if item.kind == "call" and item.name is not None)
        if 0 < len(called) <= _TOOLS:
            found["tools"] = tuple(called)
        return filled(found)

    def _support(self) -> Support:
        return support(
            "rows",
            "Traces",
            lifecycle=say("traces.lifecycle"),
            reward=say("traces.reward"),
            evidence=self.evidence,
        )


def _asked(spoken: Sequence[Message]) -> tuple[str, bool]:
    """What a user asked first, but for demonstrations; else what was said first. And whether words that are the same
    for many were left out, so that others which are the same are the task's."""
    asked = (item.text for item in spoken if item.role == "user" and item.kind == "message" and item.name is None)
    text = next(asked, spoken[0].text if spoken else "")
    marked = _TASK.search(text, 0, _LOOKED)
    return (text[marked.end() :], True) if marked and text[marked.end() :].strip() else (text, False)


def _goes_on(value: object) -> bool:
    """Whether an agent speaks more than once, or uses a tool: more than a question and its answer."""
    spoken = turns(value)
    return agent_turns(spoken) > 1 or any(item.kind in {"call", "output"} for item in spoken)


def _versions(sample: Sequence[Mapping[str, Any]]) -> str:
    versions = (row.get("schema_version") for row in sample)
    told = {item for item in versions if isinstance(item, str) and _VERSION.fullmatch(item)}
    return ", ".join(sorted(told)[:4]) or "–"


def _titles(paths: Sequence[str]) -> dict[str, str]:
    """The names of files that are one row each: as much of them, and then of their folders, as tells them apart."""
    files = {path: plain_name(path).rpartition("/")[2].removesuffix(".json") for path in paths if is_single(path)}
    stems = {path: file.partition(".traj")[0] for path, file in files.items()}
    folders = {path: path.rpartition("/")[0] for path in files}
    beside = Counter((folders[path], stem) for path, stem in stems.items())
    groups: dict[str, set[str]] = {}
    for path, stem in stems.items():
        groups.setdefault(stem, set()).add(folders[path].rpartition("/")[2])
    shared = {stem: _shared(sorted(alike)) for stem, alike in groups.items()}
    found: dict[str, str] = {}
    for path, stem in stems.items():
        told = files[path] if beside[folders[path], stem] > 1 else stem
        own = folders[path].rpartition("/")[2][shared[stem] :].strip("_") if len(groups[stem]) > 1 else ""
        found[path] = f"{told} · {own}" if own else told
    return found


def _shared(names: Sequence[str]) -> int:
    """How many characters all `names`, which are sorted, begin with, up to an underscore."""
    first, last = names[0], names[-1]
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first.rfind("_", 0, same) + 1
