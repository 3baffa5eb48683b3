"""The page of a rollout: what came of it, all that was said, the tools, and what else the row tells."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rlx.answers import MARK, Json, name, prose
from rlx.formats.conversation import tools, turns
from rlx.formats.processors.base import RowCard, ShownRow
from rlx.formats.processors.prompts.cells import at, held, is_empty, opened, told
from rlx.formats.processors.traces import atif, measures
from rlx.formats.processors.traces.shapes import TOOLS, Talk
from rlx.model import Block, Disclose, KeyValues, Message, Note, Row, Section, Text, Tools, Transcript
from rlx.texts import say
from rlx.texts.values import facet_value

_SCORES: Final = 40
"""Named numbers that are told beside the reward."""
_VIOLATIONS: Final = 8
_SUBAGENTS: Final = 20
_HANDED_IN: Final = ("submission", "model_patch")
_ERROR: Final = 4000
_NAMED: Final = frozenset({*measures.MODELS, *measures.AGENTS, *measures.STATUS})


def sections(row: ShownRow, talk: Talk | None, said: Sequence[Message], card: RowCard) -> tuple[Section, ...]:
    given = [path for path in TOOLS if not is_empty(at(row.value, path))]
    spoken = {talk.column or "steps", "subagent_trajectories"} if talk is not None else set()
    if talk is not None and talk.kind == "swe-agent":
        spoken |= {"trajectory", "history"}
    above = {*spoken, *given, *(key for key, _ in _scores(row.value)), measures.reward_of(row.value)[1]}
    above |= {key for key in _NAMED if isinstance(row.value.get(key), str)}
    rest = [path for path in _opened(row.value, given) if path not in above]
    known = [
        Section("tools", say("facet.tools"), tuple(_tools(row.value, given))),
        Section("transcript", say("rows.section.transcript"), tuple(_transcript(row.value, talk, said))),
        Section("outcome", say("rows.section.outcome"), tuple(_outcome(row.value, card))),
        Section("grading", say("traces.withheld"), (*_handed_in(row), *held(row))),
        Section("metadata", say("rows.section.metadata"), told(row.value, rest)),
    ]
    return tuple(section for section in known if section.blocks)


def _handed_in(row: ShownRow) -> Iterator[Block]:
    """That a patch is withheld although the model wrote it, where one is."""
    if any(item.reason == say("answers.diff") or item.where.endswith(_HANDED_IN) for item in row.withheld):
        yield Note(say("traces.handed_in"))


def _opened(row: Mapping[str, Json], given: Sequence[str]) -> Iterator[str]:
    """Paths to all that a row holds: of objects that hold tools, to each of their parts."""
    holders = {path.partition(".")[0] for path in given if "." in path}
    for key, value in row.items():
        inner = opened(value) if key in holders else None
        yield from (f"{key}.{below}" for below in inner) if isinstance(inner, dict) else (key,)


def glance(card: RowCard) -> tuple[Row, ...]:
    rows = [Row(say("facet.outcome"), facet_value(value, "outcome")) for value in card.facets.get("outcome", ())]
    rows += [Row(say(f"facet.{key}"), value) for key in ("model", "agent") for value in card.facets.get(key, ())]
    return (*rows, *_measured(card, ("reward", "turns", "tokens")))


def _outcome(row: Mapping[str, Json], card: RowCard) -> Iterator[Block]:
    rows = list(glance(card)[: 1 if card.facets.get("outcome") else 0])
    column = measures.reward_of(row)[1]
    reward = card.numbers.get("reward")
    if reward is not None and column is not None:
        rows.append(Row(say("facet.reward"), name(f"{reward:.6g}"), say("traces.told_by", column=column)))
    rows += [Row(say("traces.status"), name(status)) for status in dict.fromkeys(measures.statuses(row))]
    rows += [Row(say(f"facet.{key}"), value) for key in ("model", "agent") for value in card.facets.get(key, ())]
    rows += _measured(card, ("turns", "tokens", "seconds", "cost"))
    used = {column, *measures.REWARDS, "tokens", "total_tokens", "seconds", "cost"}
    rows += [Row(name(key), _measure(value)) for key, value in _scores(row) if key not in used][:_SCORES]
    yield KeyValues(tuple(rows))
    for error in list(measures.errors_of(row))[:3]:
        yield Note(say("traces.error"), "warn", prose(error[:_ERROR]))


def _measured(card: RowCard, keys: Sequence[str]) -> Iterator[Row]:
    for key in keys:
        found = card.numbers.get(key)
        if found is None:
            continue
        label: Text = say(f"traces.{key}") if key in {"seconds", "cost"} else say(f"facet.{key}")
        yield Row(label, name(f"${found:,.4g}" if key == "cost" else _figure(found)))


def _scores(row: Mapping[str, Json]) -> Iterator[tuple[str, bool | float]]:
    """Named numbers of the row, and of objects called metrics or rewards in it."""
    for key, value in list(row.items())[:200]:
        inner = opened(value)
        if isinstance(value, bool) or atif.number(value) is not None:
            if len(key) < 80 and isinstance(value, bool | int | float):
                yield key, value
        elif key in {"metrics", "rewards", "scores", "reward_components"} and isinstance(inner, dict):
            for below, item in list(inner.items())[:_SCORES]:
                told_by = measures.graded(item)
                if told_by is not None:
                    yield f"{key}.{below}"[:80], told_by


def _measure(value: bool | float) -> Text:
    return say("traces.yes" if value else "traces.no") if isinstance(value, bool) else name(_figure(value))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() or abs(value) >= 10_000 else f"{value:,.6g}"


def _transcript(row: Mapping[str, Any], talk: Talk | None, said: Sequence[Message]) -> Iterator[Block]:
    if talk is not None and talk.kind == "atif":
        document = opened(row.get(talk.column)) if talk.column else row
        if isinstance(document, Mapping):
            found = list(atif.violations(document))
            yield from (Note(text, "warn") for text in found[:_VIOLATIONS])
    if said:
        yield Transcript(tuple(said))
    else:
        yield Note(say("traces.silent"), "warn")
    if talk is not None and talk.kind == "atif":
        yield from _subagents(row if not talk.column else opened(row.get(talk.column)))


def _subagents(document: object) -> Iterator[Block]:
    """What other agents did that this one set to work."""
    held_inside = document.get("subagent_trajectories") if isinstance(document, Mapping) else None
    for inner in held_inside[:_SUBAGENTS] if isinstance(held_inside, list) else ():
        if isinstance(inner, Mapping) and atif.is_document(inner):
            agent = measures.agent_of(inner) or str(inner.get("trajectory_id") or "?")[:80]
            yield Disclose(say("traces.subagent", name=agent), (Transcript(turns(atif.messages(inner))),))


def _tools(row: Mapping[str, Json], given: Sequence[str]) -> Iterator[Block]:
    for path in given:
        found = tools(at(row, path))
        if found and at(row, path) != MARK:
            yield Tools(found)
