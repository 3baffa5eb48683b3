"""`/-/image`: a picture of another site that a document here shows, fetched by us when a reader asks for it."""

from fastapi import Request, Response

from rlx.errors import BadInput
from rlx.web.images import ImageProxy
from rlx.web.site import site_of


async def image(request: Request) -> Response:
    """The picture at `u`, whose signature `s` shows that a document of ours names it."""
    url, signature = request.query_params.get("u", ""), request.query_params.get("s", "")
    if not site_of(request).links.is_image(url, signature):
        raise BadInput("No document here shows this image.", hint="Open it from the page that shows it.")
    proxy: ImageProxy = request.app.state.images
    picture = await proxy.fetch(url)
    return Response(
        picture.data,
        media_type=picture.kind,
        headers={
            "cache-control": "private, max-age=3600",
            "content-security-policy": "sandbox; default-src 'none'",
        },
    )
