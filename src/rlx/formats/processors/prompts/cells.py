"""What stands at a place of a row, as text and as blocks. Takes masked values, of whatever kind they are."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rlx.answers import MARK, Json, name, prose, whole
from rlx.formats.processors.base import ShownRow
from rlx.formats.rows.sources.json_rows import KEY
from rlx.model import Block, Code, Disclose, KeyValues, Prompt, Row, Text, Value
from rlx.texts import say

SHORT: Final = 200
"""Characters that fit a line of a list of columns."""
_FEW: Final = 12
_NAMED: Final = 40
"""Places of answers that are named."""
_FOLDED: Final = 4000
"""Characters from which a text is folded."""
_PARSED: Final = 200_000


def at(row: Mapping[str, Any], path: str) -> Any:
    """The value of a column, else what a dotted `path` leads to, through JSON in texts too; None where nothing is."""
    if path in row:
        return row[path]
    value: Any = dict(row)
    for part in path.split("."):
        value = opened(value)
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def opened(value: Any) -> Any:
    """A text that is a JSON object as that object; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith("{") or len(value) > _PARSED:
        return value
    try:
        inner = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return inner if isinstance(inner, dict) else value


def is_empty(value: object) -> bool:
    return value is None or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def text_of(value: object, depth: int = 0) -> str:
    """What is written in a value, for titles and searches: texts of objects and lists one after another."""
    if isinstance(value, str):
        return "" if value == MARK else value
    if isinstance(value, bool) or value is None or depth > 4:
        return ""
    if isinstance(value, int | float):
        return str(value)
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return "\n\n".join(text for item in inner if (text := text_of(item, depth + 1)))


def places(names: Iterable[str]) -> tuple[Text, ...]:
    """Columns by their names; the one without a name is the key of an object of objects."""
    return tuple(say("prompts.key") if item == KEY else name(item) for item in names)


def withheld_places(row: ShownRow) -> tuple[str, ...]:
    """Where answers of the row stood, without positions in lists."""
    found = (item.where.removeprefix(f"{row.path}: ").replace("[]", "").lstrip(".") for item in row.withheld)
    return tuple(dict.fromkeys(path for path in found if path))


def held(row: ShownRow) -> tuple[Block, ...]:
    """Where what is withheld of a row stands, by name."""
    hidden = withheld_places(row)
    if not hidden:
        return ()
    more = say("prompts.grading.more", n=len(hidden) - _NAMED) if len(hidden) > _NAMED else None
    return (KeyValues((Row(say("prompts.grading.places"), places(hidden[:_NAMED]), more, code=True),)),)


def told(row: Mapping[str, Json], paths: Sequence[str]) -> tuple[Block, ...]:
    """Columns with what they hold: short values in one list, then texts and objects each by itself."""
    short: list[Row] = []
    long: list[Block] = []
    for path in paths:
        value = opened(at(row, path))
        if not _says(value):
            continue
        label = places([path])[0]
        words = _short(value)
        if words:
            short.append(Row(label, words[0] if len(words) == 1 else words))
        elif isinstance(value, str):
            long.append(_text(label, value))
        else:
            long.append(Value(whole(value), label))
    return (*((KeyValues(tuple(short)),) if short else ()), *long)


def _says(value: Json, depth: int = 0) -> bool:
    """Whether anything in it is neither empty nor withheld."""
    if isinstance(value, dict | list) and depth < 100:
        inner = value.values() if isinstance(value, dict) else value
        return any(_says(item, depth + 1) for item in inner)
    return not is_empty(value) and value != MARK


def _short(value: Json) -> tuple[Text, ...]:
    items = value if isinstance(value, list) else [value]
    fits = len(items) <= _FEW and all(
        isinstance(item, bool | int | float) or (isinstance(item, str) and len(item) <= SHORT and "\n" not in item)
        for item in items
    )
    return tuple(name(json.dumps(item) if not isinstance(item, str) else item) for item in items) if fits else ()


def _text(label: Text, text: str) -> Block:
    block = Code(prose(text)) if text.count("\n") > 2 else Prompt(prose(text))
    return Disclose(label, (block,))


def leaves(row: Mapping[str, object], depth: int = 2) -> Iterator[str]:
    """Dotted paths to what objects in columns hold."""
    for key, value in list(row.items())[:200]:
        inner = opened(value)
        if isinstance(inner, Mapping) and depth and key != KEY:
            for below in leaves({str(at): item for at, item in list(inner.items())[:50]}, depth - 1):
                yield f"{key}.{below}"
            yield key
        else:
            yield key
