"""The processor of any table: it claims every one, with the least confidence, and infers what its columns are for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rlx.answers import MARK, Json, Policy, ShownJson, name, record
from rlx.formats.files import FRAMEWORKS
from rlx.formats.predict import Hints, check_of, predict_option
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import brief_of, searched, title_of, usual_facets
from rlx.formats.processors.prompts import page, summary
from rlx.formats.processors.prompts.cells import at, opened, text_of, withheld_places
from rlx.formats.processors.prompts.preambles import own_words, preambles, said
from rlx.formats.processors.prompts.roles import Cast, Sample, cast, corrected, offered, sampled
from rlx.formats.processors.support import support
from rlx.formats.prose import tidy
from rlx.formats.rows.sources.json_rows import KEY
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Facets, Support, Text
from rlx.texts import Say, say

_POLICY: Final = Policy(
    "prompts",
    deny=frozenset(
        {"evaluation_instructions", "grading_instructions", "grader_instructions", "judge_prompt", "judge_instructions"}
        | {"description.purpose", "description.notes", "description.relevant_policies"}
    ),
)
"""Beside what names of answers hide: words to a judge, and what writers of tau2 tasks note about them."""
_TELLS: Final = 3
"""Characters of an answer that are no accident elsewhere."""
_SHARED: Final = frozenset({"metadata", "meta", "info", "extra_info"})
"""Objects whose keys serve as facets like columns do."""
_GRADED: Final = (
    ("Rubric", ("rubric", "checklist", "criteria", "assertions")),
    ("Tests", ("test",)),
    ("Reference answer", ("",)),
)


class Prompts:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "prompts"
    framework = "rows"
    version = 2

    def match(self, table: Table) -> Match:
        return Match(0.1, _evidence(cast(_sample(table, _POLICY))))

    def reading(self, table: Table, roles: Roles) -> "PromptsReading":
        policy, sample = _POLICY, _sample(table, _POLICY)
        found = cast(sample)
        answer, known = roles.get("answer"), found.answer
        found = corrected(found, sample, roles)
        others = {role: path for role, path in roles.items() if role != "answer"}
        if answer and answer not in known:
            policy = _denying(policy, table, [answer])
            sample = _sample(table, policy)
            found = corrected(cast(sample), sample, others)
        shown, hidden = sample, telling(table.sample, found, cast(sample).environment)
        if hidden:
            policy = _denying(policy, table, hidden)
            shown = _sample(table, policy)
            found = corrected(found, shown, {role: path for role, path in others.items() if role != "environment"})
        shared = preambles([page.task_text(row, found) for row in shown.rows])
        return PromptsReading(policy, found, sample, shared, repo=table.key.repo_id)


@dataclass(frozen=True, slots=True)
class PromptsReading:
    """Meets `rlx.formats.processors.base.Reading` and `Correctable`."""

    policy: Policy
    found: Cast
    sample: Sample
    shared: tuple[str, ...]
    """What many tasks begin with."""
    columns: Sequence[str] | None = None
    repo: str = ""
    """`org/name`."""

    @property
    def roles(self) -> Roles:
        return {role: self.found.of(role)[0] for role in self.offered if self.found.of(role)}

    @property
    def offered(self) -> Mapping[str, Sequence[str]]:
        return offered(self.sample)

    def card(self, row: ShownRow) -> RowCard:
        text = page.task_text(row.value, self.found)
        own = said(own_words(text, self.shared))
        own = tidy(own) if self.found.simulated else own
        named = [value for path in self.found.title if isinstance(value := at(row.value, path), str)]
        title = title_of(own, *named)
        roles = (*self.found.context, *self.found.simulated, *self.found.environment)
        beside = (text_of(at(row.value, path)) for path in roles)
        return RowCard(title, brief_of(own, title), self._facets(row), searched([own, *beside]))

    def view(self, row: ShownRow) -> TaskView:
        text = page.task_text(row.value, self.found)
        check = check_of(row.value, Hints("rows", repo=self.repo))
        hidden = withheld_places(row)
        scored = page.scored_by(hidden, check, tests=graded_by(hidden) == "Tests")
        return TaskView(
            page.sections(row, self.found, page.grading(hidden, scored, check)),
            page.glance(self.card(row), text),
            (predict_option(check, text),),
            self._support(scored),
        )

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        """What is told of grading is what holds for the first row."""
        row = self.sample.rows[0] if self.sample.rows else {}
        check, hidden = check_of(row, Hints("rows", repo=self.repo)), self.found.answer
        scored = page.scored_by(hidden, check, tests=graded_by(hidden) == "Tests")
        graded = page.grading(hidden, scored, check)
        return SummaryView(summary.sections(graded, counts), (_evidence(self.found),), self._support(scored))

    def _support(self, scored: Text | None) -> Support:
        return support(
            "rows",
            FRAMEWORKS["rows"],
            lifecycle=say("prompts.lifecycle"),
            reward=scored or say("prompts.reward"),
            evidence=_evidence(self.found),
        )

    def _facets(self, row: ShownRow) -> Facets:
        flat: dict[str, Json] = dict(row.value)
        for column in _SHARED & flat.keys():
            inner = opened(flat.pop(column))
            flat = {**(inner if isinstance(inner, dict) else {}), **flat}
        used = {path.rpartition(".")[2] for path in (*self.found.task, *self.found.id, *self.found.title)}
        found = dict(usual_facets(flat, used | set(self.found.context)))
        found["graded"] = (name(graded_by(withheld_places(row))),)
        return found


def graded_by(places: Sequence[str]) -> str:
    """What a row is compared with, by where its answers stand: a value of the facet `graded`."""
    for kind, words in _GRADED if places else ():
        if any(word in place.lower().rpartition(".")[2] for place in places for word in words):
            return kind
    return "Not found"


def _denying(policy: Policy, table: Table, paths: Sequence[str]) -> Policy:
    """`policy` under which `paths` are withheld too, as keys where rows stand one level down."""
    parts = [path.rpartition(".")[2] for path in paths] if KEY in table.columns else []
    return replace(policy, deny=policy.deny | {*paths, *parts})


def telling(rows: Sequence[Mapping[str, object]], found: Cast, environment: Sequence[str]) -> list[str]:
    """Columns of `environment` in which an answer of the same row stands: what sets up a puzzle may tell it.

    Only columns that are known by their names are looked at. Were those looked at that a visitor calls so, the visitor
    would be told of any column, as of each choice, whether it is the answer.
    """
    told: dict[str, None] = {}
    for row in rows:
        answers = [text for path in found.answer if len(text := text_of(at(row, path)).strip()) >= _TELLS]
        for path in environment:
            if any(answer in text_of(at(row, path)) for answer in answers):
                told[path] = None
    return list(told)


def _sample(table: Table, policy: Policy) -> Sample:
    rows = [record(row, policy=policy).value.value for row in table.sample]
    return sampled(table.columns, [row for row in rows if isinstance(row, dict) and row != {"value": MARK}])


def _evidence(found: Cast) -> Say:
    if not found.task and found.simulated:
        return say("prompts.match.simulated", column=found.simulated[0][:60])
    if not found.task:
        return say("prompts.match.none")
    return say("prompts.match.named" if found.by_name else "prompts.match.longest", column=found.task[0])
