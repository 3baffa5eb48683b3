"""The agent `simple`: a loop that gives a model one tool, a shell in the sandbox, until it stops calling it."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from rlx.errors import ModelError

SYSTEM: Final = (
    "You work on a task in a Linux sandbox. Use the tool `bash` to look around, to do the work and to check it. "
    "Every call starts a new shell. When the task is done, answer without calling the tool."
)
TOOL: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command with bash in the sandbox and see what it prints.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}
MAX_TURNS: Final = 1000
_KEPT: Final = 16_000
"""Characters of a command's output that the model sees."""

type Ask = Callable[[Sequence[Mapping[str, Any]]], Awaitable[Mapping[str, Any]]]
"""From messages to a chat completion. Raises `ModelError`."""
type Run = Callable[[str], Awaitable[tuple[int, str]]]
"""From a command to its exit code and what it printed."""


@dataclass(slots=True)
class Told:
    """What was said, as messages of the chat, and as steps of an ATIF trajectory."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    tokens_in: int | None = None
    tokens_out: int | None = None

    def say(self, source: str, text: str, **more: Any) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat()
        step = {"step_id": len(self.steps) + 1, "timestamp": now, "source": source, "message": text, **more}
        self.steps.append(step)
        return step

    def count(self, completion: Mapping[str, Any]) -> None:
        usage = completion.get("usage")
        if isinstance(usage, Mapping):
            for name, key in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
                if isinstance(usage.get(key), int):
                    setattr(self, name, (getattr(self, name) or 0) + usage[key])


async def work(instruction: str, ask: Ask, run: Run, told: Told, *, max_turns: int = MAX_TURNS) -> None:
    """Work on a task until the model says that it is done. What was said is in `told`, also when this ends early."""
    told.messages += [{"role": "system", "content": SYSTEM}, {"role": "user", "content": instruction}]
    told.say("system", SYSTEM)
    told.say("user", instruction)
    for _ in range(max_turns):
        completion = await ask(told.messages)
        message = _message(completion)
        told.count(completion)
        calls = _calls(message)
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        told.messages.append(
            {"role": "assistant", "content": text, **({"tool_calls": message["tool_calls"]} if calls else {})}
        )
        step = told.say("agent", text)
        if not calls:
            return
        step["tool_calls"] = [
            {"tool_call_id": id, "function_name": name, "arguments": arguments} for id, name, arguments in calls
        ]
        results = []
        for id, name, arguments in calls:
            output = await _done(name, arguments, run)
            told.messages.append({"role": "tool", "tool_call_id": id, "content": output})
            results.append({"source_call_id": id, "content": output})
        step["observation"] = {"results": results}


def _message(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise ModelError("The model's answer holds no message.")
    return message


def _calls(message: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    found = []
    told = message.get("tool_calls")
    for index, call in enumerate(told if isinstance(told, list) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        try:
            arguments = json.loads(function.get("arguments") or "{}")
        except (TypeError, ValueError):
            arguments = {}
        found.append(
            (
                str(call.get("id") or f"call_{index}"),
                str(function.get("name")),
                arguments if isinstance(arguments, Mapping) else {},
            )
        )
    return found


async def _done(name: str, arguments: Mapping[str, Any], run: Run) -> str:
    command = arguments.get("command")
    if name != "bash" or not isinstance(command, str):
        return "There is one tool, bash, which takes a text `command`."
    code, output = await run(command)
    if len(output) > _KEPT:
        half = _KEPT // 2
        output = f"{output[:half]}\n[{len(output) - _KEPT} characters left out]\n{output[-half:]}"
    return output if code == 0 else f"{output}\n[exit code {code}]"
