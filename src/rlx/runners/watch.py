"""Turns the calls of a model into events of its rollout, as they happen: prompts, thoughts, calls, outputs, usage."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from rlx.rollout import EventKind, ModelUse, Usage
from rlx.runners.base import cost_of
from rlx.runners.models.completion import tokens_of

type Emit = Callable[[EventKind, Mapping[str, Any]], None]


class Watch:
    """Of one rollout. `request` before each call of the model, `response` after it."""

    def __init__(self, emit: Emit, model: ModelUse | None, *, quiet: bool = False) -> None:
        """`quiet` counts and tells nothing else."""
        self._emit = emit
        self._model = model
        self._quiet = quiet
        self._known: list[str] = []
        self._offered: list[str] = []
        self._last_call: str | None = None
        self._is_uncounted = False
        self.usage = Usage()

    @property
    def cost(self) -> float | None:
        return cost_of(self.usage, self._model)

    def offered(self, tools: object) -> None:
        """The tools of a call as chat completions has them, if they are others than those of the last."""
        told = [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
        # Texts, since a schema may be nested deeper than data of an event is kept.
        spellings = [json.dumps(tool, ensure_ascii=False) for tool in told]
        if spellings != self._offered:
            self._offered = spellings
            if not self._quiet:
                self._emit("tools", {"items": spellings})

    def request(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """What is new among the messages of a call."""
        spellings = [_spelling(message) for message in messages]
        same = 0
        while same < min(len(spellings), len(self._known)) and spellings[same] == self._known[same]:
            same += 1
        is_first = not self._known
        self._known = spellings
        for message in messages[same:]:
            self._tell_input(message, is_first=is_first)

    def response(self, message: Mapping[str, Any], usage: Mapping[str, Any] | None) -> None:
        self._known.append(_spelling(message))
        calls = list(_calls(message))
        if not self._quiet:
            thought = message.get("reasoning_content") or message.get("reasoning")
            if isinstance(thought, str) and thought.strip():
                self._emit("thinking", {"text": thought})
            text = _text(message)
            if text.strip():
                self._emit("message", {"text": text, "role": "assistant"})
            for call in calls:
                self._emit("call", call)
        if calls:
            self._last_call = calls[-1]["id"]
        self._count(usage if isinstance(usage, Mapping) else {}, len(calls))

    def _tell_input(self, message: Mapping[str, Any], *, is_first: bool) -> None:
        role, text = message.get("role"), _text(message)
        if role == "assistant" or self._quiet:
            return
        if role == "tool":
            self._emit("output", {"id": str(message.get("tool_call_id") or self._last_call or ""), "text": text})
        elif not text.strip():
            return
        elif is_first or self._last_call is None:
            self._emit("prompt", {"text": text, "role": str(role)})
        else:  # an agent without tools shows what its commands printed in the next message
            self._emit("output", {"id": self._last_call, "text": text})

    def _count(self, usage: Mapping[str, Any], calls: int) -> None:
        before = self.usage
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
        counts = tokens_of(usage)
        self._is_uncounted |= counts is None  # of one call, and so of all together
        self.usage = Usage(
            tokens_in=None if self._is_uncounted or counts is None else (before.tokens_in or 0) + counts[0],
            tokens_out=None if self._is_uncounted or counts is None else (before.tokens_out or 0) + counts[1],
            tokens_cached=_sum(before.tokens_cached, cached),
            model_calls=(before.model_calls or 0) + 1,
            tool_calls=(before.tool_calls or 0) + calls,
        )
        told: dict[str, Any] = {
            "tokens_in": self.usage.tokens_in,
            "tokens_out": self.usage.tokens_out,
            "calls": self.usage.model_calls,
        }
        self._emit("usage", told | ({"cost": self.cost} if self.cost is not None else {}))


def _sum(before: int | None, more: object) -> int | None:
    if not isinstance(more, int) or isinstance(more, bool) or more < 0:
        return before
    return (before or 0) + more


def _spelling(message: Mapping[str, Any]) -> str:
    """What makes two messages the same, however an agent repeats it."""
    return f"{message.get('role')}\n{_text(message)}"


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _calls(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Calls of tools; or keystrokes, of an agent that writes them as JSON."""
    found = []
    told = message.get("tool_calls")
    for call in told if isinstance(told, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            arguments = function.get("arguments")
            found.append({"id": str(call.get("id", "")), "name": str(function.get("name")), "arguments": arguments})
    return found or _keystrokes(_text(message))


def _keystrokes(text: str) -> list[dict[str, Any]]:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or '"keystrokes"' not in text:
        return []
    try:
        said = json.loads(text[start : end + 1])
    except ValueError:
        return []
    commands = said.get("commands") if isinstance(said, Mapping) else None
    return [
        {"id": f"keys-{crc32(text.encode()):08x}-{place}", "name": "keystrokes", "arguments": dict(command)}
        for place, command in enumerate(commands if isinstance(commands, list) else ())
        if isinstance(command, Mapping) and command.get("keystrokes")
    ]
