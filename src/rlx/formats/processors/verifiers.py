"""Rows that an environment of Verifiers loads: a question or a prompt with its answer and info, or task data as it is.

The rows are half of such an environment: what hands them to a model, offers tools and scores is a Python package, which
the repository does not name but for its card. Rows made by reasoning-gym are known by what `info` tells of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import Policy, ShownJson, name, record
from rlx.answers.keys import names
from rlx.errors import BadInput
from rlx.formats.frameworks import ReasoningTask
from rlx.formats.frameworks import table as known
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import brief_of, filled, is_name, searched, title_of, usual_facets
from rlx.formats.processors.prompts import summary
from rlx.formats.processors.prompts.cells import at, opened, text_of, withheld_places
from rlx.formats.processors.prompts.preambles import own_words, preambles, said
from rlx.formats.processors.support import support
from rlx.formats.processors.verifiers_page import (
    Shape,
    asked,
    environment_id,
    reasoning_task,
    sections,
    tools_of,
)
from rlx.formats.rows.sources.json_rows import KEY
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Facets, Row, Support, Text
from rlx.texts import Say, say
from rlx.texts.values import facet_value

ASKED: Final = frozenset({"question", "prompt"})
TASK_DATA: Final = names(
    "idx id name description prompt system_prompt image workdir agent_user skills network_allow network_block "
    "artifacts artifact_max_bytes timeout resources"
)
"""Fields that Verifiers itself gives task data; others are of the environment that made it, and for its grader."""
_TELLING: Final = TASK_DATA - names("id name description prompt image timeout resources")
"""Those that nothing else calls so."""
_ENOUGH: Final = 3
_TOOLS: Final = 12
"""Tools of a row that are facets."""
_TAGGED: Final = 0.92
_SURE: Final = {"reasoning": 0.9, "data": 0.85, "rows": 0.7}
"""How sure it is without a tag; of other kinds not at all."""
_IMAGES: Final = ("docker_image", "image_name", "image_url", "image")
_OTHERS: Final = ("responses_create_params", "reward_model", "reward_spec", "env_class", "completion", "reward")
"""Columns of other frameworks, and of rollouts."""
_GIVEN: Final = ("prompt", "question", "info.tool_defs", "info.tools", "info.oai_tools", "tools", "tool_defs")
REASONING: Final = names("info.difficulty info.source_dataset info.source_index info.train_examples") | names(
    "info.expected_format info.target_base info.source_base info.target_value info.puzzle.target"
)
"""What reasoning-gym tells of a question that is no part of its answer, nor of the way there."""


class Verifiers:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "verifiers"
    framework = "verifiers"
    version = 2

    def match(self, table: Table) -> Match | None:
        columns = set(table.columns)
        if not columns.isdisjoint(_OTHERS) or not table.sample:
            return None
        tagged = "verifiers" in table.tags
        kind = kind_of(table)
        if kind is None:
            return None
        sure = _TAGGED if tagged else _SURE.get(kind, 0.0)
        return Match(sure, _evidence(table, kind)) if sure else None

    def reading(self, table: Table, roles: Roles) -> "VerifiersReading":
        if roles:
            raise BadInput("The columns of these rows have the roles that Verifiers gives them.")
        kind = kind_of(table) or "bare"
        policy = _policy(kind, by_key=KEY in table.columns)
        rows = [record(row, policy=policy).value.value for row in table.sample]
        shared = preambles([asked(row) for row in rows if isinstance(row, dict)])
        shape = Shape(table.key, table.sha, kind, environment_id(table.card), table.split, table.paths)
        return VerifiersReading(shape, policy, shared, _evidence(table, kind))


@dataclass(frozen=True, slots=True)
class VerifiersReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    shape: Shape
    policy: Policy
    shared: tuple[str, ...]
    evidence: Text
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        text = asked(row.value)
        own = said(own_words(text, self.shared))
        told = row.value.get("name") if self.shape.kind == "data" else None
        title = title_of(own, told if is_name(told) and isinstance(told, str) else None)
        return RowCard(title, brief_of(own, title), self._facets(row), searched([own, text_of(row.value.get("task"))]))

    def view(self, row: ShownRow) -> TaskView:
        return TaskView(sections(row, self.shape), tuple(self._glance(row)), (), self._support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        return SummaryView(summary.sections((self._support().reward,), counts), (self.evidence,), self._support())

    def _facets(self, row: ShownRow) -> Facets:
        flat = {key: value for key, value in row.value.items() if key not in TASK_DATA and value != "default"}
        inner = opened(flat.pop("info", None))
        found = dict(usual_facets({**(inner if isinstance(inner, dict) else {}), **flat}, (*ASKED, "system_prompt")))
        made = reasoning_task(row.value) if self.shape.kind == "reasoning" else None
        if made is not None:
            found = {"category": (name(made.group),), "meta:generator": (name(made.name),)}
        found["graded"] = (name(self._graded(row, made)),)
        offered = tools_of(row.value)
        if offered is not None:
            found["tools"] = tuple(dict.fromkeys(tool.name for tool in offered.items))[:_TOOLS]
        return filled(found)

    def _graded(self, row: ShownRow, made: ReasoningTask | None) -> str:
        if made is not None:
            return "Reference answer" if made.exact else "Program"
        return "Reference answer" if withheld_places(row) else "Program"

    def _glance(self, row: ShownRow) -> Iterator[Row]:
        facets = self._facets(row)
        for key in ("meta:generator", "category", "difficulty", "graded"):
            if facets.get(key):
                label = say("verifiers.generator") if key == "meta:generator" else say(f"facet.{key}")
                yield Row(label, facet_value(facets[key][0], key))
        if self.shape.environment:
            yield Row(say("verifiers.environment"), name(self.shape.environment), code=True)

    def _support(self) -> Support:
        return support(
            "verifiers",
            "Verifiers",
            lifecycle=say("verifiers.lifecycle"),
            reward=say(f"verifiers.reward.{'reasoning' if self.shape.kind == 'reasoning' else 'package'}"),
            evidence=self.evidence,
            run=say("verifiers.run.there"),
        )


def kind_of(table: Table) -> str | None:
    """`reasoning`, `data`, `rows`, `swe`, `bare`, as far as columns and first rows tell; None: none of Verifiers."""
    columns = set(table.columns)
    if {"question", "answer"} <= columns and any(is_reasoning(row) for row in table.sample):
        return "reasoning"
    if "prompt" in columns and len(columns & _TELLING) >= _ENOUGH:
        return "data"
    if not columns.isdisjoint({"problem_statement", "resolved_issues"}) and not columns.isdisjoint(_IMAGES):
        return "swe"
    if columns.isdisjoint(ASKED):
        return None
    task = any(isinstance(row.get("task"), str) and is_name(row["task"]) for row in table.sample)
    return "rows" if "answer" in columns and ("info" in columns or task) else "bare"


def _evidence(table: Table, kind: str) -> Say:
    known_ones = (*ASKED, "answer", "info", "task", *TASK_DATA, "problem_statement", *_IMAGES)
    told = [column for column in table.columns if column in known_ones]
    return say(f"verifiers.match.{kind}", columns=", ".join(told[:5]))


def is_reasoning(row: Mapping[str, object]) -> bool:
    """Whether a row, raw or masked, tells which generator of reasoning-gym made it."""
    told = (at(row, "info.source_dataset"), at(row, "metadata.source_dataset"))
    return any(isinstance(item, str) and item in known("reasoning_gym").tasks for item in told)


def _policy(kind: str, *, by_key: bool) -> Policy:
    """Of what reasoning-gym tells, and of fields an environment gave its task data, only what is known is shown.

    `by_key`: rows stand one level down, in an object of them, so that paths do not begin with their columns.
    """
    if kind == "reasoning" and by_key:
        return Policy("verifiers", deny=frozenset({"info", "metadata"}))
    if kind == "reasoning":
        other = frozenset(path.replace("info.", "metadata.") for path in REASONING)
        return Policy(
            "verifiers",
            allow=REASONING | other,
            look=frozenset({"info.puzzle", "metadata.puzzle"}),
            only=frozenset({"info", "info.puzzle", "metadata", "metadata.puzzle"}),
        )
    if kind == "data" and not by_key:
        return Policy("verifiers", columns=TASK_DATA, allow=frozenset({"prompt"}))
    return Policy("verifiers", allow=frozenset(_GIVEN))
