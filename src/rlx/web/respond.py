"""A page and its twins: one set of data, three forms, with the headers that let caches keep what is public."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import anyio
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import Response

from rlx.answers.shown import Json
from rlx.errors import BadInput
from rlx.model import Viewer
from rlx.telemetry import span
from rlx.texts import DEFAULT, LANGUAGES
from rlx.web.site import Site, language_of, links_of, site_of, theme_of, viewer_of
from rlx.web.viewer import COOKIE, is_secure, set_cookie

VARY = "Cookie, Authorization, Accept-Language"
_KEPT = ("etag", "cache-control", "vary", "link", "content-language")
"""What a 304 repeats of the page that it stands for."""
_TYPES = {"html": "text/html", "json": "application/json", "md": "text/markdown"}


@dataclass(frozen=True, slots=True)
class View:
    """One page: how it is drawn, and what it says to those who do not look."""

    template: str
    url: str
    """Its own address, without `format`."""
    variables: Mapping[str, Any]
    json: Callable[[str], Json]
    """The JSON twin; scripts are told the same in every language, so it is asked for in English."""
    markdown: Callable[[str], str]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    private: bool = False
    """It tells this visitor what it does not tell everybody."""


async def answer(request: Request, view: View) -> Response:
    """`view` in the form the visitor asked for. Raises `BadInput` for an unknown form."""
    form = request.query_params.get("format", "html")
    if form not in _TYPES:
        raise BadInput(f"{form[:20]!r} is not a form of this page.", hint="Use format=json or format=md.")
    with span("render"):
        body = await anyio.to_thread.run_sync(_body, request, view, form)
    links = site_of(request).links
    response = Response(body, status_code=view.status, media_type=_TYPES[form], headers=dict(view.headers))
    response.headers["link"] = ", ".join(
        f'<{links.twin(view.url, twin)}>; rel="alternate"; type="{_TYPES[twin]}"' for twin in ("json", "md")
    )
    if form != "json":
        response.headers["content-language"] = language_of(request)
    if request.query_params.get("lang") in LANGUAGES:
        secure = is_secure(request, site_of(request).settings.public_url)
        set_cookie(response, "lang", language_of(request), secure=secure, private=False)
    return cached(request, response, viewer_of(request), private=view.private)


def in_form(request: Request, url: str) -> str:
    """`url` in the form that this request asks for, for what leads elsewhere. Raises `BadInput` for an unknown form."""
    form = request.query_params.get("format", "html")
    if form not in _TYPES:
        raise BadInput(f"{form[:20]!r} is not a form of this page.", hint="Use format=json or format=md.")
    return url if form == "html" else links_of(request).twin(url, form)


def page_html(request: Request, template: str, url: str, variables: Mapping[str, Any]) -> str:
    """One page's HTML, with what the layout needs."""
    site: Site = site_of(request)
    links = links_of(request)
    return site.renderer.page(
        template,
        language_of(request),
        links=links,
        newest=url_without(request.url, "revision") if links.revision else None,
        url=url,
        viewer=viewer_of(request),
        theme=theme_of(request),
        **variables,
    )


def url_with(url: URL, parameter: str, value: str) -> str:
    """Path and query of `url` with one parameter set."""
    kept = url.include_query_params(**{parameter: value})
    return f"{kept.path}?{kept.query}"


def url_without(url: URL, parameter: str) -> str:
    """Path and query of `url` without one of its parameters."""
    kept = url.remove_query_params(parameter)
    return kept.path + (f"?{kept.query}" if kept.query else "")


def reply(request: Request, value: Json) -> Response:
    """An answer of the API that others may keep as far as it is public."""
    return cached(request, Response(to_bytes(value), media_type="application/json"), viewer_of(request))


def to_bytes(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def cached(
    request: Request, response: Response, viewer: Viewer, *, same: bytes | None = None, private: bool = False
) -> Response:
    """What anybody may see may be kept for half a minute and asked for again by its tag; the rest by nobody.

    The tag is of the body, or of `same`: what stays the same while the body tells of the moment too.
    """
    response.headers["vary"] = VARY
    personal = private or viewer.token is not None or request.cookies.get(COOKIE) or "set-cookie" in response.headers
    if personal or response.status_code != 200:
        response.headers["cache-control"] = "private, no-store"
        return response
    tag = f'W/"{blake2b(response.body if same is None else same, digest_size=12).hexdigest()}"'
    response.headers["etag"] = tag
    response.headers["cache-control"] = "public, max-age=30"
    known = [item.strip() for item in request.headers.get("if-none-match", "").split(",")]
    if tag not in known:
        return response
    kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
    kept["vary"] = f"{VARY}, Accept-Encoding"  # which the page has from its compression
    return Response(status_code=304, headers=kept)


def _body(request: Request, view: View, form: str) -> bytes:
    if form == "json":
        return to_bytes(view.json(DEFAULT))
    if form == "md":
        return view.markdown(language_of(request)).encode("utf-8", "replace")
    return page_html(request, view.template, view.url, view.variables).encode("utf-8", "replace")
