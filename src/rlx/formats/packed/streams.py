"""Compressed archives: told by their first bytes, unpacked piece by piece within a budget."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, Literal, cast

from rlx.formats.archives import Xz
from rlx.formats.packed.budget import Budget, RefusedArchive
from rlx.formats.packed.tars import is_tar
from rlx.formats.packed.zips import is_zip
from rlx.texts import say

type Kind = Literal["zip", "tar", "gz", "bz2", "xz", "zst"]

PIECE: Final = 256 * 1024
_MAGIC: Final[tuple[tuple[bytes, Kind], ...]] = (
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
)
_BROKEN: Final = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


def kind_of(head: bytes) -> Kind | None:
    """What an archive is by its first 512 bytes; what is compressed may hold anything."""
    if is_zip(head):
        return "zip"
    found = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
    return found or ("tar" if is_tar(head) else None)


def unpacked(kind: Kind, source: BinaryIO, packed: int, budget: Budget) -> Iterator[bytes]:
    """The pieces of what `source`, of `packed` bytes, unpacks to. Raises `RefusedArchive`, and what reading raises."""
    total = 0
    try:
        stream = _stream(kind, source)
        while piece := stream.read(PIECE):
            total += len(piece)
            budget.check(total, packed)
            yield piece
    except _BROKEN as error:
        raise RefusedArchive(say("packed.broken")) from error


def beginning(kind: Kind, data: bytes, limit: int) -> bytes:
    """At most `limit` bytes of what a file that begins with `data` unpacks to: as far as it can be unpacked."""
    found = bytearray()
    try:
        stream = _stream(kind, io.BytesIO(data))
        while len(found) < limit and (piece := stream.read(16 * 1024)):
            found += piece
    except _BROKEN:
        pass  # it goes on where `data` ends
    return bytes(found)


def _stream(kind: Kind, source: BinaryIO) -> Any:
    if kind == "gz":
        return gzip.GzipFile(fileobj=source)
    if kind == "bz2":
        return bz2.BZ2File(source)
    if kind == "xz":
        return io.BufferedReader(Xz(source))
    if kind == "zst":
        import pyarrow as pa  # imported late: few archives need it

        return pa.CompressedInputStream(pa.PythonFile(cast(Any, source), mode="r"), "zstd")
    return source
