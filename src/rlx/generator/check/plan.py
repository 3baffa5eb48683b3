"""Random calls for parity: legal ones, illegal ones, repeated ones, malformed ones, and ones after the end."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rlx.generator.archetypes.base import Archetype, Call
from rlx.generator.spec import EnvSpec, Parameter, Task

ROUNDS = 200
"""Sequences of calls; every third one plays two sessions in turns."""
_MOST_CALLS = 14
_WRONG: dict[str, tuple[Any, ...]] = {
    "string": (None, 7, ["a"]),
    "integer": ("three", None, 2.5, [1]),
    "number": ("three", None, [1]),
    "boolean": ("perhaps", None, 7),
    "strings": (None, 7),
    "integers": (None, 7),
}


@dataclass(frozen=True, slots=True)
class Place:
    split: str
    index: int


@dataclass(frozen=True, slots=True)
class Round:
    """Sessions that are open together, and their calls in the order they are made: session, tool, arguments."""

    tasks: tuple[Place, ...]
    calls: tuple[tuple[int, str, dict[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    splits: tuple[str, ...]
    rounds: tuple[Round, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def calls(self) -> int:
        return sum(len(each.calls) for each in self.rounds)


def make_plan(spec: EnvSpec, kind: Archetype | None, rounds: int = ROUNDS, seed: int = 0) -> Plan:
    """The same plan for the same arguments."""
    source = random.Random(seed)  # noqa: S311  # games, not secrets
    places = {split: [task for task in spec.tasks if task.split == split] for split in spec.splits}
    made = []
    for number in range(rounds):
        chosen = [_place(source, places) for _ in range(2 if number % 3 == 2 else 1)]
        tasks = [places[place.split][place.index] for place in chosen]
        # One round in eight goes past the last call that an episode may have, where that is not far.
        far = number % 8 == 7 and spec.termination.max_calls <= 60
        length = spec.termination.max_calls + 2 if far else source.randint(1, _MOST_CALLS)
        made.append(Round(tuple(chosen), tuple(_calls(spec, kind, source, tasks, length))))
    return Plan(spec.splits, tuple(made))


def _place(source: random.Random, places: Mapping[str, list[Task]]) -> Place:
    split = source.choice(list(places))
    return Place(split, source.randrange(len(places[split])))


def _calls(
    spec: EnvSpec, kind: Archetype | None, source: random.Random, tasks: list[Task], length: int
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    last: Call | None = None
    for _ in range(length * len(tasks)):
        session = source.randrange(len(tasks))
        task = tasks[session]
        known = {"id": task.id, "split": task.split, "prompt": task.prompt, **task.given, **task.hidden}
        luck = source.random()
        if last is not None and luck < 0.15:
            call = last
        else:
            call = kind.guess(spec, source, known) if kind is not None else _any(spec, source)
            if luck > 0.85:
                call = _spoiled(spec, source, call)
        last = call
        yield session, call.tool, dict(call.arguments)


def _any(spec: EnvSpec, source: random.Random) -> Call:
    """A call of any tool with values that its parameters say are possible."""
    tool = source.choice(spec.action.tools)
    return Call(tool.name, {each.name: _value(each, source) for each in tool.parameters})


def _value(parameter: Parameter, source: random.Random) -> Any:
    if parameter.choices:
        return source.choice(parameter.choices)
    low = int(parameter.minimum if parameter.minimum is not None else 0) - 1
    high = int(parameter.maximum if parameter.maximum is not None else low + 10) + 1
    return {
        "string": source.choice(["", "a", "yes", "status", "日本"]),
        "integer": source.randint(low, max(low, high)),
        "number": source.randint(low, max(low, high)) / 2,
        "boolean": source.random() < 0.5,
        "strings": ["a"] * source.randint(0, 3),
        "integers": [source.randint(0, 9)] * source.randint(0, 3),
    }[parameter.type]


def _spoiled(spec: EnvSpec, source: random.Random, call: Call) -> Call:
    """A call that frameworks refuse, or that they have to coerce, all alike."""
    tool = next(tool for tool in spec.action.tools if tool.name == call.tool)
    way = source.choice(["unknown", "missing", "wrong", "coerced", "coerced"])
    if way == "unknown" or not tool.parameters:
        return Call("no_such_tool", {})
    parameter = source.choice(tool.parameters)
    arguments = dict(call.arguments)
    if way == "missing":
        arguments.pop(parameter.name, None)
    elif way == "wrong":
        arguments[parameter.name] = source.choice(_WRONG[parameter.type])
    elif parameter.type in ("integer", "number") and isinstance(arguments.get(parameter.name), int | float):
        value = arguments[parameter.name]
        arguments[parameter.name] = source.choice([str(value), float(value)])
    return Call(call.tool, arguments)
