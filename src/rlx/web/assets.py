"""The files under `/static/<build>/`: read once, named by a hash of them all, kept by browsers for good."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type

from starlette.requests import Request
from starlette.responses import Response

from rlx.errors import NotFound

_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Assets:
    build: str
    contents: dict[str, bytes]


@cache
def assets() -> Assets:
    found = {item.name: item.read_bytes() for item in files("rlx.web").joinpath("static").iterdir() if item.is_file()}
    total = sha256()
    for name in sorted(found):
        total.update(name.encode() + b"\0" + found[name])
    return Assets(total.hexdigest()[:12], found)


async def static(request: Request) -> Response:
    """A file of this build; under another build's name the same file, not to be kept."""
    held = assets()
    name = request.path_params["name"]
    if name not in held.contents:
        raise NotFound("No such file of the site.")
    kind = "text/javascript" if name.endswith(".js") else guess_type(name)[0] or "application/octet-stream"
    current = request.path_params["build"] == held.build
    return Response(
        held.contents[name], media_type=kind, headers={"cache-control": _FOREVER if current else "no-cache"}
    )
