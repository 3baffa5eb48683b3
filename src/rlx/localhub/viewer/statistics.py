"""What `/statistics` tells of each column: counts of labels, or how numbers and lengths are spread."""

import math
import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rlx.localhub.viewer.bodies import Opened
from rlx.localhub.viewer.features import Type, cell
from rlx.localhub.viewer.scanning import is_partial, scanned

_BINS: Final = 10
_DECIMALS: Final = 5
_MAX_LABELS: Final = 1000
_LABEL_SHARE: Final = 0.2
"""Texts of which no more are distinct, nor a greater share, are labels; so are ten or fewer."""


def column_statistics(opened: Opened) -> dict[str, object]:
    """Columns of structs, times, bytes and mixed values are left out."""
    columns = opened.columns
    declared = {str(item["name"]): item["type"] for item in opened.features}
    kinds = {name: kind for name, type_ in columns.items() if (kind := _kind(type_, declared[name]))}
    held: dict[str, list[object]] = {name: [] for name in kinds}
    count = 0
    for _, row in scanned(opened):
        count += 1
        for name, values in held.items():
            values.append(_measure(cell(row.get(name), columns[name]), kinds[name]))
    told = [_column(name, kinds[name], values, declared[name]) for name, values in held.items() if count]
    return {"num_examples": count, "statistics": told, "partial": is_partial(opened)}


def _kind(type_: Type, declared: object) -> str | None:
    if isinstance(declared, Mapping) and declared.get("_type") == "ClassLabel":
        return "class_label"
    if isinstance(type_, list):
        return "list"
    if not isinstance(type_, str):
        return None
    if type_.startswith(("int", "uint")):
        return "int"
    return {"string": "string", "bool": "bool"}.get(type_, "float" if type_.startswith("float") else None)


def _measure(value: object, kind: str) -> object:
    """What is kept of a cell."""
    return len(value) if kind == "list" and isinstance(value, list) else value


def _column(name: str, kind: str, values: Sequence[object], declared: object) -> dict[str, object]:
    known = [value for value in values if value is not None]
    nulls = len(values) - len(known)
    told: dict[str, object] = {"nan_count": nulls, "nan_proportion": _share(nulls, len(values))}
    numbers = [value for value in known if isinstance(value, int | float)]
    if kind == "class_label":
        told |= _classes(known, len(values), declared)
    elif kind == "bool":
        told["frequencies"] = {word: n for word in ("False", "True") if (n := known.count(word == "True"))}
    elif kind == "string":
        texts = [str(value) for value in known]
        labels = Counter(texts)
        distinct = len(labels) + (nulls > 0)
        few = distinct <= _MAX_LABELS and distinct / len(values) <= _LABEL_SHARE
        kind = "string_label" if few or distinct <= _BINS else "string_text"
        if kind == "string_label":
            told |= {"no_label_count": 0, "no_label_proportion": 0.0}
            told |= {"n_unique": len(labels), "frequencies": dict(labels)}
        else:
            told |= spread([len(text) for text in texts], is_float=False)
    else:
        told |= spread(numbers, is_float=kind == "float")
    return {"column_name": name, "column_type": kind, "column_statistics": told}


def _classes(known: Sequence[object], count: int, declared: object) -> dict[str, object]:
    told = declared.get("names") if isinstance(declared, Mapping) else None
    names = [str(name) for name in told] if isinstance(told, list) else []
    counts = Counter(value for value in known if isinstance(value, int))
    without = counts.get(-1, 0)
    return {
        "no_label_count": without,
        "no_label_proportion": _share(without, count),
        "n_unique": len(names),
        "frequencies": {name: counts.get(number, 0) for number, name in enumerate(names)},
    }


def spread(numbers: Sequence[int | float], *, is_float: bool) -> dict[str, object]:
    """Finite numbers in at most ten bins, each but the last without its upper edge."""
    if not numbers:
        return dict.fromkeys(("min", "max", "mean", "median", "std", "histogram"))
    least, most = min(numbers), max(numbers)
    edges = _float_edges(least, most) if is_float else _int_edges(int(least), int(most))
    counts = [0] * (len(edges) - 1)
    for number in numbers:
        counts[max(0, min(len(counts) - 1, bisect_right(edges, number) - 1))] += 1
    return {
        "min": round(least, _DECIMALS),
        "max": round(most, _DECIMALS),
        "mean": round(math.fsum(number / len(numbers) for number in numbers), _DECIMALS),
        "median": round(statistics.median_low(numbers) / 2 + statistics.median_high(numbers) / 2, _DECIMALS),
        "std": _deviation(numbers),
        "histogram": {"hist": counts, "bin_edges": [round(edge, _DECIMALS) for edge in edges]},
    }


def _deviation(numbers: Sequence[int | float]) -> float | None:
    try:
        return round(statistics.stdev(map(float, numbers)), _DECIMALS) if len(numbers) > 1 else 0.0
    except OverflowError:
        return None


def _int_edges(least: int, most: int) -> list[int]:
    return [*range(least, most + 1, -(-(most - least + 1) // _BINS)), most]


def _float_edges(least: float, most: float) -> list[float]:
    width = most / _BINS - least / _BINS
    if width == 0 or not math.isfinite(width):
        return [least, most]
    return [*(least + width * number for number in range(_BINS)), most]


def _share(part: int, whole: int) -> float:
    return round(part / whole, _DECIMALS)
