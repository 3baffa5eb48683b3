"""A row as files: the row itself as JSON, answers replaced, and the media that stand in it."""

import json
from collections.abc import Iterator, Mapping

from rlx.answers import prose
from rlx.answers.shown import MARK, Json
from rlx.errors import NotFound
from rlx.formats.rows.media import media_bytes, named_media
from rlx.formats.rows.tables import RawRow
from rlx.model import Blob, FileEntry

ROW = "row.json"


def row_entries(row: RawRow) -> tuple[FileEntry, ...]:
    """In path order. Media in what is withheld are not among them."""
    media = {path: size for _, size, path in _media(row.shown.value)}
    files = {ROW: len(_json(row).encode()), **media}
    return tuple(FileEntry(path, files[path]) for path in sorted(files))


def row_blob(row: RawRow, path: str) -> Blob:
    """Raises `NotFound`."""
    if path == ROW:
        text = _json(row)
        masked = tuple(number for number, line in enumerate(text.split("\n"), 1) if MARK in line)
        return Blob(
            path, len(text.encode()), prose(text), None, "application/json", masked=masked, withheld=row.shown.withheld
        )
    for place, value in enumerate(row.media):
        for kind, _, called in _media(row.shown.value):
            if called == path and called.startswith(f"media/{place}."):
                try:
                    data = media_bytes(value)
                except ValueError:
                    break
                return Blob(path, len(data), None, data, kind)
    raise NotFound(f"No file {path[:200]!r} in row {row.shown.ref}.")


def _json(row: RawRow) -> str:
    return json.dumps(row.shown.json.value, ensure_ascii=False, indent=2) + "\n"


def _media(value: Json | Mapping[str, Json]) -> Iterator[tuple[str, int, str]]:
    if isinstance(value, str):
        found = named_media(value)
        if found is not None:
            yield found
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _media(item)
    elif isinstance(value, list):
        for item in value:
            yield from _media(item)
