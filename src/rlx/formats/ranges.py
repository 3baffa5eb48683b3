"""A file of the Hub as a file object that is read in blocks, for libraries that seek: from a worker thread only."""

import io
from collections.abc import Buffer, Callable

from rlx.errors import TooLarge

BLOCK = 256 * 1024
BUDGET = 24 * 1024 * 1024
"""Bytes that are fetched for one reading."""


class RangeFile(io.RawIOBase):
    """`fetch(start, end)` gives bytes of the file. Reading past `BUDGET` raises `TooLarge`."""

    def __init__(self, size: int, fetch: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._fetch = fetch
        self._at = 0
        self._left = BUDGET
        self._blocks: dict[int, bytes] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        number, within = divmod(self._at, BLOCK)
        wanted = min(len(view), self._size - self._at)
        part = self._block(number)[within : within + wanted] if wanted > 0 else b""
        if wanted > 0 and not part:
            raise EOFError("The file is shorter than it was listed.")
        view[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            self._left -= BLOCK
            if self._left < 0:
                raise TooLarge(f"More than {BUDGET:,} bytes would have to be read to show this file.")
            self._blocks[number] = self._fetch(number * BLOCK, min(self._size, (number + 1) * BLOCK))
        return self._blocks[number]
