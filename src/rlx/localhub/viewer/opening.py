"""Data files opened as tables: JSON Lines by line offsets, JSON and text whole, the rest in modules of their own."""

import csv
import gzip
import io
import json
import zlib
from array import array
from collections.abc import Iterator, Mapping

from rlx.localhub.viewer.delimited import read_delimited
from rlx.localhub.viewer.features import Type, columns_of, widen
from rlx.localhub.viewer.tables import (
    MAX_WHOLE,
    LineTable,
    ListTable,
    Opener,
    Row,
    Table,
    TooBig,
    Unreadable,
    as_row,
)

_CHUNK = 1024 * 1024


def open_table(path: str, opener: Opener, options: Mapping[str, object]) -> Table:
    """Read what is needed to answer for a file's rows. Raises `Unreadable`."""
    name = path.lower()
    unpacked = _unpack(opener) if name.endswith(".gz") else None
    source: Opener = opener if unpacked is None else lambda: io.BytesIO(unpacked)
    kind = name.removesuffix(".gz").rpartition(".")[2]
    try:
        if kind == "parquet":
            # pyarrow takes a fifth of a second to import, and most hubs are asked for no parquet.
            from rlx.localhub.viewer.parquet import open_parquet

            return open_parquet(opener)
        if kind == "arrow":
            from rlx.localhub.viewer.parquet import open_arrow  # as above

            return open_arrow(_whole(source))
        if kind == "txt":
            return _text(_whole(source))
        if kind in {"csv", "tsv"}:
            return read_delimited(_whole(source), "\t" if kind == "tsv" else ",", options)
        if kind == "json" and _begins_whole(source):
            return _json(source, options, unpacked)
        return _lines(source, unpacked)
    except (ValueError, RecursionError, csv.Error) as error:
        raise Unreadable(f"{path} cannot be read: {str(error)[:300]}") from error


def _unpack(opener: Opener) -> bytes:
    parts = io.BytesIO()
    try:
        with opener() as raw, gzip.GzipFile(fileobj=raw) as packed:
            while chunk := packed.read(_CHUNK):
                parts.write(chunk)
                if parts.tell() > MAX_WHOLE:
                    raise TooBig(f"It unpacks to more than {MAX_WHOLE:,} bytes.")
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"It cannot be unpacked: {error}") from error
    return parts.getvalue()


def _whole(source: Opener) -> bytes:
    with source() as file:
        data = file.read(MAX_WHOLE + 1)
    if len(data) > MAX_WHOLE:
        raise TooBig(f"It is larger than {MAX_WHOLE:,} bytes and has to be read whole.")
    return data


def _begins_whole(source: Opener) -> bool:
    """Whether a `.json` file is one document: its first line alone is none, or is all there is."""
    with source() as file:
        head = file.readline(_CHUNK).strip()
        rest = file.read(_CHUNK).strip()
    try:
        return not isinstance(json.loads(head), dict) or not rest
    except (ValueError, RecursionError):
        return True


def _text(data: bytes) -> ListTable:
    """Each line of a text, empty ones too, as the column `text`."""
    lines = data.decode("utf-8-sig", "replace").split("\n")
    rows: list[Row] = [{"text": line.removesuffix("\r")} for line in lines[: len(lines) - (not lines[-1])]]
    return ListTable(rows, {"text": "string"}, len(data))


def _lines(source: Opener, unpacked: bytes | None) -> LineTable:
    offsets, columns = array("q"), dict[str, Type]()
    with source() as file:
        at = 0
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    row = as_row(json.loads(line))
                except ValueError as error:
                    raise Unreadable(f"Line {number} is not JSON: {error}") from error
                offsets.append(at)
                widen(columns, row)
            at += len(line)
    return LineTable(offsets, columns, unpacked)


def _json(source: Opener, options: Mapping[str, object], unpacked: bytes | None) -> Table:
    data = _whole(source)
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _lines(source, unpacked)
        raise
    field = options.get("field")
    if isinstance(field, str) and isinstance(value, dict):
        value = value.get(field)
    rows = list(_records(value))
    return ListTable(rows, columns_of(rows), len(data))


def _records(value: object) -> Iterator[Row]:
    """Rows of a document: a list, columns of equal length, an object of objects (its keys in `key`), or one row."""
    if isinstance(value, list):
        yield from map(as_row, value)
    elif isinstance(value, dict) and value and all(isinstance(item, list) for item in value.values()):
        if len({len(item) for item in value.values()}) > 1:
            raise ValueError("its columns differ in length")
        yield from (dict(zip(value, cells, strict=True)) for cells in zip(*value.values(), strict=True))
    elif isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        yield from ({"key": key, **item} for key, item in value.items())
    else:
        yield as_row(value)
