"""The scripted model: a chat model like OpenAI's that plays a script, so that an agent is seen at work without a key.

It has no state: where it is in its script is told by how often it has spoken already. `solve` knows the tasks of the
demo, from the demo itself; `wrong` looks around and gives up. It calls the tool of a request that runs commands, by the
tool's own schema; it speaks the JSON of Harbor's terminal agent where that is asked for, and else in plain words.
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
_SHELLS = ("bash", "shell", "run_shell_command", "execute_bash", "terminal", "exec_command")
"""What agents call their tool for commands."""
_TYPED = "keystrokes"
"""Told by the terminal agent, which has no tools."""
_SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-swe-agent wants to see printed at the end. It takes no answer without a command."""


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
    if _SUBMIT in told:
        script = Script((*script.commands, f"echo {_SUBMIT}"), script.last)
    tool = _shell_of(request.get("tools"))
    if tool is not None:
        message = _with_tool(script, turn, tool)
    elif _TYPED in told:
        message = _in_terminal(script, turn)
    else:
        message = {"role": "assistant", "content": script.last}
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


def _with_tool(script: Script, turn: int, tool: Mapping[str, Any]) -> dict[str, Any]:
    if turn >= len(script.commands):
        return {"role": "assistant", "content": script.last}
    told = f"Step {turn + 1} of {len(script.commands)}."
    call = {
        "id": f"call_{turn + 1}",
        "type": "function",
        "function": {
            "name": tool["name"],
            "arguments": json.dumps(_arguments(tool.get("parameters"), script.commands[turn], told)),
        },
    }
    return {"role": "assistant", "content": told, "tool_calls": [call]}


def _arguments(schema: object, command: str, told: str) -> dict[str, Any]:
    """The command where the tool's schema has it, and words for whatever other texts it cannot do without."""
    schema = schema if isinstance(schema, Mapping) else {}
    fields = schema.get("properties")
    fields = fields if isinstance(fields, Mapping) else {}
    place = next((name for name in ("command", "cmd") if name in fields), "command")
    known = fields.get(place)
    is_list = isinstance(known, Mapping) and known.get("type") == "array"
    required = schema.get("required")
    texts = {
        name: told
        for name in (required if isinstance(required, list) else ())
        if isinstance(name, str) and isinstance(fields.get(name), Mapping) and fields[name].get("type") == "string"
    }
    return {**texts, place: ["bash", "-lc", command] if is_list else command}


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


def _shell_of(tools: object) -> Mapping[str, Any] | None:
    """The tool that runs commands: one with a name that says so, else the first."""
    offered = [tool.get("function") for tool in (tools if isinstance(tools, list) else ()) if isinstance(tool, Mapping)]
    named = [tool for tool in offered if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)]
    return next((tool for tool in named if tool["name"] in _SHELLS), named[0] if named else None)
