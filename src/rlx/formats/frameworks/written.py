"""A table as TOML, the same to the byte for the same entries."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml(told: Mapping[str, object], note: str) -> str:
    """`told` holds values, then tables: of values, or of entries that are tables of values themselves."""
    return "\n".join((*(f"# {line}" for line in note.splitlines()), *_lines(told))) + "\n"


def _lines(told: Mapping[str, object]) -> Iterator[str]:
    for key, value in told.items():
        if not isinstance(value, Mapping):
            yield f"{_key(key)} = {_value(value)}"
    for key, entries in told.items():
        if not isinstance(entries, Mapping):
            continue
        plain = {name: item for name, item in entries.items() if not isinstance(item, Mapping)}
        if plain or not entries:
            yield f"\n[{_key(key)}]"
            yield from (f"{_key(name)} = {_value(item)}" for name, item in plain.items())
        for name, entry in entries.items():
            if isinstance(entry, Mapping):
                yield f"\n[{_key(key)}.{_key(name)}]"
                yield from (f"{_key(field)} = {_value(item)}" for field, item in entry.items())


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
