"""Types of columns, inferred from JSON values, and cells made to fit them.

A type is a name (`int64`, `string`, …), `null`, `json` for values of more than one shape, a list of one type, or a
dict of types; the viewer's own notation is made by `wire`.
"""

import math
from collections.abc import Iterable, Mapping

type Type = str | list[Type] | dict[str, Type]

_MAX_DEPTH = 32
_MAX_KEYS = 1000
"""Objects with more keys than this over all rows are maps, not structs."""
_MAX_COLUMNS = 10_000
_INT64 = 2**63


def type_of(value: object, depth: int = 0) -> Type:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64" if -_INT64 <= value < _INT64 else "json"
    if isinstance(value, float):
        return "float64"
    if isinstance(value, str):
        return "string"
    if depth > _MAX_DEPTH:
        return "json"
    if isinstance(value, list):
        inside: Type = "null"
        for item in value:
            inside = merge(inside, type_of(item, depth + 1))
        return [inside]
    if isinstance(value, dict):
        return {str(key): type_of(item, depth + 1) for key, item in value.items()}
    return "json"


def merge(a: Type, b: Type) -> Type:
    """The type that holds values of both."""
    if a == b or b == "null":
        return a
    if a == "null":
        return b
    if isinstance(a, list) and isinstance(b, list):
        return [merge(a[0], b[0])]
    if isinstance(a, dict) and isinstance(b, dict):
        return merge_columns(a, b) if len(a) + len(b) <= _MAX_KEYS else "json"
    if {str(a), str(b)} == {"int64", "float64"}:
        return "float64"
    return "json"


def merge_columns(a: Mapping[str, Type], b: Mapping[str, Type]) -> dict[str, Type]:
    return {**a, **{key: merge(a.get(key, "null"), type_) for key, type_ in b.items()}}


def widen(columns: dict[str, Type], row: Mapping[str, object]) -> None:
    """Take one more row into column types, kept in the order they first appear. Raises `ValueError` past a limit."""
    for key, value in row.items():
        known = columns.get(key, "null")
        if known != "json":
            columns[key] = merge(known, type_of(value))
    if len(columns) > _MAX_COLUMNS:
        raise ValueError(f"it has more than {_MAX_COLUMNS:,} columns")


def columns_of(rows: Iterable[Mapping[str, object]]) -> dict[str, Type]:
    columns: dict[str, Type] = {}
    for row in rows:
        widen(columns, row)
    return columns


def wire(type_: Type) -> object:
    """A type as the viewer writes it."""
    if isinstance(type_, list):
        return {"feature": wire(type_[0]), "_type": "List"}
    if isinstance(type_, dict):
        return {key: wire(value) for key, value in type_.items()}
    return {"_type": "Json"} if type_ == "json" else {"dtype": type_, "_type": "Value"}


def cell(value: object, type_: Type) -> object:
    """A value as a cell: missing keys are null at every depth, as in a table, and nothing JSON cannot say is left."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        inside = type_[0] if isinstance(type_, list) else "json"
        return [cell(item, inside) for item in value]
    if isinstance(value, dict):
        if isinstance(type_, dict):
            return {key: cell(value.get(key), inside) for key, inside in type_.items()}
        return {str(key): cell(item, "json") for key, item in value.items()}
    if type_ == "float64" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if value is None or isinstance(value, bool | int) else str(value)
