"""The line between a visitor's terminal and the seat of a rollout, and asking for the grading.

The seat is the worker's; this app hands bytes on, both ways, each as fast as the slower side takes them.
"""

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from rlx.agents.registry import HUMAN
from rlx.errors import BadInput, Forbidden, NotFound, Upstream, UserError
from rlx.jobs.queue_service import Rollouts
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.runners.seats.desk import LONGEST, TAKEN, TOO_LONG
from rlx.runners.seats.line import grade as ask_for_grading
from rlx.runners.seats.line import lined, worker_of
from rlx.runners.workers import WorkerCard
from rlx.twins.run import masked, run_record
from rlx.web.forms import is_form
from rlx.web.respond import VARY, to_bytes
from rlx.web.rollouts import blocking, known_id, launcher_of, named_viewer, rollouts_of
from rlx.web.site import site_of

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

PATH: Final = "/api/runs/{id}/seat"
MOST: Final = 200
"""Lines that are open at once."""
LOOK: Final = 0.3
"""Seconds between two looks whether there is a seat yet, or how the grading goes."""
NOT_YOURS, FULL = 1008, 1013


async def grade(request: Request, id: str) -> Response:
    """The person at the terminal is done: have it graded."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    rollout = await blocking(lambda: rollouts.views.own(known_id(id), viewer))
    if not await ask_for_grading(launcher_of(request).workers, rollout.id):
        raise BadInput("Nobody can be graded there now: the terminal is not open.", hint="The rollout's page says why.")
    url = site_of(request).links.run(rollout.id)
    if is_form(request):
        return RedirectResponse(url, 303)
    headers = {"cache-control": "private, no-store", "vary": VARY}
    return Response(to_bytes({**run_record(masked(rollout), url=url)}), 200, headers, "application/json")


class SeatLines:
    """Of one app."""

    def __init__(self) -> None:
        self._open = 0

    async def endpoint(self, socket: WebSocket) -> None:
        """Bytes as the worker has them; texts are JSON, of the worker or `{"state"}`, `{"end"}`, `{"taken"}`."""
        try:
            viewer, rollouts = await named_viewer(socket), await rollouts_of(socket)
            rollout = await blocking(lambda: rollouts.views.own(known_id(socket.path_params["id"]), viewer))
        except UserError:
            return await socket.close(NOT_YOURS)
        if rollout.agent != HUMAN:
            return await socket.close(NOT_YOURS)
        if self._open >= MOST:
            return await socket.close(FULL)
        self._open += 1
        try:
            await socket.accept()
            await _Line(socket, rollout, rollouts, viewer).run()
        finally:
            self._open -= 1


class _Line:
    """One visitor's."""

    def __init__(self, socket: WebSocket, rollout: Rollout, rollouts: Rollouts, viewer: Viewer) -> None:
        self._socket = socket
        self._id = rollout.id
        self._rollouts = rollouts
        self._viewer = viewer
        self._workers = launcher_of(socket).workers
        self._seat: ClientConnection | None = None

    async def run(self) -> None:
        code = 1000
        async with anyio.create_task_group() as group:

            async def hear() -> None:
                nonlocal code
                code = await self._hear()
                group.cancel_scope.cancel()

            group.start_soon(hear)
            with suppress(WebSocketDisconnect):
                await self._follow()
            group.cancel_scope.cancel()
        with suppress(RuntimeError, WebSocketDisconnect):  # the visitor has closed it
            await self._socket.close(code)

    async def _hear(self) -> int:
        """What the visitor types, for the seat while there is one; the code to close with."""
        from websockets.exceptions import ConnectionClosed  # imported late, with the library of lines

        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return 1000
            said = message.get("bytes") or message.get("text")
            if said and len(said) > LONGEST:
                return TOO_LONG
            if said and self._seat is not None:
                with suppress(ConnectionClosed):  # which whoever follows it hears too
                    await self._seat.send(said)

    async def _follow(self) -> None:
        """Until the rollout has ended, is not the visitor's any more, or somebody else took the seat."""
        told = None
        while True:
            try:
                rollout = await blocking(partial(self._rollouts.views.own, self._id, self._viewer))
            except (NotFound, Forbidden):
                return None
            except Upstream:
                await anyio.sleep(LOOK)
                continue
            if rollout.status != told:
                told = rollout.status
                await self._tell({"state": told})
            if rollout.ended:
                return await self._tell({"end": rollout.status})
            card = await worker_of(self._workers, self._id) if rollout.stage == "agent" else None
            if card is not None and await self._through(card) == TAKEN:
                return await self._tell({"taken": True})
            await anyio.sleep(LOOK)

    async def _through(self, card: WorkerCard) -> int | None:
        """Hand on what is shown, until the seat is no more; the code that it was closed with."""
        from websockets.exceptions import ConnectionClosed, WebSocketException

        try:
            async with lined(card, self._id) as seat:
                self._seat = seat
                while True:
                    said = await seat.recv()
                    await (self._socket.send_text(said) if isinstance(said, str) else self._socket.send_bytes(said))
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd is not None else None
        except (OSError, WebSocketException):  # it closed, or its worker ended, between two looks
            return None
        finally:
            self._seat = None

    async def _tell(self, message: dict[str, object]) -> None:
        await self._socket.send_text(json.dumps(message))
