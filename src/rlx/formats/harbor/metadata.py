"""The `[metadata]` and `[task]` of a task as a reader sees them. Addresses of people are left out."""

import re
from collections.abc import Iterator, Mapping

from rlx.answers import name, record
from rlx.formats.harbor.phrases import duration
from rlx.formats.harbor.schema import TaskSettings
from rlx.formats.harbor.table import as_number, plain
from rlx.model import Block, KeyValues, Row, Value
from rlx.texts import Say, say

_ADDRESS = re.compile(r"(^|[_-])(e?[_-]?mails?|phones?|address)([_-]|$)", re.IGNORECASE)
_MAX_ROWS = 120
_LONG = 2000


def metadata_blocks(settings: TaskSettings) -> tuple[Block, ...]:
    rows = [*_package(settings), *_plain(settings.metadata)][:_MAX_ROWS]
    blocks: list[Block] = [KeyValues(tuple(rows))] if rows else []
    for key, value in settings.metadata.items():
        if _is_nested(value):
            blocks.append(Value(record(value).value, name(label(key))))
    return tuple(blocks)


def expert_time(metadata: Mapping[str, object]) -> Say | None:
    """How long a person who knows the field is said to need."""
    minutes = as_number(metadata.get("expert_time_estimate_min"))
    hours = as_number(metadata.get("expert_time_estimate_hours"))
    if minutes is None and hours is not None:
        minutes = hours * 60
    return duration(minutes * 60) if minutes else None


def label(key: str) -> str:
    """A key as words: `skill_type` is `skill type`."""
    return key.replace("_", " ").strip() or key


def _package(settings: TaskSettings) -> Iterator[Row]:
    package = settings.package
    if package:
        for key, value in (("name", package.name), ("version", package.version), ("about", package.description)):
            if value:
                yield Row(say(f"harbor.package.{key}"), name(value), code=key != "about")
        if package.authors:
            yield Row(say("harbor.package.authors"), tuple(name(author) for author in package.authors))
        if package.keywords:
            yield Row(say("harbor.package.keywords"), tuple(name(word) for word in package.keywords))
    if settings.source:
        yield Row(say("harbor.package.source"), name(settings.source))


def _plain(metadata: Mapping[str, object]) -> Iterator[Row]:
    for key, value in metadata.items():
        if _ADDRESS.search(key) or _is_nested(value) or value in ("", [], None):
            continue
        if isinstance(value, list):
            yield Row(name(label(key)), tuple(name(plain(item)) for item in value[:60]))
        else:
            yield Row(name(label(key)), name(plain(value)[:_LONG]))


def _is_nested(value: object) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict | list) and item for item in items)
