"""Parquet as a table: the footer once, then the row groups and columns that hold what is asked for.

A row group is decoded from its start, so one of very many rows is decoded once, a chunk at a time, and the chunks are
kept on local disk as Arrow files: whoever pages inside it reads one of them. pyarrow is imported when it is first
needed: that costs most of a second, and few files need it.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from rlx.formats.rows.sources.base import Known, Row, Unreadable
from rlx.formats.rows.sources.octets import Octets, OctetsFile
from rlx.texts import say

MAX_COLUMNS = 2000
MAX_GROUP = 4 * 1024**3
"""Bytes that a row group may say to unpack to, past which its rows are not shown."""
MAX_FOOTER = 64 * 1024 * 1024
CHUNK_ROWS = 4096
CHUNK = 8 * 1024 * 1024
"""Rows, and bytes as the footer tells them, that are decoded at a time."""
MAX_KEPT = 8 * 1024**3
"""Bytes of one file's chunks on local disk past which those of other row groups go."""
_BUFFER = 64 * 1024


@dataclass(slots=True, eq=False)
class Footer:
    """What is kept of a file; shared by all who read it."""

    metadata: Any
    schema: Any
    ends: tuple[int, ...]
    """Rows up to the end of each row group."""
    chunks: tuple[int, ...]
    """Rows of a chunk of each."""
    columns: tuple[str, ...]
    lock: Lock = field(default_factory=Lock)
    """Held by who decodes a row group."""
    decoding: "Decoding | None" = None
    """The row group that is being decoded, as far as somebody wanted it."""


@dataclass(slots=True)
class Decoding:
    group: int
    source: OctetsFile
    chunks: Iterator[Any]
    next: int = 0
    """Number of the chunk that comes next."""


_last: dict[tuple[Footer, int, int], Any] = {}
_LAST = 4
"""Chunks that are remembered of files that have few, whoever read them."""


def read_footer(octets: Octets) -> Footer:
    """Raises `Unreadable`, and what reading raises."""
    end = octets.size or 0
    tail = octets.read(max(0, end - 8), end)
    told = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or not 0 < told <= min(MAX_FOOTER, end):
        raise Unreadable(say("viewer.parquet_broken"))
    with _told():
        file = _file(OctetsFile(octets), None)
        metadata, schema = file.metadata, file.schema_arrow
    if metadata.num_columns > MAX_COLUMNS:
        raise Unreadable(say("rows.wide", n=metadata.num_columns, limit=MAX_COLUMNS))
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    ends = tuple(accumulate(group.num_rows for group in groups))
    if any(group.num_rows < 0 for group in groups) or (ends[-1] if ends else 0) != metadata.num_rows:
        raise Unreadable(say("viewer.parquet_broken"))
    chunks = tuple(_chunk_rows(group.num_rows, group.total_byte_size) for group in groups)
    return Footer(metadata, schema, ends, chunks, tuple(schema.names))


def _chunk_rows(rows: int, size: int) -> int:
    return max(1, min(CHUNK_ROWS, CHUNK * rows // max(1, size)))


class ParquetSource:
    """Meets `Source`. Chunks are kept in `folder`, where there is one."""

    shape = "parquet"
    within = ""
    trouble = None

    def __init__(self, octets: Octets, footer: Footer, folder: Path | None) -> None:
        self._octets = octets
        self._footer = footer
        self._folder = folder

    @property
    def columns(self) -> tuple[str, ...]:
        return self._footer.columns

    @property
    def count(self) -> int:
        return self._footer.ends[-1] if self._footer.ends else 0

    @property
    def known(self) -> Known:
        return Known(self.count, is_all=True)

    def advance(self) -> None:
        return None

    def rows(self, offset: int, limit: int, columns: Sequence[str] | None = None) -> tuple[Row, ...]:
        found: list[Row] = []
        with _told():
            while limit > len(found) and offset + len(found) < self.count:
                found += self._part(offset + len(found), limit - len(found), columns)
        return tuple(found)

    def _part(self, offset: int, limit: int, columns: Sequence[str] | None) -> list[Row]:
        """Rows of the chunk that holds row `offset`."""
        group = bisect_right(self._footer.ends, offset)
        inside = offset - (self._footer.ends[group - 1] if group else 0)
        number, at = divmod(inside, self._footer.chunks[group])
        table = self._chunk(group, number, columns)
        if columns is not None:
            table = table.select([name for name in columns if name in table.column_names])
        part = table.slice(at, limit)
        if part.num_rows == 0:
            raise Unreadable(say("viewer.parquet_broken"))
        return [Row(_plain(row)) for row in part.to_pylist(maps_as_pydicts="lossy")]

    def _chunk(self, group: int, number: int, columns: Sequence[str] | None) -> Any:
        footer = self._footer
        last = _last.get((footer, group, number))
        if last is not None:
            return last
        kept = self._kept(group, number)
        if kept is not None:
            return kept
        size = footer.metadata.row_group(group).total_byte_size
        if size > MAX_GROUP:
            raise Unreadable(say("viewer.parquet_group", megabytes=size // 2**20))
        if self._is_long(group) and self._folder is not None:
            with footer.lock:
                return self._kept(group, number) or self._decoded(group, number)
        table = next(chunk for at, chunk in enumerate(self._chunks(group, columns)) if at == number)
        if columns is None:
            _last[footer, group, number] = table
            for old in list(_last)[:-_LAST]:
                _last.pop(old, None)
        return table

    def _is_long(self, group: int) -> bool:
        """Whether a row group is decoded in more than a few chunks."""
        return bool(self._footer.metadata.row_group(group).num_rows > 4 * self._footer.chunks[group])

    def _decoded(self, group: int, number: int) -> Any:
        """The chunk; it and those before it are kept. Whoever wants a later one goes on from here."""
        decoding = self._footer.decoding
        self._footer.decoding = None  # what fails half-way is begun again
        if decoding is None or decoding.group != group or decoding.next > number:
            self._make_room()
            source = OctetsFile(self._octets)
            decoding = Decoding(group, source, self._chunks(group, None, source))
        decoding.source.octets = self._octets  # who reads now does so with a token of their own
        table = None
        while decoding.next <= number:
            table = next(decoding.chunks)
            self._keep(group, decoding.next, table)
            decoding.next += 1
        self._footer.decoding = decoding
        return table

    def _chunks(self, group: int, columns: Sequence[str] | None, source: OctetsFile | None = None) -> Iterator[Any]:
        """The row group's chunks; pyarrow's own batches may end sooner."""
        import pyarrow as pa

        rows, held = self._footer.chunks[group], None
        file = _file(source or OctetsFile(self._octets), self._footer.metadata)
        for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=columns, use_threads=False):
            table = pa.Table.from_batches([batch])
            held = table if held is None else pa.concat_tables([held, table])
            while held.num_rows >= rows:
                yield held.slice(0, rows)
                held = held.slice(rows)
        if held is not None and held.num_rows:
            yield held

    def _kept(self, group: int, number: int) -> Any:
        import pyarrow as pa

        if self._folder is None:
            return None
        # What is damaged is decoded again.
        with suppress(OSError, pa.ArrowInvalid), pa.memory_map(str(self._path(group, number))) as source:
            return pa.ipc.open_file(source).read_all()
        return None

    def _keep(self, group: int, number: int, table: Any) -> None:
        import pyarrow as pa

        path = self._path(group, number)
        half = path.with_suffix(f".{os.getpid()}-{get_ident()}")
        with suppress(OSError):  # where there is no room, it is decoded again
            path.parent.mkdir(parents=True, exist_ok=True)
            with pa.OSFile(str(half), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
                out.write_table(table)
            half.replace(path)

    def _make_room(self) -> None:
        kept = [*self._folder.glob("*.arrow")] if self._folder is not None else []
        if sum(path.stat().st_size for path in kept) > MAX_KEPT:
            for path in kept:
                path.unlink(missing_ok=True)

    def _path(self, group: int, number: int) -> Path:
        if self._folder is None:
            raise ValueError("Nothing is kept without a folder.")
        return self._folder / f"{group}-{number}.arrow"


def _file(source: OctetsFile, metadata: Any) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.ParquetFile(pa.PythonFile(source, mode="r"), metadata=metadata, buffer_size=_BUFFER, pre_buffer=False)


class _told:
    """Turns what pyarrow raises into `Unreadable`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import pyarrow as pa

        if isinstance(error, pa.ArrowException | OSError | ValueError | OverflowError | LookupError | StopIteration):
            raise Unreadable(say("viewer.parquet_broken")) from error


def _plain(value: object) -> object:
    """What JSON has no word for, as text. Bytes stay bytes: what they are is for others to tell."""
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
