"""Texts, reasons and cards as JSON, for the databases of the index. They hold what passed `rlx.answers`."""

from collections.abc import Mapping, Sequence

from rlx.answers import Withheld
from rlx.answers.shown import Json
from rlx.answers.stored import stored
from rlx.model import Facets, FileEntry, TaskCard, Text
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
    return [[item.path, item.size, text_out(item.withheld) if item.withheld else None] for item in items]


def files_in(raw: Sequence[tuple[str, int, object]]) -> tuple[FileEntry, ...]:
    return tuple(FileEntry(path, size, withheld=say_in(why) if why else None) for path, size, why in raw)


def facets_out(facets: Facets) -> dict[str, Json]:
    return {key: [str(value) for value in values] for key, values in facets.items()}


def facets_in(raw: Mapping[str, Sequence[str]]) -> Facets:
    return {key: tuple(stored(value) for value in values) for key, values in raw.items()}


def card_in(ref: str, title: str, brief: str, facets: Mapping[str, Sequence[str]], problem: object) -> TaskCard:
    return TaskCard(ref, stored(title), stored(brief), facets_in(facets), None if problem is None else text_in(problem))


def _param_out(value: str | int | float | Say) -> Json:
    return text_out(value) if isinstance(value, Say) else value


def _param_in(value: object) -> str | int | float | Say:
    if isinstance(value, Mapping):
        return say_in(value)
    return value if isinstance(value, int | float) else str(value)
