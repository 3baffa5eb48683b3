"""A commit as a client sends it: JSON lines, of which each names a change."""

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any

from rlx.localhub.files import LFS_SUFFIXES
from rlx.localhub.wire import Refusal
from rlx.localhub.writing.ledger import Entry
from rlx.localhub.writing.objects import Objects, Stored
from rlx.localhub.writing.paths import checked

MAX_BODY = 2 * 1024**3
"""Bytes of a commit: what it holds itself is in it, in base 64."""
MAX_LINE = 384 * 1024**2
MAX_CHANGES = 100_000
MAX_TITLE = 500
MAX_TEXT = 65_536
"""Characters of a message or a comment."""


@dataclass(frozen=True, slots=True)
class Put:
    path: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Remove:
    path: str
    folder: bool


@dataclass(slots=True)
class Draft:
    title: str = ""
    message: str = ""
    parent: str | None = None
    changes: list[Put | Remove] = field(default_factory=list)
    objects: list[Stored] = field(default_factory=list)


def read_draft(body: Path, objects: Objects, held: Callable[[str], Stored | None]) -> Draft:
    """The commit in a file; what it holds is kept among the objects. `held` finds what was uploaded before it."""
    draft = Draft()
    with body.open("rb") as source:
        for number, line in enumerate(_lines(source)):
            key, value = _read(line)
            if (key == "header") != (number == 0):
                raise Refusal(400, "", "A commit begins with its header.")
            if number > MAX_CHANGES:
                raise Refusal(413, "", f"A commit has more than {MAX_CHANGES:,} changes.")
            _take(draft, key, value, objects, held)
    if not draft.title:
        raise Refusal(400, "", "A commit needs a summary.")
    objects.sync()
    return draft


def _lines(source: "BufferedReader[Any]") -> Iterator[bytes]:
    while line := source.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise Refusal(413, "", f"A file inside the commit is larger than {MAX_LINE // 4 * 3:,} bytes.")
        if line.strip():
            yield line


def _read(line: bytes) -> tuple[str, dict[str, object]]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise Refusal(400, "", "A line of the commit is not JSON.") from None
    key, value = (told.get("key"), told.get("value")) if isinstance(told, dict) else (None, None)
    if not isinstance(key, str) or not isinstance(value, dict):
        raise Refusal(400, "", "A line of the commit has no key or no value.")
    return key, value


def _take(
    draft: Draft, key: str, value: dict[str, object], objects: Objects, held: Callable[[str], Stored | None]
) -> None:
    match key:
        case "header":
            draft.title = text(value.get("summary"), MAX_TITLE, "The summary")
            draft.message = text(value.get("description") or "", MAX_TEXT, "The description")
            parent = value.get("parentCommit")
            draft.parent = None if parent is None else text(parent, 40, "The parent commit")
        case "file":
            path = checked(value.get("path"))
            stored = objects.put([_content(value)])
            draft.objects.append(stored)
            draft.changes.append(Put(path, Entry(stored, path.endswith(LFS_SUFFIXES))))
        case "lfsFile":
            path, oid, size = checked(value.get("path")), value.get("oid"), value.get("size")
            known = held(oid) if isinstance(oid, str) else None
            if known is None or (size is not None and size != known.size):
                raise Refusal(400, "", f"The bytes of this file were not uploaded: {path[:200]}")
            draft.changes.append(Put(path, Entry(known, True)))
        case "deletedFile" | "deletedFolder":
            named, folder = value.get("path"), key == "deletedFolder"
            gone = checked(named.strip("/") if folder and isinstance(named, str) else named)
            draft.changes.append(Remove(gone, folder))
        case _:
            raise Refusal(400, "", f"A commit cannot hold {key[:80]!r}.")


def _content(value: dict[str, object]) -> bytes:
    content, encoding = value.get("content"), value.get("encoding", "utf-8")
    if not isinstance(content, str) or encoding not in {"base64", "utf-8"}:
        raise Refusal(400, "", "A file of the commit has no content.")
    if encoding == "utf-8":
        return content.encode("utf-8", "replace")
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(400, "", "A file of the commit is not base 64.") from None


def text(value: object, most: int, what: str) -> str:
    """A text of a request. Refuses what is none, or longer than `most` characters."""
    if not isinstance(value, str):
        raise Refusal(400, "", f"{what} must be text.")
    if len(value) > most:
        raise Refusal(400, "", f"{what} is longer than {most:,} characters.")
    return value.encode("utf-8", "replace").decode()
