"""Files of rows, JSON Lines and tables, with the answers of each row masked."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Final

from rlx.answers import keys
from rlx.answers.records import parse_json, record
from rlx.answers.shown import MARK, Masked, Withheld, show
from rlx.texts import say

ROWS: Final = 20_000
"""Rows of one file that are looked at."""
_LINE: Final = 2 * 1024 * 1024
"""Characters of one row that are looked at."""
_REPORTED: Final = 200
_HEADERS: Final = 5
"""First rows of a table among which its header is looked for."""


def json_lines(text: str, *, path: str) -> Masked:
    """JSON Lines, each row masked by itself and kept on its line. A row that cannot be read and names an answer is not
    shown."""
    out: list[str] = []
    masked: list[int] = []
    withheld: dict[Withheld, None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if number > ROWS:
            withheld[Withheld(f"{path}: line {number} and after", say("answers.too_many", n=ROWS))] = None
            out.append(MARK)
            break
        shown, reasons = _row(path, number, line)
        out.append(shown)
        if reasons:
            masked.append(number)
            withheld.update(dict.fromkeys(reasons))
    return Masked(show("\n".join(out)), tuple(masked), tuple(list(withheld)[:_REPORTED]))


def values(rows: Iterable[object], *, path: str) -> Masked:
    """Rows that some container held, written as JSON Lines, each masked by itself."""
    out: list[str] = []
    masked: list[int] = []
    withheld: dict[Withheld, None] = {}
    for number, row in enumerate(rows, 1):
        shown = record(row, at=path)
        out.append(json.dumps(shown.value.value, ensure_ascii=False))
        if shown.withheld:
            masked.append(number)
            withheld.update(dict.fromkeys(shown.withheld))
    text = "".join(f"{line}\n" for line in out)
    return Masked(show(text), tuple(masked), tuple(list(withheld)[:_REPORTED]))


def _row(path: str, number: int, line: str) -> tuple[str, tuple[Withheld, ...]]:
    if not line.strip():
        return line, ()
    if len(line) > _LINE:
        return MARK, (Withheld(f"{path}: line {number}", say("answers.too_deep")),)
    try:
        value, repeats = parse_json(line)
    except RecursionError:
        return MARK, (Withheld(f"{path}: line {number}", say("answers.too_deep")),)
    except ValueError:
        if any(keys.is_answer_key(name) for name in re.findall(r"[\"'](\w[\w .-]{0,60})\\*[\"']\s*:", line)):
            return MARK, (Withheld(f"{path}: line {number}", say("answers.unparsed")),)
        return line, ()
    shown = record(value, at=path)
    if not shown.withheld and not repeats:
        return line, ()
    end = "\r" if line.endswith("\r") else ""
    return json.dumps(shown.value.value, ensure_ascii=False) + end, shown.withheld


def table(text: str, *, path: str) -> Masked | Withheld:
    """A table by its header; columns that hold answers are masked, cell by cell."""
    delimiter = _delimiter(path, text)
    try:
        rows = list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter, strict=False))
    except csv.Error:
        return Withheld(path, say("answers.unparsed"))
    first = _header(rows)
    names = _unique([cell.strip() for cell in rows[first]] if rows else [], max(map(len, rows), default=0))
    out = io.StringIO()
    write = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    withheld: dict[Withheld, None] = {}
    masked: list[int] = []
    line = 0
    for number, row in enumerate(rows):
        if number > ROWS:
            withheld[Withheld(f"{path}: row {number} and after", say("answers.too_many", n=ROWS))] = None
            break
        cells = row
        if number > first:
            shown = record(dict(zip(names, row, strict=False)), at=path)
            value = shown.value.value
            cells = [str(cell) for cell in value.values()] if isinstance(value, dict) else [MARK] * len(row)
            if shown.withheld:
                withheld.update(dict.fromkeys(shown.withheld))
                masked.extend(range(line + 1, line + 2 + sum(cell.count("\n") for cell in cells)))
        write.writerow(cells)
        line += 1 + sum(cell.count("\n") for cell in cells)
    if not withheld:
        return Masked(show(text))
    return Masked(show(out.getvalue()), tuple(masked), tuple(list(withheld)[:_REPORTED]))


def _delimiter(path: str, text: str) -> str:
    """What separates the cells: the commonest separator of the first lines, by the file's name in case of doubt."""
    head = "\n".join(text.split("\n", _HEADERS)[:_HEADERS])
    usual = "\t" if path.lower().endswith(".tsv") else ","
    return max((usual, ",", ";", "\t", "|"), key=head.count)


def _header(rows: Sequence[Sequence[str]]) -> int:
    """The row that names the columns: among the first ones, one that names an answer, else the first with content."""
    for number, row in enumerate(rows[:_HEADERS]):
        if any(len(cell) < 60 and keys.is_answer_key(cell) for cell in row):
            return number
    return next((number for number, row in enumerate(rows[:_HEADERS]) if any(row)), 0)


def _unique(names: list[str], width: int) -> list[str]:
    """A name for each column: those without get a number, those that repeat one, too."""
    named = [*names, *[""] * (width - len(names))]
    seen: dict[str, int] = {}
    out: list[str] = []
    for at, name in enumerate(named):
        seen[name] = seen.get(name, 0) + 1
        out.append(f"column {at + 1}" if not name else name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
