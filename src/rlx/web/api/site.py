"""The API of the whole site: a random task, who is asking."""

from fastapi import Request, Response

from rlx.errors import NotFound
from rlx.web.api.envs import chance
from rlx.web.respond import to_bytes
from rlx.web.site import site_of, viewer_of


async def random(request: Request) -> Response:
    """Some task of some environment."""
    site = site_of(request)
    found = await site.services.catalog.random()
    if found is None:
        raise NotFound("No environment with tasks has been read yet.", hint="Open an environment first.")
    key, ref = found
    return chance(key, ref, site.links.task(key, ref))


async def me(request: Request) -> Response:
    """Who is asking. A bearer token's name is looked up; the token itself is never sent back."""
    viewer = viewer_of(request)
    name = viewer.name
    if name is None and viewer.token is not None:
        name = await site_of(request).services.hub.whoami(viewer.token)
    headers = {"cache-control": "private, no-store"}
    return Response(to_bytes({"kind": viewer.kind, "name": name}), 200, headers, "application/json")
