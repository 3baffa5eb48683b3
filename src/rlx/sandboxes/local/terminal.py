"""A command on a terminal in a local sandbox: bytes to it, bytes from it, its size and its end."""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

CHUNK = 16 * 1024
LARGEST = 1000
"""Columns or rows."""


@dataclass(slots=True)
class Terminal:
    """Used in the loop that it was opened for. One at a time may read, and one write."""

    descriptor: int
    """Our side of a pseudo-terminal that belongs to the sandbox."""
    ended: Callable[[], Awaitable[int]]
    """Waits for the exit code of the command. Raises `SandboxError` when the sandbox went first."""
    end: Callable[[], Awaitable[None]]
    """Kills what the command started."""
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        os.set_blocking(self.descriptor, False)

    async def read(self) -> bytes:
        """What was written to it; nothing once nobody writes any more."""
        while self.descriptor >= 0:
            try:
                return os.read(self.descriptor, CHUNK)
            except BlockingIOError:
                await self._ready(self._loop.add_reader, self._loop.remove_reader)
            except OSError:  # how a terminal tells that its other side is closed
                return b""
        return b""

    async def write(self, data: bytes) -> None:
        """Type. Waits while the command does not take what was typed; what nobody can take any more is dropped."""
        view = memoryview(data)
        while view and self.descriptor >= 0:
            try:
                view = view[os.write(self.descriptor, view) :]
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer)
            except OSError:
                return

    def resize(self, columns: int, rows: int) -> None:
        """Sizes out of bounds are taken for the nearest that can be."""
        size = struct.pack("HHHH", *(min(max(1, count), LARGEST) for count in (rows, columns)), 0, 0)
        with suppress(OSError):
            fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, size)

    def close(self) -> None:
        if self.descriptor >= 0:
            self._loop.remove_reader(self.descriptor)
            self._loop.remove_writer(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1

    async def _ready(self, add: Callable[..., None], remove: Callable[[int], object]) -> None:
        """Wait until the descriptor can be read or written. What closes it meanwhile also cancels whoever waits."""
        ready, descriptor = asyncio.Event(), self.descriptor
        add(descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            if self.descriptor == descriptor:
                remove(descriptor)
