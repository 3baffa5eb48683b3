"""SkyRL: a prompt, the environment class that plays it, and the specification of its reward."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import MARK, Json, Policy, ShownJson, name, prose
from rlx.errors import BadInput
from rlx.formats.frameworks import SkyRLEnv
from rlx.formats.frameworks import table as framework_table
from rlx.formats.predict import Hints, check_of, predict_option
from rlx.formats.processors import training_rows as rows
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.prompts.cells import at, is_empty, opened, withheld_places
from rlx.formats.processors.prompts.summary import shares
from rlx.formats.processors.support import run_there, support
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Block, KeyValues, Note, Row, Section, Support, Text
from rlx.texts import say
from rlx.texts.values import facet_value

_SETTINGS: Final = (
    "reward_spec.method",
    "reward_model.method",
    "reward_model.style",
    "max_turns",
    "extra_info.max_turns",
)
_USED: Final = (*_SETTINGS, "env_class", "data_source", "tools")
_TESTED: Final = frozenset({"lcb"})
_WORDS: Final = frozenset({"aime", "gsm8k", "gsm8k_multi_turn", "lcb", "search", "searchcode", "text2sql"})
"""Environments that there is a sentence of ours for."""

POLICY: Final = Policy("skyrl", allow=rows.GIVEN, deny=frozenset({"extra_info.answer", "extra_info.cot"}))


class SkyRL:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "skyrl"
    framework = "skyrl"
    version = 2

    def match(self, table: Table) -> Match | None:
        columns = set(table.columns)
        if rows.PROMPT not in columns:
            return None
        if "env_class" in columns:
            return Match(0.94, say("skyrl.match.env_class"))
        if any(isinstance(opened(row.get("reward_spec")), Mapping) for row in table.sample):
            return Match(0.88, say("skyrl.match.reward_spec"))
        return Match(0.6, say("skyrl.match.tag")) if "skyrl" in table.tags else None

    def reading(self, table: Table, roles: Roles) -> "SkyRLReading":
        if roles:
            raise BadInput("The columns of SkyRL's rows have the roles that SkyRL gives them.")
        return SkyRLReading(table, POLICY, rows.Title.of(table, POLICY))


@dataclass(frozen=True, slots=True)
class SkyRLReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    table: Table
    policy: Policy
    title: rows.Title
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        facets = rows.facets(row, ("env_class", "data_source"), ("reward_spec", "reward_model", "env_class"))
        facets["graded"] = (name(_graded(row)),)
        env = _env(row.value)[1]
        if env is not None and env.tools:
            facets["tools"] = tuple(name(tool) for tool in env.tools)
        return self.title.card(row, facets)

    def view(self, row: ShownRow) -> TaskView:
        grading = rows.grading_blocks(row, tuple(_sentences(row.value)), _SETTINGS[:3])
        sections = (
            rows.prompt_section(row),
            Section("grading", say("rows.section.grading"), grading),
            Section("environment", say("rows.section.environment"), tuple(_environment(row.value))),
            self._run(row.value),
            rows.metadata(row, _USED),
        )
        card = self.card(row)
        glance = tuple(
            Row(
                say(f"facet.{key}") if key != "category" else say("skyrl.glance.env"),
                facet_value(card.facets[key][0], key),
            )
            for key in ("category", "difficulty", "graded")
            if card.facets.get(key)
        )
        found = check_of(row.value, Hints("skyrl", grader=_env(row.value)[0]))
        options = (predict_option(found, rows.asked_text(row)),)
        return TaskView(tuple(section for section in sections if section.blocks), glance, options, self._support())

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return rows.noted(cards)

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        drawn = tuple(shares(counts))
        overview = (Section("overview", say("training.section.overview"), drawn),) if drawn else ()
        return SummaryView((*overview, self._run(rows.first(self.table, self.policy))), (), self._support())

    def _run(self, row: Mapping[str, Json]) -> Section:
        told, files = framework_table("skyrl"), rows.Files.of(self.table)
        named, env = _env(row)
        lines = [
            f"pip install 'skyrl[fsdp]=={told.source.version}'",
            rows.download(self.table, files),
            "python -m skyrl.train.entrypoints.main_base \\",
            f"  data.train_data={files.option(files.train)} data.val_data={files.option(files.validate)} \\",
            f"  environment.env_class={shlex.quote(named or '<env_class>')} \\",
            '  trainer.policy.model.path="$MODEL"',
        ]
        if named is None:
            lines[4] = "  environment.env_class=<env_class> \\"
        notes: list[Text] = [say("skyrl.run.needs", version=told.source.version, python=told.python), *files.notes]
        if env is None:
            notes.append(say("skyrl.run.own"))
        return run_there("SkyRL", prose("\n".join(lines)), *notes)

    def _support(self) -> Support:
        return support(
            "skyrl",
            "SkyRL",
            lifecycle=say("skyrl.lifecycle"),
            reward=say("skyrl.reward"),
            evidence=say("skyrl.evidence"),
            run=say("skyrl.support.run"),
        )


def _env(row: Mapping[str, Json]) -> tuple[str | None, SkyRLEnv | None]:
    """The environment class that the row names, and what is known of it."""
    named = rows.text_at(row, "env_class")
    return named, framework_table("skyrl").envs.get(named) if named is not None else None


def _sentences(row: Mapping[str, Json]) -> Iterator[Text]:
    named, env = _env(row)
    version = framework_table("skyrl").source.version
    if named is None:
        yield say("skyrl.grading.none")
    elif env is None:
        yield say("skyrl.grading.own", env=named, version=version)
    else:
        yield say("skyrl.grading.env", env=named, version=version)
        if named in _WORDS:
            yield say(f"skyrl.env.{named}")
    if rows.text_at(row, "reward_spec.method") == "rule":
        yield say("skyrl.grading.rule")


def _environment(row: Mapping[str, Json]) -> Iterator[Block]:
    named, env = _env(row)
    told = framework_table("skyrl").source
    found: list[Row] = []
    if named is not None:
        about = name(env.about) if env is not None and env.about else None
        found.append(Row(say("skyrl.glance.env"), name(named), about, code=True))
    if env is not None and env.tools:
        found.append(Row(say("facet.tools"), tuple(name(tool) for tool in env.tools), code=True))
    turns = next((value for path in ("max_turns", "extra_info.max_turns") if _is_count(value := at(row, path))), None)
    if turns is not None:
        found.append(Row(say("skyrl.turns"), name(str(turns))))
    elif env is not None and env.turns is not None:
        found.append(Row(say("skyrl.turns"), name(str(env.turns)), say("skyrl.turns_default")))
    if found:
        yield KeyValues(tuple(found))
    if env is not None:
        lacking = [column for column in env.needs if is_empty(row.get(column)) and row.get(column) != MARK]
        if lacking:
            yield Note(say("skyrl.lacks", columns=", ".join(lacking)), "warn")
        yield Note(rows.sources(told.version, told.date, "SkyRL Gym"))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9


def _graded(row: ShownRow) -> str:
    """A value of the facet `graded`."""
    if rows.text_at(row.value, "env_class") in _TESTED:
        return "Tests"
    return "Reference answer" if withheld_places(row) else "Program"
