"""Saved evaluations of Verifiers: `outputs/evals/<env>--<model>/<run>/results.jsonl` of releases before 0.4, episodes
in `traces.jsonl` of later ones. A row is one attempt; many are attempts at the same task.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import Policy, ShownJson, name, record
from rlx.answers.keys import names
from rlx.errors import BadInput
from rlx.formats.conversation import turns
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import apart, brief_of, filled, repeated, searched, title_of
from rlx.formats.processors.prompts import summary
from rlx.formats.processors.prompts.cells import at, text_of
from rlx.formats.processors.prompts.preambles import own_words, preambles
from rlx.formats.processors.support import support
from rlx.formats.processors.verifiers import REASONING, TASK_DATA, is_reasoning
from rlx.formats.processors.verifiers_evals_attempts import Attempt, attempt_of, run_of
from rlx.formats.processors.verifiers_evals_page import Shape, glance, outcome_of, sections
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Facets, Support, Text
from rlx.texts import say

_RESULT: Final = frozenset({"prompt", "completion", "reward"})
_GIVEN: Final = frozenset({"prompt", "tool_defs", "tools", "info.oai_tools", "info.tool_defs", "info.tools", "metrics"})
_TRACED: Final = frozenset(
    {"traces.nodes.message", "traces.nodes.tools", "traces.tools", "traces.rewards", "traces.metrics", "traces.calls"}
    | {"task.data.prompt", "task.data.system_prompt", "traces.task.data.prompt", "traces.task.data.system_prompt"}
)
_SCORES: Final = names("correct_answer answer_correct exact_answer correct_format answer_reward correct_answer_reward")
"""Reward functions whose name says answer, where their column holds numbers from 0 to 1."""


class VerifiersEvals:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "verifiers-evals"
    framework = "verifiers"
    version = 2

    def match(self, table: Table) -> Match | None:
        columns = set(table.columns)
        run = next((path for path in table.paths if run_of(path).env), None)
        if {"traces", "task"} <= columns and any(_has_nodes(row.get("traces")) for row in table.sample):
            return Match(0.95, say("verifiers.match.traces", path=(run or (*table.paths, "")[0])[:200]))
        if run is not None and (not columns or columns >= _RESULT or {"prompt", "completion"} <= columns):
            return Match(0.95, say("verifiers.match.runs", path=run[:200]))
        return Match(0.9, say("verifiers.match.results")) if columns >= _RESULT else None

    def reading(self, table: Table, roles: Roles) -> "VerifiersEvalsReading":
        if roles:
            raise BadInput("The columns of saved evaluations have the roles that Verifiers gives them.")
        policy = _policy(table)
        match = self.match(table)
        evidence = match.evidence if match else say("verifiers.match.results")
        shape = Shape(table.key, table.sha, frozenset(table.files), traced="traces" in table.columns)
        rows = [record(row, policy=policy).value.value for row in table.sample]
        asked = [_asked(row.get("prompt") or at(row, "task.data.prompt")) for row in rows if isinstance(row, dict)]
        shared = preambles(asked)
        same = repeated(title_of(own_words(text, shared)) for text in asked)
        return VerifiersEvalsReading(shape, policy, shared, evidence, same)


@dataclass(frozen=True, slots=True)
class VerifiersEvalsReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    shape: Shape
    policy: Policy
    shared: tuple[str, ...]
    evidence: Text
    same: bool = False
    """Titles are the same for many: what made an attempt tells it apart."""
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        attempt = attempt_of(row)
        own = own_words(_asked(attempt.prompt), self.shared)
        title = title_of(own)
        numbers = {
            "reward": attempt.reward,
            "tokens": attempt.tokens,
            "turns": None if attempt.turns is None else float(attempt.turns),
            "seconds": attempt.seconds,
        }
        told = (own, attempt.env, attempt.model, attempt.run)
        shown = apart(title, attempt.model, attempt.run, f"#{row.at + 1}") if self.same else title
        return RowCard(shown, brief_of(own, title), _facets(attempt), searched(told), numbers, attempt.example or None)

    def view(self, row: ShownRow) -> TaskView:
        attempt = attempt_of(row)
        return TaskView(sections(row, attempt, self.shape), tuple(glance(attempt)), (), self._support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        drawn = summary.sections((say("verifiers.evals.reward"),), counts, ("outcome", "model", "category"))
        return SummaryView(drawn, (self.evidence,), self._support())

    def _support(self) -> Support:
        return support(
            "verifiers",
            "Verifiers",
            lifecycle=say("verifiers.evals.lifecycle"),
            reward=say("verifiers.evals.reward"),
            evidence=self.evidence,
            run=say("verifiers.run.there"),
        )


def _facets(attempt: Attempt) -> Facets:
    told = (
        ("outcome", outcome_of(attempt)),
        ("model", attempt.model),
        ("category", attempt.env),
        ("meta:run", attempt.run),
        ("meta:stop", attempt.stop),
    )
    return filled({key: (name(text[:80]),) for key, text in told if text})


def _asked(prompt: object) -> str:
    """What the user asked last before the model spoke."""
    if isinstance(prompt, str):
        return prompt
    said = [message.text for message in turns(prompt) if message.role == "user"]
    return said[0] if said else text_of(prompt)


def _has_nodes(traces: object) -> bool:
    return isinstance(traces, list) and any(isinstance(trace, dict) and "nodes" in trace for trace in traces)


def _policy(table: Table) -> Policy:
    """An attempt is shown, without what it repeats of a reference; of task data only what Verifiers itself gives it."""
    if "traces" in table.columns:
        data = frozenset({"task.data", "traces.task.data"})
        fields = frozenset(f"{place}.{item}" for place in data for item in TASK_DATA)
        return Policy("verifiers-evals", allow=_TRACED, look=fields, only=data, echoes=frozenset({"traces"}))
    scores = {column for column in table.columns if column in _SCORES and _measures(table, column)}
    made = any(is_reasoning(row) for row in table.sample)
    return Policy(
        "verifiers-evals",
        allow=_GIVEN | {"completion"} | scores | (REASONING if made else frozenset()),
        only=frozenset({"info", "info.puzzle"}) if made else frozenset(),
        look=frozenset({"info.puzzle"}) if made else frozenset(),
        echoes=frozenset({"completion"}),
    )


def _measures(table: Table, column: str) -> bool:
    """Whether it holds nothing but numbers from 0 to 1, beside a column for the answer itself."""
    values = [row[column] for row in table.sample if row.get(column) is not None]
    measured = all(isinstance(value, float | bool) and 0 <= value <= 1 for value in values)
    return "answer" in table.columns and measured
