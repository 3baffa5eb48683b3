"""Plays the variant for Verifiers in its process: the `World` that `rlx.generator.check.driving` asks for.

A rollout starts a process for its tools and hands state over HTTP. Here tools are registered with the same MCP server
and called through it, and state goes through the same JSON, so that hundreds of episodes take seconds.
"""

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError
from verifiers.v1.taskset import Taskset

_RUNNER = asyncio.Runner()


class Session:
    def __init__(self, task: Any) -> None:
        self._task = task
        self.prompt = task.data.prompt
        self._server = task.toolsets(task.config)[0]
        self._mcp = MCPServer("parity")
        state = type(self._server.state)
        self._kept = state().model_dump_json()

        async def pull() -> Any:
            return state.model_validate_json(self._kept)

        async def push(before: bytes) -> None:
            self._kept = self._server.state.model_dump_json()

        self._server._pull_state, self._server._push_state = pull, push
        self._state = state
        self._server.register(self._mcp)
        _RUNNER.run(self._server.setup_task(type(task.data).model_validate_json(task.data.model_dump_json())))

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        before = self._now()
        try:
            result = _RUNNER.run(self._mcp.call_tool(tool, arguments))
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError) and not str(error).startswith("Unknown tool"):
                raise
            return {"kind": "refused", "text": None, "reward": 0.0, "done": before.done}
        after = self._now()
        text = result.content[0].text
        return {"kind": "step", "text": text, "reward": after.reward - before.reward, "done": after.done}

    def tools(self) -> list[dict[str, Any]]:
        listed = _RUNNER.run(self._mcp.list_tools())
        return [{"name": t.name, "description": t.description, "parameters": t.input_schema} for t in listed]

    def end(self) -> float:
        trace = type("Trace", (), {"state": self._now()})()
        return float(_RUNNER.run(self._task.reward(trace)))

    def _now(self) -> Any:
        return self._state.model_validate_json(self._kept)


class World:
    def __init__(self, folder: str, url: str) -> None:
        sys.path.insert(0, folder)
        package = import_module(next(Path(folder).glob("*/taskset.py")).parent.name)
        self._taskset: type[Any] = next(
            kind for name in package.__all__ if issubclass(kind := getattr(package, name), Taskset)
        )
        self._config = import_module(f"{package.__name__}.taskset").__dict__
        self._id = package.__name__

    def tools(self) -> list[dict[str, Any]]:
        return Session(self._load("train")[0]).tools()

    def published(self, split: str) -> list[dict[str, Any]]:
        """What traces record of tasks."""
        return [task.data.model_dump(mode="json", exclude_defaults=True) for task in self._load(split)]

    def start(self, split: str, index: int) -> Session:
        return Session(self._load(split)[index])

    def _load(self, split: str) -> list[Any]:
        kind = next(
            value
            for value in self._config.values()
            if isinstance(value, type) and issubclass(value, vf.TasksetConfig) and value is not vf.TasksetConfig
        )
        return list(self._taskset(kind(id=self._id, split=split)))
