"""Rows found by looking at each: those with a word, and those that meet a condition."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from rlx.localhub.viewer.bodies import PAGE, Opened
from rlx.localhub.viewer.tables import Row
from rlx.localhub.viewer.where import parse_order, parse_where

SCANNED: Final = 200_000
"""Rows of a split that are looked at; an answer about a longer one is told as partial."""
_WORD: Final = re.compile(r"\w+")


def searched(opened: Opened, query: str, offset: int, length: int) -> dict[str, object]:
    """Rows that hold any of the words of `query` in a text at any depth, in their order."""
    words = frozenset(_WORD.findall(query.casefold()))
    return _page(opened, _found(opened, lambda row: _holds(row, words)), offset, length)


def filtered(opened: Opened, where: str, order: str | None, offset: int, length: int) -> dict[str, object]:
    """Rows that meet `where`, in their order or by a column, nulls last. Raises `Invalid`."""
    columns = opened.columns
    condition = parse_where(where, columns)
    found = _found(opened, lambda row: condition(row) is True)
    if order is not None:
        name, descends = parse_order(order, columns)
        kept = list(found)
        known = [item for item in kept if item[1].get(name) is not None]
        known.sort(key=lambda item: _rank(item[1].get(name)), reverse=descends)
        found = iter([*known, *(item for item in kept if item[1].get(name) is None)])
    return _page(opened, found, offset, length)


def scanned(opened: Opened) -> Iterator[tuple[int, Row]]:
    """Rows with their numbers, at most `SCANNED`."""
    number = 0
    for opener, table in opened.tables:
        for row in table.scan(opener):
            if number == SCANNED:
                return
            yield number, row
            number += 1


def is_partial(opened: Opened) -> bool:
    return opened.total > SCANNED


def _found(opened: Opened, accepts: Callable[[Row], bool]) -> Iterator[tuple[int, Row]]:
    return (item for item in scanned(opened) if accepts(item[1]))


def _page(opened: Opened, found: Iterator[tuple[int, Row]], offset: int, length: int) -> dict[str, object]:
    columns, kept, total = opened.columns, list[dict[str, object]](), 0
    for total, (number, row) in enumerate(found, 1):
        if offset < total <= offset + length:
            kept.append(opened.told(number, row, columns))
    return {
        "features": opened.features,
        "rows": kept,
        "num_rows_total": total,
        "num_rows_per_page": PAGE,
        "partial": is_partial(opened),
    }


def _holds(value: object, words: frozenset[str]) -> bool:
    if isinstance(value, str):
        return not words.isdisjoint(_WORD.findall(value.casefold()))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(item, words) for item in inner)


def _rank(value: object) -> tuple[bool, float, str]:
    """Numbers before texts, where a column holds both."""
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if isinstance(value, int | float) else 0.0, "" if is_number else str(value)
