"""What a command writes, read as it comes and kept within bounds: the first bytes, the last ones, and a count."""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from rlx.sandboxes.base import KEPT

_CHUNK = 64 * 1024


class Capture:
    """Reads one pipe in the running loop until nobody writes to it any more."""

    def __init__(self, reading: int, tell: Callable[[bytes], None] | None) -> None:
        self._reading = reading
        self._tell = tell
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._keeping = True
        self.left_out = 0
        os.set_blocking(reading, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(reading, self._read)

    def finish(self) -> bytes:
        """What was written until now, kept ends together. What still writes is read on, and forgotten."""
        self._drain()
        self._keeping = False
        self._tell = None
        return bytes(self._head) + b"".join(self._tail)

    def close(self) -> None:
        if self._reading >= 0:
            self._loop.remove_reader(self._reading)
            os.close(self._reading)
            self._reading = -1

    @property
    def closed(self) -> bool:
        return self._reading < 0

    def _drain(self) -> None:
        """What is in the pipe, and no more than it can hold: others may still be filling it."""
        for _ in range(16):
            if self.closed or not self._read():
                return

    def _read(self) -> bool:
        try:
            data = os.read(self._reading, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        if self._keeping:
            self._keep(data)
            if self._tell is not None:
                with suppress(RuntimeError):  # the loop of whoever listened is closed
                    self._tell(data)
        return True

    def _keep(self, data: bytes) -> None:
        room = KEPT - len(self._head)
        self._head += data[:room]
        data = data[room:] if room < len(data) else b""
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
        while self._tail_size - KEPT > 0:
            first = self._tail.popleft()
            over = min(self._tail_size - KEPT, len(first))
            self.left_out += over
            self._tail_size -= over
            if over < len(first):
                self._tail.appendleft(first[over:])
