"""`/-/theme`: keep the reader's choice of a theme. The language is kept by `?lang=` on any page."""

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from rlx.web.forms import inside, read_form
from rlx.web.site import site_of
from rlx.web.viewer import is_secure, set_cookie

THEMES = ("system", "light", "dark")


async def theme(request: Request) -> Response:
    """Back to the page it was chosen on. An unknown theme is the system's."""
    fields = await read_form(request)
    chosen = fields.get("theme", "")
    response = RedirectResponse(inside(fields.get("back", "")), 303, {"cache-control": "no-store"})
    secure = is_secure(request, site_of(request).settings.public_url)
    set_cookie(response, "theme", chosen if chosen in THEMES else "system", secure=secure, private=False)
    return response
