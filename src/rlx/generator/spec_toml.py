"""TOML written for people: scalars first, then tables, then tables that repeat; long texts over several lines."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"^[A-Za-z0-9_-]+$")
_WIDTH = 100


def dump_toml(values: Mapping[str, Any], heading: str = "") -> str:
    """The text of a table of strings, numbers, booleans, lists and tables. None is left out: TOML has none."""
    lines = [f"# {heading}", ""] if heading else []
    return "\n".join([*lines, *_table(values, ())]).strip() + "\n"


def _table(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    known = {key: value for key, value in values.items() if value is not None}
    tables = {key: value for key, value in known.items() if isinstance(value, Mapping)}
    repeated = {key: value for key, value in known.items() if _repeats(value)}
    for key, value in known.items():
        if key not in tables and key not in repeated:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in tables.items():
        yield from ("", f"[{_path((*path, key))}]")
        yield from _table(value, (*path, key))
    for key, value in repeated.items():
        for item in value:
            yield from ("", f"[[{_path((*path, key))}]]")
            yield from _table(item, (*path, key))


def _repeats(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _path(keys: tuple[str, ...]) -> str:
    return ".".join(_key(key) for key in keys)


def _key(key: str) -> str:
    return key if _BARE.match(key) else _string(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value) if "\n" in value else _string(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        items = [_value(item) for item in value]
        line = "[" + ", ".join(items) + "]"
        return line if len(line) <= _WIDTH else "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    raise TypeError(f"{type(value).__name__} has no form in TOML")


def _string(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for DEL and surrogate pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _text(text: str) -> str:
    """A string over several lines, readable as it stands."""
    lines = [_string(line)[1:-1].replace('\\"', '"').replace('"""', '\\"\\"\\"') for line in text.split("\n")]
    body = "\n".join(lines)
    return '"""\n' + (body[:-1] + '\\"' if body.endswith('"') else body) + '"""'
