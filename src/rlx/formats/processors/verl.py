"""verl: a prompt, its data source, which names the reward function, and the reference that function compares with."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers import Json, Policy, ShownJson, name, prose
from rlx.errors import BadInput
from rlx.formats.frameworks import table as framework_table
from rlx.formats.predict import Hints, check_of, predict_option
from rlx.formats.processors import training_rows as rows
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.prompts.cells import at, is_empty, opened, withheld_places
from rlx.formats.processors.prompts.summary import shares
from rlx.formats.processors.support import run_there, support
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Block, KeyValues, Note, Row, Section, Support, Text
from rlx.texts import Say, say
from rlx.texts.values import facet_value

_SOURCE: Final = re.compile(r"[\w./:@ -]{1,80}")
"""A name of a source of data, which may be told of the whole set."""
_REWARDS: Final = ("reward_model", "ground_truth")
_KWARGS: Final = "extra_info.tools_kwargs"
_INTERACTION: Final = "extra_info.interaction_kwargs"
_SETTINGS: Final = ("reward_model.style", "reward_model.method")
_USED: Final = (*_SETTINGS, "data_source", "ability", "agent_name", "tools", _INTERACTION, _KWARGS)
_WORDS: Final = frozenset(
    {"gsm8k", "math_reward", "math_dapo", "prime_math", "prime_code", "geo3k", "search_r1_like_qa_em"}
)
"""Reward functions that there is a sentence of ours for."""

POLICY: Final = Policy("verl", allow=rows.GIVEN, deny=frozenset({"extra_info.answer", "extra_info.cot"}))


class Verl:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "verl"
    framework = "verl"
    version = 2

    def match(self, table: Table) -> Match | None:
        columns = set(table.columns)
        if rows.PROMPT not in columns or "env_class" in columns:
            return None
        rewarded = [row for row in table.sample if isinstance(opened(row.get("reward_model")), Mapping)]
        if "data_source" in columns and len(rewarded) * 2 >= max(len(table.sample), 1):
            return Match(0.92, say("verl.match.rows", more=say(f"verl.match.{_more(table)}")))
        if len(rewarded) * 2 >= max(len(table.sample), 1):
            return Match(0.8, say("verl.match.reward_model"))
        if {"data_source", "ability"} <= columns:
            return Match(0.6, say("verl.match.source"))
        return Match(0.5, say("verl.match.tag")) if "verl" in table.tags else None

    def reading(self, table: Table, roles: Roles) -> "VerlReading":
        if roles:
            raise BadInput("The columns of verl's rows have the roles that verl gives them.")
        return VerlReading(table, POLICY, rows.Title.of(table, POLICY))


def _more(table: Table) -> str:
    return "tools" if any(not is_empty(at(row, _KWARGS)) for row in table.sample) else "plain"


@dataclass(frozen=True, slots=True)
class VerlReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    table: Table
    policy: Policy
    title: rows.Title
    columns: Sequence[str] | None = None

    def card(self, row: ShownRow) -> RowCard:
        facets = rows.facets(row, ("ability", "data_source"), (*_REWARDS, "ability", "agent_name"))
        facets["graded"] = (name(_graded(row)),)
        called = _tools(row.value)
        if called:
            facets["tools"] = tuple(name(tool) for tool in called)
        return self.title.card(row, facets)

    def view(self, row: ShownRow) -> TaskView:
        source = rows.text_at(row.value, "data_source")
        sections = (
            rows.prompt_section(row),
            Section(
                "grading",
                say("rows.section.grading"),
                rows.grading_blocks(row, tuple(_sentences(row.value, source)), _SETTINGS),
            ),
            Section("environment", say("rows.section.environment"), tuple(_environment(row.value))),
            self._run(row.value, source),
            rows.metadata(row, _USED),
        )
        scorer = framework_table("verl").scorer(source) if source is not None else None
        hints = Hints("verl", grader=scorer.name if scorer else None, loop=rows.text_at(row.value, "agent_name"))
        return TaskView(
            tuple(section for section in sections if section.blocks),
            self._glance(row),
            (predict_option(check_of(row.value, hints), rows.asked_text(row)),),
            self._support(),
        )

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return rows.noted(cards)

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        named = (row.get("data_source") for row in self.table.sample)
        found = {source for source in named if isinstance(source, str) and _SOURCE.fullmatch(source)}
        row = rows.first(self.table, self.policy)
        told = tuple(_scorer(name(source)) for source in sorted(found)[:8])
        sections = (
            Section("overview", say("training.section.overview"), tuple(shares(counts))),
            Section("scores", say("rows.section.grading"), tuple(Note(item) for item in told)),
            self._run(row, rows.text_at(row, "data_source")),
        )
        return SummaryView(tuple(item for item in sections if item.blocks), (), self._support())

    def _glance(self, row: ShownRow) -> tuple[Row, ...]:
        card, source = self.card(row), rows.text_at(row.value, "data_source")
        found = [
            Row(say(f"facet.{key}"), facet_value(card.facets[key][0], key))
            for key in ("difficulty", "category", "graded")
            if card.facets.get(key)
        ]
        if source is not None:
            found.append(Row(say("verl.glance.source"), name(source), code=True))
        loop = rows.text_at(row.value, "agent_name")
        if loop is not None:
            found.append(Row(say("verl.glance.loop"), name(loop), code=True))
        return tuple(found)

    def _run(self, row: Mapping[str, Json], source: str | None) -> Section:
        told, files = framework_table("verl"), rows.Files.of(self.table)
        lines = [
            f"pip install 'verl=={told.source.version}'",
            rows.download(self.table, files),
            "python -m verl.trainer.main_ppo \\",
            f"  data.train_files={files.option(files.train)} data.val_files={files.option(files.validate)} \\",
            f"  data.prompt_key={rows.PROMPT} data.reward_fn_key=data_source \\",
        ]
        notes: list[Text] = [
            say("verl.run.config"),
            say("verl.run.needs", version=told.source.version, python=told.python),
            *files.notes,
        ]
        if source is None or told.scorer(source) is None:
            notes.append(say("verl.run.own"))
            lines.append(
                "  reward.custom_reward_function.path=reward.py reward.custom_reward_function.name=compute_score \\"
            )
        if _tools(row):
            notes.append(say("verl.run.tools"))
            lines.append("  actor_rollout_ref.rollout.multi_turn.enable=True \\")
            lines.append("  actor_rollout_ref.rollout.multi_turn.tool_config_path=tools.yaml \\")
        lines.append('  actor_rollout_ref.model.path="$MODEL"')
        return run_there("verl", prose("\n".join(lines)), *notes)

    def _support(self) -> Support:
        return support(
            "verl",
            "verl",
            lifecycle=say("verl.lifecycle"),
            reward=say("verl.reward"),
            evidence=say("verl.evidence"),
            run=say("verl.support.run"),
        )


def _scorer(source: str) -> Say:
    """Which reward function is picked for a data source, in words."""
    told = framework_table("verl")
    scorer = told.scorer(source)
    if scorer is None:
        return say("verl.grading.own", source=source, version=told.source.version)
    return say("verl.grading.scorer", source=source, version=told.source.version, name=scorer.name)


def _sentences(row: Mapping[str, Json], source: str | None) -> Iterator[Text]:
    if source is None:
        yield say("verl.grading.none")
    else:
        yield _scorer(source)
        scorer = framework_table("verl").scorer(source)
        if scorer is not None and scorer.name in _WORDS:
            yield say(f"verl.scorer.{scorer.name}")
    style = rows.text_at(row, "reward_model.style")
    if style in {"rule", "model"}:
        yield say(f"verl.grading.{style}")
    called = _tools(row)
    if called:
        yield say("verl.grading.tools", n=len(called))


def _environment(row: Mapping[str, Json]) -> Iterator[Block]:
    told = framework_table("verl")
    found: list[Row] = []
    loop = rows.text_at(row, "agent_name")
    if loop is not None:
        about = told.agent_loops.get(loop)
        note: Text | None = name(about) if about else None if loop in told.agent_loops else say("verl.env.own_loop")
        found.append(Row(say("verl.glance.loop"), name(loop), note, code=True))
    called = _tools(row)
    if called:
        found.append(Row(say("facet.tools"), tuple(name(tool) for tool in called), say("verl.env.tools"), code=True))
    interaction = opened(at(row, _INTERACTION))
    if isinstance(interaction, dict) and interaction:
        called_it = interaction.get("name")
        word = name(called_it[:120]) if isinstance(called_it, str) and called_it else say("verl.env.unnamed")
        found.append(
            Row(say("verl.env.interaction"), word, say("verl.env.interaction_told", version=told.source.version))
        )
    if found:
        yield KeyValues(tuple(found))
    else:
        yield Note(say("verl.env.single"))


def _tools(row: Mapping[str, Json]) -> tuple[str, ...]:
    """Tools that are created with values of the row."""
    found = opened(at(row, _KWARGS))
    return (
        tuple(key[:120] for key, value in found.items() if not is_empty(value))[:40] if isinstance(found, dict) else ()
    )


def _graded(row: ShownRow) -> str:
    """A value of the facet `graded`."""
    source = rows.text_at(row.value, "data_source") or ""
    scorer = framework_table("verl").scorer(source)
    if rows.text_at(row.value, "reward_model.style") == "model":
        return "Model judge"
    if scorer is not None and scorer.name in {"prime_code", "sandbox_fusion"}:
        return "Tests"
    return "Reference answer" if withheld_places(row) else "Program"
