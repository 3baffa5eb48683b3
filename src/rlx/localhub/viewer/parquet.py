"""Parquet files as tables, whose footer is kept and whose rows are read by row group; and Arrow files, read whole."""

import base64
import bisect
import datetime
import decimal
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rlx.localhub.viewer.features import Type
from rlx.localhub.viewer.tables import MAX_WHOLE, ListTable, Opener, Row, TooBig, Unreadable

_BATCH = 2000
"""Rows that are read at a time while all are."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    ends: tuple[int, ...]
    """Rows up to the end of each row group."""
    columns: dict[str, Type]
    declared: Mapping[str, object] | None
    weight: int = 1024

    @property
    def rows(self) -> int:
        return self.ends[-1] if self.ends else 0

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        if start >= stop:
            return []
        first = bisect.bisect_right(self.ends, start)
        last = bisect.bisect_left(self.ends, stop)
        begins = self.ends[first - 1] if first else 0
        try:
            with opener() as source:
                groups = pq.ParquetFile(source).read_row_groups(list(range(first, last + 1)))
            rows = groups.slice(start - begins, stop - start).to_pylist()
        except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
            raise Unreadable(f"Its rows cannot be read: {str(error)[:300]}") from error
        return [_row(row) for row in rows]

    def scan(self, opener: Opener) -> Iterator[Row]:
        try:
            with opener() as source:
                for batch in pq.ParquetFile(source).iter_batches(batch_size=_BATCH):
                    yield from map(_row, batch.to_pylist())
        except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
            raise Unreadable(f"Its rows cannot be read: {str(error)[:300]}") from error


def open_arrow(data: bytes) -> ListTable:
    """A table as `datasets` saves it to disk: an Arrow stream, or an Arrow file. Raises `Unreadable`."""
    try:
        whole = pa.ipc.open_file(data) if data.startswith(b"ARROW1") else pa.ipc.open_stream(data)
        table = whole.read_all()
        table.validate(full=True)
        if table.nbytes > MAX_WHOLE:
            raise TooBig(f"It unpacks to more than {MAX_WHOLE:,} bytes.")
        rows = [_row(row) for row in table.to_pylist()]
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        raise Unreadable(f"It is not an Arrow file: {str(error)[:300]}") from error
    columns = {field.name: _type(field.type) for field in table.schema}
    return ListTable(rows, columns, len(data), _declared(table.schema, columns))


def open_parquet(opener: Opener) -> ParquetTable:
    """Read a file's footer. Raises `Unreadable`."""
    try:
        with opener() as source:
            file = pq.ParquetFile(source)
            meta, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        raise Unreadable(f"It is not a parquet file: {str(error)[:300]}") from error
    sizes = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
    columns = {field.name: _type(field.type) for field in schema}
    return ParquetTable(tuple(accumulate(sizes)), columns, _declared(schema, columns))


def _declared(schema: Any, columns: Mapping[str, Type]) -> Mapping[str, object] | None:
    """What the `datasets` library wrote into the schema, when it fits the columns."""
    try:
        told = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError, RecursionError):
        return None
    return told if isinstance(told, dict) and list(told) == list(columns) else None


def _type(type_: Any) -> Type:
    if pa.types.is_dictionary(type_):
        return _type(type_.value_type)
    if pa.types.is_map(type_):
        return [{"key": _type(type_.key_type), "value": _type(type_.item_type)}]
    if pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_):
        return [_type(type_.value_type)]
    if pa.types.is_struct(type_):
        return {field.name: _type(field.type) for field in type_}
    names = {"double": "float64", "float": "float32", "halffloat": "float16", "large_string": "string"}
    return names.get(str(type_), str(type_))


def _row(row: Mapping[str, object]) -> Row:
    return {key: _plain(value) for key, value in row.items()}


def _plain(value: object) -> object:
    """A cell as JSON can say it, the way the viewer does: bytes in base 64, times in ISO 8601."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return dict(zip(("key", "value"), map(_plain, value), strict=True))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
