"""Plays the variant for NeMo Gym over its routes: the `World` that `rlx.generator.check.driving` asks for.

The framework publishes tasks as rows of a dataset, tells no reward before the end, and no list of tools but its schema.
"""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_RESPONSE = {
    "id": "parity",
    "created_at": 0,
    "model": "parity",
    "object": "response",
    "output": [],
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
}
_REFUSALS = {404, 422}


class Session:
    def __init__(self, url: str, row: dict[str, Any]) -> None:
        self._url, self._row = url, row
        self._cookie = ""
        self.prompt = "\n".join(message["content"] for message in row["responses_create_params"]["input"])
        self._post("seed_session", row)
        self._done = False

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self._post(tool, arguments)
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in _REFUSALS:
                    raise
            return {"kind": "refused", "text": None, "reward": None, "done": self._done}
        self._done = answer["done"]
        return {"kind": "step", "text": answer["text"], "reward": None, "done": self._done}

    def end(self) -> float:
        return float(self._post("verify", {**self._row, "response": _RESPONSE})["reward"])

    def _post(self, path: str, body: Any) -> Any:
        headers = {"Content-Type": "application/json", "Cookie": self._cookie}
        asked = urllib.request.Request(f"{self._url}/{path}", data=json.dumps(body).encode(), headers=headers)
        with urllib.request.urlopen(asked) as answer:
            self._cookie = (answer.headers.get("Set-Cookie") or self._cookie).split(";")[0]
            return json.load(answer)


class World:
    def __init__(self, folder: str, url: str) -> None:
        self._url = url
        self._rows = {path.stem: path for path in Path(folder).glob("resources_servers/*/data/*.jsonl")}
        with urllib.request.urlopen(f"{url}/openapi.json") as answer:
            self._schema = json.load(answer)

    def tools(self) -> list[dict[str, Any]]:
        """The tools of the rows, with their arguments as the server's own schema has them."""
        row = next(iter(self.published("example")))
        return [
            {"name": t["name"], "description": t["description"], "parameters": self._served(t["name"])}
            for t in row["responses_create_params"]["tools"]
        ]

    def published(self, split: str) -> list[dict[str, Any]]:
        lines = self._rows[split].read_text().splitlines() if split in self._rows else []
        return [{"id": row["verifier_metadata"]["task_id"], **row} for row in map(json.loads, lines)]

    def start(self, split: str, index: int) -> Session:
        row = self.published(split)[index]
        return Session(self._url, {key: value for key, value in row.items() if key != "id"})

    def _served(self, tool: str) -> dict[str, Any] | None:
        route = self._schema["paths"].get(f"/{tool}")
        if route is None:
            return None
        reference = route["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        found: dict[str, Any] = self._schema["components"]["schemas"][reference.rsplit("/", 1)[-1]]
        return found
