"""Rows as a table: CSV, JSON Lines, lists of records, and what a parquet file holds."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rlx.answers.shown import MARK, Json
from rlx.model import Blob
from rlx.texts import say
from rlx.web.views import lines
from rlx.web.views.base import Asked, FileView, Span, Unfit, page_of, suffix
from rlx.web.views.cells import Cell, Cells

PAGE = 100
MAX_COLUMNS = 60
# The limit is of the process, so all who read such files set the same one; cells are bounded by the size of the file.
csv.field_size_limit(128 * 1024 * 1024)

_SEPARATORS = (",", ";", "\t", "|")
_LINES = frozenset({"jsonl", "ndjson"})
_RECORDS = re.compile(r"[\s\ufeff]*(?:\[\s*\{|\{\s*\"[^\"\n]{1,200}\"\s*:\s*\{)")
_LOOKED_AT = 50
"""First lines of a file among which one must be a record."""
_FEW = 3
"""Records from which a JSON object is a table of its values."""

type Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    url: str | None
    """Where it stands in the text."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    numeric: frozenset[int]
    """Places of the columns that hold nothing but numbers."""
    rows: tuple[Row, ...]
    page: Span
    left_off: int
    """Columns past the limit."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """One page of rows, as records."""

    page: Span
    records: tuple[Record, ...]
    lines: tuple[int, ...] = ()
    """On which line of the text each begins, where that is known."""


def _draw(blob: Blob, asked: Asked) -> Table:
    rows = _read(blob, asked.start)
    names = tuple(dict.fromkeys(name for record in rows.records for name in record))
    columns = names[:MAX_COLUMNS]
    cells = Cells(asked)
    drawn = tuple(
        Row(
            rows.page.first + at,
            _line_url(blob, asked, rows.lines[at]) if rows.lines else None,
            tuple(cells.draw(record.get(name, Cells.ABSENT)) for name in columns),
        )
        for at, record in enumerate(rows.records)
    )
    numeric = frozenset(
        at for at, name in enumerate(columns) if _is_numeric(record[name] for record in rows.records if name in record)
    )
    return Table(columns, numeric, drawn, rows.page, len(names) - len(columns))


def _read(blob: Blob, start: int) -> _Rows:
    text, kind = blob.held or blob.text or "", suffix(blob.path)
    if blob.form == "rows" or kind in _LINES:
        return _json_lines(text, start)
    if kind == "json":
        return _json(text, start)
    return _delimited(text, kind, start)


def _json_lines(text: str, start: int) -> _Rows:
    told = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not any(isinstance(_parsed(line), dict | list) for _, line in told[:_LOOKED_AT]):
        raise Unfit(say("viewer.no_records") if told else None)
    page = page_of(start, len(told), PAGE)
    part = told[page.first - 1 : page.last]
    return _Rows(page, tuple(_record(_parsed(line)) for _, line in part), tuple(number for number, _ in part))


def _json(text: str, start: int) -> _Rows:
    value = _parsed(text.lstrip("\ufeff"))
    items = value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
    records = [item for item in items if isinstance(item, dict)]
    if not records or len(records) < len(items) or (isinstance(value, dict) and len(value) < _FEW):
        raise Unfit
    named = zip(value, records, strict=True) if isinstance(value, dict) else ()
    found: list[Record] = [{"": key, **record} for key, record in named] or [*records]
    page = page_of(start, len(found), PAGE)
    return _Rows(page, tuple(found[page.first - 1 : page.last]))


def _delimited(text: str, kind: str, start: int) -> _Rows:
    head = "\n".join(text.split("\n", _LOOKED_AT)[:_LOOKED_AT])
    usual = "\t" if kind == "tsv" else ","
    separator = max((usual, *_SEPARATORS), key=head.count)
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator)
    rows: list[list[str]] = []
    starts: list[int] = []
    line = 1
    try:
        for row in reader:
            if any(row):
                rows.append(row)
                starts.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise Unfit(say("viewer.no_table")) from error
    if len(rows) < 2:
        raise Unfit
    names = _unique(rows[0], max(map(len, rows)))
    page = page_of(start, len(rows) - 1, PAGE)
    part = slice(page.first, page.last + 1)
    records = tuple(dict(zip(names, map(_scalar, row), strict=False)) for row in rows[part])
    return _Rows(page, records, tuple(starts[part]))


def _unique(header: Sequence[str], width: int) -> list[str]:
    """A name for each column, told apart by its place where the header does not."""
    names: list[str] = []
    for at in range(width):
        name = header[at].strip() if at < len(header) else ""
        names.append(name if name and name not in names else f"{name} ({at + 1})".strip())
    return names


def _parsed(line: str) -> Json:
    """A value; text that is no JSON stands for itself."""
    try:
        value: Json = json.loads(line, parse_int=lambda digits: int(digits) if len(digits) < 1000 else digits)
    except (ValueError, RecursionError):
        return line
    return value


def _record(value: Json) -> Record:
    return value if isinstance(value, dict) else {"": value}


def _scalar(cell: str) -> object:
    """Numbers of a text table count as numbers, so that they align; they are shown as they are written."""
    return Cells.Number(cell) if re.fullmatch(r"[+-]?[\d,]*\.?\d+(?:[eE][+-]?\d+)?%?", cell) else cell


def _is_numeric(values: Iterable[object]) -> bool:
    told = [value for value in values if value is not None and value != "" and value != MARK]
    kinds = (int, float, Cells.Number)
    return bool(told) and all(isinstance(value, kinds) and not isinstance(value, bool) for value in told)


def _line_url(blob: Blob, asked: Asked, line: int) -> str:
    start = line - (line - 1) % lines.PAGE
    return f"{asked.links.file(asked.key, asked.ref, blob.path, view='text', start=start)}#L{line}"


def _fits(blob: Blob) -> bool:
    if blob.form != "file" or not blob.text:
        return blob.form == "rows"
    kind = suffix(blob.path)
    return kind in {"csv", "tsv", *_LINES} or (kind == "json" and _RECORDS.match(blob.text) is not None)


VIEW = FileView("table", say("viewer.view_table"), _fits, _draw)
