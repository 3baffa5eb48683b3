"""The API that finds environments and tasks."""

from typing import Annotated

from fastapi import Query, Request, Response

from rlx.telemetry import span
from rlx.texts import DEFAULT
from rlx.web.api.envs import reply
from rlx.web.lists import env_list, hit_list
from rlx.web.queries import AskedEnvs, Words, plain_words
from rlx.web.site import site_of, viewer_of

Hits = Annotated[int, Query(ge=1, le=50, description="Tasks at most.")]


async def environments(request: Request, query: AskedEnvs) -> Response:
    """Environments by words, kind, facets and collection, in the order asked for."""
    site = site_of(request)
    with span("search"):
        page = await site.services.catalog.search(query, viewer_of(request))
    return reply(request, env_list(page, site.links, DEFAULT))


async def tasks(request: Request, q: Words = "", limit: Hits = 10) -> Response:
    """Tasks of every environment that was read, by words."""
    site = site_of(request)
    text = plain_words(q)
    with span("search"):
        found = await site.services.catalog.tasks(text, limit=limit) if text else ()
    return reply(request, hit_list(found, limit, site.links, DEFAULT))
