"""Lists as JSON: `{cards, total, offset, page, facets, note}`, whatever is listed."""

from collections.abc import Collection, Sequence

from rlx.answers.shown import Json
from rlx.ids import EnvKey
from rlx.model import EnvCard, EnvPage, Page, TaskCard, TaskHit, TaskHits, Text, Unknown
from rlx.texts import say, words
from rlx.twins.counted import unknown_texts
from rlx.twins.jsonable import object_json, to_json
from rlx.web.links import Links


def env_list(page: EnvPage, links: Links, language: str, private: Collection[EnvKey] = ()) -> dict[str, Json]:
    """Environments, those in `private` marked. The kinds that occur come first among the facets."""
    kinds: list[Json] = [{"value": kind, "n": n} for kind, n in page.kinds]
    facets: list[Json] = [object_json(facet, language) for facet in page.facets]
    return {
        "cards": [env_card(card, links, language, private=card.key in private) for card in page.items],
        "total": page.total,
        "offset": page.offset,
        "page": page.offset // max(page.limit, 1) + 1,
        "facets": [{"key": "kind", "values": kinds}, *facets],
        "note": _note([say("web.building")] if page.building else [], page.unknown, language),
        "environments": page.environments,
        "tasks": page.tasks,
        "building": page.building,
    }


def task_list(page: Page[TaskCard], key: EnvKey, links: Links, language: str) -> dict[str, Json]:
    cards: list[Json] = [{**object_json(card, language), "url": links.task(key, card.ref)} for card in page.items]
    return {
        "cards": cards,
        "total": page.total,
        "offset": page.offset,
        "page": page.offset // page.limit + 1,
        "facets": to_json(page.facets, language),
        "note": _note([] if page.note is None else [page.note], page.unknown, language),
    }


def env_card(card: EnvCard, links: Links, language: str, *, private: bool = False) -> dict[str, Json]:
    return {"id": str(card.key), **object_json(card, language), "url": links.env(card.key), "private": private}


def hit_list(page: TaskHits, links: Links, language: str) -> dict[str, Json]:
    """Tasks found across environments. With `more`, there are more than `total`."""
    cut = [say("tasks.cut", n=page.total)] if page.more else []
    return {
        "cards": [hit_card(hit, links, language) for hit in page.items],
        "total": page.total,
        "more": page.more,
        "offset": page.offset,
        "page": page.offset // max(page.limit, 1) + 1,
        "facets": to_json(page.facets, language),
        "note": _note(cut, page.unknown, language),
    }


def hit_card(hit: TaskHit, links: Links, language: str) -> dict[str, Json]:
    """A task, where it is, and where in its title and brief the words stand that were asked for."""
    spans: list[list[Json]] = [[[start, end] for start, end in spans] for spans in (hit.in_title, hit.in_brief)]
    marks: dict[str, Json] = {"title": spans[0], "brief": spans[1]}
    return {
        "id": str(hit.key),
        **object_json(hit.card, language),
        "marks": marks,
        "url": links.task(hit.key, hit.card.ref),
    }


def _note(texts: Sequence[Text], unknown: Sequence[Unknown], language: str) -> str | None:
    """All that a reader should know, in one text."""
    return " ".join(words(text, language) for text in (*texts, *unknown_texts(unknown))) or None
