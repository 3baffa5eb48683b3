"""`/tasks`: the tasks of every environment, by word and facet."""

from typing import Annotated, Literal

from fastapi import Query, Request, Response

from rlx.model import EnvQuery, TaskSearch
from rlx.telemetry import span
from rlx.twins.counted import unknown_texts
from rlx.twins.hits import hits_markdown
from rlx.web.lists import hit_list
from rlx.web.queries import AskedHits
from rlx.web.respond import View, answer
from rlx.web.site import addresses_of, site_of, viewer_of

Part = Annotated[Literal["page", "results"], Query(description="`results` leaves off what a search does not change.")]


async def tasks(request: Request, search: AskedHits, part: Part = "page") -> Response:
    site = site_of(request)
    catalog = site.services.catalog
    with span("search"):
        hits = await catalog.tasks(search)
        everything = hits if part == "results" else await catalog.tasks(TaskSearch(limit=0))
        environments = await catalog.search(EnvQuery(search.text, limit=0), viewer_of(request))
    at, last = addresses_of(request), hits.offset + len(hits.items)
    following = site.links.tasks(search, offset=last) if hits.items and last < hits.total else None
    asked = bool(search.text or search.filters or search.environment)
    view = View(
        "tasks_results.html" if part == "results" else "tasks.html",
        site.links.tasks(search, offset=search.offset),
        {
            "search": search,
            "hits": hits,
            "notes": unknown_texts(hits.unknown),
            "everything": everything.total,
            "environments": environments.total if search.text else 0,
            "building": environments.building,
        },
        json=lambda language: hit_list(hits, site.links, language),
        markdown=lambda language: hits_markdown(hits, language, at=at, following=following, asked=asked),
    )
    return await answer(request, view)
