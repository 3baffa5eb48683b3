"""The first rows of a parquet file, as the values that `rlx.answers` masks."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, BinaryIO

from rlx.texts import Say, say

MAX_ROWS = 1000
MAX_CHARS = 2_000_000
"""Size of the rows that are taken, as text."""
_MAX_UNPACKED = 1024**3
"""Bytes that the row groups which are read may say to unpack to."""
_MAX_COLUMNS = 2000
_BATCH = 50


class Unreadable(Exception):
    """A file whose rows cannot be had; `reason` tells why."""

    def __init__(self, reason: Say) -> None:
        super().__init__(reason.key)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FirstRows:
    rows: tuple[object, ...]
    total: int


def first_rows(source: BinaryIO) -> FirstRows:
    """Rows from the start, as many as the limits allow. Raises `Unreadable`, and what `source` raises."""
    import pyarrow as pa  # imported late: it costs most of a second, and few files need it
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source, buffer_size=64 * 1024, pre_buffer=False)
        if file.metadata.num_columns > _MAX_COLUMNS:
            raise Unreadable(say("viewer.parquet_wide", n=file.metadata.num_columns, limit=_MAX_COLUMNS))
        groups = list(_groups(file.metadata))
        batches = file.iter_batches(batch_size=_BATCH, row_groups=groups, use_threads=False)
        rows = tuple(_taken(batch.to_pylist(maps_as_pydicts="lossy") for batch in batches))
        return FirstRows(rows, file.metadata.num_rows)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise Unreadable(say("viewer.parquet_broken")) from error


def _groups(metadata: Any) -> Iterator[int]:
    """The first row groups that hold `MAX_ROWS` rows."""
    rows = unpacked = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        unpacked += group.total_byte_size
        if unpacked > _MAX_UNPACKED:
            if number == 0:
                raise Unreadable(say("viewer.parquet_group", megabytes=unpacked // 2**20))
            return
        yield number
        rows += group.num_rows
        if rows >= MAX_ROWS:
            return


def _taken(batches: Iterator[list[object]]) -> Iterator[object]:
    taken = chars = 0
    for batch in batches:
        for row in batch:
            plain = _plain(row)
            chars += len(str(plain))
            if taken == MAX_ROWS or (taken and chars > MAX_CHARS):
                return
            taken += 1
            yield plain


def _plain(value: object) -> object:
    """What JSON has no word for, as text; of bytes, how many."""
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, bytes):
        return f"‹{len(value)} bytes›"
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
