"""Bytes of a file, wherever they are: held, on the Hub, on local disk. Read from worker threads."""

import io
from collections import OrderedDict
from collections.abc import Buffer, Callable
from threading import Lock
from typing import Protocol

from rlx.errors import Upstream

BLOCK = 256 * 1024
MAX_READ = 256 * 1024 * 1024
"""Bytes that a library may ask for at once: it does so where a file tells it to."""
_DIRECT = 4 * BLOCK
"""Bytes from which a reading passes the blocks by: it is a walk through the file."""

type Fetch = Callable[[int, int], bytes]


class Octets(Protocol):
    @property
    def size(self) -> int | None:
        """None while it is unknown, as of what is being unpacked."""
        ...

    def read(self, start: int, end: int) -> bytes:
        """Bytes `start` up to, not including, `end`; fewer only at the end of the file."""
        ...


class Held:
    """Bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, start: int, end: int) -> bytes:
        return self._data[start:end]


class Blocks:
    """Blocks of files that were read last, up to `limit` bytes, shared by all who may read those files."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str, number: int) -> bytes | None:
        with self._lock:
            if (name, number) in self._blocks:
                self._blocks.move_to_end((name, number))
            return self._blocks.get((name, number))

    def keep(self, name: str, number: int, data: bytes) -> None:
        with self._lock:
            self._held += len(data) - len(self._blocks.pop((name, number), b""))
            self._blocks[name, number] = data
            while self._held > self._limit:
                self._held -= len(self._blocks.popitem(last=False)[1])


class Ranged:
    """A file of the Hub, `size` bytes long as listed; `name` names its contents among the blocks."""

    def __init__(self, name: str, size: int, fetch: Fetch, blocks: Blocks) -> None:
        self._name = name
        self._size = size
        self._fetch = fetch
        self._blocks = blocks

    @property
    def size(self) -> int:
        return self._size

    def read(self, start: int, end: int) -> bytes:
        end = min(end, self._size)
        if start >= end:
            return b""
        if end - start >= _DIRECT:
            return self._fetched(start, end)
        first, last = start // BLOCK, (end - 1) // BLOCK
        parts = [self._blocks.get(self._name, number) for number in range(first, last + 1)]
        missing = [first + at for at, part in enumerate(parts) if part is None]
        if missing:
            data = self._fetched(missing[0] * BLOCK, min(self._size, (missing[-1] + 1) * BLOCK))
            for number in range(missing[0], missing[-1] + 1):
                at = (number - missing[0]) * BLOCK
                parts[number - first] = block = data[at : at + BLOCK]
                self._blocks.keep(self._name, number, block)
        whole = b"".join(part for part in parts if part is not None)
        return whole[start - first * BLOCK : end - first * BLOCK]

    def _fetched(self, start: int, end: int) -> bytes:
        data = self._fetch(start, end)
        if len(data) != end - start:
            raise Upstream(
                f"The Hub sent {len(data):,} bytes of a file for a range of {end - start:,}.",
                hint="The repository may be changing; try again in a minute.",
            )
        return data


class OctetsFile(io.RawIOBase):
    """Octets of known size as a file object, for libraries that seek. What is read through may be replaced."""

    def __init__(self, octets: Octets) -> None:
        self.octets = octets
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.octets.size or 0}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        if size > MAX_READ:
            raise OSError(f"A part of {size:,} bytes is told of, more than is read at once.")
        return super().read(size) or b""

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.octets.read(self._at, self._at + len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)
