"""Server-sent events: numbered, kept alive, ended when the visitor leaves."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rlx.answers.shown import Json


@dataclass(frozen=True, slots=True)
class Event:
    id: int
    """Grows from event to event; a visitor who comes back asks for what follows it."""
    name: str
    data: Json

    def encode(self) -> bytes:
        # JSON without line breaks keeps an event's data on one line.
        return f"id: {self.id}\nevent: {self.name}\ndata: {json.dumps(self.data)}\n\n".encode()


def last_event_id(request: Request) -> int:
    """The last event the visitor has, from `Last-Event-ID` or `after`; 0 for none."""
    told = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    return int(told) if told.isascii() and told.isdigit() and len(told) <= 12 else 0


class EventStream(Response):
    """Sends events as they come, and a comment every `keep_alive` seconds so that proxies keep the line open."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[Event], *, keep_alive: float = 15.0) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self.events = events
        self.keep_alive = keep_alive
        self._line = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        ended = False
        async with anyio.create_task_group() as group:
            group.start_soon(self._beat, send)
            group.start_soon(self._leave, receive, group.cancel_scope)
            async for event in self.events:
                await self._send(send, event.encode())
            ended = True
            group.cancel_scope.cancel()
        if ended:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, body: bytes) -> None:
        async with self._line:
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _beat(self, send: Send) -> None:
        while True:
            await anyio.sleep(self.keep_alive)
            await self._send(send, b": still here\n\n")

    async def _leave(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()
