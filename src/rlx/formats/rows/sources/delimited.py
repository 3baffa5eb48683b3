"""Delimited text as a table: any of the usual delimiters, quotes and line ends in cells, a header that is found."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlx.answers.rows import delimiter, header_row
from rlx.formats.rows.sources.base import Row, Unreadable
from rlx.formats.rows.sources.octets import Octets
from rlx.formats.rows.sources.scanning import Delimited
from rlx.texts import say

HEAD = 256 * 1024
"""Bytes from which the delimiter and the header are told."""
MAX_COLUMNS = 2000
_LOOKED_AT = 50
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class DelimitedReading:
    """Meets `Reading`. Cells past the header's are named by their place."""

    columns: tuple[str, ...]
    scanner: Delimited
    skipped: int
    header: int
    """Cells of the header; more columns may be known from the rows after it."""
    shape: str = "delimited"

    def row(self, text: bytes, line: int) -> Row:
        cells = self.scanner.cells(text)
        width = len(self.columns)
        if len(cells) > MAX_COLUMNS:
            return Row(None, line, broken=say("rows.wide_row", n=len(cells), limit=MAX_COLUMNS))
        named = [*self.columns, *(f"({at + 1})" for at in range(width, len(cells)))]
        note = say("rows.ragged", n=len(cells), columns=self.header) if len(cells) != self.header else None
        return Row(dict(zip(named, cells, strict=False)), line, note=note)


def open_delimited(octets: Octets, path: str) -> tuple[DelimitedReading, int]:
    """How the file is read, and where its first record may begin. Raises `Unreadable`."""
    head = octets.read(0, HEAD)
    start = len(_BOM) if head.startswith(_BOM) else 0
    text = head[start:]
    if not text.strip():
        raise Unreadable(say("rows.empty"), quiet=True)
    scanner = Delimited(delimiter(path, text.decode("utf-8", "replace")).encode())
    spans, _ = scanner.spans(text, is_last=len(head) < HEAD)
    records = [scanner.cells(text[begin:end]) for begin, end in spans[:_LOOKED_AT]]
    if not records:
        raise Unreadable(say("rows.no_header"))
    header = header_row(records)
    columns = _unique(records[header], max(len(record) for record in records[header:]))
    if len(columns) > MAX_COLUMNS:
        raise Unreadable(say("rows.wide", n=len(columns), limit=MAX_COLUMNS))
    if len(spans) == header + 1 and len(head) < HEAD:
        raise Unreadable(say("rows.only_header"), quiet=True)
    return DelimitedReading(columns, scanner, header + 1, len(records[header])), start


def _unique(header: Sequence[str], width: int) -> tuple[str, ...]:
    """A name for each column, told apart by its place where the header does not."""
    names: list[str] = []
    for at in range(width):
        name = header[at].strip() if at < len(header) else ""
        names.append(name if name and name not in names else f"{name} ({at + 1})".strip())
    return tuple(names)
