"""What may be a chat completion: its shape and its size, checked before anything of it is kept or acted on."""

import json
from collections.abc import Mapping
from typing import Any, Final

MOST_CALLS: Final = 64
"""Calls of tools in one answer."""
MOST_ARGUMENTS: Final = 512 * 1024
"""Characters of one call's arguments."""
MOST_TEXT: Final = 2 * 1024 * 1024
"""Characters of an answer's text, and of its thoughts."""


def fault_of(found: object) -> str | None:
    """Why an answer is no chat completion that an agent can be given; None: it is one."""
    choices = found.get("choices") if isinstance(found, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        return "The model's answer is no chat completion."
    for name in ("content", "reasoning", "reasoning_content"):
        if _size(message.get(name)) > MOST_TEXT:
            return f"The model's answer has more than {MOST_TEXT:,} characters."
    calls = message.get("tool_calls")
    if calls is None:
        return None
    if not isinstance(calls, list):
        return "The model's calls of tools are no list."
    if len(calls) > MOST_CALLS:
        return f"The model calls {len(calls):,} tools at once, and {MOST_CALLS} are taken."
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            return "The model calls a tool without its name."
        if _size(function.get("arguments")) > MOST_ARGUMENTS:
            return f"The model calls a tool with more than {MOST_ARGUMENTS:,} characters of arguments."
    return None


def message_of(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of a completion without fault."""
    message: Mapping[str, Any] = completion["choices"][0]["message"]
    return message


def told_error(answer: object) -> str:
    """What a server says of a request that it refused, in one line."""
    error = answer.get("error") if isinstance(answer, Mapping) else None
    told = error.get("message") if isinstance(error, Mapping) else error
    told = told or (answer.get("detail") or answer.get("message") if isinstance(answer, Mapping) else None)
    return " ".join(str(told or "no reason given").split())[:300]


def tokens_of(usage: object) -> tuple[int, int] | None:
    """Tokens in and out, where both are told."""
    if not isinstance(usage, Mapping):
        return None
    found = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    counts = [count for count in found if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    return (counts[0], counts[1]) if len(counts) == 2 else None


def _size(value: object) -> int:
    if value is None:
        return 0
    return len(value) if isinstance(value, str) else len(json.dumps(value))
