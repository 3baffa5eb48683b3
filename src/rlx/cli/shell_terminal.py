"""Sits at a seat with this process's terminal: raw while it is open, as it was in between and afterwards."""

import json
import os
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import anyio
import anyio.to_thread

from rlx.cli.inert import inert
from rlx.cli.output import Record, note
from rlx.cli.run_waiting import with_worker
from rlx.errors import BadInput
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.runners.asked import Asked
from rlx.runners.launch import Launcher
from rlx.runners.seats.line import grade, lined, worker_of
from rlx.runners.workers import living
from rlx.services import Services
from rlx.twins.run import masked, run_record

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

LOOK: Final = 0.3
LEAVE: Final = b"\x1d"
"""Ctrl+]"""
_GRADE, _COME_BACK, _GIVE_UP = "[g] have it graded   ", "[l] leave, to come back later   ", "[u] give up   "

type Choice = Literal["leave", "give up", "go on"]


async def sat(services: Services, viewer: Viewer, asked: Asked | str) -> Record | None:
    """The rollout as it ended, of a new attempt or of one to come back to; None when the person left it open.

    Raises what `Launcher.start` does, `NotFound`, and `BadInput` without a terminal.
    """
    if not sys.stdin.isatty():
        raise BadInput("There is no terminal here to sit at.", hint="Run it where you can type.")
    launcher = Launcher(services)
    stays = bool(await anyio.to_thread.run_sync(living, launcher.workers))
    if isinstance(asked, str):
        return await _Sitting(services, launcher, viewer, asked, stays=stays).run()

    async def begin() -> Record | None:
        rollout = await launcher.start(asked, viewer)
        note(f"Rollout {rollout.id}. The sandbox is being made; Ctrl+] leads out of it.")
        return await _Sitting(services, launcher, viewer, rollout.id, stays=stays).run()

    return await with_worker(services, launcher, begin)


class _Sitting:
    def __init__(self, services: Services, launcher: Launcher, viewer: Viewer, id: str, *, stays: bool) -> None:
        """`stays`: the worker goes on without this process, and so does the seat."""
        self._services = services
        self._workers = launcher.workers
        self._viewer = viewer
        self._id = id
        self._stays = stays

    async def run(self) -> Record | None:
        rollouts = await anyio.to_thread.run_sync(self._services.rollouts)
        while True:
            rollout: Rollout = await anyio.to_thread.run_sync(partial(rollouts.views.own, self._id, self._viewer))
            if rollout.ended:
                return run_record(masked(rollout))
            card = await worker_of(self._workers, self._id) if rollout.stage == "agent" else None
            if card is None:
                await anyio.sleep(LOOK)
                continue
            with suppress(OSError):  # it closed between two looks
                async with lined(card, self._id) as line:
                    choice = await self._through(line)
                if choice == "leave":
                    note(f"It goes on without you for some minutes. Come back with: rlx run shell {self._id}")
                    return None
                if choice == "give up":
                    await anyio.to_thread.run_sync(partial(rollouts.stop, self._id, self._viewer))

    async def _through(self, line: "ClientConnection") -> Choice:
        """What the person chose, or `go on` when the seat is no more, for whatever reason."""
        told = json.loads(await line.recv())
        note(inert(str(told.get("instruction", ""))).rstrip())
        left = told.get("seconds")
        note("" if left is None else f"{round(left / 60)} minutes are left. Type grade when you are done.")
        chosen: list[Choice] = []
        with _raw():
            async with anyio.create_task_group() as group:

                async def keys() -> None:
                    chosen.append(await self._keys(line))
                    group.cancel_scope.cancel()

                group.start_soon(keys)
                group.start_soon(_sizes, line)
                await _show(line)
                group.cancel_scope.cancel()
        note("")
        return chosen[0] if chosen else "go on"

    async def _keys(self, line: "ClientConnection") -> Choice:
        """Hands on what is typed until the person leaves."""
        while True:
            data = await _typed()
            before, leaves, _ = data.partition(LEAVE)
            if before:
                await line.send(before)
            if not data:
                return "leave" if self._stays else "give up"
            if leaves and (choice := await self._asked()) != "go on":
                return choice

    async def _asked(self) -> Choice:
        offered = f"\r\n{_GRADE}{_COME_BACK if self._stays else ''}{_GIVE_UP}[Enter] go on\r\n"
        await anyio.to_thread.run_sync(_write, offered.encode())
        match (await _typed())[:1].lower():
            case b"g":
                await grade(self._workers, self._id)
            case b"l" if self._stays:
                return "leave"
            case b"u":
                return "give up"
        return "go on"


async def _show(line: "ClientConnection") -> None:
    from websockets.exceptions import ConnectionClosed

    seen = 0
    with suppress(ConnectionClosed):
        while True:
            data = await line.recv()
            if isinstance(data, bytes):
                await anyio.to_thread.run_sync(_write, data)
                seen += len(data)
                await line.send(json.dumps({"seen": seen}))


async def _sizes(line: "ClientConnection") -> None:
    """Tells how large this terminal is, now and whenever that changes."""
    with anyio.open_signal_receiver(signal.SIGWINCH) as changes:
        await _tell_size(line)
        async for _ in changes:
            await _tell_size(line)


async def _tell_size(line: "ClientConnection") -> None:
    from websockets.exceptions import ConnectionClosed

    columns, rows = os.get_terminal_size(sys.stdin.fileno())
    if columns and rows:
        with suppress(ConnectionClosed):
            await line.send(json.dumps({"size": [columns, rows]}))


async def _typed() -> bytes:
    """What is typed next; nothing at the end of the terminal."""
    await anyio.wait_readable(sys.stdin)
    return os.read(sys.stdin.fileno(), 4096)


def _write(data: bytes) -> None:
    """To the terminal itself: what is printed may go elsewhere."""
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdin.fileno(), view) :]


@contextmanager
def _raw() -> Iterator[None]:
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)
