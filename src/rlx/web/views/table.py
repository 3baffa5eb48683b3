"""Rows as a table: what a container holds, and CSV, JSON Lines, lists of records of any size, a page at a time."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from rlx.answers.shown import MARK
from rlx.formats.rows.kinds import begins_as_table, kind_of, packing_of
from rlx.formats.rows.media import named
from rlx.formats.rows.opening import source_of
from rlx.formats.rows.shown import is_ragged, is_usual, oddities
from rlx.formats.rows.sources.base import Unreadable
from rlx.model import Blob, NoTable, TablePage
from rlx.texts import Say, say
from rlx.web.views import lines
from rlx.web.views.base import Asked, FileView, Unfit, suffix
from rlx.web.views.cells import Cell, Cells

PAGE = 100
MAX_COLUMNS = 60

_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+(?:[eE][+-]?\d+)?%?")

type Record = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    url: str | None
    """Where it stands in the text."""
    cells: tuple[Cell, ...]
    broken: Say | None
    """Why there are no cells."""
    note: Say | None
    """What is odd about them."""


@dataclass(frozen=True, slots=True)
class RowSpan:
    """The rows of a page, from 1."""

    first: int
    last: int
    total: int | None
    """None while it is unknown; `known` rows can be reached."""
    known: int
    size: int = PAGE

    @property
    def previous(self) -> int | None:
        return max(1, self.first - self.size) if self.first > 1 else None

    @property
    def next(self) -> int | None:
        return self.last + 1 if self.last < self.known or self.total is None else None

    @property
    def final(self) -> int | None:
        """First row of the last page; None on it, and while it is unknown."""
        if self.total is None or self.last >= self.total:
            return None
        return self.total - (self.total - 1) % self.size


@dataclass(frozen=True, slots=True)
class Jump:
    """The form that leads to a row: where it goes, and what it tells beside the row."""

    action: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    numeric: frozenset[int]
    """Places of the columns that hold nothing but numbers."""
    rows: tuple[Row, ...]
    page: RowSpan
    left_off: int
    """Columns past the limit."""
    notes: tuple[Say, ...]
    jump: Jump


@dataclass(frozen=True, slots=True)
class _Drawable:
    """One row before it is drawn."""

    number: int
    record: Record
    line: int | None
    broken: Say | None
    note: Say | None


def _draw(blob: Blob, asked: Asked) -> Table:
    page, rows, notes = _given(asked.rows) if asked.rows is not None else _read(blob, asked.start)
    is_delimited = kind_of(blob.path) == "delimited"
    names = tuple(dict.fromkeys(name for row in rows for name in row.record))
    columns = names[:MAX_COLUMNS]
    cells = Cells(asked)
    known_lines = blob.text.count("\n") + 1 if blob.text is not None and blob.form == "file" else 0
    drawn: list[Row] = []
    values: dict[str, list[object]] = {name: [] for name in columns}
    for row in rows:
        record = {key: _scalar(cell) for key, cell in row.record.items()} if is_delimited else row.record
        for name in columns:
            if name in record:
                values[name].append(record[name])
        url = _line_url(blob, asked, row.line) if row.line is not None and row.line <= known_lines else None
        shown = tuple(cells.draw(record.get(name, Cells.ABSENT)) for name in columns)
        drawn.append(Row(row.number, url, () if row.broken is not None else shown, row.broken, row.note))
    numeric = frozenset(at for at, name in enumerate(columns) if _is_numeric(values[name]))
    return Table(columns, numeric, tuple(drawn), page, len(names) - len(columns), notes, _jump(blob, asked))


def _given(page: TablePage | NoTable) -> tuple[RowSpan, list[_Drawable], tuple[Say, ...]]:
    """Rows of a long file, which were read beforehand."""
    if isinstance(page, NoTable):
        raise Unfit(None if page.quiet else page.reason)
    if not page.rows:
        raise Unfit(say("rows.none"))
    values = [None if row.value is None else row.value.value for row in page.rows]
    rows = [
        _Drawable(row.number, _record(value, row.broken), row.line, row.broken, row.note)
        for row, value in zip(page.rows, values, strict=True)
    ]
    return RowSpan(rows[0].number, rows[-1].number, page.total, page.known), rows, page.notes


def _read(blob: Blob, start: int) -> tuple[RowSpan, list[_Drawable], tuple[Say, ...]]:
    """Rows of a text that is here, its answers replaced already."""
    try:
        source = source_of(blob.path, (blob.text or "").encode("utf-8", "replace"))
    except Unreadable as error:
        raise Unfit(None if error.quiet else error.reason) from error
    first = max(1, min(start, source.known.rows))
    found = source.rows(first - 1, PAGE)
    if not found or (suffix(blob.path) == "json" and not is_usual(source.shape, source.known.rows, found)):
        raise Unfit
    rows = [
        _Drawable(number, _record(named(row.value), row.broken), row.line, row.broken, row.note)
        for number, row in enumerate(found, first)
    ]
    broken, ragged = sum(row.broken is not None for row in found), sum(is_ragged(row.note) for row in found)
    notes = tuple(oddities(broken, ragged, (row.value for row in found)))
    total = source.known.rows
    return RowSpan(first, rows[-1].number, total, total), rows, notes


def _record(value: object, broken: Say | None) -> Record:
    if broken is not None:
        return {}
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {"": value}


def _scalar(cell: object) -> object:
    """Numbers of a text table count as numbers, so that they align; they are shown as they are written."""
    return Cells.Number(cell) if isinstance(cell, str) and _NUMBER.fullmatch(cell) else cell


def _is_numeric(values: Iterable[object]) -> bool:
    told = [value for value in values if value is not None and value != "" and value != MARK]
    kinds = (int, float, Cells.Number)
    return bool(told) and all(isinstance(value, kinds) and not isinstance(value, bool) for value in told)


def _line_url(blob: Blob, asked: Asked, line: int) -> str:
    start = line - (line - 1) % lines.PAGE
    return f"{asked.links.file(asked.key, asked.ref, blob.path, view='text', start=start)}#L{line}"


def _jump(blob: Blob, asked: Asked) -> Jump:
    url = urlsplit(asked.links.file(asked.key, asked.ref, blob.path, view=asked.view, full=asked.full))
    return Jump(url.path, tuple(parse_qsl(url.query)))


def _fits(blob: Blob) -> bool:
    if blob.table is not None:
        return True
    if blob.form != "file" or not blob.text or packing_of(blob.path) is not None:
        return False
    kind = kind_of(blob.path)
    return kind in {"delimited", "lines"} or (kind == "document" and begins_as_table(blob.text))


VIEW = FileView("table", say("viewer.view_table"), _fits, _draw)
