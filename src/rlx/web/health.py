"""What pages tell of the health of tasks: of a task, of an environment, and as a facet of its list."""

from dataclasses import replace

from starlette.requests import Request

from rlx.health.report import EnvReport, TaskReport, env_report, task_report
from rlx.ids import EnvKey
from rlx.index.health import KEY, laid
from rlx.model import TaskQuery
from rlx.store.health import EnvHealth
from rlx.web.rollouts import blocking
from rlx.web.site import site_of


async def known_of(request: Request, key: EnvKey) -> EnvHealth:
    """Of an environment that the visitor may read. A store in trouble tells nothing new."""
    health = site_of(request).services.health
    return await blocking(lambda: health.of(key))


async def task_health(request: Request, key: EnvKey, ref: str, revision: str | None) -> TaskReport:
    return task_report(await known_of(request, key), ref, revision)


async def env_health(request: Request, key: EnvKey, revision: str | None, total: int | None) -> EnvReport:
    return env_report(await known_of(request, key), revision, total)


async def with_health(request: Request, key: EnvKey, revision: str | None, query: TaskQuery) -> TaskQuery:
    """The query of a list that can be narrowed by health too, where any is known or it is asked for."""
    overlay = laid(await known_of(request, key), revision, is_asked=KEY in query.filters)
    return replace(query, overlay=overlay)
