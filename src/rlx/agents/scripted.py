"""The scripted model: a chat model like OpenAI's that plays a script, so that an agent is seen at work without a key.

It has no state: where it is in its script is told by how often it has spoken already. `solve` knows the tasks of the
demo, from the demo itself; `wrong` looks around and gives up. It speaks in calls of a tool where the request offers
one, else in the JSON of Harbor's terminal agent.
"""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from rlx.agents import scripted_judge

SCRIPTS = ("solve", "wrong")
_LOOK = "pwd; ls -la"
_DONE = "I have done what was asked for."
_LOST = "I do not know how to do this, so I stop here."


@dataclass(frozen=True, slots=True)
class Script:
    commands: Sequence[str]
    last: str
    """What is said at the end."""


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The completion of a chat request. `model` names the script; an unknown one is played as `wrong`."""
    messages = [message for message in request.get("messages", []) if isinstance(message, Mapping)]
    told = "\n".join(_text(message) for message in messages if message.get("role") in ("system", "user"))
    turn = sum(message.get("role") == "assistant" for message in messages)
    name = str(request.get("model", "")).rpartition("/")[2]
    script = _script(name, told)
    tool = next((name for name in map(_tool_name, request.get("tools") or ()) if name), None)
    message = _with_tool(script, turn, tool) if tool else _in_terminal(script, turn)
    if name == scripted_judge.NAME:
        message = {"role": "assistant", "content": scripted_judge.verdict(told)}
    size = sum(len(_text(each)) for each in messages)
    spoken = len(json.dumps(message))
    return {
        "id": f"chatcmpl-scripted-{turn}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.get("model", ""),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
        ],
        "usage": {
            "prompt_tokens": size // 4 + 1,
            "completion_tokens": spoken // 4 + 1,
            "total_tokens": size // 4 + spoken // 4 + 2,
        },
    }


def create_app() -> Starlette:
    """The model as a server of its own."""

    async def complete(request: Request) -> JSONResponse:
        try:
            body = await request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return JSONResponse({"error": {"message": "The body is no JSON object."}}, 400)
        return JSONResponse(answer(body))

    async def models(request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in SCRIPTS]})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/v1/models", models),
        ]
    )


def _script(name: str, told: str) -> Script:
    if name == "solve":
        for heading, commands in _solutions():
            if heading in told:
                return Script((_LOOK, *commands, "ls -la"), _DONE)
    return Script((_LOOK, "echo 'This is not what was asked for.' > /tmp/notes.txt"), _LOST)


@cache
def _solutions() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of every task and step of the demo: its heading, and the commands of its solution."""
    found = []
    for owner in files("rlx.demo").joinpath("datasets").iterdir():
        for dataset in owner.iterdir() if owner.is_dir() else ():
            tasks = dataset.joinpath("tasks")
            for task in tasks.iterdir() if tasks.is_dir() else ():
                steps = task.joinpath("steps")
                for folder in (task, *(steps.iterdir() if steps.is_dir() else ())):
                    instruction, solution = folder.joinpath("instruction.md"), folder.joinpath("solution")
                    if instruction.is_file() and solution.joinpath("solve.sh").is_file():
                        found.append((instruction.read_text("utf-8").partition("\n")[0], _commands(solution)))
    return tuple(found)


def _commands(solution: Traversable) -> tuple[str, ...]:
    """The script of a solution, with the programs it calls written into it."""
    text = solution.joinpath("solve.sh").read_text("utf-8")

    def inlined(match: re.Match[str]) -> str:
        program = solution.joinpath(match[1]).read_text("utf-8")
        return f"python3 - <<'SOLVE_PY'\n{program.rstrip()}\nSOLVE_PY"

    text = re.sub(r"python3 /solution/(\w+\.py)", inlined, text)
    text = re.sub(r"\A#!.*\n", "", text)
    return (re.sub(r"\Aset -.*\n", "", text).strip(),)


def _with_tool(script: Script, turn: int, tool: str) -> dict[str, Any]:
    if turn >= len(script.commands):
        return {"role": "assistant", "content": script.last}
    call = {
        "id": f"call_{turn + 1}",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps({"command": script.commands[turn]})},
    }
    return {"role": "assistant", "content": f"Step {turn + 1} of {len(script.commands)}.", "tool_calls": [call]}


def _in_terminal(script: Script, turn: int) -> dict[str, Any]:
    """Harbor's terminal agent asks again before it takes a task for done, and is told the same."""
    is_done = turn >= len(script.commands)
    commands = [] if is_done else [{"keystrokes": script.commands[turn] + "\n", "duration": 1.0}]
    said = {
        "analysis": script.last if is_done else f"Step {turn + 1} of {len(script.commands)}.",
        "plan": "Nothing is left to do." if is_done else "Run the next command and look at what it prints.",
        "commands": commands,
        "task_complete": is_done,
    }
    return {"role": "assistant", "content": json.dumps(said, indent=1)}


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _tool_name(tool: object) -> str | None:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else None
