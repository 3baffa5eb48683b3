"""One file of a repository as a reader may see it: masked text, media, or what a container holds."""

import io
import json
import mimetypes
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import anyio
import anyio.from_thread
import anyio.to_thread

from rlx.answers import Masked, Policy, Withheld, file_bytes_ok, file_rows, file_text, file_verdict, prose
from rlx.answers.files import LISTED, is_log
from rlx.errors import Forbidden, TooLarge
from rlx.formats import archives
from rlx.formats.ranges import RangeFile
from rlx.formats.recent import Recent
from rlx.formats.rows.kinds import begins_as_table, kind_of, packing_of
from rlx.formats.rows.media import named
from rlx.formats.rows.opening import RowFile
from rlx.formats.rows.shown import ShownTable
from rlx.formats.rows.sources.base import Unreadable
from rlx.hub.info import TreeEntry
from rlx.hub.repo import MAX_TEXT, Repo
from rlx.model.files import Blob, Form
from rlx.texts import Say, say, words

MAX_MEDIA = 24 * 1024 * 1024
"""Bytes of an image, a sound or a video that is served."""
TEXT_HEAD = 1024 * 1024
"""Bytes that are shown of a text too large to be read whole."""
PAGED = 128 * 1024
"""Bytes of a table from which its rows are read page by page; a shorter one is read from its text."""
MAX_ROWS = 1000
MAX_CHARS = 2_000_000
"""Rows of a container, and their size as text, that are told beside its table."""
_ROWS = 100
"""Rows that are read at a time."""
_MEDIA = ("image/", "audio/", "video/", "application/pdf")
_SNIFFED = 8000
_BINARY = "application/octet-stream"
_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class _File:
    repo: Repo
    entry: TreeEntry
    below: str
    """Its path from its task, or from the repository when `root` is None."""
    root: str | None
    besides: Policy | None = None
    """Of its rows, where it is known what reads them."""

    @property
    def path(self) -> str:
        return self.entry.path

    @property
    def media(self) -> str:
        guess = mimetypes.guess_type(self.path)[0] or ""
        return guess if guess.startswith(_MEDIA) and guess != "image/svg+xml" else _BINARY

    @property
    def rows(self) -> RowFile:
        return RowFile(self.repo, self.entry)

    @property
    def is_table(self) -> bool:
        """Whether it is a container of rows."""
        kind = kind_of(self.below)
        return kind == "parquet" or (kind is not None and packing_of(self.below) is not None)

    @property
    def bytes_refused(self) -> Withheld | None:
        return file_bytes_ok(self.below, task_root=self.root)

    async def head(self, count: int) -> bytes:
        """Its first `count` bytes, or all of them."""
        if self.entry.size <= count:
            return await self.repo.fetch(self.entry, limit=count)
        return await self.repo.fetch_range(self.entry, 0, count)


type _Inside = tuple[Form, Masked | Withheld, Say | None]
type _Look = Callable[[_File, bytes], Awaitable[_Inside]]

_recent = Recent(32 * 1024 * 1024)


async def read_file(repo: Repo, entry: TreeEntry, below: str, root: str | None, besides: Policy | None = None) -> Blob:
    """The file `entry`, which lies at `below` in the task at `root` or, with `root=None`, in the repository.

    Its rows are masked under the policy `besides` too.

    Who may open the repository at this revision may see what was read of it before. Raises `Forbidden` with the
    reason for a withheld file.
    """
    key = (repo.client.endpoint, str(repo.key), repo.sha, entry.path, entry.oid, root or "", str(hash(besides)))
    known = _recent.get(key)
    if known is None:
        known = await _read(_File(repo, entry, below, root, besides))
        _recent.keep(key, known)
    file = _File(repo, entry, below, root, besides)
    return replace(known, table=ShownTable(file.rows, below, besides)) if _is_paged(known, file) else known


def _is_paged(blob: Blob, file: "_File") -> bool:
    if blob.form == "rows":
        return True
    if blob.form != "file" or blob.text is None or blob.size <= PAGED or is_log(file.below):
        return False
    kind = kind_of(file.below)
    return kind is not None and (kind != "document" or begins_as_table(blob.text))


async def _read(file: _File) -> Blob:
    entry, below, root = file.entry, file.below, file.root
    verdict = file_verdict(below, task_root=root)
    if verdict.kind == "withhold" and verdict.reason is not None:
        raise FileWithheld(entry.path, Withheld(entry.path, verdict.reason))
    if file.media != _BINARY:
        return await _bytes(file, await file.head(MAX_MEDIA if entry.size <= MAX_MEDIA else _SNIFFED))
    data = await file.head(MAX_TEXT if entry.size <= MAX_TEXT else TEXT_HEAD)
    if data and not data.startswith(_POINTER):
        if file.is_table:
            return await _container(file, data, _rows)
        if below.lower().rpartition(".")[2] in LISTED:
            return await _container(file, data, _members)
    if b"\0" in data[:_SNIFFED]:
        return await _bytes(file, data)
    return await anyio.to_thread.run_sync(_text, file, data)


async def _bytes(file: _File, data: bytes, note: Say | None = None) -> Blob:
    refused = file.bytes_refused
    if refused is not None:
        raise FileWithheld(file.path, refused, note)
    return Blob(file.path, file.entry.size, None, data, file.media, truncated=len(data) < file.entry.size, note=note)


def _text(file: _File, data: bytes) -> Blob:
    cut = len(data) < file.entry.size
    if cut:
        data = data[: data.rfind(b"\n") + 1] or data
    shown = file_text(file.below, data, task_root=file.root, besides=file.besides)
    if isinstance(shown, Withheld):
        raise FileWithheld(file.path, shown)
    return Blob(
        file.path,
        file.entry.size,
        shown.text,
        media_type="text/plain",
        encoding_note=None if _is_utf8(data) else say("files.not_utf8"),
        masked=shown.masked,
        withheld=shown.withheld,
        truncated=cut,
    )


async def _container(file: _File, data: bytes, look: _Look) -> Blob:
    try:
        form, shown, note = await look(file, data)
    except (archives.Refused, Unreadable) as error:
        return await _bytes(file, data, error.reason)
    except TooLarge:
        return await _bytes(file, data, say("viewer.container_large"))
    if isinstance(shown, Withheld):
        raise FileWithheld(file.path, shown)
    served = file.bytes_refused is None
    return Blob(
        file.path,
        file.entry.size,
        None if served else shown.text,
        data if served else None,
        masked=shown.masked,
        withheld=shown.withheld,
        truncated=len(data) < file.entry.size,
        form=form,
        inside=shown.text if served else None,
        note=note,
    )


async def _members(file: _File, data: bytes) -> _Inside:
    return "members", await anyio.to_thread.run_sync(_list, file, data), None


async def _rows(file: _File, data: bytes) -> _Inside:
    """The first rows and, where those are not all, how many there are."""
    rows: list[object] = []
    at, chars, total = 0, 0, None
    while len(rows) < MAX_ROWS and chars < MAX_CHARS:
        found = await file.rows.page(at, _ROWS)
        total = found.count
        for row in found.rows if found.offset == at else ():
            if row.broken is None and len(rows) < MAX_ROWS and chars < MAX_CHARS:
                rows.append(named(row.value))
                chars += len(str(row.value))
        at += len(found.rows)
        if at >= found.known:
            break
    shown = await anyio.to_thread.run_sync(
        lambda: file_rows(file.below, rows, task_root=file.root, besides=file.besides)
    )
    if total is None:
        return "rows", shown, say("viewer.rows_of_more", n=len(rows))
    return "rows", shown, say("viewer.rows_of", n=len(rows), total=total) if len(rows) < total else None


def _list(file: _File, data: bytes) -> Masked:
    source: BinaryIO = io.BytesIO(data)
    if len(data) < file.entry.size:
        source = io.BufferedReader(RangeFile(file.entry.size, lambda start, end: _fetch(file, start, end)))
    return _listed(archives.members(file.below, source, file.entry.size))


def _fetch(file: _File, start: int, end: int) -> bytes:
    return anyio.from_thread.run(file.repo.fetch_range, file.entry, start, end)


def _listed(members: Sequence[archives.Member]) -> Masked:
    lines = (json.dumps({"path": item.path, "size": item.size}, ensure_ascii=False) for item in members)
    return Masked(prose("".join(f"{line}\n" for line in lines)))


class FileWithheld(Forbidden):
    """A file is not shown; `reason` tells why, `note` why it could not be looked into either."""

    def __init__(self, path: str, withheld: Withheld, note: Say | None = None) -> None:
        super().__init__(f"{path} is withheld: {words(withheld.reason)}", hint=words(note) if note else None)
        self.reason = withheld.reason
        self.note = note


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
