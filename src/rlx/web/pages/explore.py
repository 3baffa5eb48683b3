"""`/`: every environment, by word and kind."""

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from rlx.errors import NotFound
from rlx.telemetry import span
from rlx.twins.markdown import listing_markdown
from rlx.web.lists import env_list
from rlx.web.queries import AskedEnvs
from rlx.web.respond import View, answer
from rlx.web.site import site_of, viewer_of


async def explore(request: Request, query: AskedEnvs) -> Response:
    site = site_of(request)
    with span("search"):
        page = await site.services.catalog.search(query, viewer_of(request))
    view = View(
        "explore.html",
        site.links.explore(query, offset=query.offset),
        {"query": query, "page": page},
        json=lambda language: env_list(page, site.links, language),
        markdown=lambda language: listing_markdown(page, language),
    )
    return await answer(request, view)


async def random_task(request: Request) -> Response:
    """Some task of some environment."""
    site = site_of(request)
    found = await site.services.catalog.random(viewer_of(request))
    if found is None:
        raise NotFound("No environment with tasks has been read yet.", hint="Open an environment first.")
    key, ref = found
    return RedirectResponse(site.links.task(key, ref), 303, {"cache-control": "no-store"})
