"""The API that finds environments and tasks."""

from typing import Annotated

from fastapi import Depends, Query, Request, Response

from rlx.answers.shown import Json
from rlx.errors import NotFound
from rlx.ids import EnvKey, parse_key
from rlx.model import EnvQuery
from rlx.telemetry import span
from rlx.texts import DEFAULT
from rlx.web.catalog_status import status_json
from rlx.web.collections import check_collection, collections_json, offered
from rlx.web.lists import env_card, env_list, hit_list
from rlx.web.private import asked_of, only_theirs
from rlx.web.queries import AskedEnvs, AskedHits
from rlx.web.respond import cached, reply, to_bytes
from rlx.web.site import site_of, viewer_of

MAX_TREND = 48

Trending = Annotated[int, Query(ge=0, le=MAX_TREND, description="Trending environments told beside the answer.")]


def _key(key: Annotated[str, Query(max_length=250, description="`org/name` or `space:org/name`.")]) -> EnvKey:
    return parse_key(key)


async def environments(request: Request, query: AskedEnvs, trending: Trending = 0) -> Response:
    """Environments by words, kind, facets and collection, in the order asked for.

    With `trending`, so many trending ones of the kind and the catalog's numbers come in the same answer; with `mine`,
    a visitor's own private ones are among them, and the answer is theirs alone.
    """
    site, viewer = site_of(request), viewer_of(request)
    catalog = site.services.catalog
    query = asked_of(query, viewer)
    check_collection(query, site.services.instance.current())
    with span("search"):
        page = await catalog.search(query, viewer)
        private = await only_theirs(catalog, query, page)
        collections = await offered(site.services, query, viewer)
    told = env_list(page, site.links, DEFAULT, private) | collections_json(collections)
    if trending:
        with span("trending"):
            whole = await catalog.search(EnvQuery(limit=0), viewer)
            first = await catalog.search(EnvQuery(kind=query.kind, limit=trending), viewer)
        cards: list[Json] = [env_card(card, site.links, DEFAULT) for card in first.items]
        told |= {
            "trending": cards,
            "stats": {**dict(whole.kinds), "environments": whole.environments, "tasks": whole.tasks},
        }
    return reply(request, told)


async def tasks(request: Request, search: AskedHits) -> Response:
    """Tasks of every environment that was read, by words and facets: best match first."""
    site = site_of(request)
    with span("search"):
        found = await site.services.catalog.tasks(search)
    return reply(request, hit_list(found, site.links, DEFAULT))


async def rank(request: Request, key: Annotated[EnvKey, Depends(_key)]) -> Response:
    """An environment's place by trend among those of its kind."""
    with span("search"):
        found = await site_of(request).services.catalog.rank(key)
    if found is None:
        raise NotFound(f"No {key} in the list of environments.")
    return reply(request, {"id": str(key), "n": found[0], "of": found[1]})


async def status(request: Request) -> Response:
    """Which catalog is in use, how old it is, and when the store was last looked at."""
    with span("search"):
        told = status_json(site_of(request).services.catalog.status())
    response = Response(to_bytes(told), media_type="application/json")
    # Its age grows by the moment, and what it tells stays the same.
    return cached(request, response, viewer_of(request), same=to_bytes({**told, "age": None}))
