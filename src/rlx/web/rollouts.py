"""How handlers reach rollouts: every call off the loop, and whoever asks by name."""

from collections.abc import Callable
from dataclasses import replace

import anyio.to_thread
from starlette.requests import Request

from rlx.errors import NotFound, Upstream, UserError
from rlx.jobs.queue_service import Rollouts
from rlx.model import Viewer
from rlx.rollout import is_id
from rlx.runners.launch import Launcher
from rlx.store.rollouts.index import Figures
from rlx.twins.run_list import RunQuery, filters_of
from rlx.web.site import site_of, viewer_of


async def blocking[T](work: Callable[[], T]) -> T:
    """What a call that blocks returns. A store in trouble is told as `Upstream`."""
    try:
        return await anyio.to_thread.run_sync(work)
    except OSError as error:
        raise Upstream("The store of rollouts cannot be read now.", retry_after=10) from error


async def rollouts_of(request: Request) -> Rollouts:
    """Raises `Upstream`."""
    return await blocking(site_of(request).services.rollouts)


def launcher_of(request: Request) -> Launcher:
    launcher: Launcher = request.app.state.launcher
    return launcher


async def named_viewer(request: Request) -> Viewer:
    """Who asks, a bearer token's name looked up: rollouts belong to names. Raises `Forbidden` for a token nobody has."""
    viewer = viewer_of(request)
    if viewer.kind == "session" and viewer.name is None and viewer.token is not None:
        return replace(viewer, name=await site_of(request).services.hub.whoami(viewer.token))
    return viewer


def known_id(id: str) -> str:
    """Raises `NotFound` for what can be no id of a rollout."""
    if not is_id(id):
        raise NotFound("There is no such rollout, or not for you.", hint="/runs lists those you may see.")
    return id


async def figures_of(request: Request, query: RunQuery) -> tuple[Figures, bool] | None:
    """Attempts that this visitor may see, and whether any of them is not told everybody; None while nobody can tell.

    For pages about something else, which do without.
    """
    try:
        viewer, views = await named_viewer(request), (await rollouts_of(request)).views
        filters = filters_of(query)
        figures = await blocking(lambda: views.figures(filters, viewer))
        if viewer.kind == "anonymous" or not figures.attempts:
            return figures, False
        return figures, await blocking(lambda: views.figures(replace(filters, mine=True), viewer)) != Figures()
    except UserError:
        return None
