"""Texts, reasons and cards as JSON, for the databases of the index. They hold what passed `rlx.answers`."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rlx.answers import Withheld
from rlx.answers.shown import Json
from rlx.answers.stored import stored
from rlx.ids import parse_key
from rlx.model import Count, EnvCard, Facets, FileEntry, TaskCard, Text
from rlx.texts import Say


def text_out(text: Text) -> Json:
    if isinstance(text, Say):
        return {"say": text.key, "with": {name: _param_out(value) for name, value in text.params}}
    return str(text)


def text_in(raw: object) -> Text:
    return say_in(raw) if isinstance(raw, Mapping) else stored(str(raw))


def say_in(raw: object) -> Say:
    if not isinstance(raw, Mapping):
        raise TypeError("A stored reason is not one.")
    params = sorted((str(name), _param_in(value)) for name, value in dict(raw["with"]).items())
    return Say(str(raw["say"]), tuple(params))


def withheld_out(items: Sequence[Withheld]) -> list[Json]:
    return [{"where": item.where, "reason": text_out(item.reason)} for item in items]


def withheld_in(raw: Sequence[Mapping[str, object]]) -> tuple[Withheld, ...]:
    return tuple(Withheld(str(item["where"]), say_in(item["reason"])) for item in raw)


def files_out(items: Sequence[FileEntry]) -> list[Json]:
    """A folder's path has a slash at its end."""
    return [
        [f"{item.path}/" if item.is_dir else item.path, item.size, text_out(item.withheld) if item.withheld else None]
        for item in items
    ]


def files_in(raw: Sequence[tuple[str, int, object]]) -> tuple[FileEntry, ...]:
    return tuple(
        FileEntry(path.rstrip("/"), size, path.endswith("/"), withheld=say_in(why) if why else None)
        for path, size, why in raw
    )


def facets_out(facets: Facets) -> dict[str, Json]:
    return {key: [str(value) for value in values] for key, values in facets.items()}


def facets_in(raw: Mapping[str, Sequence[str]]) -> Facets:
    return {key: tuple(stored(value) for value in values) for key, values in raw.items()}


def card_in(ref: str, title: str, brief: str, facets: Mapping[str, Sequence[str]], problem: object) -> TaskCard:
    return TaskCard(ref, stored(title), stored(brief), facets_in(facets), None if problem is None else text_in(problem))


def env_card_out(card: EnvCard) -> dict[str, Json]:
    return {
        "key": str(card.key),
        "title": card.title,
        "brief": card.brief,
        "kind": card.kind,
        "framework": card.framework,
        "format": card.format,
        "tasks": card.tasks,
        "why": None if card.why is None else text_out(card.why),
        "revision": card.revision,
        "tags": list(card.tags),
        "graded": list(card.graded),
        "runs": list(card.runs),
        "levels": [[text_out(level.label), level.n] for level in card.levels],
        "facets": facets_out(card.facets),
        "modified": None if card.modified is None else card.modified.isoformat(),
        "downloads": card.downloads,
        "likes": card.likes,
        "trending": card.trending,
        "state": card.state,
    }


def env_card_in(raw: Mapping[str, Any]) -> EnvCard:
    """Raises `KeyError`, `TypeError`, `ValueError` or `BadInput` for what is no card."""
    return EnvCard(
        key=parse_key(raw["key"]),
        title=stored(raw["title"]),
        brief=stored(raw["brief"]),
        kind=raw["kind"],
        framework=raw["framework"],
        format=raw["format"],
        tasks=raw["tasks"],
        why=None if raw["why"] is None else text_in(raw["why"]),
        revision=raw["revision"],
        tags=tuple(map(stored, raw["tags"])),
        graded=tuple(map(stored, raw["graded"])),
        runs=tuple(map(stored, raw["runs"])),
        levels=tuple(Count(text_in(label), n) for label, n in raw["levels"]),
        facets=facets_in(raw["facets"]),
        modified=None if raw["modified"] is None else datetime.fromisoformat(raw["modified"]).astimezone(UTC),
        downloads=raw["downloads"],
        likes=raw["likes"],
        trending=raw["trending"],
        state=raw["state"],
    )


def _param_out(value: str | int | float | Say) -> Json:
    return text_out(value) if isinstance(value, Say) else value


def _param_in(value: object) -> str | int | float | Say:
    if isinstance(value, Mapping):
        return say_in(value)
    return value if isinstance(value, int | float) else str(value)
