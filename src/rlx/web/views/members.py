"""What an archive holds: names and sizes, never contents."""

import json
from dataclasses import dataclass

from rlx.model import Blob
from rlx.texts import say
from rlx.web.views.base import Asked, FileView, Span, page_of

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Member:
    folder: str
    """With its final slash; empty at the top."""
    name: str
    size: int | None
    """None for a link."""


@dataclass(frozen=True, slots=True)
class Members:
    items: tuple[Member, ...]
    page: Span
    unpacked: int
    """Bytes of all files together."""


def _draw(blob: Blob, asked: Asked) -> Members:
    found = [json.loads(line) for line in (blob.held or "").split("\n") if line]
    page = page_of(asked.start, len(found), PAGE)
    items = tuple(_member(item["path"], item["size"]) for item in found[page.first - 1 : page.last])
    return Members(items, page, sum(item["size"] or 0 for item in found))


def _member(path: str, size: int | None) -> Member:
    folder, slash, name = path.rpartition("/")
    return Member(folder + slash, name, size)


VIEW = FileView("members", say("viewer.view_members"), lambda blob: blob.form == "members", _draw)
