"""One seat: a terminal in the sandbox, whoever sits at it, and what ends it."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from rlx.errors import LimitError
from rlx.runners.seats.marks import Grade, Marks
from rlx.runners.seats.record import Record
from rlx.runners.seats.shell import TERMINAL, shell
from rlx.sandboxes.local.terminal import Terminal

SCREEN: Final = 128 * 1024
"""Bytes of what was shown that somebody who comes back sees again."""
KEYS: Final = 1024 * 1024
"""Bytes typed that wait for what runs to take them; what is typed past that is lost, with a bell."""
WINDOW: Final = 256 * 1024
"""Bytes on their way to whoever sits there; the terminal waits while there are more."""
STALLED: Final = 30.0
"""Seconds that somebody may take nothing of what is shown before the seat is free again."""
_ENDED: Final = b"\r\n\x1b[7m The shell has ended. \x1b[0m  g: have it graded   Enter: a new shell\r\n"

type Open = Callable[[Sequence[str], Mapping[str, str]], Awaitable[Terminal]]
"""Starts a command on a terminal, with more variables, where an agent's commands run."""


class SeatIdle(LimitError):
    """Nobody was at the seat, or nobody typed, for too long."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds."""

    away: float = 10 * 60.0
    """That nobody may sit there."""
    idle: float = 40 * 60.0
    """That nobody may type."""


@dataclass(eq=False, slots=True)
class Visitor:
    """Whoever sits there: takes what is shown by `take`, and says how much of it was seen."""

    waiting: bytearray = field(default_factory=bytearray)
    sent: int = 0
    seen: int = 0
    gone: bool = False
    """Somebody else took the seat, or the seat is no more."""
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    _room: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self) -> bytes:
        """What is to be shown next; nothing once the visitor is gone and has all."""
        while not self.waiting and not self.gone:
            self._more.clear()
            await self._more.wait()
        data = bytes(self.waiting)
        self.waiting.clear()
        self.sent += len(data)
        return data

    def saw(self, count: int) -> None:
        """So many bytes in all."""
        self.seen = min(max(self.seen, count), self.sent)
        self._room.set()

    def show(self, data: bytes) -> None:
        self.waiting += data
        self._more.set()

    def leave(self) -> None:
        self.gone = True
        self._more.set()
        self._room.set()

    async def room(self) -> bool:
        """Wait until there is room. False when the visitor takes nothing any more."""
        while not self.gone and self.sent - self.seen + len(self.waiting) > WINDOW:
            self._room.clear()
            try:
                async with asyncio.timeout(STALLED):
                    await self._room.wait()
            except TimeoutError:
                return False
        return True


class Seat:
    """Of one rollout. There is a terminal while `sit` runs, once for each step of the task."""

    def __init__(self, record: Record, *, patience: Patience | None = None) -> None:
        self.record = record
        self._patience = patience or Patience()
        self._terminal: Terminal | None = None
        self._visitor: Visitor | None = None
        self._screen = bytearray()
        self._keys = bytearray()
        self._pressed = asyncio.Event()
        self._size = (80, 24)
        self._graded = asyncio.Event()
        self._again = asyncio.Event()
        self._moved = time.monotonic()
        self._typed = time.monotonic()
        self._ends: float | None = None
        self.instruction = ""
        self.seconds: float | None = None
        """What each step is bounded to by somebody else; None: nothing."""

    @property
    def is_open(self) -> bool:
        """Somebody may sit there now."""
        return self._terminal is not None

    @property
    def seconds_left(self) -> float | None:
        """Of the time for the task; None where that is not bounded."""
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())

    async def sit(self, opened: Open, instruction: str, *, bash: bool) -> None:
        """Until the grading is asked for. Raises `SeatIdle`, `SandboxError`; cancelled, the terminal is closed."""
        self._graded.clear()
        self._moved = self._typed = time.monotonic()
        self._ends = None if self.seconds is None else time.monotonic() + self.seconds
        self.instruction = instruction
        self.record.instructed(instruction)
        tasks = [asyncio.create_task(work) for work in (self._shells(opened, bash=bash), self._typing(), self._watch())]
        graded = asyncio.create_task(self._graded.wait())
        try:
            done, _ = await asyncio.wait([*tasks, graded], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*tasks, graded):
                task.cancel()
            await asyncio.gather(*tasks, graded, return_exceptions=True)
            self._close()
            self.record.finish()
            self._screen.clear()
            self._keys.clear()
        for task in done - {graded}:
            task.result()

    def attend(self) -> Visitor:
        """Take the seat; whoever sat there before has to leave. What was shown last is shown again."""
        if self._visitor is not None:
            self._visitor.leave()
        self._visitor = Visitor()
        self._moved = time.monotonic()
        self._visitor.show(bytes(self._screen))
        return self._visitor

    def leave(self, visitor: Visitor) -> None:
        visitor.leave()
        if self._visitor is visitor:
            self._visitor = None
            self._moved = time.monotonic()

    def type(self, data: bytes) -> None:
        self._typed = time.monotonic()
        if self._is_menu:
            self._choose(data)
        elif self._terminal is not None and len(self._keys) + len(data) <= KEYS:
            self._keys += data
            self._pressed.set()
        elif self._visitor is not None:
            self._visitor.show(b"\a")

    def resize(self, columns: int, rows: int) -> None:
        if self._terminal is not None:
            self._terminal.resize(columns, rows - 1)  # so that what draws a full screen draws it again
            self._terminal.resize(columns, rows)
        if self._size != (columns, rows):
            self._size = (columns, rows)
            self.record.resize(columns, rows)

    def grade(self) -> None:
        """The person is done."""
        self._graded.set()

    @property
    def _is_menu(self) -> bool:
        return self._terminal is not None and self._terminal.descriptor < 0

    def _choose(self, data: bytes) -> None:
        if data[:1] in (b"g", b"G"):
            self.grade()
        elif data[:1] in (b"\r", b"\n"):
            self._again.set()

    async def _shells(self, opened: Open, *, bash: bool) -> None:
        """One after another: whoever leaves a shell may have another."""
        while True:
            token = secrets.token_hex(8)
            self._terminal = terminal = await opened(shell(token, bash=bash), TERMINAL)
            terminal.resize(*self._size)
            self._again.clear()
            marks = Marks(token)
            while data := await terminal.read():
                for piece in marks.feed(data):
                    if isinstance(piece, bytes):
                        await self._show(piece)
                    else:
                        self.record.told(piece)
                        if isinstance(piece, Grade):
                            self.grade()
            await terminal.ended()
            terminal.close()
            self._keys.clear()
            await self._show(_ENDED)
            await self._again.wait()

    async def _typing(self) -> None:
        """Hands on what was typed, as fast as what runs takes it."""
        while True:
            self._pressed.clear()
            if self._terminal is not None and self._keys:
                data = bytes(self._keys[:4096])
                del self._keys[:4096]
                await self._terminal.write(data)
            else:
                await self._pressed.wait()

    async def _show(self, data: bytes) -> None:
        self.record.show(data)
        self._screen += data
        if len(self._screen) > 2 * SCREEN:
            del self._screen[:-SCREEN]
            del self._screen[: self._screen.find(b"\n") + 1]
        visitor = self._visitor
        if visitor is not None:
            visitor.show(data)
            if not await visitor.room():
                self.leave(visitor)

    async def _watch(self) -> None:
        """Raises `SeatIdle`."""
        while True:
            now = time.monotonic()
            away = self._moved + self._patience.away if self._visitor is None else float("inf")
            idle = self._typed + self._patience.idle
            if now >= away:
                raise SeatIdle(f"Nobody sat at the terminal for {self._patience.away / 60:.3g} minutes.")
            if now >= idle:
                raise SeatIdle(f"Nobody typed for {self._patience.idle / 60:.3g} minutes.")
            await asyncio.sleep(min(away, idle, now + 5.0) - now)

    def _close(self) -> None:
        if self._visitor is not None:
            self._visitor.leave()
            self._visitor = None
        terminal, self._terminal = self._terminal, None
        if terminal is not None:
            with suppress(RuntimeError):  # the loop is closing
                terminal.close()


SEAT: ContextVar[Seat] = ContextVar("seat")
"""Of the rollout that runs in this context."""
