"""The API of one environment: what it is, its tasks, their files. Answers are withheld as on the pages."""

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from rlx.answers.shown import Json
from rlx.errors import BadInput, NotFound
from rlx.formats.base import Environment
from rlx.ids import EnvKey, check_ref
from rlx.model import Blob, Listing, TaskQuery
from rlx.texts import DEFAULT
from rlx.twins.health import env_health_json
from rlx.web.address import check_path, env_address
from rlx.web.health import env_health, task_health, with_health
from rlx.web.lists import task_list
from rlx.web.pages.environment import environment_json
from rlx.web.pages.files import file_json
from rlx.web.pages.raw import raw_response
from rlx.web.pages.reading import steps_of
from rlx.web.pages.revisions import ChangedRef, Sha, compare, revisions_json
from rlx.web.pages.task import but_same, relatives_of, task_json, with_same
from rlx.web.progress import events
from rlx.web.queries import AskedTasks, Limit
from rlx.web.respond import reply, to_bytes
from rlx.web.rollouts import options_here
from rlx.web.site import links_of, open_asked, site_of, viewer_of
from rlx.web.sse import EventStream, last_event_id, line_of
from rlx.web.views.table import PAGE

MaybeRevision = Annotated[str | None, Query(description="A branch, tag or commit; without one, the newest.")]
Ref = Annotated[str, Query(description="The task's ref, as its card gives it.")]
MaybeRef = Annotated[str | None, Query(description="The task whose file it is; without one, the repository's.")]
Path = Annotated[str, Query(description="Relative to the task, or to the repository.")]
Offset = Annotated[int, Query(ge=0, le=1_000_000_000, description="Entries or rows before the first one.")]


def env_key(request: Request, org: str, name: str, revision: MaybeRevision = None) -> EnvKey:
    return env_address(request)


Key = Annotated[EnvKey, Depends(env_key)]


async def env(request: Request, key: Key) -> Response:
    """What an environment is, with the first page of its tasks."""
    site, viewer = site_of(request), viewer_of(request)
    opened = await open_asked(request, key)
    summary = await opened.summary()
    info = await site.services.library.info(key, viewer)
    listed = await with_health(request, key, summary.revision, TaskQuery())
    tasks = await opened.tasks(listed) if summary.tasks is not None else None
    told = await env_health(request, key, summary.revision, summary.tasks)
    return reply(request, environment_json(summary, tasks, info, links_of(request), DEFAULT, told))


async def tasks(request: Request, key: Key, query: AskedTasks) -> Response:
    """Its tasks by words, filters and subset."""
    opened = await open_asked(request, key)
    page = await opened.tasks(await with_health(request, key, (await opened.summary()).revision, query))
    return reply(request, {**task_list(page, key, links_of(request), DEFAULT)})


async def task(request: Request, key: Key, ref: Ref) -> Response:
    """One task as an agent gets it."""
    opened = await open_asked(request, key)
    canonical = await opened.canonical(check_ref(ref))
    found, relatives = await opened.task(canonical), await relatives_of(request, key, canonical)
    aliases = with_same(await opened.aliases(canonical), relatives)
    found = replace(found, run_options=await options_here(request, key, found))
    told = await task_health(request, key, canonical, (await opened.summary()).revision)
    alike = but_same(relatives)
    return reply(request, {**task_json(found, aliases, alike, key, links_of(request), DEFAULT, told)})


async def health(request: Request, key: Key, offset: Offset = 0, limit: Limit = 100) -> Response:
    """What runs of its tasks proved at this revision: whether the solution earns everything, and nothing less."""
    summary = await (await open_asked(request, key)).summary()
    told = await env_health(request, key, summary.revision, summary.tasks)
    return reply(request, {"id": str(key), **env_health_json(told, offset=offset, limit=limit)})


async def file(request: Request, key: Key, path: Path, ref: MaybeRef = None, offset: Offset = 0) -> Response:
    """One file of a task or of the repository, with a hundred rows from `offset` where it is a long table; `Forbidden`
    with the reason when it is withheld."""
    found = await _found(request, key, ref, path)
    if not isinstance(found, Blob):
        raise BadInput(f"{path[:200]!r} is a folder.", hint="Use the folder route.")
    rows = None if found.table is None else await found.table.page(offset + 1, PAGE)
    return reply(request, file_json(found, key, ref, links_of(request), DEFAULT, rows))


async def folder(request: Request, key: Key, path: Path = "", ref: MaybeRef = None, offset: Offset = 0) -> Response:
    """The entries of one folder, up to a thousand from `offset`."""
    found = await _found(request, key, ref, path, offset)
    if not isinstance(found, Listing):
        raise BadInput(f"{path[:200]!r} is a file.", hint="Use the file route.")
    return reply(request, file_json(found, key, ref, links_of(request), DEFAULT))


async def raw(request: Request, key: Key, path: Path, ref: MaybeRef = None) -> Response:
    """A file's bytes, inert."""
    opened = await open_asked(request, key)
    return await raw_response(request, opened, await _ref(opened, ref), check_path(path))


async def random(request: Request, key: Key) -> Response:
    """Some task of the environment."""
    ref = await (await open_asked(request, key)).random()
    if ref is None:
        raise NotFound(f"{key} has no tasks.")
    return chance(key, ref, links_of(request).task(key, ref))


async def revisions(request: Request, key: Key, old: Sha = "", new: Sha = "", ref: ChangedRef = "") -> Response:
    """Its commits, newest first; with `old` and `new` what became of its tasks, with `ref` of one task's files."""
    site, viewer = site_of(request), viewer_of(request)
    commits = await site.services.library.revisions(key, viewer)
    compared = await compare(site, key, viewer, old, new, ref)
    return reply(request, revisions_json(key, commits, compared, site.links, DEFAULT))


async def progress(request: Request, key: Key) -> Response:
    """How far its first reading is, as server-sent events; ends when it is read."""
    return EventStream(events(await steps_of(request, key), last_event_id(request)), line=line_of(request))


def chance(key: EnvKey, ref: str, url: str) -> Response:
    body: Json = {"id": str(key), "ref": ref, "url": url}
    return Response(to_bytes(body), 200, {"cache-control": "no-store"}, "application/json")


async def _found(request: Request, key: EnvKey, ref: str | None, path: str, offset: int = 0) -> Listing | Blob:
    opened = await open_asked(request, key)
    known, told = await _ref(opened, ref), check_path(path)
    # Formats from elsewhere may list folders whole only; they are not asked for a part.
    return await (opened.files(known, told, offset=offset) if offset else opened.files(known, told))


async def _ref(opened: Environment, ref: str | None) -> str | None:
    return None if ref is None else await opened.canonical(check_ref(ref))
