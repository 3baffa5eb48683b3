"""Lists as JSON: `{cards, total, offset, page, facets, note}`, whatever is listed."""

from rlx.answers.shown import Json
from rlx.ids import EnvKey
from rlx.model import EnvCard, EnvPage, Page, TaskCard, TaskHit
from rlx.texts import say
from rlx.twins.jsonable import object_json, to_json
from rlx.web.links import Links


def env_list(page: EnvPage, links: Links, language: str) -> dict[str, Json]:
    """Environments. The kinds that occur come first among the facets."""
    kinds: list[Json] = [{"value": kind, "n": n} for kind, n in page.kinds]
    facets: list[Json] = [object_json(facet, language) for facet in page.facets]
    return {
        "cards": [env_card(card, links, language) for card in page.items],
        "total": page.total,
        "offset": page.offset,
        "page": page.offset // page.limit + 1,
        "facets": [{"key": "kind", "values": kinds}, *facets],
        "note": to_json(say("web.building"), language) if page.building else None,
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
        "note": to_json(page.note, language),
    }


def env_card(card: EnvCard, links: Links, language: str) -> dict[str, Json]:
    return {"id": str(card.key), **object_json(card, language), "url": links.env(card.key)}


def hit_list(hits: tuple[TaskHit, ...], limit: int, links: Links, language: str) -> dict[str, Json]:
    """The first tasks found across environments. How many more there are is not counted."""
    more = say("explore.first_hits", n=limit) if len(hits) >= limit else None
    return {
        "cards": [hit_card(hit, links, language) for hit in hits],
        "total": len(hits),
        "offset": 0,
        "page": 1,
        "facets": [],
        "note": to_json(more, language),
    }


def hit_card(hit: TaskHit, links: Links, language: str) -> dict[str, Json]:
    return {"id": str(hit.key), **object_json(hit.card, language), "url": links.task(hit.key, hit.card.ref)}
