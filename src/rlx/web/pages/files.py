"""The file viewer: folders in parts, files in the way that suits them, what is withheld named with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from fastapi import Request, Response

from rlx.answers.shown import Json
from rlx.errors import BadInput, Forbidden, NotFound, envelope
from rlx.formats.base import Environment
from rlx.formats.reading import FileWithheld
from rlx.ids import EnvKey
from rlx.model import Blob, Listing, NoTable, TablePage
from rlx.telemetry import span
from rlx.twins.inline import line
from rlx.twins.jsonable import object_json, to_json
from rlx.twins.markdown import file_markdown, folder_markdown
from rlx.web import inert
from rlx.web.address import file_address
from rlx.web.links import Links
from rlx.web.pages.raw import is_served
from rlx.web.respond import View, answer, cached, page_html
from rlx.web.site import language_of, links_of, open_asked, viewer_of
from rlx.web.tree import Branch, branch, folders_above, way_down
from rlx.web.views import draw, table
from rlx.web.views.base import Asked

type Found = Listing | Blob | Forbidden


@dataclass(frozen=True, slots=True)
class _Spot:
    """Which file or folder, and how the visitor wants it."""

    key: EnvKey
    ref: str | None
    path: str
    start: int
    """First line, row or entry, counted from 1."""
    view: str | None
    nowrap: bool
    full: bool

    def url(self, links: Links, **changes: Any) -> str:
        """Its own address, or that of a variant of it."""
        told = {"start": self.start, "view": self.view, "nowrap": self.nowrap, "full": self.full, **changes}
        return links.file(self.key, self.ref, self.path, **told)


async def repository_file(request: Request) -> Response:
    address = file_address(request)
    opened = await open_asked(request, address.key)
    return await show_file(request, opened, address.key, None, address.rest)


async def show_file(request: Request, opened: Environment, key: EnvKey, ref: str | None, path: str) -> Response:
    """A folder or a file; `part=lines` and `part=tree` give what a script adds to a page."""
    query = request.query_params
    start = _start(query.get("from", "1"))
    spot = _Spot(key, ref, path, start, query.get("view"), query.get("wrap") == "off", query.get("full") == "1")
    links = links_of(request)
    with span("read"):
        found = await _ask(opened, ref, path)
        if isinstance(found, Listing) and start > 1:
            found = await _later_part(opened, ref, path, start - 1)
        rows = await _rows(found, spot)
        side = None if spot.full or isinstance(found, Listing) else await _side(opened, ref, path)
    if "part" in query:
        return await _fragment(request, found, spot)
    variables: dict[str, Any] = {"key": key, "ref": ref, "path": path, "spot": spot, "side": side}
    variables |= {"heading": inert.spell(path), "variant": lambda **changes: spot.url(links, **changes)}
    view = View(
        "folder.html" if isinstance(found, Listing) else "file.html",
        links.file(key, ref, path, start=start, view=spot.view),
        {**variables, **await _drawn(found, rows, spot, links, language_of(request))},
        json=lambda language: file_json(found, key, ref, links, language, rows),
        markdown=lambda language: _markdown(found, rows, language),
        status=403 if isinstance(found, Forbidden) else 200,
    )
    return await answer(request, view)


async def _rows(found: Found, spot: _Spot) -> TablePage | NoTable | None:
    """The rows that are asked for, of a file that is long and shown as a table."""
    if not isinstance(found, Blob) or found.table is None or spot.view not in (None, table.VIEW.name):
        return None
    return await found.table.page(spot.start, table.PAGE)


async def _drawn(
    found: Found, rows: TablePage | NoTable | None, spot: _Spot, links: Links, language: str
) -> Mapping[str, Any]:
    if isinstance(found, Listing):
        return {"folder": found}
    if isinstance(found, Forbidden):
        told = (found.reason, found.note) if isinstance(found, FileWithheld) else (found.message, found.hint)
        return {"blob": None, "reasons": told}
    asked = Asked(spot.key, spot.ref, links, language, spot.start, spot.view, spot.full, rows)
    drawn = await anyio.to_thread.run_sync(draw, found, spot.view, asked)
    is_paged = isinstance(rows, TablePage) and drawn.view.name == table.VIEW.name
    withheld = rows.withheld if isinstance(rows, TablePage) and is_paged else found.withheld
    return {"blob": found, "drawn": drawn, "served": is_served(found), "withheld": withheld}


async def _fragment(request: Request, found: Found, spot: _Spot) -> Response:
    """More lines of a file, or a folder's entries, as HTML to be put into a page."""
    wanted = request.query_params["part"]
    if isinstance(found, Forbidden):
        raise found
    if wanted == "lines" and isinstance(found, Blob):
        links, language = links_of(request), language_of(request)
        asked = Asked(spot.key, spot.ref, links, language, spot.start)
        drawn = await anyio.to_thread.run_sync(draw, found, "text", asked)
        variables: dict[str, Any] = {"drawn": drawn}
    elif wanted == "tree" and isinstance(found, Listing):
        variables = {"branch": branch(found), "key": spot.key, "ref": spot.ref}
    else:
        raise BadInput(f"There is no part {wanted[:20]!r} of this.", hint="Ask for part=lines or part=tree.")
    html = await anyio.to_thread.run_sync(page_html, request, f"part_{wanted}.html", "", variables)
    response = Response(html.encode("utf-8", "replace"), media_type="text/html")
    response.headers["x-robots-tag"] = "noindex"
    return cached(request, response, viewer_of(request))


def file_json(
    found: Found,
    key: EnvKey,
    ref: str | None,
    links: Links,
    language: str,
    rows: TablePage | NoTable | None = None,
) -> Json:
    """A folder's entries, a file's text and a page of its rows where it is a long table, or why it is withheld."""
    if isinstance(found, Forbidden):
        return to_json(envelope(found))
    if isinstance(found, Listing):
        return {"type": "folder", **object_json(found, language)}
    raw = links.raw(key, ref, found.path) if is_served(found) else None
    told = to_json(rows, language) if isinstance(rows, TablePage) else None
    return {"type": "file", **object_json(found, language), "rows": told, "raw": raw}


def _markdown(found: Found, rows: TablePage | NoTable | None, language: str) -> str:
    if isinstance(found, Forbidden):
        return f"{line(found.message, language)}\n"
    return folder_markdown(found, language) if isinstance(found, Listing) else file_markdown(found, language, rows)


async def _ask(opened: Environment, ref: str | None, path: str) -> Found:
    try:
        return await opened.files(ref, path)
    except Forbidden as error:
        return error


async def _later_part(opened: Environment, ref: str | None, path: str, offset: int) -> Listing:
    found = await opened.files(ref, path, offset=offset)
    if not isinstance(found, Listing) or not found.entries:
        raise NotFound(f"The folder {path[:200]!r} has no entry {offset + 1:,}.")
    return found


async def _side(opened: Environment, ref: str | None, path: str) -> Branch | None:
    """The folders above a file with their entries, to stand beside it."""
    listings: dict[str, Listing] = {}
    for folder in folders_above(path):
        found = await _ask(opened, ref, folder)
        if isinstance(found, Listing):
            listings[folder] = found
    return way_down(listings, path)


def _start(told: str) -> int:
    if not (told.isascii() and told.isdigit() and len(told) <= 9 and int(told) > 0):
        raise BadInput(f"{told[:20]!r} is not a line number.")
    return int(told)
