"""CSV and TSV as tables, typed as the viewer types them."""

import csv
import io
import re
from collections.abc import Mapping

from rlx.localhub.viewer.features import columns_of
from rlx.localhub.viewer.tables import MAX_WHOLE, ListTable

# The limit is of the process, so all who read such files set the same one; cells are bounded by the size of the file.
csv.field_size_limit(MAX_WHOLE)

_INT = re.compile(r"-?[0-9]{1,18}")


def read_delimited(data: bytes, separator: str, options: Mapping[str, object]) -> ListTable:
    """A file with a header line. Raises `csv.Error` or `ValueError`."""
    told = options.get("sep", options.get("delimiter"))
    delimiter = told if isinstance(told, str) and len(told) == 1 else separator
    text = io.StringIO(data.decode("utf-8-sig", "replace"), newline="")
    reader = csv.reader(text, delimiter=delimiter)
    header = next(reader, [])
    lines = [line for line in reader if line]
    if any(len(line) > len(header) for line in lines):
        raise ValueError("a line has more cells than the header")
    columns: dict[str, list[object]] = {}
    for number, name in enumerate(header):
        cells = [line[number] if number < len(line) else "" for line in lines]
        columns[name or f"Unnamed: {number}"] = _typed(cells)
    names = list(columns)
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return ListTable(rows, columns_of(rows) or dict.fromkeys(names, "null"), len(data))


def _typed(cells: list[str]) -> list[object]:
    """A column as integers, floats or booleans when all its cells are; empty cells are null."""
    filled = [cell for cell in cells if cell]
    for read in (_int, _float, {"True": True, "true": True, "False": False, "false": False}.__getitem__):
        try:
            known = {cell: read(cell) for cell in filled}
        except (ValueError, KeyError):
            continue
        return [known[cell] if cell else None for cell in cells]
    return [cell or None for cell in cells]


def _int(text: str) -> int:
    if _INT.fullmatch(text) is None:
        raise ValueError(text)
    return int(text)


def _float(text: str) -> float:
    if "_" in text or text.lower().strip("+-") in {"nan", "inf", "infinity"}:
        raise ValueError(text)
    return float(text)
