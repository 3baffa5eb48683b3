"""What every request must pass and every response carries. Pure ASGI; outermost first: headers, host, origin, body."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rlx.errors import BadInput, Forbidden, RlxError, TooLarge
from rlx.settings import Settings
from rlx.web.viewer import host_name, is_loopback

type Refuse = Callable[[Scope, RlxError], Response]
"""How a refusal is told: a page or an envelope."""

_SAFE = {"GET", "HEAD", "OPTIONS"}


def content_policy(frame_ancestors: Sequence[str]) -> str:
    framed = " ".join(frame_ancestors) or "'none'"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
        f"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {framed}"
    )


class SecurityHeaders:
    """Adds the headers that keep a page to itself. A response that set its own stricter policy keeps it."""

    def __init__(self, app: ASGIApp, *, frame_ancestors: Sequence[str]) -> None:
        self.app = app
        self.headers = {
            "content-security-policy": content_policy(frame_ancestors),
            "x-content-type-options": "nosniff",
            "referrer-policy": "strict-origin-when-cross-origin",
            "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        return await self.app(scope, receive, send_with_headers)


class HostCheck:
    """Answers only to names that are ours, so that no other site's name can be pointed at this machine."""

    def __init__(self, app: ASGIApp, *, settings: Settings, refuse: Refuse) -> None:
        self.app = app
        self.refuse = refuse
        public = urlsplit(settings.public_url).hostname if settings.public_url else None
        self.allowed = {name.lower() for name in (public, *settings.allowed_hosts) if name}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            hosts = Headers(scope=scope).getlist("host")
            name = host_name(hosts[0]) if len(hosts) == 1 else ""
            if not (is_loopback(name) or name in self.allowed):
                error = BadInput(
                    "This server does not answer to that Host name.",
                    hint="Operators name the hosts it may use with RLX_PUBLIC_URL or RLX_ALLOWED_HOSTS.",
                )
                return await _refused(self.refuse, error, scope, receive, send)
        return await self.app(scope, receive, send)


class CrossSiteWrites:
    """Refuses requests that change something, and lines to a page, when another site's page sent them."""

    def __init__(self, app: ASGIApp, *, settings: Settings, refuse: Refuse) -> None:
        self.app = app
        self.refuse = refuse
        self.public = _origin(settings.public_url) if settings.public_url else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_write = scope["type"] == "websocket" or (scope["type"] == "http" and scope["method"] not in _SAFE)
        if is_write and not self._ours(HTTPConnection(scope)):
            error = Forbidden("A page of another site sent this request.", hint="Send it from a page of this site.")
            return await _refused(self.refuse, error, scope, receive, send)
        return await self.app(scope, receive, send)

    def _ours(self, request: HTTPConnection) -> bool:
        site = request.headers.get("sec-fetch-site")
        if site is not None:
            return site in {"same-origin", "none"}
        origin = request.headers.get("origin")
        if origin is None:
            return True  # no browser: browsers send one of the two with every write
        scheme = {"ws": "http", "wss": "https"}.get(request.url.scheme, request.url.scheme)
        here = _origin(f"{scheme}://{request.headers.get('host', '')}")
        return origin != "null" and _origin(origin) in {here, self.public}


class BodyLimit:
    """Refuses request bodies longer than `limit` bytes, told or not; below a path of `larger` they may be as long as it
    says."""

    def __init__(self, app: ASGIApp, *, limit: int, refuse: Refuse, larger: Mapping[str, int] | None = None) -> None:
        self.app = app
        self.limit = limit
        self.larger = larger or {}
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        limit = next((most for path, most in self.larger.items() if scope["path"].startswith(path)), self.limit)
        error = TooLarge(f"A request body may hold {limit:,} bytes.")
        told = Headers(scope=scope).get("content-length", "0")
        if not told.isascii() or not told.isdigit() or int(told[:20]) > limit:
            return await self.refuse(scope, error)(scope, receive, send)
        seen = 0

        async def receive_limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise error
            return message

        return await self.app(scope, receive_limited, send)


async def _refused(refuse: Refuse, error: RlxError, scope: Scope, receive: Receive, send: Send) -> None:
    """A request is answered with why; a line is never opened."""
    if scope["type"] == "websocket":
        await receive()
        return await send({"type": "websocket.close", "code": 1008, "reason": ""})
    return await refuse(scope, error)(scope, receive, send)


def _origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port, the default port told."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        return (parts.scheme, parts.hostname or "", port)
    except ValueError:
        return None
