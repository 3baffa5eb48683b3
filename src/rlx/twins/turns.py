"""A conversation as it is read: turns with their calls and outputs together, and tools by their signatures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlx.answers.shown import Json
from rlx.model import Message, Tool

OPEN: Final = 14
"""Turns up to which a conversation is shown at once; of a longer one the first and last."""
FIRST: Final = 6
LAST: Final = 4
_PARAMETERS: Final = 80
_ENUM: Final = 4
_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Part:
    """What was said, or a call with what it was answered with."""

    message: Message
    outputs: tuple[Message, ...] = ()

    @property
    def is_call(self) -> bool:
        return self.message.kind == "call"

    @property
    def error(self) -> bool:
        return self.message.error or any(output.error for output in self.outputs)


@dataclass(frozen=True, slots=True)
class Turn:
    number: int
    """From 1; turns that are left out are counted."""
    parts: tuple[Part, ...]

    @property
    def first(self) -> Message:
        return self.parts[0].message

    @property
    def calls(self) -> int:
        return sum(part.is_call for part in self.parts)

    @property
    def is_gap(self) -> bool:
        return self.first.kind == "gap"


def grouped(items: Sequence[Message]) -> tuple[Turn, ...]:
    """Messages as turns. Those that tell no turn are told apart by who speaks."""
    found: list[list[Part]] = []
    for item in items:
        last = found[-1][-1] if found else None
        if last is not None and item.kind == "output" and last.is_call and item.call_id == last.message.call_id:
            found[-1][-1] = Part(last.message, (*last.outputs, item))
        elif last is not None and _goes_on(found[-1][0].message, item):
            found[-1].append(Part(item))
        else:
            found.append([Part(item)])
    turns: list[Turn] = []
    number = 1
    for parts in found:
        turns.append(Turn(number, tuple(parts)))
        number += parts[0].message.cut if turns[-1].is_gap else 1
    return tuple(turns)


def _goes_on(first: Message, item: Message) -> bool:
    if "gap" in {first.kind, item.kind} or first.turn != item.turn:
        return False
    return item.role == first.role or item.kind in {"call", "output"}


def folded(turns: Sequence[Turn]) -> tuple[Sequence[Turn], Sequence[Turn], Sequence[Turn]]:
    """The first turns, those in between, which are folded, and the last."""
    if len(turns) <= OPEN:
        return turns, (), ()
    return turns[:FIRST], turns[FIRST:-LAST], turns[-LAST:]


def count(turns: Sequence[Turn]) -> int:
    """How many turns these are, with those that are left out."""
    return sum(turn.first.cut if turn.is_gap else 1 for turn in turns)


def arguments(call: Message) -> Iterator[tuple[str, str]]:
    """Names and values of a call's arguments; a name is empty where there is none."""
    value = call.data.value if call.data is not None else None
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield name, item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, indent=_indent(item))
    elif value is not None and value != {}:
        yield "", json.dumps(value, ensure_ascii=False, indent=2)
    elif call.text:
        yield "", call.text


def _indent(value: Json) -> int | None:
    return 2 if isinstance(value, dict | list) and len(json.dumps(value)) > 80 else None


def signature(tool: Tool) -> str:
    """`name(arg: type, other?: type)`: a parameter that may be left out has a question mark."""
    schema = tool.parameters.value if tool.parameters is not None else None
    if not isinstance(schema, dict):
        return f"{tool.name}()"
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        properties = {} if "type" in schema or "$ref" in schema else schema
    needed = set(map(str, required)) if isinstance(required, list) else set(properties)
    told = [
        f"{name}{'' if name in needed else '?'}: {_kind(of)}" for name, of in list(properties.items())[:_PARAMETERS]
    ]
    if len(properties) > _PARAMETERS:
        told.append("…")
    return f"{tool.name}({', '.join(told)})"


def _kind(schema: Json, depth: int = 0) -> str:
    """A JSON Schema in a few words."""
    if not isinstance(schema, dict) or depth > _DEPTH:
        return schema[:40] if isinstance(schema, str) and schema else "any"
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        told = [json.dumps(item, ensure_ascii=False)[:40] for item in choices[:_ENUM]]
        return " | ".join([*told, *(["…"] if len(choices) > _ENUM else [])])
    kind = schema.get("type")
    for key in ("anyOf", "oneOf"):
        either = schema.get(key)
        if kind is None and isinstance(either, list) and either:
            return " | ".join(dict.fromkeys(_kind(item, depth + 1) for item in either[:_ENUM]))
    if isinstance(kind, list):
        return " | ".join(str(item)[:40] for item in kind[:_ENUM]) or "any"
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        inner = _kind(schema["items"], depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    return kind[:40] if isinstance(kind, str) and kind else "any"
