"""Bytes of written files, by SHA-256: each is on disk, whole and synced, before anything names it."""

import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import anyio.to_thread

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stored:
    sha256: str
    size: int
    blob: str
    """The git blob id of the bytes themselves."""


class Objects:
    """`folder/ab/<sha256>`. What a killed process left in `incoming` is removed at the next start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "objects"
        self._incoming = folder / "incoming"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._incoming.mkdir(exist_ok=True)
        for left in self._incoming.iterdir():
            left.unlink(missing_ok=True)

    def place(self, sha256: str) -> str:
        return f"{self._folder}/{sha256[:2]}/{sha256}"

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """A file to fill, gone at the end unless it was kept."""
        handle, name = tempfile.mkstemp(dir=self._incoming)
        os.close(handle)
        path = Path(name)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def put(self, pieces: Iterable[bytes]) -> Stored:
        """Keep the bytes of `pieces`."""
        with self.incoming() as path:
            with FileIO(path, "w") as out:
                for piece in pieces:
                    out.write(piece)
            return self.keep(path)

    def keep(self, path: Path) -> Stored:
        """Take over a file of `incoming`, which then lies under its hash."""
        size = path.stat().st_size
        sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with FileIO(path) as source:
            for piece in chunks(source):
                sha256.update(piece)
                blob.update(piece)
            os.fsync(source.fileno())
        name = sha256.hexdigest()
        place = Path(self.place(name))
        place.parent.mkdir(exist_ok=True)
        path.replace(place)
        return Stored(name, size, blob.hexdigest())

    def sync(self) -> None:
        """Make the names of what was kept last: their folders are synced."""
        for folder in self._folder.iterdir():
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def chunks(source: FileIO) -> Iterator[bytes]:
    while piece := source.read(_CHUNK):
        yield piece


async def fill(path: Path, body: AsyncIterator[bytes]) -> None:
    """Write a request's body to `path` as it comes."""
    with FileIO(path, "w") as out:
        async for piece in body:
            await anyio.to_thread.run_sync(out.write, piece)
