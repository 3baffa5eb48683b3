"""What an archive holds, by name and size. Contents are never unpacked to disk, kept or returned."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Buffer, Iterator
from dataclasses import dataclass
from posixpath import normpath
from typing import BinaryIO

from rlx.texts import Say, say

MAX_MEMBERS = 10_000
MAX_UNPACKED = 256 * 1024 * 1024
"""Bytes that are unpacked, and dropped, while a compressed stream is listed."""
_MAX_DIRECTORY = 2 * 1024 * 1024
"""Bytes of a zip file's own list."""
_MAX_DECLARED = 1024**4
_BOMB = 1000
"""Times its size an archive may say to unpack to, past a gigabyte."""
_XZ_MEMORY = 96 * 1024 * 1024
_CHUNK = 256 * 1024
_ZIP_END = struct.Struct("<4s4H2LH")

ZIPS = frozenset({"zip", "whl", "jar", "egg"})
STREAMS = frozenset({"tar", "tgz", "gz", "tbz2", "bz2", "txz", "xz"})
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class Member:
    path: str
    size: int | None
    """None for a link."""


class Refused(Exception):
    """An archive that is not listed; `reason` tells why."""

    def __init__(self, reason: Say) -> None:
        super().__init__(reason.key)
        self.reason = reason


def is_archive(path: str) -> bool:
    return _suffix(path) in ZIPS | STREAMS


def members(path: str, source: BinaryIO, size: int) -> tuple[Member, ...]:
    """Files and links in the archive at `path` of `size` bytes, in its own order, without its folders.

    Raises `Refused` for one that is broken, leads out of itself, or would take too much to list.
    """
    try:
        found = tuple(_zip(source, size) if _suffix(path) in ZIPS else _stream(path, source))
    except _BROKEN as error:
        raise Refused(say("viewer.archive_broken")) from error
    outside = next((member.path for member in found if _leads_out(member.path)), None)
    if outside is not None:
        raise Refused(say("viewer.archive_outside", path=ascii(outside[:80])))
    declared = sum(member.size or 0 for member in found)
    if declared > _MAX_DECLARED or (declared > 1024**3 and declared > _BOMB * size):
        raise Refused(say("viewer.archive_bomb", gigabytes=declared // 10**9))
    return found


def _zip(source: BinaryIO, size: int) -> Iterator[Member]:
    source.seek(max(0, size - 65_557))
    tail = source.read(65_557)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _ZIP_END.size:
        raise zipfile.BadZipFile
    if _ZIP_END.unpack_from(tail, at)[5] > _MAX_DIRECTORY:
        raise Refused(say("viewer.archive_many", limit=MAX_MEMBERS))
    with zipfile.ZipFile(source) as archive:
        files = [item for item in archive.infolist() if not item.is_dir()]
    for item in _within_count(iter(files)):
        is_link = (item.external_attr >> 16) & 0o170000 == 0o120000
        yield Member(item.filename, None if is_link else item.file_size)


def _stream(path: str, source: BinaryIO) -> Iterator[Member]:
    name = path.rpartition("/")[2]
    suffix = _suffix(path)
    stem = name[: -len(suffix) - 1]
    reader = _Bounded(_unpacking(suffix, source))
    if suffix in {"gz", "bz2", "xz"} and _suffix(stem) != "tar":
        yield Member(stem or name, reader.drain())
        return
    with tarfile.open(fileobj=reader, mode="r|") as archive:
        for item in _within_count(iter(archive)):
            if item.issym() or item.islnk():
                yield Member(item.name, None)
            elif not item.isdir():
                yield Member(item.name, item.size)


def _within_count[T](items: Iterator[T]) -> Iterator[T]:
    for count, item in enumerate(items):
        if count >= MAX_MEMBERS:
            raise Refused(say("viewer.archive_many", limit=MAX_MEMBERS))
        yield item


def _unpacking(suffix: str, source: BinaryIO) -> io.BufferedIOBase | BinaryIO:
    if suffix in {"gz", "tgz"}:
        return gzip.GzipFile(fileobj=source)
    if suffix in {"bz2", "tbz2"}:
        return bz2.BZ2File(source)
    return io.BufferedReader(Xz(source)) if suffix in {"xz", "txz"} else source


class Xz(io.RawIOBase):
    """One xz stream, within a memory limit, which `lzma.LZMAFile` cannot be given."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        while not self._unpacker.eof:
            packed = self._source.read(_CHUNK) if self._unpacker.needs_input else b""
            if self._unpacker.needs_input and not packed:
                raise EOFError
            data = self._unpacker.decompress(packed, len(view))
            if data:
                view[: len(data)] = data
                return len(data)
        return 0


class _Bounded(io.RawIOBase):
    """Reads on until `MAX_UNPACKED` bytes were read."""

    def __init__(self, source: io.BufferedIOBase | BinaryIO) -> None:
        self._source = source
        self._left = MAX_UNPACKED

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._source.read(min(len(view), _CHUNK))
        self._left -= len(data)
        if self._left < 0:
            raise Refused(say("viewer.archive_unpacks", megabytes=MAX_UNPACKED // 2**20))
        view[: len(data)] = data
        return len(data)

    def drain(self) -> int:
        while self.read(_CHUNK):
            pass
        return MAX_UNPACKED - self._left


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].lower().rpartition(".")[2]


def _leads_out(path: str) -> bool:
    plain = normpath(path.replace("\\", "/"))
    return plain.startswith(("/", "../")) or plain == ".." or plain[1:2] == ":"
