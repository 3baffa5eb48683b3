"""`/d/<org>/<name>/progress`: how far a first reading is, in the reader's language, for the page that waits for it."""

from collections.abc import AsyncIterator

from fastapi import Request, Response

from rlx.ids import EnvKey
from rlx.model import Progress
from rlx.web.address import env_address
from rlx.web.progress import events
from rlx.web.site import language_of, revision_of, site_of, viewer_of
from rlx.web.sse import EventStream, last_event_id, line_of


async def progress(request: Request) -> Response:
    """Server-sent events; they end when the environment is read."""
    steps = await steps_of(request, env_address(request))
    return EventStream(events(steps, last_event_id(request), language_of(request)), line=line_of(request))


async def steps_of(request: Request, key: EnvKey) -> AsyncIterator[Progress]:
    """The steps of a reading as they come. Raises `NotFound` before the first one where nothing may be told."""
    library, viewer, revision = site_of(request).services.library, viewer_of(request), revision_of(request)
    await library.info(key, viewer, revision)
    return library.follow(key, viewer, revision=revision)
