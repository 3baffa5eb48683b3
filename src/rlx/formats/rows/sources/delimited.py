"""Delimited text as a table: any of the usual delimiters, quotes and line ends in cells, a header that is found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rlx.answers.rows import HEADERS, delimiter, header_row
from rlx.formats.rows.sources.base import Row, Unreadable
from rlx.formats.rows.sources.octets import Octets
from rlx.formats.rows.sources.scanning import Delimited
from rlx.texts import Say, say

HEAD = 256 * 1024
"""Bytes from which the delimiter and the header are told."""
MAX_COLUMNS = 2000
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class DelimitedReading:
    """Meets `Reading`. Cells past the header's are named by their place."""

    columns: tuple[str, ...]
    scanner: Delimited
    skipped: int
    header: int
    """Cells of the header; more columns may be known from the rows after it."""
    note: Say | None = None
    shape: str = "delimited"

    def row(self, text: bytes, line: int) -> Row:
        encoding, odd = encoding_of(text)
        cells = self.scanner.cells(text, encoding)
        width = len(self.columns)
        if len(cells) > MAX_COLUMNS:
            return Row(None, line, broken=say("rows.wide_row", n=len(cells), limit=MAX_COLUMNS))
        named = [*self.columns, *(f"({at + 1})" for at in range(width, len(cells)))]
        note = say("rows.ragged", n=len(cells), columns=self.header) if len(cells) != self.header else odd
        return Row(dict(zip(named, cells, strict=False)), line, note=note)


def encoding_of(record: bytes) -> tuple[str, Say | None]:
    """How a record is written, and what is odd about that: where it is hardly UTF-8, it is taken for Windows-1252."""
    if record.isascii():
        return "utf-8", None
    text = record.decode("utf-8", "replace")
    bad = text.count("\ufffd") - record.count(b"\xef\xbf\xbd")
    if bad == 0:
        return "utf-8", None
    good = sum(char > "\x7f" for char in text) - text.count("\ufffd")
    return ("utf-8", say("row_sources.bad_utf8")) if good >= bad else ("cp1252", say("row_sources.not_utf8"))


def _told(options: Mapping[str, object]) -> bytes | None:
    """The delimiter that the card names."""
    told = options.get("sep", options.get("delimiter"))
    told = "\t" if told == "\\t" else told
    usable = isinstance(told, str) and len(told) == 1 and told.isascii() and told not in '\r\n"'
    return told.encode() if usable and isinstance(told, str) else None


def open_delimited(
    octets: Octets, path: str, options: Mapping[str, object] = MappingProxyType({})
) -> tuple[DelimitedReading, int]:
    """How the file is read, and where its first record may begin. Raises `Unreadable`.

    `options`: what the card says of it, `sep` or `delimiter`.
    """
    head = octets.read(0, HEAD)
    start = len(_BOM) if head.startswith(_BOM) else 0
    text = head[start:]
    if not text.strip():
        raise Unreadable(say("rows.empty"), quiet=True)
    scanner = Delimited(_told(options) or delimiter(path, text.decode("utf-8", "replace")).encode())
    spans, _ = scanner.spans(text, is_last=len(head) < HEAD)
    records = [scanner.cells(text[begin:end], encoding_of(text[begin:end])[0]) for begin, end in spans[:HEADERS]]
    if not records:
        raise Unreadable(say("rows.no_header"))
    header = header_row(records)
    columns = _unique(records[header], max(len(record) for record in records[header:]))
    if len(columns) > MAX_COLUMNS:
        raise Unreadable(say("rows.wide", n=len(columns), limit=MAX_COLUMNS))
    if len(spans) == header + 1 and len(head) < HEAD:
        raise Unreadable(say("rows.only_header"), quiet=True)
    note = say("row_sources.preamble", n=header) if header else None
    return DelimitedReading(columns, scanner, header + 1, len(records[header]), note), start


def _unique(header: Sequence[str], width: int) -> tuple[str, ...]:
    """A name for each column, told apart by its place where the header does not."""
    names: list[str] = []
    for at in range(width):
        name = header[at].strip() if at < len(header) else ""
        names.append(name if name and name not in names else f"{name} ({at + 1})".strip())
    return tuple(names)
