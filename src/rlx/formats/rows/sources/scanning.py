"""Where rows end in the text of a file, found without reading what is in them.

A scanner is given text that begins between two rows and tells the places of the rows that are whole in it, and how far
it got; what is left begins the next text. It keeps no state, so that a file can be read from between any two rows.
"""

import re
from typing import Protocol

MAX_QUOTED = 1024 * 1024
"""Bytes in which a quote that opens a cell is closed; else it is a character like any other."""

_QUOTE, _COMMA = b'",'

type Spans = list[tuple[int, int]]


class Scanner(Protocol):
    def spans(self, data: bytes, *, is_last: bool) -> tuple[Spans, int]:
        """Begin and end of each row, and where the first row begins that is not whole. `is_last`: nothing follows."""
        ...


class Lines:
    """A row a line; lines without content are none."""

    def spans(self, data: bytes, *, is_last: bool) -> tuple[Spans, int]:
        found: Spans = []
        at = 0
        while (end := data.find(b"\n", at)) >= 0:
            if end > at and not data[at:end].isspace():
                found.append((at, end))
            at = end + 1
        if is_last and at < len(data):
            if not data[at:].isspace():
                found.append((at, len(data)))
            at = len(data)
        return found, at


class Delimited:
    """A row a record, whose cells may hold the delimiter and line ends between quotes."""

    def __init__(self, delimiter: bytes) -> None:
        plain = rb"[^%s\r\n]*+" % re.escape(delimiter)
        quoted = rb'"(?:[^"]++|"")*+"' + plain
        end = rb"(?:\r\n|\n|\r|\Z)"
        self._strict = _record(rb'(?:%s|(?!")%s)' % (quoted, plain), delimiter, end)
        self._lenient = _record(rb"(?:%s|%s)" % (quoted, plain), delimiter, end)
        self._cell = re.compile(rb"(?:(%s)|(%s))(?:%s|\Z)" % (quoted, plain, re.escape(delimiter)))
        self._blank = b' \t\r\n"' + delimiter

    def spans(self, data: bytes, *, is_last: bool) -> tuple[Spans, int]:
        found: Spans = []
        at = 0
        while at < len(data):
            record = self._strict.match(data, at)
            if record is None:
                if not is_last and len(data) - at < MAX_QUOTED:
                    break
                record = self._lenient.match(data, at)
            # At the end of the text a record may go on, and a carriage return may be half of a line's end.
            if record is None or (record.end() == len(data) and not is_last and data[-1:] != b"\n"):
                break
            if data[at : record.end()].strip(self._blank):
                found.append((at, record.end()))
            at = record.end()
        return found, at

    def cells(self, record: bytes, encoding: str = "utf-8") -> list[str]:
        """The cells of one record, unquoted."""
        record = record.removesuffix(b"\n").removesuffix(b"\r")
        found: list[str] = []
        at = 0
        while True:
            cell = self._cell.match(record, at)
            if cell is None:  # a line end outside of quotes: the rest is one cell
                return [*found, record[at:].decode(encoding, "replace")]
            kind = 1 if cell[1] is not None else 2
            text = _unquoted(cell[1]) if kind == 1 else cell[2]
            found.append(text.decode(encoding, "replace"))
            if cell.end() == cell.end(kind):
                return found
            at = cell.end()


class Elements:
    """A row an element of a JSON list, or a pair of a JSON object, from within its brackets.

    What closes more than was opened parts rows too: that is the end of the list, or the text is broken there.
    """

    _TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},"]', re.DOTALL)

    def spans(self, data: bytes, *, is_last: bool) -> tuple[Spans, int]:
        found: Spans = []
        at = depth = 0
        for token in self._TOKEN.finditer(data):
            char = data[token.start()]
            if char in b"[{":
                depth += 1
            elif char == _QUOTE:
                if token.end() - token.start() == 1:  # a string that does not end here
                    break
            elif depth == 0:
                _add(found, data, at, token.start())
                at = token.end()
            elif char != _COMMA:
                depth -= 1
        if is_last:
            _add(found, data, at, len(data))
            at = len(data)
        return found, at


def _add(found: Spans, data: bytes, begin: int, end: int) -> None:
    text = data[begin:end]
    if text and not text.isspace():
        begin += len(text) - len(text.lstrip())
        found.append((begin, end))


def _record(cell: bytes, delimiter: bytes, end: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"%s(?:%s%s)*+%s" % (cell, re.escape(delimiter), cell, end))


def _unquoted(cell: bytes) -> bytes:
    """A cell that begins with a quote; what follows the closing one belongs to it."""
    end = re.match(rb'"(?:[^"]++|"")*+"', cell)
    inner = end.end() if end else len(cell)
    return cell[1 : inner - 1].replace(b'""', b'"') + cell[inner:]
