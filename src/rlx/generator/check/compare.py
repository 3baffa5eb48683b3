"""What a variant showed, step by step beside what the rules showed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rlx.generator.check.plan import Plan
from rlx.generator.schemas import differences
from rlx.generator.spec import EnvSpec

TOLERANCE = 1e-9
MOST = 50
"""Differences that are kept of a variant."""


@dataclass(frozen=True, slots=True)
class Difference:
    what: str
    """text, reward, done, error, total, prompt, tools, split or leak."""
    where: str
    wanted: str
    seen: str


def compare(
    spec: EnvSpec, plan: Plan, wanted: Mapping[str, Any], seen: Mapping[str, Any], steps: bool
) -> list[Difference]:
    """Every difference, up to `MOST`. `steps` says that the framework tells rewards step by step."""
    found = [*_tools(spec, seen), *_splits(spec, wanted, seen), *_leaks(spec, seen)]
    for number, planned in enumerate(plan.rounds):
        if len(found) >= MOST:
            break
        found += _round(f"round {number}", planned.calls, wanted["rounds"][number], seen["rounds"][number], steps)
    return found[:MOST]


def _round(
    place: str, calls: Any, wanted: Mapping[str, Any], seen: Mapping[str, Any], steps: bool
) -> Iterator[Difference]:
    for session, (prompt, told) in enumerate(zip(wanted["prompts"], seen["prompts"], strict=True)):
        if prompt != told:
            yield Difference("prompt", f"{place}, session {session}", prompt, str(told))
    for number, ((session, tool, arguments), one, other) in enumerate(
        zip(calls, wanted["steps"], seen["steps"], strict=True)
    ):
        where = f"{place}, call {number}, session {session}: {tool}({json.dumps(arguments, ensure_ascii=False)})"
        yield from _step(where, one, other, steps)
    for session, (one, other) in enumerate(zip(wanted["totals"], seen["totals"], strict=True)):
        if other is not None and abs(one - other) > TOLERANCE:
            yield Difference("total", f"{place}, session {session}", str(one), str(other))


def _step(where: str, one: Mapping[str, Any], other: Mapping[str, Any], steps: bool) -> Iterator[Difference]:
    allowed = {
        "step": {"step"},
        "refused": {"refused", "over"} if one["done"] else {"refused"},
        "over": {"step", "over"},
    }[one["kind"]]
    if other["kind"] not in allowed:
        yield Difference("error", where, one["kind"], other["kind"])
    elif other["text"] is not None and one["text"] != other["text"]:
        yield Difference("text", where, one["text"], other["text"])
    if steps and other["reward"] is not None and abs(one["reward"] - other["reward"]) > TOLERANCE:
        yield Difference("reward", where, str(one["reward"]), str(other["reward"]))
    if steps and other["reward"] is None:
        yield Difference("reward", where, str(one["reward"]), "none")
    if other["done"] is not None and one["done"] != other["done"]:
        yield Difference("done", where, str(one["done"]), str(other["done"]))


def _tools(spec: EnvSpec, seen: Mapping[str, Any]) -> Iterator[Difference]:
    published = {tool["name"]: tool for tool in seen["tools"]}
    names = [tool.name for tool in spec.action.tools]
    if sorted(published) != sorted(names):
        yield Difference("tools", "list of tools", ", ".join(names), ", ".join(published))
    for tool in spec.action.tools:
        if one := published.get(tool.name):
            for text in differences(tool, one["description"] or "", one["parameters"]):
                yield Difference("tools", tool.name, "as specified", text)


def _splits(spec: EnvSpec, wanted: Mapping[str, Any], seen: Mapping[str, Any]) -> Iterator[Difference]:
    for split in spec.splits:
        ids = [task["id"] for task in wanted["splits"][split]]
        told = [task.get("id") for task in seen["splits"][split]]
        if ids != told:
            yield Difference("split", split, ", ".join(ids), ", ".join(map(str, told)))


def _leaks(spec: EnvSpec, seen: Mapping[str, Any]) -> Iterator[Difference]:
    """Hidden keys, or hidden values, in what is published of tasks."""
    by_id = {task.id: task for task in spec.tasks}
    for split, tasks in seen["splits"].items():
        for published in tasks:
            task = by_id.get(published.get("id"))
            keys, values = _inside(published)
            hidden = task.hidden if task is not None else {}
            leaked = {key for key in hidden if key in keys} | {key for key, value in hidden.items() if value in values}
            for key in sorted(leaked):
                yield Difference("leak", f"{split}, task {published.get('id')}", "hidden", key)


def _inside(value: Any) -> tuple[set[str], list[Any]]:
    """The keys and the telling values at any depth."""
    if isinstance(value, Mapping):
        parts = [_inside(each) for each in value.values()]
        keys = set(value)
    elif isinstance(value, list):
        parts, keys = [_inside(each) for each in value], set()
    else:
        return set(), []
    telling = [value] if value else []
    singles = [each for each in (value.values() if isinstance(value, Mapping) else value) if _tells(each)]
    return keys.union(*(part[0] for part in parts)), [*telling, *singles, *(v for part in parts for v in part[1])]


def _tells(value: Any) -> bool:
    """Whether a value is rare enough that finding it says something: no flag, no small number, no letter."""
    return not isinstance(value, bool) and len(str(value)) > 2
