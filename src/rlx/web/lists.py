"""Lists as JSON: `{cards, total, offset, page, facets, note}`, whatever is listed."""

from rlx.answers.shown import Json
from rlx.ids import EnvKey
from rlx.model import EnvCard, EnvPage, Page, TaskCard
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
        "note": None,
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
