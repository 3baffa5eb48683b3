"""Both ends of what a command writes, and a count of what lies between."""

from rlx.sandboxes.base import KEPT


class Ends:
    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out = 0

    def add(self, data: bytes) -> None:
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * KEPT:
            self._cut()

    def both(self) -> bytes:
        self._cut()
        return bytes(self._head + self._tail)

    def _cut(self) -> None:
        over = len(self._tail) - KEPT
        if over > 0:
            del self._tail[:over]
            self.left_out += over
