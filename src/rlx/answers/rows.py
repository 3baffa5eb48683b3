"""Files of rows, JSON Lines and tables, with the answers of each row masked."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rlx.answers import keys
from rlx.answers.records import Policy, parse_json, record
from rlx.answers.shown import MARK, Json, Masked, MaskedJson, Withheld, clean, show, show_json
from rlx.texts import say

ROWS: Final = 20_000
"""Rows of one file that are looked at."""
_LINE: Final = 2 * 1024 * 1024
"""Characters of one row that are looked at."""
_REPORTED: Final = 200
_NESTED: Final = 500
"""Brackets of a line beyond which it is not searched for names but withheld."""
_KEY = re.compile(rf"[\"']([\w{keys.INVISIBLE}][\w .{keys.INVISIBLE}-]{{0,60}})\\*[\"']\s*:")
_NAME = re.compile(rf"\s*[\w .{keys.INVISIBLE}-]{{1,60}}\s*")
_QUOTED = re.compile(r'"[^"]*"')
_HEADERS: Final = 5
"""First rows of a table among which its header is looked for."""
HEADERS: Final = 200
"""First rows among which a header that names an answer is looked for."""
_HEAD: Final = 60_000
"""Characters of those."""
_WORDS: Final = 3
"""Words of the name of an answer's column at most, where it is not on top."""
_ASKED: Final = keys.INPUTS | keys.names("id idx index questionid taskid problemid")
"""Names of columns beside those of answers."""


def json_lines(text: str, *, path: str, besides: Policy | None = None) -> Masked:
    """JSON Lines, each row masked by itself and kept on its line.

    A line that is no row and names an answer is withheld, and with it all that follows up to the next row: JSON that is
    broken or cut off may go on with the answer.
    """
    out: list[str] = []
    masked: list[int] = []
    withheld: dict[Withheld, None] = {}
    broken = False
    for number, line in enumerate(text.split("\n"), 1):
        if number > ROWS:
            withheld[Withheld(f"{path}: line {number} and after", say("answers.too_many", n=ROWS))] = None
            out.append(MARK)
            break
        row = _row(path, line, besides)
        broken = row.names_answer or (broken and not row.whole)
        if broken and line.strip():
            row = _Row(MARK, (Withheld(f"{path}: line {number}", say("answers.unparsed")),))
        out.append(row.text)
        if row.withheld:
            masked.append(number)
            withheld.update(dict.fromkeys(row.withheld))
    return Masked(show("\n".join(out)), tuple(masked), tuple(list(withheld)[:_REPORTED]))


def values(rows: Iterable[object], *, path: str, besides: Policy | None = None) -> Masked:
    """Rows that some container held, written as JSON Lines, each masked by itself."""
    out: list[str] = []
    masked: list[int] = []
    withheld: dict[Withheld, None] = {}
    for number, row in enumerate(rows, 1):
        shown = guarded(row, at=path, besides=besides)
        out.append(json.dumps(shown.value.value, ensure_ascii=False))
        if shown.withheld:
            masked.append(number)
            withheld.update(dict.fromkeys(shown.withheld))
    text = "".join(f"{line}\n" for line in out)
    return Masked(show(text), tuple(masked), tuple(list(withheld)[:_REPORTED]))


def guarded(value: object, *, at: str, besides: Policy | None) -> MaskedJson:
    """A row of a file, masked as one of unknown make and, where it is known what reads it, under that policy too."""
    shown = record(value, at=at)
    return shown if besides is None else guarded_too(shown, path=at, policy=besides)


def guarded_too(shown: MaskedJson, *, path: str, policy: Policy) -> MaskedJson:
    """What was masked already, masked under another policy besides."""
    more = record(shown.value.value, policy=policy, at=path)
    return MaskedJson(more.value, tuple(dict.fromkeys((*shown.withheld, *more.withheld))))


def document(value: Json, *, at: str, policy: Policy) -> MaskedJson:
    """A JSON document that holds rows, each masked under their policy: a list, an object of them, or of lists."""
    withheld: dict[Withheld, None] = {}

    def masked(row: Json) -> Json:
        shown = record(row, policy=policy, at=at)
        withheld.update(dict.fromkeys(shown.withheld))
        return shown.value.value

    def within(part: Json) -> Json:
        return [masked(item) for item in part] if isinstance(part, list) else part

    if isinstance(value, list):
        told: Json = within(value)
    elif isinstance(value, dict) and value and all(isinstance(item, dict) for item in value.values()):
        told = {key: masked(item) for key, item in value.items()}
    elif isinstance(value, dict) and any(_holds_rows(item) for item in value.values()):
        told = {key: within(item) if _holds_rows(item) else item for key, item in value.items()}
    else:
        told = masked(value)
    return MaskedJson(show_json(told), tuple(withheld))


def _holds_rows(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def table_row(
    value: object, *, path: str, shape: str = "", within: str = "", policy: Policy | None = None
) -> MaskedJson:
    """One row that was taken out of the file at `path`, masked under `policy` or, without one, as in its place.

    `shape` tells the place: `list`, an element of the document, which may be a turn of a conversation; `inside`, an
    element of the list called `within`; `map`, an object of an object, its key under the empty name; else by itself.
    """
    if policy is not None:
        return _under(value, path, shape, within, policy)
    if shape == "map" and isinstance(value, Mapping):
        key = str(value.get("", ""))
        shown = record({key: {name: inner for name, inner in value.items() if name != ""}}, at=path)
        inner = _only(shown.value.value)
        told: Json = {"": clean(key), **(inner if isinstance(inner, dict) else {"value": inner})}
        return MaskedJson(show_json(told), shown.withheld)
    if shape == "list":
        shown = record([value], at=path)
        return MaskedJson(show_json(_only(shown.value.value)), shown.withheld)
    if shape == "inside":
        shown = record({within: [value]}, at=path)
        return MaskedJson(show_json(_only(_only(shown.value.value))), shown.withheld)
    return record(value, at=path)


def _under(value: object, path: str, shape: str, within: str, policy: Policy) -> MaskedJson:
    """Under a policy, whose paths begin at the row. A place whose name says answer is withheld whole."""
    key = str(value.get("", "")) if shape == "map" and isinstance(value, Mapping) else ""
    name = within if shape == "inside" else key
    if name and keys.is_answer_key(name):
        return MaskedJson(show_json(MARK), (Withheld(f"{path}: {name}", say("answers.key")),))
    if shape == "map" and isinstance(value, Mapping):
        shown = record({name: inner for name, inner in value.items() if name != ""}, policy=policy, at=path)
        inner = shown.value.value
        told: Json = {"": clean(key), **(inner if isinstance(inner, dict) else {"value": inner})}
        return MaskedJson(show_json(told), shown.withheld)
    if shape == "list":
        shown = record([value], policy=policy, at=path)
        return MaskedJson(show_json(_only(shown.value.value)), shown.withheld)
    return record(value, policy=policy, at=path)


def _only(value: Json) -> Json:
    """What a list or an object of one holds; a mark stands for what was withheld whole."""
    items = value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else []
    return items[0] if items else MARK


class _Row(NamedTuple):
    text: str
    withheld: tuple[Withheld, ...] = ()
    whole: bool = False
    """It is an object or a list with content, by itself."""
    names_answer: bool = False
    """It is neither, and names an answer."""


def _row(path: str, line: str, besides: Policy | None) -> _Row:
    if not line.strip():
        return _Row(line)
    try:
        value, repeats = parse_json(line if len(line) <= _LINE else "")
    except (ValueError, RecursionError):
        hides = len(line) > _LINE or line.count("[") > _NESTED
        return _Row(line, names_answer=hides or any(keys.is_answer_key(match[1]) for match in _KEY.finditer(line)))
    shown = guarded(value, at=path, besides=besides)
    whole = isinstance(value, dict | list) and bool(value)
    if not shown.withheld and not repeats:
        return _Row(line, whole=whole)
    end = "\r" if line.endswith("\r") else ""
    return _Row(json.dumps(shown.value.value, ensure_ascii=False) + end, shown.withheld, whole)


def table(text: str, *, path: str, besides: Policy | None = None) -> Masked | Withheld:
    """A table by its header; columns that hold answers are masked, cell by cell."""
    separator = delimiter(path, text)
    try:
        rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator, strict=False))
    except csv.Error:
        return Withheld(path, say("answers.unparsed"))
    first = header_row(rows)
    names = _unique([cell.strip() for cell in rows[first]] if rows else [], max(map(len, rows), default=0))
    out = io.StringIO()
    write = csv.writer(out, delimiter=separator, lineterminator="\n")
    withheld: dict[Withheld, None] = {}
    masked: list[int] = []
    line = 0
    for number, row in enumerate(rows):
        if number > ROWS:
            withheld[Withheld(f"{path}: row {number} and after", say("answers.too_many", n=ROWS))] = None
            break
        cells = row
        if number != first:
            shown = guarded(dict(zip(names, row, strict=False)) if number > first else row, at=path, besides=besides)
            value = shown.value.value
            told = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list) else [MARK] * len(row)
            )
            cells = [str(cell) for cell in told]
            if shown.withheld:
                withheld.update(dict.fromkeys(shown.withheld))
                masked.extend(range(line + 1, line + 2 + sum(cell.count("\n") for cell in cells)))
        write.writerow(cells)
        line += 1 + sum(cell.count("\n") for cell in cells)
    if not withheld:
        return Masked(show(text))
    return Masked(show(out.getvalue()), tuple(masked), tuple(list(withheld)[:_REPORTED]))


def delimiter(path: str, text: str) -> str:
    """What separates the cells: the commonest separator of the first lines, by the file's name in case of doubt.

    Another one where with that one alone there is a header that names an answer.
    """
    head = _QUOTED.sub("", "\n".join(text[:_HEAD].split("\n", _HEADERS)[:_HEADERS]))
    usual = "\t" if path.lower().endswith(".tsv") else ","
    commonest = max((usual, ",", ";", "\t", "|"), key=head.count)
    lines = text[:_HEAD].split("\n", HEADERS)[:HEADERS]
    separators = dict.fromkeys((commonest, usual, ",", ";", "\t", "|"))
    return next((one for one in separators if _named([_cells(line, one) for line in lines]) is not None), commonest)


def header_row(rows: Sequence[Sequence[str]]) -> int:
    """The row that names the columns: among the first ones, one that names an answer, also after long notes, else the
    first with content."""
    for number, row in enumerate(rows[:_HEADERS]):
        if any(_names_answer(cell) for cell in row):
            return number
    named = _named(rows[:HEADERS])
    return next((number for number, row in enumerate(rows[:_HEADERS]) if any(row)), 0) if named is None else named


def _cells(line: str, separator: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.rstrip("\r").split(separator)]


def _names_answer(cell: str) -> bool:
    return _NAME.fullmatch(cell) is not None and keys.is_answer_key(cell)


def _named(rows: Sequence[Sequence[str]]) -> int | None:
    """The first row that is a header which names an answer, and no row of a table that began before.

    All its cells are names, one of them an answer's; and it names what is asked too, or has another width than what is
    before it, and that of what is after it.
    """
    read = width = 0
    for number, row in enumerate(rows):
        read += sum(map(len, row)) + len(row)
        if read > _HEAD:
            return None
        if len(row) > 1 and all(_NAME.fullmatch(cell) for cell in row if cell):
            names = any(_names_answer(cell) and len(keys.words(cell)) <= _WORDS for cell in row)
            begins = len(row) != width and len(row) == len(next(iter(rows[number + 1 : number + 2]), row))
            if names and (begins or any(keys.flat(cell) in _ASKED for cell in row)):
                return number
        width = len(row) if any(cell.strip() for cell in row) else width
    return None


def _unique(names: list[str], width: int) -> list[str]:
    """A name for each column: those without get a number, those that repeat one, too."""
    named = [*names, *[""] * (width - len(names))]
    seen: dict[str, int] = {}
    out: list[str] = []
    for at, name in enumerate(named):
        seen[name] = seen.get(name, 0) + 1
        out.append(f"column {at + 1}" if not name else name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
