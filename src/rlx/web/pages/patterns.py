"""`/-/patterns`: every component with the content it has to hold."""

from fastapi import Request, Response

from rlx.web.respond import View, answer


async def patterns(request: Request) -> Response:
    view = View("patterns.html", "/-/patterns", {}, json=lambda language: {}, markdown=lambda language: "")
    return await answer(request, view)
