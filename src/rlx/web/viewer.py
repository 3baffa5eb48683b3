"""Who is asking: anonymous, this machine's user, or somebody who signed in with a token of the Hub.

A token never leaves the process: the cookie holds a random id, the token stays in memory here.
"""

import ipaddress
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from rlx.errors import BadInput
from rlx.hub.token import is_token, machine_token
from rlx.model import ANONYMOUS, Viewer
from rlx.settings import Settings

COOKIE = "rlx_session"
_LIFETIME = 7 * 24 * 3600.0
_MAX_SESSIONS = 10_000
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
_AUTHORITY = re.compile(r"(?:(?P<name>[a-z0-9._-]{1,253})|\[(?P<six>[0-9a-f:.]{2,45})\])(?::\d{1,5})?")


def hub_token(settings: Settings) -> str | None:
    """This machine's own token, for a Hub that is reached over the network. A folder knows nobody's tokens."""
    return machine_token() if urlsplit(settings.hub).scheme in {"http", "https"} else None


@dataclass(frozen=True, slots=True)
class _Session:
    viewer: Viewer
    ends: float


class Sessions:
    """Sessions of this process, the oldest dropped when there are too many."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: OrderedDict[str, _Session] = OrderedDict()

    def start(self, viewer: Viewer) -> str:
        """Begin a session; the id that names it."""
        name = secrets.token_urlsafe(32)
        self._open[name] = _Session(viewer, self._clock() + _LIFETIME)
        while len(self._open) > _MAX_SESSIONS:
            self._open.popitem(last=False)
        return name

    def find(self, name: str) -> Viewer | None:
        session = self._open.get(name)
        if session is None:
            return None
        if session.ends <= self._clock():
            self.end(name)
            return None
        return session.viewer

    def end(self, name: str) -> None:
        self._open.pop(name, None)


@dataclass(frozen=True, slots=True)
class Doorman:
    """Tells a request's viewer."""

    sessions: Sessions
    trust_local: bool
    token: Callable[[], str | None]
    """This machine's own token, asked for only by its own user."""

    def viewer(self, request: HTTPConnection) -> Viewer:
        """A session wins over a bearer token (API only), that over the machine's user. Raises `BadInput`."""
        session = self.sessions.find(request.cookies.get(COOKIE, ""))
        if session is not None:
            return session
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip() and request.url.path.startswith("/api/"):
            if not is_token(token.strip()):
                raise BadInput("The bearer token is none.", hint="Copy it again from your settings on the Hub.")
            return Viewer(kind="session", token=token.strip())
        if self.trust_local and is_local(request):
            return Viewer(kind="local", token=self.token())
        return ANONYMOUS


def is_local(connection: HTTPConnection) -> bool:
    """Whether the peer itself is on this machine and asked for it by a loopback name, with no proxy in between."""
    if connection.client is None or any(name in connection.headers for name in _FORWARDED):
        return False
    return is_loopback(connection.client.host) and is_loopback(host_name(connection.headers.get("host", "")))


def host_name(authority: str) -> str:
    """The host of a Host header, lower case, without port and brackets; empty when it is none."""
    found = _AUTHORITY.fullmatch(authority.lower())
    return (found["name"] or found["six"]).rstrip(".") if found else ""


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def set_cookie(response: Response, name: str, value: str, *, secure: bool, private: bool) -> None:
    """A cookie of this site alone; `private` hides it from scripts and ends with the session's lifetime."""
    age = int(_LIFETIME) if private else 365 * 24 * 3600
    response.set_cookie(name, value, max_age=age, path="/", secure=secure, httponly=private, samesite="lax")


def is_secure(request: Request, public_url: str | None) -> bool:
    """Whether the visitor came over https, as far as this process can know."""
    return request.url.scheme == "https" or (public_url is not None and public_url.startswith("https://"))
