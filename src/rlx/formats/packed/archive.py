"""An archive of a repository: told by its name and first bytes, listed once, its files read one by one.

Zip files are read on the Hub, by ranges. Tar files are streamed once into a file on local disk, unpacked.
"""

import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rlx.errors import Upstream
from rlx.formats.packed.budget import REPOSITORY, Budget, Member, RefusedArchive
from rlx.formats.packed.streams import PIECE, Kind, beginning, kind_of, unpacked
from rlx.formats.packed.tars import BLOCK, is_tar, tar_members
from rlx.formats.packed.unpack import members, read
from rlx.formats.rows.sources.octets import Held, Octets, OctetsFile
from rlx.texts import say

SUFFIXES: Final = (
    *(".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst"),
    ".zip",
)
_PEEKED: Final = 2 * 1024 * 1024
"""Bytes from the beginning of a tar file by whose names it is told what it holds."""
_AT_ONCE: Final = 8 * 1024 * 1024
"""Bytes of a tar file that are asked for at a time."""


def stem(path: str) -> str | None:
    """The name of the archive at `path` without its suffix; None where it is not called as an archive."""
    found = suffix(path)
    return path.rpartition("/")[2][: -len(found)] if found else None


def suffix(path: str) -> str | None:
    """What tells by its name that the file at `path` is an archive, as it is spelled there."""
    leaf = path.rpartition("/")[2]
    found = next((item for item in SUFFIXES if leaf.lower().endswith(item) and len(leaf) > len(item)), None)
    return leaf[-len(found) :] if found else None


def peek(octets: Octets) -> tuple[str, ...]:
    """Paths of the first files in an archive, as far as they can be told without reading all of it."""
    paths: list[str] = []
    try:
        kind = kind_of(octets.read(0, BLOCK))
        if kind == "zip":
            paths += [member.path for member in members(kind, octets, REPOSITORY)]
        elif kind is not None:
            head = octets.read(0, _PEEKED)
            for member in tar_members(Held(head if kind == "tar" else beginning(kind, head, 8 * _PEEKED)), REPOSITORY):
                paths.append(member.path)
    except RefusedArchive:
        pass  # it goes on past what was read; what is wrong with it is told when it is opened
    return tuple(paths)


@dataclass(frozen=True, slots=True)
class Archive:
    """One archive, listed."""

    kind: Kind
    members: tuple[Member, ...]
    spooled: Path | None
    """Of a tar file, what it unpacks to."""
    held: int = 0
    """Bytes of that."""

    def read(self, octets: Octets, member: Member, start: int = 0, end: int | None = None) -> bytes:
        """Bytes of a member. `octets` are those of the archive. Raises `RefusedArchive`, and what reading raises."""
        if self.spooled is None:
            return read(self.kind, octets, member)[start:end]
        stop = member.size if end is None else min(end, member.size)
        with _told(), on_disk(_spool(octets, self.kind, self.spooled, REPOSITORY)) as tar:
            data = tar.read(member.at + start, member.at + stop)
        if len(data) != max(0, stop - start):
            raise RefusedArchive(say("packed.cut"))
        return data


def open_archive(octets: Octets, path: Path, budget: Budget = REPOSITORY) -> Archive:
    """List an archive; `path` is where a tar file is unpacked to. Raises `RefusedArchive`, and what reading raises."""
    size = octets.size or 0
    if size > budget.packed:
        raise RefusedArchive(say("packed.large", megabytes=budget.packed // 2**20))
    kind = kind_of(octets.read(0, BLOCK))
    if kind is None:
        raise RefusedArchive(say("packed.unknown"))
    if kind == "zip":
        return Archive(kind, tuple(members(kind, octets, budget)), None)
    try:
        with _told(), on_disk(_spool(octets, kind, path, budget)) as tar:
            if not is_tar(tar.read(0, BLOCK)):
                raise RefusedArchive(say("packed.no_tar"))
            return Archive(kind, tuple(members(kind, tar, budget)), path, tar.size)
    except RefusedArchive:
        path.unlink(missing_ok=True)
        raise


class OnDisk:
    """An open file as octets."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._size = os.fstat(file).st_size

    @property
    def size(self) -> int:
        return self._size

    def read(self, start: int, end: int) -> bytes:
        return os.pread(self._file, max(0, end - start), start)


@contextmanager
def on_disk(path: Path) -> Iterator[OnDisk]:
    file = os.open(path, os.O_RDONLY)
    try:
        yield OnDisk(file)
    finally:
        os.close(file)


@contextmanager
def _told() -> Iterator[None]:
    """Turns trouble with the local disk into `Upstream`."""
    try:
        yield
    except OSError as error:
        raise Upstream(
            f"An archive cannot be kept on this server's disk: {error.strerror or type(error).__name__}.",
            hint="Its operator can make room in, or give rights to, the folder RLX_CACHE_DIR names.",
            retry_after=60,
        ) from error


def _spool(octets: Octets, kind: Kind, path: Path, budget: Budget) -> Path:
    """What the tar file unpacks to, at `path`; written there unless it is there. Never half of it."""
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with half.open("wb") as out:
            for piece in _pieces(octets, kind, budget):
                out.write(piece)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
    return path


def _pieces(octets: Octets, kind: Kind, budget: Budget) -> Iterator[bytes]:
    size = octets.size or 0
    if kind == "tar":
        budget.check(size, size)
        for start in range(0, size, _AT_ONCE):
            yield octets.read(start, start + _AT_ONCE)
    else:
        source = io.BufferedReader(OctetsFile(_LongReads(octets)), PIECE)
        yield from unpacked(kind, source, size, budget)


class _LongReads:
    """Octets that are asked for in long pieces, of which the last is held."""

    def __init__(self, octets: Octets) -> None:
        self._octets = octets
        self._start = 0
        self._data = b""

    @property
    def size(self) -> int | None:
        return self._octets.size

    def read(self, start: int, end: int) -> bytes:
        if not self._start <= start < self._start + len(self._data):
            self._start, self._data = start, self._octets.read(start, max(end, start + _AT_ONCE))
        return self._data[start - self._start : end - self._start]
