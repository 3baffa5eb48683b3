"""JSON as tables: a record a line, or a document that is a list, an object of objects, columns, or one object."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rlx.answers.records import parse_json
from rlx.formats.rows.sources.base import Row, Unreadable
from rlx.formats.rows.sources.octets import Octets
from rlx.formats.rows.sources.scanning import Elements, Lines, Scanner
from rlx.texts import Say, say

HEAD = 1024 * 1024
"""Bytes from which it is told what a file is."""
WHOLE = 16 * 1024 * 1024
"""Bytes of a document that is read whole where its shape asks for it."""
KEY = ""
"""Name of the column that holds the keys of an object of objects, and of what is no object."""
LOOKED_AT = 50
"""First rows of which one must be a record."""
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/\S+\r?\noid sha256:[0-9a-f]{64}\r?\nsize (\d{1,18})\s*\Z"
)
_PAIR = re.compile(rb'\s*\{\s*"(?:[^"\\]++|\\.)*+"\s*:\s*([{\[]?)', re.DOTALL)
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class JsonReading:
    """Meets `Reading`."""

    shape: str
    columns: tuple[str, ...]
    scanner: Scanner
    skipped: int = 0
    note: Say | None = None

    def row(self, text: bytes, line: int) -> Row:
        where = line if self.shape == "lines" else None
        if self.shape == "map":
            text = b"{" + text + b"}"
        try:
            value, _ = parse_json(text.decode("utf-8", "replace"))
        except RecursionError:
            return Row(None, where, broken=say("rows.deep_row"))
        except json.JSONDecodeError as error:
            return Row(None, where, broken=_broken(error, len(text)))
        except ValueError:
            return Row(None, where, broken=say("rows.no_json"))
        if self.shape == "map" and isinstance(value, dict) and len(value) == 1:
            return Row(_pair(*next(iter(value.items()))), where)
        return Row(value, where)


@dataclass(frozen=True, slots=True)
class Found:
    """How a file is read: by walking from `start` on, or from `rows` that are here already."""

    reading: JsonReading
    start: int = 0
    rows: tuple[Row, ...] | None = None
    within: str = ""


def open_lines(octets: Octets) -> Found:
    """A file of a record a line; one that holds a document instead is opened as such. Raises `Unreadable`."""
    head, start = _head(octets)
    is_whole = len(head) < HEAD - start
    if head.lstrip()[:1] == b"[" and _first_row(head, is_whole) is None:
        return open_document(octets)
    lines = Lines()
    spans, _ = lines.spans(head, is_last=is_whole)
    if not spans and not is_whole:
        if head.lstrip()[:1] in (b"{", b"["):
            return Found(JsonReading("lines", (), lines), start)
        raise Unreadable(say("viewer.no_records"))
    reading = JsonReading("lines", (), lines)
    rows = [reading.row(head[begin:end], 0) for begin, end in spans[:LOOKED_AT]]
    if not any(isinstance(row.value, dict | list) for row in rows):
        if all(row.broken is None for row in rows):
            raise Unreadable(say("rows.no_records"))
        raise Unreadable(say("viewer.no_records"))
    return Found(JsonReading("lines", names(rows), lines), start)


def open_document(octets: Octets, within: str | None = None) -> Found:
    """A JSON document, or JSON Lines under its name. Raises `Unreadable`.

    `within` is the field that holds its rows, where the card names one.
    """
    head, start = _head(octets)
    if within is not None and head.lstrip()[:1] == b"{":
        return _inside(octets, start, within)
    is_whole = len(head) < HEAD - start
    first = head.lstrip()[:1]
    begin = start + head.find(first) + 1 if first else start
    if first == b"[":
        return Found(_elements("list", head[begin - start :], is_whole), begin)
    if first != b"{":
        raise Unreadable(say("rows.no_document"), quiet=True)
    if _first_row(head, is_whole) is not None:
        return open_lines(octets)
    size = octets.size
    if size is not None and size <= WHOLE:
        return _whole(octets.read(start, size), begin, start)
    pair = _PAIR.match(head)
    if pair is not None and pair[1] == b"{":
        return Found(_elements("map", head[begin - start :], is_whole), begin)
    raise Unreadable(say("rows.large_document", megabytes=WHOLE // 2**20))


def open_single(octets: Octets) -> Found:
    """A document that is one row, whatever it holds: a list of messages is under their name. One that cannot be read is
    a row all the same, which tells why."""
    try:
        return _listed("object", [_single(octets)])
    except Unreadable as error:
        return Found(JsonReading("object", (), Elements()), rows=(Row(None, broken=error.reason),))


def _single(octets: Octets) -> object:
    head, start = _head(octets)
    data = octets.read(start, start + WHOLE + 1) if len(head) >= HEAD - start else head
    if len(data) > WHOLE:
        raise Unreadable(say("rows.long_row", megabytes=WHOLE // 2**20))
    try:
        value, _ = parse_json(data.decode("utf-8", "replace"))
    except RecursionError as error:
        raise Unreadable(say("rows.deep_row")) from error
    except json.JSONDecodeError as error:
        raise Unreadable(_broken(error, len(data))) from error
    except ValueError as error:
        raise Unreadable(say("rows.no_json")) from error
    return {"messages": value} if isinstance(value, list) else value


def names(rows: Iterable[Row]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for row in rows:
        found |= dict.fromkeys(map(str, row.value) if isinstance(row.value, Mapping) else [KEY] if row.value else [])
    return tuple(found)


def _whole(data: bytes, begin: int, start: int) -> Found:
    """A document that is an object, small enough to be looked at whole."""
    try:
        value, _ = parse_json(data.decode("utf-8", "replace"))
    except RecursionError as error:
        raise Unreadable(say("rows.deep_document")) from error
    except ValueError as error:
        if _PAIR.match(data) and data.count(b"{") > 1:
            return Found(_elements("map", data[begin - start :], is_whole=True), begin)
        raise Unreadable(say("rows.broken_document"), quiet=True) from error
    if not isinstance(value, dict):
        raise Unreadable(say("rows.no_document"), quiet=True)
    if value and all(isinstance(item, dict) for item in value.values()):
        return Found(_elements("map", data[begin - start :], is_whole=True), begin)
    columns = _columns(value)
    if columns is not None:
        return _listed("columns", columns)
    inside = [(name, item) for name, item in value.items() if _is_records(item)]
    if "eval" in value and _is_records(value.get("samples")):  # a log of Inspect, which may hold other lists too
        inside = [("samples", value["samples"])]
    if len(inside) == 1:
        return _listed("inside", inside[0][1], inside[0][0])
    return _listed("object", [value])


def _inside(octets: Octets, start: int, within: str) -> Found:
    """The rows of one field of a document."""
    data = octets.read(start, start + WHOLE + 1)
    if len(data) > WHOLE:
        raise Unreadable(say("rows.large_document", megabytes=WHOLE // 2**20))
    try:
        value, _ = parse_json(data.decode("utf-8", "replace"))
    except RecursionError as error:
        raise Unreadable(say("rows.deep_document")) from error
    except ValueError as error:
        raise Unreadable(say("rows.broken_document"), quiet=True) from error
    held = value.get(within) if isinstance(value, dict) else None
    if isinstance(held, dict):
        held = _columns(held)
    if not isinstance(held, list):
        raise Unreadable(say("row_sources.no_field", name=within[:60]))
    return _listed("inside", held, within)


def _columns(value: Mapping[str, object]) -> list[object] | None:
    """The rows of an object of columns of one length; None for another object."""
    cells = list(value.values())
    lists = [cell for cell in cells if isinstance(cell, list)]
    if not lists or len(lists) < len(cells) or len({len(cell) for cell in lists}) > 1:
        return None
    if len(lists) == 1 and _is_records(lists[0]):
        return None
    return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _listed(shape: str, values: object, within: str = "") -> Found:
    rows = tuple(Row(value) for value in values) if isinstance(values, list) else ()
    return Found(JsonReading(shape, names(rows[:LOOKED_AT]), Elements()), rows=rows, within=within)


def _elements(shape: str, text: bytes, is_whole: bool) -> JsonReading:
    """A walk over what `text` begins; refused when none of its first elements can be read."""
    scanner = Elements()
    spans, _ = scanner.spans(text, is_last=is_whole)
    bare = JsonReading(shape, (), scanner)
    rows = [bare.row(text[begin:end], 0) for begin, end in spans[:LOOKED_AT]]
    if rows and all(row.broken is not None for row in rows):
        raise Unreadable(say("rows.broken_document"), quiet=True)
    return JsonReading(shape, names(rows), scanner)


def _pair(key: str, value: object) -> dict[str, object]:
    return {KEY: key} | ({**value, KEY: key} if isinstance(value, dict) else {"value": value})


def _head(octets: Octets) -> tuple[bytes, int]:
    """The first bytes after a byte order mark, and where they begin."""
    head = octets.read(0, HEAD)
    pointer = _POINTER.match(head)
    if pointer is not None:
        raise Unreadable(say("viewer.pointer", n=int(pointer[1])))
    start = len(_BOM) if head.startswith(_BOM) else 0
    if not head[start:].strip() and len(head) < HEAD:
        raise Unreadable(say("rows.empty"), quiet=True)
    return head[start:], start


def _first_row(head: bytes, is_whole: bool) -> Row | None:
    """The first line, where it is a whole value by itself and not all there is."""
    spans, _ = Lines().spans(head, is_last=is_whole)
    if not spans or (len(spans) == 1 and is_whole):
        return None
    row = JsonReading("lines", (), Lines()).row(head[slice(*spans[0])], 1)
    return row if row.broken is None and isinstance(row.value, dict | list) else None


def _broken(error: json.JSONDecodeError, length: int) -> Say:
    """Where a row stops being JSON; what stands there is not told, as it may be an answer."""
    is_cut = error.pos >= length - 1 or error.msg.startswith("Unterminated string")
    return say("rows.cut_row") if is_cut else say("rows.broken_row", n=error.pos + 1)
