"""`/raw/…`: a file's bytes, inert: text as plain text, media as themselves and in parts, all else as a download."""

import re
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from rlx.errors import Forbidden, NotFound, TooLarge
from rlx.formats.base import Environment
from rlx.model import Blob, Listing
from rlx.web.address import check_path, file_address, task_address
from rlx.web.respond import cached
from rlx.web.site import open_asked, viewer_of
from rlx.web.views.media import PLAYED

_POLICY = "sandbox; default-src 'none'"
_PLAYER = "; img-src 'self'; media-src 'self'"
"""A browser that is sent to a film wraps it in a page of its own, which plays it by its address."""
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


async def raw_file(request: Request) -> Response:
    address = file_address(request)
    opened = await open_asked(request, address.key)
    return await raw_response(request, opened, None, address.rest)


async def raw_task_file(request: Request) -> Response:
    address = task_address(request)
    opened = await open_asked(request, address.key)
    return await raw_response(request, opened, address.rest, check_path(request.query_params.get("path", "")))


async def raw_response(request: Request, opened: Environment, ref: str | None, path: str) -> Response:
    """The file at `path`, or the range of it that was asked for.

    Raises `NotFound` for a folder, `TooLarge` when only the head of the file is at hand, `Forbidden` for a container
    that was looked into and is not served.
    """
    found = await opened.files(ref, path)
    if isinstance(found, Listing):
        raise NotFound(f"{path[:200]!r} is a folder.", hint="Ask for one of its files.")
    if not is_served(found):
        raise _refusal(found)
    if found.text is not None:
        content, kind = found.text.encode("utf-8", "replace"), "text/plain; charset=utf-8"
    else:
        content = found.data or b""
        kind = found.media_type if found.media_type in PLAYED else "application/octet-stream"
    response = _part(request, content, kind) or cached(request, Response(content, media_type=kind), viewer_of(request))
    how = "attachment" if kind == "application/octet-stream" else "inline"
    response.headers["content-disposition"] = f"{how}; filename*=UTF-8''{quote(path.rpartition('/')[2], safe='')}"
    response.headers["content-security-policy"] = _POLICY + (_PLAYER if kind in PLAYED else "")
    response.headers["accept-ranges"] = "bytes"
    return response


def is_served(blob: Blob) -> bool:
    """Whether the raw address gives the file."""
    return not blob.truncated and (blob.form == "file" or blob.data is not None)


def _refusal(blob: Blob) -> Forbidden | TooLarge:
    if blob.truncated:
        return TooLarge(
            f"{blob.path[:200]!r} holds {blob.size:,} bytes, more than is served here.", hint="Get it on the Hub."
        )
    return Forbidden(f"The bytes of {blob.path[:200]!r} are withheld.", hint="Its page shows what may be shown of it.")


def _part(request: Request, content: bytes, kind: str) -> Response | None:
    """The answer to a request for one range, as players send them; None sends the whole."""
    found = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if found is None or found[0] == "bytes=-" or "if-range" in request.headers:
        return None
    size = len(content)
    start = int(found[1]) if found[1] else max(0, size - int(found[2]))
    end = min(size, int(found[2]) + 1) if found[1] and found[2] else size
    headers = {"cache-control": "private, no-store", "vary": "Cookie, Authorization, Range"}
    if start >= end:
        return Response(status_code=416, headers={**headers, "content-range": f"bytes */{size}"})
    headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    return Response(content[start:end], 206, headers, kind)
