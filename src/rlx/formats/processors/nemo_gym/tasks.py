"""The processor of NeMo Gym's rows: requests with what a resources server needs to verify what came of them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import MARK, Json, Policy, ShownJson, name, record
from rlx.errors import BadInput
from rlx.formats.predict import Check, Hints, Unchecked, check_of, predict_option
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import apart, brief_of, filled, is_name, searched, title_of, usual_facets
from rlx.formats.processors.nemo_gym import page
from rlx.formats.processors.nemo_gym.commands import run_section
from rlx.formats.processors.nemo_gym.policies import TASKS, of_server
from rlx.formats.processors.nemo_gym.request import REQUEST, asked, request
from rlx.formats.processors.nemo_gym.servers import Known, known, named_in
from rlx.formats.processors.prompts.cells import at, is_empty, opened, withheld_places
from rlx.formats.processors.prompts.preambles import own_words, preambles
from rlx.formats.processors.prompts.processor import graded_by
from rlx.formats.processors.prompts.summary import shares
from rlx.formats.processors.support import support
from rlx.formats.prose import shorten, tidy
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Facets, KeyValues, Row, Section, Support
from rlx.texts import Say, say
from rlx.texts.values import facet_value

LABEL: Final = "NeMo Gym"
_TITLES: Final = ("title", "name", "problem_name", "task_name")
_QUESTIONS: Final = (
    *("question", "problem", "query", "verifier_metadata.question", "task_data.question", "expected_values.question"),
    "text",
)
_IDS: Final = (
    *("instance_id", "task_id", "task_idx", "sample_id", "problem_id", "question_id", "verifier_metadata.task_id"),
    *("verifier_metadata.id", "verifier_metadata.seed", "id", "uuid"),
)
_LEAST: Final = 12
"""Characters from which a repeated question is one."""
_LONGEST: Final = 4000
_END: Final = 60
"""Last characters of a question by which it is found in a request that may be cut."""
_BEFORE: Final = 50
"""Characters of a shared text before the id in a title."""
_LABEL: Final = re.compile(r"\s*(?:(?:[^\n:]{1,30}:\s*\n)|(?:Question|Problem|Title|Task|Input):\s)")
"""What only announces the text."""
_TOOLS: Final = 12
_INNER: Final = ("verifier_metadata", "task_data", "metadata")
"""Objects whose short values tell rows apart like columns do."""
_NO_FACETS: Final = frozenset(
    {"agent_ref", "task_source", "response", "reward", "question", "problem", "instance_id", "uuid", "image", "text"}
)


class NeMoGym:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "nemo-gym"
    framework = "nemo-gym"
    version = 2

    def match(self, table: Table) -> Match | None:
        asking = [row for row in table.sample if not is_empty(row.get(REQUEST))]
        if len(asking) * 2 < max(len(table.sample), 1):
            return None
        return Match(0.95, evidence(asking[0]))

    def reading(self, table: Table, roles: Roles) -> "TaskReading":
        if roles:
            raise BadInput("The columns of NeMo Gym's rows have the roles that the framework gives them.")
        return TaskReading(table, of_server(TASKS, server_of(table)), naming(table, TASKS))


@dataclass(frozen=True, slots=True)
class Naming:
    """How rows of one table get their titles."""

    shared: tuple[str, ...]
    """What many requests begin with."""
    named: str | None
    """The column that names rows."""
    same: bool
    """All ask the same, so that an id must tell them apart."""
    id: str | None
    """The column of an id."""


@dataclass(frozen=True, slots=True)
class TaskReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    table: Table
    policy: Policy
    naming: Naming
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        told, text = titled(row, self.naming)
        title = title_of(text, told)
        found = self.known(row)
        problem = None if is_empty(row.value.get("_hf_placeholder")) else say("nemo.placeholder")
        return RowCard(
            title,
            brief_of(text, title),
            facets(row, found),
            searched([text, found.named or "", found.server.name if found.server else ""]),
            problem=problem,
        )

    def view(self, row: ShownRow, told_before: Collection[str] = ()) -> TaskView:
        found = self.known(row)
        check = _check(row, found)
        sections = page.sections(row, found, check, told_before)
        return TaskView(
            _before_metadata(sections, run_section(found, self.table, row.path, row.at)),
            page.glance(row, found, self.card(row)),
            (predict_option(check, "\n".join(item.text for item in request(row.value).messages)),),
            self.support(found),
        )

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards)}).value

    def summary(self, facts: ShownJson, counts: Counts, *, run: bool = True) -> SummaryView:
        """`run`: with the commands that run all rows."""
        found = self._first()
        drawn = tuple(shares(counts))
        rows = tuple(_overview(found, counts))
        path = self.table.paths[0] if self.table.paths else ""
        sections = (
            Section("overview", say("nemo.section.overview"), drawn),
            Section("server", say("nemo.section.server"), (KeyValues(rows),) if rows else ()),
            *((run_section(found, self.table, path, None),) if run and path else ()),
        )
        return SummaryView(tuple(item for item in sections if item.blocks), (found.how,), self.support(found))

    def known(self, row: ShownRow) -> Known:
        return known(named_in(row.value), self.table.key.repo_id, frozenset(self.table.columns) - {REQUEST})

    def support(self, found: Known) -> Support:
        return support(
            "nemo-gym",
            LABEL,
            lifecycle=say("nemo.lifecycle"),
            reward=say("nemo.reward"),
            evidence=found.how,
            run=say("nemo.support.run"),
        )

    def _first(self) -> Known:
        rows = [record(dict(row), policy=self.policy).value.value for row in self.table.sample[:1]]
        row = rows[0] if rows and isinstance(rows[0], dict) else {}
        return known(named_in(row), self.table.key.repo_id, frozenset(self.table.columns) - {REQUEST})


def _check(row: ShownRow, found: Known) -> Check | Unchecked:
    """What would grade one model call."""
    server, agent = found.server, found.agent
    hints = Hints(
        "nemo-gym",
        grader=server.name if server else None,
        loop=agent.kind if agent else None,
        judge=server is not None and server.judge,
    )
    return check_of(row.value, hints)


def evidence(row: Mapping[str, object]) -> Say:
    """What was seen of a row. Names no value of it."""
    value = opened(row.get(REQUEST))
    told = value.get("input") if isinstance(value, Mapping) else None
    shape = "text" if isinstance(told, str) and told else "messages" if isinstance(told, list) and told else "empty"
    return say(f"nemo.match.{shape}", named=say("nemo.match.agent" if row.get("agent_ref") else "nemo.match.no_agent"))


def naming(table: Table, policy: Policy) -> Naming:
    """How the rows of a table are told apart, by its first ones."""
    rows = [row for raw in table.sample if isinstance(row := record(dict(raw), policy=policy).value.value, dict)]
    shared = preambles([asked(row) for row in rows])
    named = next((key for key in _TITLES if len({str(row[key]) for row in rows if is_name(row.get(key))}) > 1), None)
    same = len({own(row, shared) for row in rows}) == 1 < len(rows)
    ids = ((path, {str(found) for row in rows if not is_empty(found := at(row, path))} - {MARK}) for path in _IDS)
    return Naming(shared, named, same, next((path for path, values in ids if len(values) == len(rows)), None))


def own(row: Mapping[str, Json], shared: Sequence[str]) -> str:
    """What is wanted, without what many rows begin with; the question alone where the row repeats it."""
    text = asked(row)
    for path in _QUESTIONS:
        value = at(row, path)
        words = value.strip() if isinstance(value, str) else ""
        if _LEAST < len(words) < _LONGEST and words[-_END:] in text:
            return words
    return _LABEL.sub("", own_words(text, shared), count=1).strip()


def titled(row: ShownRow, how: Naming) -> tuple[str | None, str]:
    """What the row calls itself, where its text does not tell it apart, and what is wanted."""
    value, text = row.value, own(row.value, how.shared)
    if how.named is not None and is_name(value.get(how.named)):
        return str(value[how.named]), text
    says = any(char.isalnum() for char in text)
    if says and not how.same:
        return None, text
    found = at(value, how.id) if how.id is not None else None
    id_ = str(row.at) if is_empty(found) or found == MARK else str(found)
    if says:
        return apart(shorten(tidy(text), _BEFORE).rstrip(".:"), id_), text
    return row.ref if is_empty(found) else f"{how.id} {id_}" if id_.isdecimal() else id_, ""


def facets(row: ShownRow, found: Known) -> Facets:
    flat: dict[str, Json] = {key: value for key, value in row.value.items() if key != REQUEST}
    for key in _INNER:
        inner = opened(flat.pop(key, None))
        flat = {**(inner if isinstance(inner, dict) else {}), **flat}
    made = dict(usual_facets(flat, _NO_FACETS))
    made["graded"] = (name(graded(row, found)),)
    given = [tool.name for tool in request(row.value).tools]
    if 0 < len(given) <= _TOOLS:
        made["tools"] = tuple(dict.fromkeys(given))
    if any(key in flat for key in ("image", "docker_image", "image_name")):
        made["runs"] = (name("Image"),)
    return filled(made)


def graded(row: ShownRow, found: Known) -> str:
    """A value of the facet `graded`."""
    if found.server is not None and found.server.judge:
        return "Model judge"
    told = graded_by(withheld_places(row))
    return "Program" if told == "Not found" and (found.server or found.agent) is not None else told


def server_of(table: Table) -> str | None:
    """The server that a whole set is known to be for, on which its policy depends: rows may be for any."""
    found = known(None, table.key.repo_id, frozenset())
    return found.server.name if found.server else None


def _before_metadata(sections: Sequence[Section], run: Section) -> tuple[Section, ...]:
    return (
        *(section for section in sections if section.id != "metadata"),
        run,
        *(section for section in sections if section.id == "metadata"),
    )


def _overview(found: Known, counts: Counts) -> Sequence[Row]:
    rows: list[Row] = []
    if found.server is not None:
        about, checks = found.server.about, found.server.checks
        rows.append(Row(say("nemo.env.server"), name(found.server.name), name(about) if about else None, code=True))
        if checks:
            rows.append(Row(say("nemo.env.checks"), name(checks)))
        graded = tuple(facet_value(item.value, "graded") for item in counts.facets.get("graded", ()))
        if graded:
            rows.append(Row(say("facet.graded"), graded))
    if found.agent is not None:
        rows.append(Row(say("nemo.env.agent"), name(found.agent.name), code=True))
    return rows
