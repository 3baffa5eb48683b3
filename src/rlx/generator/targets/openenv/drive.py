"""Plays the variant for OpenEnv over its WebSocket: the `World` that `rlx.generator.check.driving` asks for."""

import json
import urllib.request
from typing import Any

from websockets.sync.client import connect


class Session:
    def __init__(self, url: str, split: str, index: int) -> None:
        self._socket = connect(f"ws{url.removeprefix('http')}/ws", max_size=None)
        self.prompt = self._ask("reset", {"split": split, "index": index})["observation"]["prompt"]
        self._total = 0.0

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        seen = self._ask("step", {"type": "call_tool", "tool_name": tool, "arguments": arguments})
        self._total += seen["reward"] or 0.0
        answer = {"reward": seen["reward"], "done": seen["done"]}
        if error := seen["observation"].get("error"):
            if error["error_type"] != "tool_not_found" and "validation error" not in error["message"]:
                raise RuntimeError(f"{tool}({arguments}): {error}")
            return {"kind": "refused", "text": None, **answer}
        return {"kind": "step", "text": seen["observation"]["result"]["content"][0]["text"], **answer}

    def tools(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._ask("step", {"type": "list_tools"})["observation"]["tools"]
        return listed

    def end(self) -> float:
        self._socket.send(json.dumps({"type": "close"}))
        self._socket.close()
        return self._total

    def _ask(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        self._socket.send(json.dumps({"type": kind, "data": data}))
        answer = json.loads(self._socket.recv())
        if answer["type"] == "error":
            raise RuntimeError(f"{kind} {data}: {answer['data']}")
        found: dict[str, Any] = answer["data"]
        return found


class World:
    def __init__(self, folder: str, url: str) -> None:
        self._url = url
        with urllib.request.urlopen(f"{url}/list_environments") as answer:
            self._name = json.load(answer)[0]

    def tools(self) -> list[dict[str, Any]]:
        session = Session(self._url, "train", 0)
        listed = session.tools()
        session.end()
        return [{"name": t["name"], "description": t["description"], "parameters": t["input_schema"]} for t in listed]

    def published(self, split: str) -> list[dict[str, Any]]:
        body = json.dumps({"split": split}).encode()
        asked = urllib.request.Request(
            f"{self._url}/{self._name}/tasks", data=body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked) as answer:
            found: list[dict[str, Any]] = json.load(answer)["tasks"]
        return found

    def start(self, split: str, index: int) -> Session:
        return Session(self._url, split, index)
