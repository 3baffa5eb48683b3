"""`/`: every environment, by word, kind and facet; `?look=` one of them at a glance; the banner over them."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from rlx.answers.shown import Json
from rlx.errors import BadInput, NotFound, UserError
from rlx.ids import EnvKey, parse_key
from rlx.model import EnvCard, EnvPage, EnvQuery, TaskCard, TaskHits, TaskQuery, TaskSearch, Viewer
from rlx.telemetry import span
from rlx.texts import say
from rlx.twins.counted import unknown_texts
from rlx.twins.hits import hit_lines
from rlx.twins.markdown import listing_markdown
from rlx.twins.parts import Addresses, heading
from rlx.web.collections import check_collection, collections_json, collections_markdown, offered
from rlx.web.forms import inside, read_form
from rlx.web.links import Links
from rlx.web.lists import env_card, env_list, hit_card
from rlx.web.ports import Catalog, Services
from rlx.web.private import asked_of, only_theirs
from rlx.web.queries import AskedEnvs
from rlx.web.respond import View, answer, in_form
from rlx.web.site import addresses_of, site_of, viewer_of
from rlx.web.viewer import is_secure

TREND = 8
"""Environments of one page of trending: two rows of four."""
TREND_PAGES = 5
HITS = 5
"""Tasks shown that match the words."""
MAX_TAGS = 12
BANNER_COOKIE = "banner"
BANNER_LIFE = 7 * 24 * 3600

Trend = Annotated[int, Query(ge=1, le=TREND_PAGES, description="Page of the trending environments.")]
Part = Annotated[Literal["page", "results"], Query(description="`results` leaves off what a search does not change.")]
Look = Annotated[str, Query(max_length=250, description="The environment to be shown alone, at a glance.")]


@dataclass(frozen=True, slots=True)
class Trending:
    cards: tuple[EnvCard, ...]
    place: int
    """1-based page among `pages`."""
    pages: int

    @property
    def told(self) -> bool:
        """Whether the Hub tells a trend of any of them; else they stand in the listing's order."""
        return any(card.trending for card in self.cards)


async def explore(
    request: Request, query: AskedEnvs, trend: Trend = 1, part: Part = "page", look: Look = ""
) -> Response:
    site, viewer = site_of(request), viewer_of(request)
    if look:
        return await _look(request, parse_key(look), viewer)
    catalog, query = site.services.catalog, asked_of(query, viewer)
    check_collection(query, site.services.instance.current())
    with span("search"):
        page = await catalog.search(query, viewer)
        private = await only_theirs(catalog, query, page)
        trending = await _trending(site.services, query, page, trend, viewer)
        hits = await _hits(catalog, query)
        whole = page if part == "results" or _is_plain(query) else await catalog.search(EnvQuery(limit=1), viewer)
        collections = await offered(site.services, query, viewer)
    at, last = addresses_of(request), page.offset + len(page.items)
    following = site.links.explore(query, offset=last) if last < page.total else None
    asked = query.kind is not None or not _is_plain(query)
    view = View(
        "explore_results.html" if part == "results" else "explore.html",
        site.links.explore(query, trend=trend, offset=query.offset),
        {
            "query": query,
            "page": page,
            "notes": unknown_texts(page.unknown),
            "trending": trending,
            "hits": hits,
            "private": private,
            "collections": collections,
            "named": _named(query.text) if not page.total else None,
            **_setting(request, whole),
        },
        json=lambda language: explore_json(page, hits, site.links, language, private) | collections_json(collections),
        markdown=lambda language: (
            listing_markdown(page, language, at=at, following=following, asked=asked)
            + collections_markdown(collections, language)
            + _hits_markdown(hits, at, language)
        ),
    )
    return await answer(request, view)


async def _hits(catalog: Catalog, query: EnvQuery) -> TaskHits:
    """The first tasks that match the words, on the first page of a search."""
    if not query.text or query.offset:
        return TaskHits((), 0, False, (), 0, HITS)
    return await catalog.tasks(TaskSearch(query.text, limit=HITS))


async def random_task(request: Request) -> Response:
    """Some task of some environment."""
    site = site_of(request)
    found = await site.services.catalog.random()
    if found is None:
        raise NotFound("No environment with tasks has been read yet.", hint="Open an environment first.")
    key, ref = found
    return RedirectResponse(in_form(request, site.links.task(key, ref)), 303, {"cache-control": "no-store"})


async def close_banner(request: Request) -> Response:
    """Keep this banner closed for a week, and return to the page it stood on."""
    fields = await read_form(request)
    site = site_of(request)
    banner = site.services.instance.current().banner
    response = RedirectResponse(inside(fields.get("back", "")), 303, {"cache-control": "no-store"})
    if banner is not None and fields.get("id") == banner.id:
        secure = is_secure(request, site.settings.public_url)
        response.set_cookie(BANNER_COOKIE, banner.id, max_age=BANNER_LIFE, path="/", secure=secure, samesite="lax")
    return response


def explore_json(
    page: EnvPage, hits: TaskHits, links: Links, language: str, private: Collection[EnvKey] = ()
) -> dict[str, Json]:
    """The list, the first tasks of any environment that match its words, and how many those are."""
    found: list[Json] = [hit_card(hit, links, language) for hit in hits.items]
    counted: dict[str, Json] = {"matching_tasks": found, "matching_total": hits.total, "matching_more": hits.more}
    return {**env_list(page, links, language, private), **counted}


def _hits_markdown(hits: TaskHits, at: Addresses, language: str) -> str:
    if not hits.items:
        return ""
    lines = hit_lines(hits.items, at, language)
    return "\n".join(["", heading(say("explore.hits"), language), "", *lines, ""])


def _setting(request: Request, whole: EnvPage) -> Mapping[str, Any]:
    """What stands around the results: the numbers of the whole catalog, and what the operators set."""
    instance = site_of(request).services.instance.current()
    banner = instance.banner
    closed = banner is not None and request.cookies.get(BANNER_COOKIE) == banner.id
    servers = sum(n for kind, n in whole.kinds if kind in {"openenv", "servers"})
    return {
        "servers": servers,
        "datasets": whole.environments - servers,
        "tasks": whole.tasks,
        "banner": None if closed else banner,
        "picked": frozenset(instance.featured),
    }


async def _trending(services: Services, query: EnvQuery, page: EnvPage, number: int, viewer: Viewer) -> Trending | None:
    """The trending ones of a kind; None where the list is a search, or so short that it tells as much."""
    if query.text or query.filters or query.collection or query.offset or page.total <= TREND:
        return None
    pages = min(math.ceil(page.total / TREND), TREND_PAGES)
    place = min(number, pages)
    first, last = (place - 1) * TREND, min(place * TREND, page.total)
    if query.sort == "trending" and not query.mine and last <= len(page.items):
        return Trending(page.items[first:last], place, pages)
    found = await services.catalog.search(EnvQuery(kind=query.kind, offset=first, limit=TREND), viewer)
    return Trending(found.items, place, pages)


def _is_plain(query: EnvQuery) -> bool:
    return not (query.text or query.filters or query.collection or query.mine)


def _named(text: str) -> EnvKey | None:
    """The environment that `text` names, as one may be known by name alone."""
    try:
        return parse_key(text)
    except BadInput:
        return None


async def _look(request: Request, key: EnvKey, viewer: Viewer) -> Response:
    """One environment at a glance: its card and its first tasks."""
    site = site_of(request)
    with span("search"):
        card = await site.services.catalog.card(key)
    if card is None:
        raise NotFound(f"No {key} in the list of environments.")
    with span("read"):
        tasks = await _first_tasks(site.services, card, viewer)
    view = View(
        "explore_look.html",
        site.links.look(key),
        {"card": card, "tasks": tasks, "tags": [tag for tag in card.tags if ":" not in tag][:MAX_TAGS]}
        | {"picked": frozenset(site.services.instance.current().featured)},
        json=lambda language: env_card(card, site.links, language),
        markdown=lambda language: listing_markdown(EnvPage((card,), 1, (), (), 1, 0, 0, 1), language),
    )
    return await answer(request, view)


async def _first_tasks(services: Services, card: EnvCard, viewer: Viewer) -> tuple[TaskCard, ...]:
    """Some tasks of what was read already; none rather than an error."""
    if card.state != "ready" or not card.tasks:
        return ()
    try:
        opened = await services.library.open(card.key, viewer, wait=0.5)
        return (await opened.tasks(TaskQuery(limit=HITS))).items
    except UserError:
        return ()  # gone or changed since it was read: the card still tells what is known
