"""How handlers reach rollouts: every call off the loop, and whoever asks by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio.to_thread
from starlette.requests import HTTPConnection, Request

from rlx.errors import NotFound, Upstream, UserError
from rlx.ids import EnvKey
from rlx.jobs.queue_service import Rollouts
from rlx.model import RunOption, Task, Viewer
from rlx.rollout import Rollout, is_id
from rlx.runners.launch import Launcher
from rlx.store.rollouts.index import Figures
from rlx.twins.run_list import RunQuery, filters_of
from rlx.web.links import Links
from rlx.web.site import links_of, site_of, viewer_of

_TONES = {"done": "ok", "failed": "bad", "interrupted": "warn", "cancelled": "info"}
ICONS = {"ok": "check", "bad": "cross", "warn": "warn", "live": "clock", "info": "dash"}
"""Of a state's mark, by its tone."""


def tone_of(rollout: Rollout) -> str:
    """How a state is marked; one that goes on is `live`."""
    if rollout.status == "done" and not rollout.graded:
        return "warn"
    return _TONES.get(rollout.status, "live")


async def blocking[T](work: Callable[[], T]) -> T:
    """What a call that blocks returns. A store in trouble is told as `Upstream`."""
    try:
        return await anyio.to_thread.run_sync(work)
    except OSError as error:
        raise Upstream("The store of rollouts cannot be read now.", retry_after=10) from error


async def rollouts_of(request: HTTPConnection) -> Rollouts:
    """Raises `Upstream`."""
    return await blocking(site_of(request).services.rollouts)


def launcher_of(request: HTTPConnection) -> Launcher:
    launcher: Launcher = request.app.state.launcher
    return launcher


async def named_viewer(request: HTTPConnection) -> Viewer:
    """Who asks, a bearer token's name looked up: rollouts belong to names. Raises `Forbidden`."""
    viewer = viewer_of(request)
    if viewer.kind == "session" and viewer.name is None and viewer.token is not None:
        return replace(viewer, name=await site_of(request).services.hub.whoami(viewer.token))
    return viewer


def known_id(id: str) -> str:
    """Raises `NotFound` for what can be no id of a rollout."""
    if not is_id(id):
        raise NotFound("There is no such rollout, or not for you.", hint="/runs lists those you may see.")
    return id


@dataclass(frozen=True, slots=True)
class Attempts:
    """What a page about something else tells of attempts at it."""

    query: RunQuery
    figures: Figures | None
    """None while nobody can tell."""
    private: bool
    """Some are not told everybody."""

    def variables(self, links: Links) -> dict[str, object]:
        """What `runs_strip.html` needs."""
        return {"attempts": self.figures, "attempts_url": links.runs(self.query)}


async def attempts_at(request: Request, query: RunQuery) -> Attempts:
    """Attempts that meet the query, as this visitor may see them. A page does without where they cannot be counted."""
    try:
        viewer, views = await named_viewer(request), (await rollouts_of(request)).views
        filters = filters_of(query)
        figures = await blocking(lambda: views.figures(filters, viewer))
        if viewer.kind == "anonymous" or not figures.attempts:
            return Attempts(query, figures, False)
        own = await blocking(lambda: views.figures(replace(filters, mine=True), viewer))
        return Attempts(query, figures, own.attempts > 0)
    except UserError:
        return Attempts(query, None, False)


async def options_here(request: Request, key: EnvKey, task: Task) -> tuple[RunOption, ...]:
    """The ways to run a task, as far as this machine can; what the task says of them while that cannot be told."""
    try:
        return await launcher_of(request).options(key, task.ref, viewer_of(request), links_of(request).revision)
    except UserError:
        return task.run_options
