"""The app: services in, one ASGI application out. Nothing is started here; who made the services ends them."""

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from rlx import __version__
from rlx.errors import RlxError
from rlx.publish.survey import Survey
from rlx.publish.uses import Uses, reached_at
from rlx.runners.launch import Launcher
from rlx.settings import Settings
from rlx.web import capture, seats
from rlx.web.api import API_ROUTES
from rlx.web.api.schemas import ErrorAnswer
from rlx.web.assets import assets
from rlx.web.failures import on_error, refuse
from rlx.web.images import ImageProxy, signing_key
from rlx.web.links import Links
from rlx.web.observe import Observe
from rlx.web.pages import PAGES
from rlx.web.ports import Services
from rlx.web.rates import TRIES, Rate
from rlx.web.render import Renderer
from rlx.web.security import BodyLimit, CrossSiteWrites, HostCheck, SecurityHeaders
from rlx.web.site import Site
from rlx.web.sse import Lines
from rlx.web.viewer import Doorman, Sessions, hub_token

_AS_THEY_ARE = (
    "text/event-stream",
    "application/octet-stream",
    "image/png",
    "image/jpeg",
    "image/webp",
    "audio/*",
    "video/*",
)
"""Types that gain nothing from compression, or must not wait for it."""
_ERRORS = (400, 403, 404, 413, 429, 503)


def create_app(
    services: Services,
    *,
    clock: Callable[[], float] = time.monotonic,
    token: Callable[[Settings], str | None] = hub_token,
    images: ImageProxy | None = None,
) -> FastAPI:
    """`clock` ends sessions; `token` gives this machine's own token, for its own user alone; `images` fetches those of
    other sites."""
    settings = services.settings
    hub = settings.hub.rstrip("/") if urlsplit(settings.hub).scheme else None
    links = Links(assets().build, hub, signing_key(settings))
    doorman = Doorman(Sessions(clock), settings.trust_local, lambda: token(settings))
    app = FastAPI(
        title="RL Explorer",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers={RlxError: on_error, HTTPException: on_error, RequestValidationError: on_error},
    )
    app.state.site = Site(services, Renderer(links), links, doorman)
    app.state.images = images or ImageProxy()
    app.state.launcher = Launcher(services)
    app.state.uses = uses = Uses(reached_at(settings))
    app.state.survey = Survey(uses.detections, settings.cache_dir / "worklist.json", clock)
    app.state.tries = Rate(TRIES, 600.0, clock)
    app.state.lines = Lines()
    for page in PAGES:
        app.add_api_route(
            page.path,
            page.handler,
            methods=list(page.methods),
            include_in_schema=False,
            response_model=None,
            response_class=Response,
        )
    for route in API_ROUTES:
        app.add_api_route(
            route.path,
            route.handler,
            methods=list(route.methods),
            response_model=route.answer,
            status_code=route.status,
            responses={status: {"model": ErrorAnswer} for status in _ERRORS},
        )
    app.router.add_websocket_route(seats.PATH, seats.SeatLines().endpoint)
    app.add_route(capture.PATH, capture.forward, methods=["POST"], include_in_schema=False)
    # Added innermost first: the last one added sees a request first.
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5, exclude_content_types=_AS_THEY_ARE)
    app.add_middleware(BodyLimit, limit=settings.max_body, larger=capture.LARGEST, refuse=refuse)
    app.add_middleware(CrossSiteWrites, settings=settings, refuse=refuse)
    app.add_middleware(HostCheck, settings=settings, refuse=refuse)
    app.add_middleware(Observe, refuse=refuse)
    app.add_middleware(SecurityHeaders, frame_ancestors=settings.frame_ancestors)
    return app
