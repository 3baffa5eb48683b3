"""The seats of a worker, and the address at which the site and the command line of this machine reach them."""

import asyncio
import hmac
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rlx.runners.seats.seat import Seat, Visitor

LONGEST: Final = 64 * 1024
"""Bytes of one message."""
INSTRUCTION: Final = 100_000
"""Characters."""
TAKEN, OVER, TOO_LONG = 4001, 4000, 1009
"""Codes of a line that is closed: somebody else took the seat; it is no more; a message was too long."""


class Desk:
    """Of one worker. Whoever does not show `key` is told nothing."""

    def __init__(self, key: str | None = None) -> None:
        self._key = key or secrets.token_urlsafe(24)
        self._seats: dict[str, Seat] = {}
        self.app = Starlette(
            routes=[
                Route("/{id}", self._look, methods=["GET"]),
                Route("/{id}/grade", self._grade, methods=["POST"]),
                WebSocketRoute("/{id}/line", self._line),
            ]
        )

    @contextmanager
    def seat(self, id: str, seat: Seat) -> Iterator[None]:
        """A rollout has a seat while the block lasts."""
        self._seats[id] = seat
        try:
            yield
        finally:
            del self._seats[id]

    def _found(self, connection: HTTPConnection) -> Seat | None:
        """The seat that is asked for, if it is open and whoever asks may know."""
        offered = connection.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(offered.encode(), self._key.encode()):
            return None
        seat = self._seats.get(connection.path_params["id"])
        return seat if seat is not None and seat.is_open else None

    async def _look(self, request: Request) -> Response:
        return Response(status_code=404 if self._found(request) is None else 204)

    async def _grade(self, request: Request) -> Response:
        seat = self._found(request)
        if seat is None:
            return Response(status_code=404)
        seat.grade()
        return Response(status_code=204)

    async def _line(self, socket: WebSocket) -> None:
        """Bytes are what is typed and shown; texts are JSON: `{"size": [columns, rows]}`, `{"seen": bytes}`."""
        seat = self._found(socket)
        if seat is None:
            await socket.close(OVER)
            return
        await socket.accept()
        visitor = seat.attend()
        left = seat.seconds_left
        told = {"open": True, "seconds": None if left is None else round(left)}
        await socket.send_text(json.dumps({**told, "instruction": seat.instruction[:INSTRUCTION]}))
        tasks = [asyncio.create_task(_showing(socket, visitor)), asyncio.create_task(_typing(socket, seat, visitor))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            taken = visitor.gone and seat.is_open
            seat.leave(visitor)
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        code = next((found for found in ended if isinstance(found, int)), TAKEN if taken else OVER)
        with suppress(RuntimeError, WebSocketDisconnect):  # the visitor has closed it
            await socket.close(code)
        for error in ended:
            if isinstance(error, Exception) and not isinstance(error, WebSocketDisconnect | RuntimeError):
                raise error


async def _showing(socket: WebSocket, visitor: Visitor) -> None:
    while data := await visitor.take():
        await socket.send_bytes(data)


async def _typing(socket: WebSocket, seat: Seat, visitor: Visitor) -> int | None:
    """Until the visitor is gone; the code to close the line with when it is ours to close."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        data, text = message.get("bytes"), message.get("text")
        if len(data or text or "") > LONGEST:
            return TOO_LONG
        if data:
            seat.type(data)
        elif text:
            _control(text, seat, visitor)


def _control(text: str, seat: Seat, visitor: Visitor) -> None:
    """Whatever is no known message is passed over."""
    try:
        told: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(told, dict):
        return
    size, seen = told.get("size"), told.get("seen")
    if isinstance(size, list) and len(size) == 2 and all(type(each) is int and 0 < each < 1000 for each in size):
        seat.resize(size[0], size[1])
    if type(seen) is int:
        visitor.saw(seen)
