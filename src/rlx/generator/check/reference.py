"""The rules themselves, without a framework: what every variant has to show. Loaded by `driving.py`.

Arguments are taken as pydantic takes them, as every framework does: "3" is the integer 3, and "three" is refused.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

_TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "strings": list[str],
    "integers": list[int],
}


class Session:
    def __init__(self, world: "World", split: str, index: int) -> None:
        task = world.tasks.find(split, index)
        self.prompt = task["prompt"]
        self._tools = world.described
        self._episode = world.kind(world.tasks.full(task["id"]))

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        over = self._episode.done
        taken = self._taken(tool, arguments)
        if taken is None:
            return {"kind": "refused", "text": None, "reward": 0.0, "done": over}
        step = self._episode.call(tool, **taken)
        kind = "over" if over else "step"
        return {"kind": kind, "text": step.text, "reward": step.reward, "done": step.done}

    def end(self) -> float:
        self._episode.close()
        return float(self._episode.reward)

    def _taken(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments as the rules get them; None when they are refused before that."""
        if tool not in self._tools:
            return None
        taken: dict[str, Any] = {}
        for parameter in self._tools[tool]:
            value = arguments.get(parameter["name"], parameter.get("default"))
            if parameter["name"] not in arguments and "default" not in parameter:
                return None
            try:
                taken[parameter["name"]] = TypeAdapter(_TYPES[parameter["type"]]).validate_python(value)
            except ValidationError:
                return None
        return taken


class World:
    def __init__(self, folder: str, url: str) -> None:
        sys.path.insert(0, folder)
        names = json.loads(url)
        self.tasks = import_module("tasks")
        self.kind = getattr(import_module(names["module"]), names["class"])
        self.described = names["tools"]
        self.folder = Path(folder)

    def tools(self) -> list[dict[str, Any]]:
        return []

    def published(self, split: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.tasks.public(split)
        return found

    def start(self, split: str, index: int) -> Session:
        return Session(self, split, index)
