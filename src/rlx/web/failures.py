"""How an error is told: a page, the JSON envelope or Markdown, with the status its kind maps to."""

from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from rlx.answers.shown import Json
from rlx.errors import BadInput, NotFound, NotReady, RlxError, TooMany, Upstream, envelope, outcome
from rlx.model import Progress
from rlx.texts import DEFAULT
from rlx.twins.inline import spoken
from rlx.twins.jsonable import to_json
from rlx.web.address import env_address
from rlx.web.forms import is_form
from rlx.web.progress import STEPS
from rlx.web.progress import told as told_of
from rlx.web.respond import VARY, page_html, to_bytes, url_with
from rlx.web.site import site_of, viewer_of

_LISTS = ("/", "/tasks")
"""Pages that cannot be shown without the catalog."""
_SOON = 2
"""Seconds after which an environment that is being read is worth asking for again."""


def refuse(scope: Scope, error: RlxError) -> Response:
    """For what is turned away before a handler is found."""
    return _tell(Request(scope), error)


async def on_error(request: Request, error: Exception) -> Response:
    """For every error a handler raises on purpose, and for the framework's own."""
    told = _ours(error)
    if request.url.path in _LISTS and isinstance(told, Upstream | TooMany | NotReady):
        query = f"?{request.url.query}" if request.url.query else ""
        return _tell(request, told, template="explore_down.html", again=f"{request.url.path}{query}")
    if isinstance(told, NotReady) and not request.url.path.startswith("/api/search"):
        return await _reading(request, told)
    if isinstance(error, HTTPException):
        response = _tell(request, told, status=error.status_code)
        response.headers.update(error.headers or {})
        return response
    return _tell(request, told)


async def _reading(request: Request, error: NotReady) -> Response:
    """How far the first reading is, with what the Hub tells of the repository."""
    key, viewer, site = env_address(request), viewer_of(request), site_of(request)
    library = site.services.library
    progress = await library.progress(key, viewer, revision=error.revision) or Progress("listing")
    return _tell(
        request,
        error,
        template="reading.html",
        key=key,
        info=await library.info(key, viewer),
        follow=site.links.at(error.revision).progress(key),
        before=_before(request, error),
        steps=STEPS,
        progress=progress,
        said={"count": None, "tasks": None, "left": None, **told_of(progress)},
    )


def _before(request: Request, error: NotReady) -> str | None:
    """The same page at the revision read before, where the newest was asked for."""
    if error.before is None or "revision" in request.query_params:
        return None
    return url_with(request.url, "revision", error.before)


def _ours(error: Exception) -> RlxError:
    if isinstance(error, RlxError):
        return error
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"][1:])
        return BadInput(f"The parameter {name!r} cannot be used: {first['msg'].removeprefix('Value error, ')}.")
    if isinstance(error, HTTPException) and error.status_code == 404:
        return NotFound("There is no such page.", hint="Begin at the list of environments.")
    return BadInput("This address does not take that kind of request.")


def _tell(
    request: Request, error: RlxError, *, template: str = "error.html", status: int | None = None, **variables: Any
) -> Response:
    status = status or outcome(error).status
    headers = {"cache-control": "private, no-store", "vary": VARY}
    wait = (
        error.retry_after if isinstance(error, Upstream | TooMany) else _SOON if isinstance(error, NotReady) else None
    )
    if wait is not None:
        headers["retry-after"] = str(wait)
    form = _form(request)
    if form == "json":
        body: dict[str, Json] = {"error": to_json(envelope(error)["error"])}
        if "progress" in variables:
            body["progress"] = to_json(variables["progress"], DEFAULT)
        return Response(to_bytes(body), status, headers, "application/json")
    if form == "md":
        text = "\n\n".join(spoken(part, "en") for part in (error.message, error.hint) if part)
        return Response(f"# {status}\n\n{text}\n".encode("utf-8", "replace"), status, headers, "text/markdown")
    told = {"error": error, "status": status, "code": outcome(error).code, "wait": wait, **variables}
    html = page_html(request, template, request.url.path, told)
    return Response(html.encode("utf-8", "replace"), status, headers, "text/html")


def _form(request: Request) -> str:
    asked = request.query_params.get("format")
    accepts = request.headers.get("accept", "")
    if is_form(request) and "text/html" in accepts:  # somebody looks at it, whatever the form was sent to
        return "html"
    if request.url.path.startswith("/api/") or asked == "json":
        return "json"
    if asked == "md":
        return "md"
    return "json" if "application/json" in accepts and "text/html" not in accepts else "html"
