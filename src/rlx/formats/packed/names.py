"""Names of the members of an archive: paths below its top that any file system can hold side by side."""

import unicodedata
from dataclasses import dataclass, field
from typing import Final

from rlx.formats.packed.budget import RefusedArchive
from rlx.texts import say

MAX_NAME: Final = 1000
"""Characters of a path."""
_SHOWN: Final = 80


@dataclass(slots=True)
class Names:
    """The names taken so far, folders among them."""

    _taken: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """By what a file system without cases makes of it: the path, and whether it is a folder."""
    _explicit: set[str] = field(default_factory=set)

    def take(self, raw: bytes, *, is_dir: bool) -> str:
        """A member's name as a path; empty for the top itself. Raises `RefusedArchive`."""
        path = _path(raw)
        if not path:
            if is_dir:
                return ""
            raise RefusedArchive(say("packed.no_name"))
        for end, char in enumerate(path):
            if char == "/":
                self._place(path[:end], is_dir=True)
        if not is_dir and path in self._explicit:
            raise RefusedArchive(say("packed.twice", path=ascii(path[:_SHOWN])))
        self._place(path, is_dir=is_dir)
        if not is_dir:
            self._explicit.add(path)
        return path

    def _place(self, path: str, *, is_dir: bool) -> None:
        known, was_dir = self._taken.setdefault(unicodedata.normalize("NFC", path).casefold(), (path, is_dir))
        if known != path:
            raise RefusedArchive(say("packed.case", one=ascii(known[:_SHOWN]), other=ascii(path[:_SHOWN])))
        if was_dir != is_dir:
            raise RefusedArchive(say("packed.both", path=ascii(path[:_SHOWN])))


def _path(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise RefusedArchive(say("packed.not_utf8", path=ascii(raw[:_SHOWN].decode("latin-1")))) from error
    shown = ascii(text[:_SHOWN])
    if len(text) > MAX_NAME:
        raise RefusedArchive(say("packed.long_name", limit=MAX_NAME))
    if "\0" in text:
        raise RefusedArchive(say("packed.nul", path=shown))
    if "\\" in text:
        raise RefusedArchive(say("packed.backslash", path=shown))
    parts = [part for part in text.split("/") if part not in {"", "."}]
    if text.startswith("/") or (text[1:2] == ":" and text[:1].isalpha()) or ".." in parts:
        raise RefusedArchive(say("packed.outside", path=shown))
    return "/".join(parts)
