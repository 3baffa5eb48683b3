"""Pages of a table as a reader may see them: answers replaced, media named, what cannot be read told."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import anyio.to_thread

from rlx.answers import Policy
from rlx.answers.rows import guarded_too, table_row
from rlx.answers.shown import MARK, Withheld
from rlx.formats.rows.kinds import kind_of
from rlx.formats.rows.media import named
from rlx.formats.rows.opening import RowFile, Rows
from rlx.formats.rows.sources.base import Row, Unreadable
from rlx.model import NoTable, TablePage, TableRow, Text
from rlx.texts import Say, say

_REPORTED = 200
_FEW = 3
"""Records from which a JSON object is a table of its values."""
_KINDS = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}


@dataclass(frozen=True, slots=True)
class ShownTable:
    """Meets `TableFile`. `below` is the file's path from its task, or from the repository."""

    file: RowFile
    below: str
    besides: Policy | None = None
    """Of the rows, where it is known what reads them."""

    async def page(self, start: int, limit: int) -> TablePage | NoTable:
        try:
            rows = await self.file.page(start - 1, limit)
        except Unreadable as error:
            return NoTable(error.reason, error.quiet)
        if kind_of(self.below) == "document" and not is_usual(rows.shape, rows.known, rows.rows):
            return NoTable(say("rows.no_table"), quiet=True)
        return await anyio.to_thread.run_sync(shown_page, rows, self.below, start, self.besides)


def is_usual(shape: str, count: int, rows: Iterable[Row]) -> bool:
    """Whether a reader would take a JSON document of that shape for a table, rather than for an object of its own."""
    if shape == "map" and count < _FEW:
        return False
    usual = shape in {"list", "map", "lines", "columns"}
    least = 2 if shape == "columns" else 0
    return usual and all(
        row.broken is not None or (isinstance(row.value, dict) and len(row.value) >= least) for row in rows
    )


def shown_page(rows: Rows, path: str, asked: int = 1, besides: Policy | None = None) -> TablePage:
    """`rows` of the file at `path`, of which those from number `asked` on were wanted, masked under `besides` too."""
    found: list[TableRow] = []
    withheld: dict[Withheld, None] = {}
    for number, row in enumerate(rows.rows, rows.offset + 1):
        if row.broken is not None:
            found.append(TableRow(number, None, row.line, row.broken))
            continue
        masked = table_row(named(row.value), path=path, shape=rows.shape, within=rows.within)
        if besides is not None:
            masked = guarded_too(masked, path=path, policy=besides)
        withheld.update(dict.fromkeys(masked.withheld))
        found.append(TableRow(number, masked.value, row.line, note=row.note))
    notes = tuple(_notes(rows, found, asked))
    told = tuple(list(withheld)[:_REPORTED])
    return TablePage(rows.columns, tuple(found), rows.count, rows.known, rows.share, notes, told)


def _notes(rows: Rows, found: list[TableRow], asked: int) -> Iterator[Say]:
    if rows.trouble is not None:
        yield rows.trouble
    elif rows.count is None:
        yield say("rows.looking", n=rows.known, percent=int(100 * rows.share))
    if asked > max(1, rows.known):
        yield say("rows.past", asked=asked, n=rows.known) if rows.count is not None else say("rows.not_yet", n=asked)
    values = (row.value.value for row in found if row.value is not None)
    yield from oddities(sum(row.broken is not None for row in found), sum(is_ragged(row.note) for row in found), values)


def is_ragged(note: Text | None) -> bool:
    """Whether a row's note tells that it has more or fewer cells than the header."""
    return isinstance(note, Say) and note.key == "rows.ragged"


def oddities(broken: int, ragged: int, values: Iterable[object]) -> Iterator[Say]:
    """What a reader is told of a page that holds so many broken and so many ragged rows, and `values` beside them."""
    if broken:
        yield say("rows.broken", n=broken)
    if ragged:
        yield say("rows.ragged_rows", n=ragged)
    mixed = _mixed(values)
    if mixed:
        yield say("rows.mixed", n=len(mixed), names=", ".join(name[:60] for name in mixed[:5]))


def _mixed(values: Iterable[object]) -> list[str]:
    """Columns whose values are of more than one kind."""
    kinds: dict[str, set[str]] = {}
    for value in values:
        for name, cell in value.items() if isinstance(value, dict) else ():
            if cell is not None and cell != MARK:
                kinds.setdefault(name, set()).add(_KINDS.get(type(cell), "text"))
    return [name for name, known in kinds.items() if len(known) > 1]
