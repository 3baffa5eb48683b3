"""Between the capture proxy and models: sends calls on with their keys, and tells them.

Each rollout has a line with a name that nobody can guess. Keys of endpoints stay here: neither an agent nor the capture
proxy nor a file sees them. How a model is reached is a `Send` of `rlx.runners.models.reach`; what it may cost, a
`Purse` that such a `Send` goes through; when it may be asked, a `Gate`.
"""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse

from rlx.runners.models.completion import message_of, told_error
from rlx.runners.models.purse import Send
from rlx.runners.models.reach import sender
from rlx.runners.watch import Watch

__all__ = ["Gate", "Line", "Relay", "Send", "sender"]

CLOSED: Final = "The agent's time is over: its model answers no more."


@dataclass(slots=True)
class Gate:
    """Lets calls through while it is open. What an agent leaves behind asks on, and somebody pays for the answers."""

    is_open: bool = True

    def through(self, send: Send) -> Send:
        """`send` while the gate is open, then 403. The call that waits for money before it is refused here too."""

        async def passed(body: Mapping[str, Any]) -> tuple[int, Any]:
            if not self.is_open:
                return 403, {"error": {"message": CLOSED}}
            return await send(body)

        return passed


@dataclass(slots=True)
class Line:
    send: Send
    watch: Watch
    gate: Gate = field(default_factory=Gate)
    trouble: str | None = None
    """What the model answered last, if that was an error."""


class Relay:
    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    @contextmanager
    def line(self, line: Line) -> Iterator[str]:
        """The path of a line while the block lasts."""
        name = secrets.token_hex(16)
        self._lines[name] = line
        try:
            yield f"/relay/{name}/v1"
        finally:
            del self._lines[name]

    async def endpoint(self, request: Request) -> JSONResponse:
        line = self._lines.get(request.path_params["name"])
        if line is None:
            return _error(404, "There is no such line.")
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return _error(400, "The body is no JSON object.")
        if not line.gate.is_open:
            return _error(403, CLOSED)
        line.watch.offered(body.get("tools"))
        line.watch.request(_messages(body))
        status, answer = await line.send(body)
        if status != 200:
            line.trouble = f"{status}: {told_error(answer)}"
            return JSONResponse(answer, status)
        line.trouble = None
        line.watch.response(message_of(answer), answer.get("usage"))
        return JSONResponse(answer)


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = body.get("messages")
    return [message for message in (told if isinstance(told, list) else ()) if isinstance(message, Mapping)]


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message}}, status)
