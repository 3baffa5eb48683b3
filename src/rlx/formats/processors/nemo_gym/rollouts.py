"""The processor of NeMo Gym's rollouts: what an agent answered to a request, and what the verifier made of it."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rlx.answers import MARK, Json, Policy, ShownJson, name
from rlx.errors import BadInput
from rlx.formats.conversation import turns
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.formats.processors.cards import filled
from rlx.formats.processors.nemo_gym.policies import ATTEMPTS, ROLLOUTS, of_server
from rlx.formats.processors.nemo_gym.request import REQUEST, request
from rlx.formats.processors.nemo_gym.tasks import TaskReading, evidence, naming, server_of
from rlx.formats.processors.prompts.cells import is_empty, opened, told
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Block, KeyValues, Message, Note, Row, Section, Support, Text, Transcript
from rlx.texts import say
from rlx.texts.values import facet_value

_MOST: Final = 0.4
"""Part of the rows that must be rollouts: a file of rollouts and the one of their inputs make one split."""
_SECONDS: Final = ("agent_run_time", "gen_seconds", "rollout_seconds", "duration_seconds", "elapsed_seconds")
_TURNS: Final = ("turns_used", "num_turns", "turn_count", "n_turns")
_IDS: Final = ("instance_id", "task_id", "task_idx", "problem_id", "provenance_id", "uuid", "id")
_ERRORS: Final = ("error", "error_kind", "failure_kind", "failure_reason", "exception_type", "agent_error_kind")


class NeMoGymRollouts:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "nemo-gym-rollouts"
    framework = "nemo-gym"
    version = 2

    def match(self, table: Table) -> Match | None:
        tried = [row for row in table.sample if _is_rollout(row)]
        if not tried or len(tried) < len(table.sample) * _MOST:
            return None
        if REQUEST in table.columns:
            return Match(0.97, say("nemo.match.rollouts", request=evidence(tried[0])))
        return Match(0.8, say("nemo.match.replies")) if "nemo-gym" in table.tags else None

    def reading(self, table: Table, roles: Roles) -> "RolloutReading":
        if roles:
            raise BadInput("The columns of NeMo Gym's rollouts have the roles that the framework gives them.")
        policy = of_server(ROLLOUTS, server_of(table))
        return RolloutReading(TaskReading(table, policy, naming(table, ROLLOUTS)))


@dataclass(frozen=True, slots=True)
class RolloutReading:
    """Meets `rlx.formats.processors.base.Reading`."""

    task: TaskReading
    columns: Sequence[str] | None = None

    @property
    def policy(self) -> Policy:
        return self.task.policy

    def card(self, row: ShownRow) -> RowCard:
        """Of a row without an attempt, which is an input among rollouts, the card of its task."""
        card = self.task.card(row)
        if not _is_rollout(row.value):
            return card
        facets = {**card.facets, "outcome": (name(_outcome(row.value)),)}
        model = _reply(row.value).get("model")
        if isinstance(model, str) and model.strip() and model != MARK:
            facets["model"] = (name(model[:120]),)
        return replace(card, facets=filled(facets), numbers=_numbers(row.value), of=_task(row.value))

    def view(self, row: ShownRow) -> TaskView:
        measures = [key for key, value in row.value.items() if _is_measure(key, value)]
        view = self.task.view(row, {*measures, *ATTEMPTS, *_ERRORS, "policy_response", "mask_sample"})
        kept = [section for section in view.sections if section.id != "run-there"]
        results = tuple(_results(row.value)) if _is_rollout(row.value) else ()
        asked = [replace(section, title=say("nemo.section.asked")) for section in kept if section.id == "prompt"]
        sections = (
            *asked,
            Section("transcript", say("rows.section.transcript"), tuple(_transcript(row.value))),
            Section("outcome", say("rows.section.outcome"), results),
            *(section for section in kept if section.id != "prompt"),
        )
        card = self.card(row)
        glance = [Row(say("facet.outcome"), facet_value(item, "outcome")) for item in card.facets.get("outcome", ())]
        reward = card.numbers.get("reward")
        if reward is not None:
            glance.append(Row(say("facet.reward"), name(f"{reward:.4g}")))
        glance += [Row(say("facet.model"), value) for value in card.facets.get("model", ())]
        told = tuple(section for section in sections if section.blocks)
        return TaskView(told, (*glance, *view.glance), (), _recorded(view.support))

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return self.task.facts(cards)

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        view = self.task.summary(facts, counts, run=False)
        return replace(view, support=_recorded(view.support))


def _recorded(support: Support) -> Support:
    """What can be done with a row that was run."""
    told = tuple(
        replace(item, evidence=say("nemo.support.recorded")) if item.id == "run" else item
        for item in support.capabilities
    )
    return replace(support, capabilities=told)


def _is_rollout(row: Mapping[str, object]) -> bool:
    return "reward" in row and any(not is_empty(row.get(key)) for key in ("response", "policy_response"))


def _reply(row: Mapping[str, Json]) -> Mapping[str, Json]:
    value = opened(row.get("response"))
    return value if isinstance(value, dict) else {}


def _outcome(row: Mapping[str, Json]) -> str:
    reward = _number(row.get("reward"))
    if reward is None:
        return "Error" if any(not is_empty(row.get(key)) for key in _ERRORS) else "Not graded"
    return "Solved" if reward >= 1 else "Failed" if reward <= 0 else "Partly solved"


def _numbers(row: Mapping[str, Json]) -> Mapping[str, float | None]:
    usage = _reply(row).get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    said = [message.turn for message in _said(row) if message.kind != "output"]
    turns_told = next((item for key in _TURNS if (item := _number(row.get(key))) is not None), None)
    return {
        "reward": _number(row.get("reward")),
        "tokens": _number(total),
        "turns": turns_told if turns_told is not None else float(len(set(said))) if said else None,
        "seconds": next((item for key in _SECONDS if (item := _number(row.get(key))) is not None), None),
    }


def _task(row: Mapping[str, Json]) -> str | None:
    """The same for attempts at the same task: made of what was asked and of the row's own id of it."""
    asked = [message.text for message in request(row).messages]
    told = [*asked, *(str(row[key]) for key in _IDS if not is_empty(row.get(key)))]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:20] if told else None


def _said(row: Mapping[str, Json]) -> tuple[Message, ...]:
    reply = row.get("response")
    output = _reply(row).get("output")
    for value in (output, reply if isinstance(reply, str | list) else None, row.get("policy_response")):
        if not is_empty(value) and value != MARK:
            return turns([{"role": "assistant", "content": value}]) if isinstance(value, str) else turns(value)
    return ()


def _transcript(row: Mapping[str, Json]) -> Iterator[Block]:
    said = _said(row)
    if said:
        yield Transcript(said)
    else:
        yield Note(say("nemo.rollouts.silent" if _is_rollout(row) else "nemo.rollouts.task_only"))


def _results(row: Mapping[str, Json]) -> Iterator[Block]:
    """The reward, the numbers beside it, what it took, and what went wrong."""
    reward = _number(row.get("reward"))
    rows = [Row(say("facet.reward"), say("nemo.rollouts.no_reward") if reward is None else name(f"{reward:.6g}"))]
    rows += [Row(name(key), _measure(value)) for key, value in row.items() if _is_measure(key, value)]
    usage = _reply(row).get("usage")
    for key, value in usage.items() if isinstance(usage, dict) else ():
        if _number(value) is not None:
            rows.append(Row(name(key), name(f"{_number(value) or 0:,.0f}")))
    yield KeyValues(tuple(rows))
    yield from told(row, [key for key in row if key in ATTEMPTS and not _is_measure(key, row[key])])
    status = _reply(row).get("status")
    if isinstance(status, str) and status not in ("", "completed", MARK):
        yield Note(say("nemo.rollouts.status", status=status[:60]), "warn")
    for key in _ERRORS:
        value = row.get(key)
        if isinstance(value, str) and value.strip() and value != MARK:
            yield Note(say("nemo.rollouts.error", column=key), "warn", name(value[:2000]))
    if row.get("mask_sample") is True:
        yield Note(say("nemo.rollouts.masked"), "warn")


def _is_measure(key: str, value: Json) -> bool:
    return key != "reward" and not key.startswith("_ng_") and isinstance(value, bool | int | float) and len(key) < 80


def _measure(value: Json) -> Text:
    if isinstance(value, bool):
        return say("nemo.yes" if value else "nemo.no")
    number = _number(value)
    return name(str(value) if number is None else f"{number:.6g}")


def _number(value: object) -> float | None:
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15 else None
    )
