"""Server-sent events: numbered, kept alive, ended when the visitor leaves; so many at once and no more."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rlx.answers.shown import Json
from rlx.errors import TooMany
from rlx.web.site import viewer_of

IN_ALL: Final = 400
"""Streams that are open at once, of this process."""
EACH: Final = 24
"""Of one who is known."""
STRANGERS: Final = 200
"""Of all who are not: behind a proxy they look like one."""
_SOON: Final = 10

type Line = Callable[[], AbstractContextManager[None]]
"""Open while its stream is. Raises `TooMany`."""


class Lines:
    """The streams that are open."""

    def __init__(self, *, in_all: int = IN_ALL, each: int = EACH, strangers: int = STRANGERS) -> None:
        self._in_all = in_all
        self._most = {True: each, False: strangers}
        self._open: Counter[str] = Counter()

    @contextmanager
    def line(self, name: str, *, known: bool) -> Iterator[None]:
        """Count a stream of `name` while the block lasts. Raises `TooMany`."""
        if self._open.total() >= self._in_all:
            raise TooMany("Many pages are being followed here.", hint="Read this one again later.", retry_after=_SOON)
        if self._open[name] >= self._most[known]:
            raise TooMany(
                f"You follow {self._open[name]} things at once." if known else "Many visitors follow pages here.",
                hint="Close a page that you do not need, or sign in." if known else "Read this one again later.",
                retry_after=_SOON,
            )
        self._open[name] += 1
        try:
            yield
        finally:
            self._open[name] -= 1
            if not self._open[name]:
                del self._open[name]


def line_of(request: Request) -> Line:
    """For whoever asks."""
    viewer = viewer_of(request)
    lines: Lines = request.app.state.lines
    return partial(lines.line, viewer.name or viewer.scope, known=viewer.kind != "anonymous")


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
    """Sends events as they come, and a comment every `keep_alive` seconds so that proxies keep the line open.

    Answers as `TooMany` does where `line` may not be opened.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[Event], *, line: Line = nullcontext, keep_alive: float = 15.0) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self.events = events
        self.keep_alive = keep_alive
        self._open = line
        self._turn = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._open():
            await self._follow(receive, send)

    async def _follow(self, receive: Receive, send: Send) -> None:
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
        async with self._turn:
            await send({"type": "http.response.body", "body": body, "more_body": True})

    async def _beat(self, send: Send) -> None:
        while True:
            await anyio.sleep(self.keep_alive)
            await self._send(send, b": still here\n\n")

    async def _leave(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()
