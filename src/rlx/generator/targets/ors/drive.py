"""Plays the variant for ORS over its HTTP protocol: the `World` that `rlx.generator.check.driving` asks for."""

import json
import urllib.request
from itertools import count
from typing import Any

_SESSIONS = count(1)
_REFUSED = {"not_found", "name_collision", "input_validation", "bad_input_shape"}


def ask(url: str, body: Any = None, session: str = "") -> str:
    """The text of an answer. A body makes it a POST."""
    headers = {"Content-Type": "application/json", "X-Session-ID": session}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data, headers=headers)) as answer:
        text: str = answer.read().decode()
    return text


def last_event(text: str) -> Any:
    """The JSON of a stream of events: pieces in `chunk` events, the rest in `end`."""
    pieces = []
    for event in text.replace("\r\n", "\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in event.split("\n") if ": " in line)
        if lines.get("event") == "error":
            raise RuntimeError(f"The tool failed: {lines.get('data')}")
        if lines.get("event") in ("chunk", "end"):
            pieces.append(lines.get("data", ""))
    return json.loads("".join(pieces))


class Session:
    def __init__(self, url: str, name: str, split: str, index: int) -> None:
        self._url, self._name = url, name
        self._id = f"parity-{next(_SESSIONS)}"
        ask(f"{url}/create", {"env_name": name, "split": split, "index": index}, self._id)
        blocks = json.loads(ask(f"{url}/{name}/prompt", session=self._id))
        self.prompt = "\n".join(block["text"] for block in blocks)
        self._total = 0.0
        self._done = False

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        text = ask(f"{self._url}/{self._name}/call", {"name": tool, "input": arguments}, self._id)
        answer = last_event(text)
        if not answer["ok"]:
            kind = "over" if answer["reason"] == "episode_finished" else "refused"
            if kind == "refused" and answer["reason"] not in _REFUSED:
                raise RuntimeError(f"{tool}({arguments}): {answer}")
            return {"kind": kind, "text": None, "reward": 0.0, "done": self._done}
        output = answer["output"]
        self._done = output["finished"]
        self._total += output["reward"] or 0.0
        said = "\n".join(block["text"] for block in output["blocks"])
        return {"kind": "step", "text": said, "reward": output["reward"] or 0.0, "done": self._done}

    def end(self) -> float:
        ask(f"{self._url}/delete", {}, self._id)
        return self._total


class World:
    def __init__(self, folder: str, url: str) -> None:
        self._url = url
        self._name = json.loads(ask(f"{url}/list_environments"))[0]

    def tools(self) -> list[dict[str, Any]]:
        listed = json.loads(ask(f"{self._url}/{self._name}/tools"))["tools"]
        return [{"name": t["name"], "description": t["description"], "parameters": t["input_schema"]} for t in listed]

    def published(self, split: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(ask(f"{self._url}/{self._name}/tasks", {"split": split}))["tasks"]
        return found

    def start(self, split: str, index: int) -> Session:
        return Session(self._url, self._name, split, index)
