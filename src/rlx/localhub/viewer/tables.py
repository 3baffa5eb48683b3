"""Files as tables: JSON Lines by line offsets, JSON and CSV parsed whole, parquet in its own module."""

import csv
import gzip
import io
import json
import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from rlx.localhub.viewer.features import Type, columns_of, widen

MAX_WHOLE = 128 * 1024 * 1024
"""Bytes, unpacked, of a file that has to be read whole."""
_CHUNK = 1024 * 1024


class Unreadable(Exception):
    """A data file is not what its name says; the message says what is wrong with it."""


class TooBig(Unreadable):
    """A data file is too big to be shown."""


type Opener = Callable[[], BinaryIO]
type Row = dict[str, object]


class Table(Protocol):
    @property
    def rows(self) -> int: ...

    @property
    def weight(self) -> int:
        """Bytes it keeps in memory, roughly."""
        ...

    @property
    def columns(self) -> Mapping[str, Type]: ...

    @property
    def declared(self) -> Mapping[str, object] | None:
        """Features as the file itself declares them, in the viewer's notation."""
        ...

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        """Rows `start` to `stop`, which are in bounds, as JSON-like values."""
        ...


@dataclass(frozen=True, slots=True)
class ListTable:
    """Rows in memory."""

    items: list[Row]
    columns: dict[str, Type]
    weight: int
    declared: None = None

    @property
    def rows(self) -> int:
        return len(self.items)

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        return self.items[start:stop]


@dataclass(frozen=True, slots=True)
class LineTable:
    """JSON Lines: where each line begins, so that any row is one seek away."""

    offsets: "array[int]"
    columns: dict[str, Type]
    unpacked: bytes | None
    """The lines themselves when the file is compressed."""
    declared: None = None

    @property
    def rows(self) -> int:
        return len(self.offsets)

    @property
    def weight(self) -> int:
        return 8 * len(self.offsets) + len(self.unpacked or b"")

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        found: list[Row] = []
        with opener() if self.unpacked is None else io.BytesIO(self.unpacked) as source:
            for number in range(start, stop):
                source.seek(self.offsets[number])
                found.append(_row(json.loads(source.readline())))
        return found


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
        if kind in {"csv", "tsv"}:
            return _csv(_whole(source), "\t" if kind == "tsv" else ",", options)
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
    except (OSError, EOFError) as error:
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


def _lines(source: Opener, unpacked: bytes | None) -> LineTable:
    offsets, columns = array("q"), dict[str, Type]()
    with source() as file:
        at = 0
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    row = _row(json.loads(line))
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
        yield from map(_row, value)
    elif isinstance(value, dict) and value and all(isinstance(item, list) for item in value.values()):
        if len({len(item) for item in value.values()}) > 1:
            raise ValueError("its columns differ in length")
        yield from (dict(zip(value, cells, strict=True)) for cells in zip(*value.values(), strict=True))
    elif isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        yield from ({"key": key, **item} for key, item in value.items())
    else:
        yield _row(value)


def _row(value: object) -> Row:
    return value if isinstance(value, dict) else {"text": value}


def _csv(data: bytes, separator: str, options: Mapping[str, object]) -> ListTable:
    told = options.get("sep", options.get("delimiter"))
    delimiter = told if isinstance(told, str) and len(told) == 1 else separator
    # The limit is of the process; cells here are bounded by the size of the file.
    csv.field_size_limit(MAX_WHOLE)
    text = io.StringIO(data.decode("utf-8-sig", "replace"), newline="")
    reader = csv.reader(text, delimiter=delimiter)
    header = next(reader, [])
    lines = [line for line in reader if line]
    if any(len(line) > len(header) for line in lines):
        raise ValueError("a line has more cells than the header")
    columns: dict[str, list[object]] = {}
    for number, name in enumerate(header):
        cells = [line[number] if number < len(line) else "" for line in lines]
        columns[name or f"Unnamed: {number}"] = _typed(cells)
    names = list(columns)
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return ListTable(rows, columns_of(rows) or dict.fromkeys(names, "null"), len(data))


def _typed(cells: list[str]) -> list[object]:
    """A column as integers, floats or booleans when all its cells are; empty cells are null."""
    filled = [cell for cell in cells if cell]
    for read in (_int, _float, {"True": True, "true": True, "False": False, "false": False}.__getitem__):
        try:
            known = {cell: read(cell) for cell in filled}
        except (ValueError, KeyError):
            continue
        return [known[cell] if cell else None for cell in cells]
    return [cell or None for cell in cells]


_INT = re.compile(r"-?[0-9]{1,18}")


def _int(text: str) -> int:
    if _INT.fullmatch(text) is None:
        raise ValueError(text)
    return int(text)


def _float(text: str) -> float:
    if "_" in text or text.lower().strip("+-") in {"nan", "inf", "infinity"}:
        raise ValueError(text)
    return float(text)
