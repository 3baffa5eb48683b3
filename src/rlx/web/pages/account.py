"""Signing in with a token of the Hub, and out again."""

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from rlx.errors import BadInput, Forbidden
from rlx.hub.token import is_token
from rlx.model import Viewer
from rlx.texts import Say, say
from rlx.web.forms import inside, read_form
from rlx.web.respond import page_html
from rlx.web.site import site_of, viewer_of
from rlx.web.viewer import COOKIE, is_secure, set_cookie


async def login_page(request: Request) -> Response:
    return _form(request, None, inside(request.query_params.get("next", "")), 200)


async def login(request: Request) -> Response:
    """Check the token with the Hub, keep it in memory, and give the browser a name for it."""
    site = site_of(request)
    fields = await read_form(request)
    target = inside(fields.get("next", ""))
    token = fields.get("token", "").strip()
    if not is_token(token):
        return _form(request, say("web.login_odd"), target, 400)
    try:
        name = await site.services.hub.whoami(token)
    except (BadInput, Forbidden):
        return _form(request, say("web.login_refused"), target, 400)
    response = RedirectResponse(target, 303, {"cache-control": "no-store"})
    started = site.doorman.sessions.start(Viewer(kind="session", name=name, token=token))
    set_cookie(response, COOKIE, started, secure=is_secure(request, site.settings.public_url), private=True)
    return response


async def logout(request: Request) -> Response:
    site_of(request).doorman.sessions.end(request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/", 303, {"cache-control": "no-store"})
    response.delete_cookie(COOKIE, path="/")
    return response


def _form(request: Request, problem: Say | None, target: str, status: int) -> Response:
    told = {"problem": problem, "target": target, "who": viewer_of(request)}
    html = page_html(request, "login.html", "/login", told)
    return Response(html, status, {"cache-control": "private, no-store"}, "text/html")
