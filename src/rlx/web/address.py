"""Which environment, task or file a URL names, read from the path as it was sent.

The server decodes a path once, which loses the difference between `/` and `%2F`; refs and file paths keep it.
"""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.requests import Request

from rlx.errors import BadInput
from rlx.ids import EnvKey, check_ref, decode_ref, make_key

_MAX_PATH = 4096


@dataclass(frozen=True, slots=True)
class Address:
    key: EnvKey
    rest: str
    """The decoded tail: a task's ref, or a file's path (empty at the top)."""


def _segments(request: Request) -> list[str]:
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    segments: list[str] = raw.decode("ascii", "replace").lstrip("/").split("/")
    return segments[1:] if segments[0] == "raw" else segments


def env_address(request: Request) -> EnvKey:
    """Of `/d/org/name`, `/s/org/name`, `/api/env/org/name`, `/api/space/org/name` and what lies below."""
    segments = _segments(request)
    segments = segments[1:] if segments[0] == "api" else segments
    kind, org, name = (*(unquote(part) for part in segments), "", "", "")[:3]
    return make_key("space" if kind in {"s", "space"} else "dataset", org, name)


def task_address(request: Request) -> Address:
    """Of `/t/org/name/<ref>` and `/s/org/name/t/<ref>`."""
    key = env_address(request)
    tail = "/".join(_segments(request)[4 if key.kind == "space" else 3 :])
    return Address(key, check_ref(decode_ref(tail)))


def file_address(request: Request) -> Address:
    """Of `/d/org/name/files/<path>` and `/s/org/name/files/<path>`."""
    tail = "/".join(_segments(request)[4:])
    return Address(env_address(request), check_path(decode_ref(tail) if tail else ""))


def check_path(path: str) -> str:
    """Return a file's path when it may be looked up. Raises `BadInput` for control characters and length."""
    if len(path) > _MAX_PATH:
        raise BadInput(f"A path of {len(path):,} characters was asked for; the limit is {_MAX_PATH:,}.")
    if any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) <= 0xDFFF for char in path):
        raise BadInput("The path holds control characters.")
    return path.strip("/")
