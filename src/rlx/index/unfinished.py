"""A task that was read as the second pass wants it, as JSON: kept while an index fills in."""

from collections.abc import Mapping
from typing import Any

from rlx.answers import Shown
from rlx.answers.shown import Json
from rlx.answers.stored import stored, stored_json
from rlx.index.codec import card_in, facets_out, text_out, withheld_in, withheld_out
from rlx.index.records import TaskRecord


def record_out(record: TaskRecord) -> dict[str, Json]:
    """What the second pass wants of a task."""
    card = record.card
    return {
        "ref": card.ref,
        "title": card.title,
        "brief": card.brief,
        "facets": facets_out(card.facets),
        "problem": None if card.problem is None else text_out(card.problem),
        "search": record.search,
        "withheld": withheld_out(record.withheld),
        "notes": _note_out(record.notes),
    }


def record_in(raw: Mapping[str, Any]) -> TaskRecord:
    """Inverse of `record_out`: a record without settings, texts and files."""
    notes = _note_in(raw["notes"])
    return TaskRecord(
        card=card_in(raw["ref"], raw["title"], raw["brief"], raw["facets"], raw["problem"]),
        search=raw["search"],
        settings=stored_json(None),
        texts={},
        files=(),
        withheld=withheld_in(raw["withheld"]),
        notes=notes if isinstance(notes, Mapping) else {},
    )


def _note_out(value: object) -> Json:
    """Tells `Shown` from other texts, by which a format may have something else to do before they are shown."""
    if isinstance(value, Shown):
        return {"shown": str(value)}
    if isinstance(value, Mapping):
        return {"map": [[str(key), _note_out(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_note_out(item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"A note holds a {type(value).__name__}.")


def _note_in(raw: object) -> object:
    if isinstance(raw, list):
        return tuple(map(_note_in, raw))
    if isinstance(raw, dict):
        return stored(raw["shown"]) if "shown" in raw else {key: _note_in(item) for key, item in raw["map"]}
    return raw
