"""Paths that a commit may name: below the repository, and none that a tool would take for its own."""

from rlx.localhub.files import CONTROL
from rlx.localhub.wire import Refusal

MAX_PATH = 1024
MAX_NAME = 255
"""Bytes."""


def checked(path: object) -> str:
    """`path` as it is. Refuses one that is absolute, leads out, or is no name for a file everywhere."""
    if not isinstance(path, str) or not path:
        raise Refusal(400, "", "A path is missing.")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise Refusal(400, "", "A path is not UTF-8.") from None
    shown = path[:200]
    if size > MAX_PATH:
        raise Refusal(400, "", f"A path is longer than {MAX_PATH:,} bytes: {shown}")
    if any(ord(char) < 32 or ord(char) == 127 for char in path):
        raise Refusal(400, "", f"A path holds control characters: {shown!r}")
    for name in path.split("/"):
        if name in {"", ".", ".."}:
            raise Refusal(400, "", f"A path is not below the repository: {shown}")
        if name.casefold() in CONTROL:
            raise Refusal(400, "", f"A path leads into a folder of a tool: {shown}")
        if len(name.encode()) > MAX_NAME:
            raise Refusal(400, "", f"A name is longer than {MAX_NAME} bytes: {shown}")
    return path
