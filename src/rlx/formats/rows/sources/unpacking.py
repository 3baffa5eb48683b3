"""Compressed files, unpacked as far as they are read into a file on local disk, within bounds."""

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

from rlx.formats.rows.sources.base import Unreadable
from rlx.formats.rows.sources.octets import Octets, OctetsFile
from rlx.texts import say

KINDS = {"gz": "gzip", "zst": "zstd", "zstd": "zstd", "bz2": "bz2"}
"""Suffix to the name of the compression."""
MAX_UNPACKED = 4 * 1024**3
"""Bytes that a file may unpack to."""
_STEP = 1024 * 1024


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
        import pyarrow as pa  # imported late: few files need it

        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self._source = OctetsFile(packed)
        self._stream = pa.CompressedInputStream(pa.PythonFile(self._source, mode="r"), self.kind)
        self._file, path = tempfile.mkstemp(prefix="unpacked-", dir=self.folder)
        os.unlink(path)
        finalize(self, os.close, self._file)
        return self._file

    def _step(self, file: int) -> None:
        try:
            data = self._stream.read(_STEP)
        except (OSError, ValueError) as error:
            raise Unreadable(say("rows.packed_broken", kind=self.kind)) from error
        if self._written + len(data) > self.limit:
            raise Unreadable(say("rows.packed_large", megabytes=self.limit // 2**20))
        os.pwrite(file, data, self._written)
        self._written += len(data)
        if not data:
            self.size = self._written
            self._stream = self._source = None


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
