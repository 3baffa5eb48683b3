"""The file viewer: folders and files in windows of highlighted lines; `/raw/` gives them as they are."""

from dataclasses import dataclass

import anyio
from fastapi import Request, Response
from markupsafe import Markup

from rlx.answers.shown import Json
from rlx.errors import BadInput, Forbidden, NotFound, TooLarge, envelope
from rlx.formats.base import Environment
from rlx.ids import EnvKey
from rlx.model import Blob, Listing
from rlx.telemetry import span
from rlx.twins.inline import line
from rlx.twins.jsonable import object_json, to_json
from rlx.twins.markdown import file_markdown, folder_markdown
from rlx.web import highlight, lexers
from rlx.web.address import check_path, file_address, task_address
from rlx.web.links import Links
from rlx.web.render import numbered
from rlx.web.respond import View, answer, cached
from rlx.web.site import language_of, site_of, viewer_of

PAGE_LINES = 5 * highlight.WINDOW
"""Lines of one page of a file."""
_SHOWN_TYPES = {
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/avif",
    "audio/mpeg",
    "audio/wav",
    "audio/x-wav",
    "audio/ogg",
    "audio/flac",
    "video/mp4",
    "video/webm",
    "application/pdf",
}
"""Kinds a browser shows without running anything. SVG and HTML are text here."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a file on one page."""

    html: Markup
    first: int
    last: int
    total: int
    previous: int | None
    """First line of the page before, and of the one after."""
    next: int | None


async def repository_file(request: Request) -> Response:
    address = file_address(request)
    opened = await site_of(request).open(address.key, viewer_of(request))
    return await show_file(request, opened, address.key, None, address.rest)


async def show_file(request: Request, opened: Environment, key: EnvKey, ref: str | None, path: str) -> Response:
    """A folder or a file; one that is withheld is named with the reason."""
    links = site_of(request).links
    start = _start(request)
    nowrap = request.query_params.get("wrap") == "off"
    with span("read"):
        found = await _ask(opened, ref, path)
        parent = found if isinstance(found, Listing) else await _ask(opened, ref, path.rpartition("/")[0])
    blob = found if isinstance(found, Blob) else None
    view = View(
        "file.html",
        links.file(key, ref, path, start=start, nowrap=nowrap),
        {
            "key": key,
            "ref": ref,
            "path": path,
            "folder": parent if isinstance(parent, Listing) else None,
            "is_folder": isinstance(found, Listing),
            "blob": blob,
            "lines": await anyio.to_thread.run_sync(_lines, blob, start, language_of(request)) if blob else None,
            "is_image": blob is not None and blob.media_type in _SHOWN_TYPES and blob.media_type.startswith("image/"),
            "refusal": found if isinstance(found, Forbidden) else None,
            "start": start,
            "nowrap": nowrap,
        },
        json=lambda language: file_json(found, key, ref, links, language),
        markdown=lambda language: _markdown(found, language),
        status=403 if isinstance(found, Forbidden) else 200,
    )
    return await answer(request, view)


async def raw_file(request: Request) -> Response:
    address = file_address(request)
    opened = await site_of(request).open(address.key, viewer_of(request))
    return await raw_response(request, opened, None, address.rest)


async def raw_task_file(request: Request) -> Response:
    address = task_address(request)
    opened = await site_of(request).open(address.key, viewer_of(request))
    return await raw_response(request, opened, address.rest, check_path(request.query_params.get("path", "")))


async def raw_response(request: Request, opened: Environment, ref: str | None, path: str) -> Response:
    """A file's bytes, inert: text as plain text, media as themselves, all else as a download.

    Raises `NotFound` for a folder, `TooLarge` when only the head of the file is at hand.
    """
    found = await opened.files(ref, path)
    if isinstance(found, Listing):
        raise NotFound(f"{path[:200]!r} is a folder.", hint="Ask for one of its files.")
    if found.truncated:
        raise TooLarge(
            f"{path[:200]!r} holds {found.size:,} bytes, more than is served here.", hint="Get it on the Hub."
        )
    if found.text is not None:
        response = Response(found.text.encode("utf-8", "replace"), media_type="text/plain; charset=utf-8")
    elif found.media_type in _SHOWN_TYPES:
        response = Response(found.data or b"", media_type=found.media_type)
    else:
        response = Response(found.data or b"", media_type="application/octet-stream")
        response.headers["content-disposition"] = "attachment"
    response.headers["content-security-policy"] = "sandbox; default-src 'none'"
    return cached(request, response, viewer_of(request))


def file_json(found: Listing | Blob | Forbidden, key: EnvKey, ref: str | None, links: Links, language: str) -> Json:
    """A folder's entries, a file's text, or why it is withheld."""
    if isinstance(found, Forbidden):
        return to_json(envelope(found))
    if isinstance(found, Listing):
        return {"type": "folder", **object_json(found, language)}
    raw = None if found.truncated else links.raw(key, ref, found.path)
    return {"type": "file", **object_json(found, language), "raw": raw}


def _markdown(found: Listing | Blob | Forbidden, language: str) -> str:
    if isinstance(found, Forbidden):
        return f"{line(found.message, language)}\n"
    return folder_markdown(found, language) if isinstance(found, Listing) else file_markdown(found, language)


async def _ask(opened: Environment, ref: str | None, path: str) -> Listing | Blob | Forbidden:
    try:
        return await opened.files(ref, path)
    except Forbidden as error:
        return error


def _lines(blob: Blob, start: int, language: str) -> Lines | None:
    if blob.text is None:
        return None
    total = len(highlight.split_lines(blob.text))
    first = min(start, max(total, 1)) - 1
    with span("highlight"):
        html = highlight.html_lines(blob.text, lexers.lexer_name(blob.path), first, PAGE_LINES)
    last = first + len(html)
    return Lines(
        numbered(html, first + 1, "L", frozenset(blob.masked), language),
        first + 1,
        last,
        total,
        previous=max(1, first + 1 - PAGE_LINES) if first else None,
        next=last + 1 if last < total else None,
    )


def _start(request: Request) -> int:
    told = request.query_params.get("from", "1")
    if not (told.isascii() and told.isdigit() and len(told) <= 9 and int(told) > 0):
        raise BadInput(f"{told[:20]!r} is not a line number.")
    return int(told)
