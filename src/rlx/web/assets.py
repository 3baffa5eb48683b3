"""The files under `/static/<build>/`: read once, named by a hash of them all, kept by browsers for good."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from gzip import compress
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from mimetypes import guess_type

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from rlx.errors import NotFound
from rlx.web.scripts import packed_script

_FOREVER = "public, max-age=31536000, immutable"
_BASE = ("tokens", "app")
_CONTENT = (*_BASE, "work", "read")
SHEETS = {
    "page.css": (*_CONTENT, "print"),
    "page-explore.css": (*_BASE, "explore", "print"),
    "page-tasks.css": (*_BASE, "explore", "tasks", "print"),
    "page-environment.css": (*_CONTENT, "environment", "print"),
    "page-runs.css": (*_BASE, "explore", "runs", "print"),
    "page-run.css": (*_CONTENT, "run", "print"),
    "page-seat.css": (*_CONTENT, "xterm", "seat", "print"),
    "page-files.css": (*_CONTENT, "files", "print"),
    "page-patterns.css": (*_CONTENT, "explore", "environment", "files", "print"),
}
"""The one style sheet of a page, by the files it is made of: a page is not drawn before all of its styles are there."""


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    packed: bytes | None
    """As gzip; None where that is not smaller."""
    media_type: str


@dataclass(frozen=True, slots=True)
class Assets:
    build: str
    contents: dict[str, Asset]
    icons: Markup
    """The sprite, to be part of a page: one that is asked for apart delays what is seen first."""


@cache
def assets() -> Assets:
    found = {item.name: item.read_bytes() for item in files("rlx.web").joinpath("static").iterdir() if item.is_file()}
    vendored = {item.name: item.read_bytes() for item in _vendored()}
    for sheet, parts in SHEETS.items():
        found[sheet] = b"\n".join({**vendored, **found}[f"{part}.css"] for part in parts)
    modules = {name.removesuffix(".js"): found[name].decode() for name in found if name.endswith(".js")}
    found |= {f"{name}.js": packed_script(modules, name).encode() for name in modules}
    found |= vendored  # as it came: nothing of it is packed
    total = sha256()
    for name in sorted(found):
        total.update(name.encode() + b"\0" + found[name])
    contents = {name: _asset(name, content) for name, content in found.items()}
    return Assets(total.hexdigest()[:12], contents, _inline(found["icons.svg"].decode()))


def _inline(sprite: str) -> Markup:
    """A sprite whose symbols have names that no other part of a page has."""
    renamed = sprite.replace('<symbol id="', '<symbol id="icon-')
    named = renamed.replace("<svg ", '<svg class="sprite" aria-hidden="true" ')
    return Markup(named.replace("\n", ""))  # noqa: S704 - a file of this package


def _vendored() -> Iterator[Traversable]:
    """Scripts and styles of others, each of which has a name of its own."""
    folders = (item for item in files("rlx.web").joinpath("vendor").iterdir() if item.is_dir())
    yield from (item for folder in folders for item in folder.iterdir() if item.name.endswith((".js", ".css")))


async def static(request: Request) -> Response:
    """A file of this build; under another build's name the same file, not to be kept."""
    held = assets()
    asset = held.contents.get(request.path_params["name"])
    if asset is None:
        raise NotFound("No such file of the site.")
    current = request.path_params["build"] == held.build
    headers = {"cache-control": _FOREVER if current else "no-cache"}
    content = asset.content
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        content = asset.packed
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
    return Response(content, media_type=asset.media_type, headers=headers)


def _asset(name: str, content: bytes) -> Asset:
    kind = "text/javascript" if name.endswith(".js") else guess_type(name)[0] or "application/octet-stream"
    packed = compress(content, 9, mtime=0)
    return Asset(content, packed if len(packed) < len(content) else None, kind)
