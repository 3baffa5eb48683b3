"""Compressed files, unpacked as far as they are read into a file on local disk, within bounds."""

import lzma
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import finalize

from rlx.formats.rows.sources.base import Unreadable
from rlx.formats.rows.sources.octets import Octets, OctetsFile
from rlx.texts import say

KINDS = {"gz": "gzip", "zst": "zstd", "zstd": "zstd", "bz2": "bz2", "xz": "xz"}
"""Suffix to the name of the compression."""
MAX_UNPACKED = 4 * 1024**3
"""Bytes that a file may unpack to."""
_STEP = 1024 * 1024
_XZ_MEMORY: Final = 128 * 1024 * 1024
"""Bytes that unpacking an xz file may take, which the file itself decides; `xz -9` asks for 65 MB."""


@dataclass(slots=True, weakref_slot=True)
class Unpacking:
    """What is unpacked of one file; shared by all who read it, and gone from `folder` when nobody does any more."""

    kind: str
    folder: Path | None
    limit: int = MAX_UNPACKED
    size: int | None = None
    """Bytes of the whole, once its end was reached."""
    _written: int = 0
    _file: int | None = None
    _stream: Any = None
    _source: OctetsFile | None = None
    _lock: Lock = field(default_factory=Lock)

    def read(self, packed: Octets, start: int, end: int) -> bytes:
        """Raises `Unreadable` where the stream is broken or too long, and what reading `packed` raises."""
        with self._lock:
            file = self._file if self._file is not None else self._begun(packed)
            if self._source is not None:
                self._source.octets = packed  # who reads now does so with a token of their own
            while self.size is None and self._written < end:
                self._step(file)
            return os.pread(file, max(0, end - start), start)

    def _begun(self, packed: Octets) -> int:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self._source = OctetsFile(packed)
        self._stream = _XzStream(self._source) if self.kind == "xz" else _arrow_stream(self._source, self.kind)
        self._file, path = tempfile.mkstemp(prefix="unpacked-", dir=self.folder)
        os.unlink(path)
        finalize(self, os.close, self._file)
        return self._file

    def _step(self, file: int) -> None:
        try:
            data = self._stream.read(_STEP)
        except (OSError, ValueError, EOFError, lzma.LZMAError) as error:
            raise Unreadable(say("rows.packed_broken", kind=self.kind)) from error
        if self._written + len(data) > self.limit:
            raise Unreadable(say("rows.packed_large", megabytes=self.limit // 2**20))
        os.pwrite(file, data, self._written)
        self._written += len(data)
        if not data:
            self.size = self._written
            self._stream = self._source = None


def _arrow_stream(source: OctetsFile, kind: str) -> Any:
    import pyarrow as pa  # imported late: few files need it

    return pa.CompressedInputStream(pa.PythonFile(source, mode="r"), kind)


class _XzStream:
    """One xz stream after another, as `cat` puts them together; pyarrow reads none."""

    def __init__(self, source: OctetsFile) -> None:
        self._source = source
        self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end. Raises `lzma.LZMAError`, and `EOFError` where a stream is cut."""
        rest = b""
        while True:
            if self._unpacker.eof:
                rest = self._unpacker.unused_data.lstrip(b"\0")  # streams may be padded
                while not rest:
                    more = self._source.read(_STEP)
                    if not more:
                        return b""
                    rest = more.lstrip(b"\0")
                self._unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
            elif self._unpacker.needs_input and not rest:
                rest = self._source.read(_STEP)
                if not rest:
                    raise EOFError
            data = self._unpacker.decompress(rest, size)
            rest = b""
            if data:
                return data


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The unpacked file, as octets."""

    packed: Octets
    unpacking: Unpacking

    @property
    def size(self) -> int | None:
        return self.unpacking.size

    def read(self, start: int, end: int) -> bytes:
        return self.unpacking.read(self.packed, start, end)
