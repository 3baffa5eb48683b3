"""What of a rollout's events is shown, and as what: all of it passes the answers policy here.

Whatever the reference solution does, writes or says is an answer: of its rollouts, phases and scores are shown and
nothing else. Of all others, what the agent was given, said and got is shown as it is; what graded it is masked.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rlx.answers import MARK, Masked, Shown, ShownJson, name, prose, whole
from rlx.answers.logs import verifier_log
from rlx.answers.shown import Json
from rlx.model import Message
from rlx.rollout import Event, EventKind, Rollout

SOLVER: Final = "oracle"
"""The agent that plays the reference solution."""
_OPEN: Final[frozenset[EventKind]] = frozenset({"status", "stage", "usage"})
"""Kinds that are shown of the reference solution's rollouts too."""
_PARAMETERS: Final = re.compile(r"\[.*\]", re.DOTALL)
"""Of a test, which may be what it expects."""
_USAGE: Final = ("tokens_in", "tokens_out", "tokens_cached", "cost", "calls", "model_calls", "tool_calls")
_ITEMS: Final = 500


def solves(rollout: Rollout) -> bool:
    """It played the reference solution."""
    return rollout.agent == SOLVER


@dataclass(frozen=True, slots=True)
class Check:
    name: Shown
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Changed:
    path: Shown
    change: Shown
    size: int | None


def log_text(text: str, path: str = "log") -> Masked:
    """What a grader printed, a message of it, or one about it, masked."""
    return verifier_log(text, path=path)


def check_name(text: str) -> Shown:
    """A test's name without its parameters, among which its expectations are."""
    return name(_PARAMETERS.sub(f"[{MARK}]", text[:300]))


def checks_of(event: Event) -> tuple[Check, ...]:
    items = event.data.get("items")
    found = [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    return tuple(Check(check_name(_text(item.get("name"))), _bool(item.get("passed"))) for item in found[:_ITEMS])


def changes_of(event: Event) -> tuple[Changed, ...]:
    items = event.data.get("items")
    found = [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    return tuple(
        Changed(name(_text(item.get("path"))[:400]), name(_text(item.get("change"))[:40]), _count(item.get("size")))
        for item in found[:_ITEMS]
    )


def tools_of(event: Event) -> tuple[ShownJson, ...]:
    """Tools that were offered to the model, as chat completions has them; what cannot be read is left out."""
    items = event.data.get("items")
    found = []
    for item in items if isinstance(items, list) else ():
        value = arguments_of(item)
        if isinstance(item, str) and isinstance(value, ShownJson):
            found.append(value)
    return tuple(found[:_ITEMS])


def event_json(event: Event, rollout: Rollout) -> dict[str, Json] | None:
    """An event as it may be shown; None for one that may not be."""
    if solves(rollout) and event.kind not in _OPEN:
        return None
    data: Mapping[str, Any] = event.data
    told: dict[str, Json]
    match event.kind:
        case "status":
            told = {"status": name(_text(data.get("status")))}
        case "stage":
            told = {
                "stage": name(_text(data.get("stage"))),
                "state": name(_text(data.get("state"))),
                "seconds": _number(data.get("seconds")),
            }
        case "usage":
            told = {key: _number(data[key]) for key in _USAGE if key in data}
        case "prompt" | "thinking" | "message":
            told = {"text": prose(_text(data.get("text"))), "role": name(_role(event))}
        case "call":
            arguments = arguments_of(data.get("arguments"))
            told = {
                "id": name(_text(data.get("id"))),
                "name": name(_text(data.get("name"))),
                "arguments": arguments.value if isinstance(arguments, ShownJson) else arguments,
            }
        case "output":
            told = {
                "id": name(_text(data.get("id"))),
                "text": prose(_text(data.get("text"))),
                "error": bool(data.get("error")),
                "seconds": _number(data.get("seconds")),
            }
        case "tools":
            told = {"items": [tool.value for tool in tools_of(event)]}
        case "checks":
            items: list[Json] = [{"name": item.name, "passed": item.passed} for item in checks_of(event)]
            told = {"passed": _count(data.get("passed")), "failed": _count(data.get("failed")), "items": items}
        case "files":
            told = {
                "items": [{"path": item.path, "change": item.change, "size": item.size} for item in changes_of(event)]
            }
        case _:
            told = {"text": log_text(_text(data.get("text"))).text}
            told |= {key: name(_text(data[key])) for key in ("source", "kind") if key in data}
    cut = _count(data.get("cut"))
    return {
        "n": event.n,
        "at": event.at.isoformat(),
        "kind": event.kind,
        "data": {**told, **({"cut": cut} if cut else {})},
    }


def messages_of(events: Iterable[Event], rollout: Rollout) -> tuple[Message, ...]:
    """What was said, called and answered, as turns: outputs stand behind their calls."""
    if solves(rollout):
        return ()
    found: list[Message] = []
    turn, last = 0, ""
    for event in events:
        if event.kind not in {"prompt", "thinking", "message", "call", "output"}:
            continue
        if event.kind == "output":
            _place_output(found, event, turn)
        else:
            if _begins(event, last):
                turn += 1
                found.append(replace(_message(event, turn), note=_moment(event, rollout)))
            else:
                found.append(_message(event, turn))
        last = event.kind
    return tuple(found)


def _moment(event: Event, rollout: Rollout) -> Shown | None:
    """Minutes and seconds after the start."""
    if rollout.started_at is None:
        return None
    seconds = max(0, int((event.at - rollout.started_at).total_seconds()))
    return name(f"+{seconds // 60}:{seconds % 60:02}")


def arguments_of(value: object) -> ShownJson | Shown:
    """Arguments of a call: JSON, also where it came as text; else the text."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return prose(value)
        return whole(parsed) if isinstance(parsed, dict) else prose(value)
    return whole(value if value is not None else {})


def _begins(event: Event, last: str) -> bool:
    """Whether an event begins a turn, after one of the kind `last`."""
    if event.kind == "prompt" or last in {"", "prompt"}:
        return True
    if event.kind == "message":
        return last != "thinking" or _role(event) != "assistant"
    return last == "output" or (event.kind == "thinking" and last == "call")


def _message(event: Event, turn: int) -> Message:
    data, role = event.data, name(_role(event))
    cut = _count(data.get("cut")) or 0
    if event.kind == "call":
        arguments = arguments_of(data.get("arguments"))
        id = _text(data.get("id"))
        return Message(
            role,
            arguments if isinstance(arguments, Shown) else prose(""),
            "call",
            name=name(_text(data.get("name"))),
            call_id=name(id) if id else None,
            data=arguments if isinstance(arguments, ShownJson) else None,
            cut=cut,
            turn=turn,
        )
    text = prose(_text(data.get("text")))
    return Message(role, text, "reasoning" if event.kind == "thinking" else "message", cut=cut, turn=turn)


def _place_output(found: list[Message], event: Event, turn: int) -> None:
    """Put an output behind its call, whichever came between."""
    data = event.data
    id = name(_text(data.get("id")))
    output = Message(
        name("tool"),
        prose(_text(data.get("text"))),
        "output",
        call_id=id or None,
        error=bool(data.get("error")),
        cut=_count(data.get("cut")) or 0,
        turn=turn,
    )
    for at in range(len(found) - 1, -1, -1):
        call = found[at]
        if call.kind == "call" and call.call_id == output.call_id:
            found.insert(at + 1, replace(output, name=call.name, turn=call.turn))
            return
    found.append(output)


def _role(event: Event) -> str:
    told = event.data.get("role")
    if isinstance(told, str) and told:
        return told[:40]
    return "user" if event.kind == "prompt" else "assistant"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _bool(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(value: object) -> float | int | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
