"""Rows of a pinned file, at any place: opened once, shared by all who may read the file, known ever better.

What is remembered is named by the repository and the contents, and holds no token: bytes are read with the token of
who asks.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import anyio.from_thread
import anyio.to_thread

from rlx.formats.rows.kinds import kind_of, packing_of, plain_name
from rlx.formats.rows.sources.base import Row, Source, Unreadable
from rlx.formats.rows.sources.delimited import open_delimited
from rlx.formats.rows.sources.json_rows import Found, open_document, open_lines, open_single
from rlx.formats.rows.sources.marks import Marks
from rlx.formats.rows.sources.octets import Blocks, Held, Octets, Ranged
from rlx.formats.rows.sources.parquet import ParquetSource, read_footer
from rlx.formats.rows.sources.texts import ListSource, TextSource
from rlx.formats.rows.sources.unpacking import Unpacked, Unpacking
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.texts import Say, say

PATIENCE: Final = 3.0
"""Seconds that who asks for rows not known yet waits for them."""
_PIECE: Final = 0.2
"""Seconds of a piece of work that goes on in the background."""
_AHEAD: Final = 8 * 1024**3
"""Bytes of a file that are looked through before anybody asks for what is there."""
_REMEMBERED: Final = 1024 * 1024
"""Bytes of a document that was read whole up to which its rows are remembered."""
_blocks = Blocks(64 * 1024 * 1024)

_PLAIN: Final[Mapping[str, object]] = MappingProxyType({})

type _Opened = Callable[[Octets], Source]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table from `offset` on, not masked yet, and what is known of the table."""

    offset: int
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    shape: str
    within: str
    """As `Source` tells them."""
    count: int | None
    """Rows in all; None while that is unknown."""
    known: int
    """Rows that can be read."""
    share: float
    """Of the file that was looked through, 0 to 1."""
    trouble: Say | None
    """Why the rest will never be known."""


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows. Opened by the first reading; `page` may be called by any number of tasks at once."""

    repo: Repo
    entry: TreeEntry
    options: Mapping[str, object] = field(default=_PLAIN)
    """What the card says of how it is read: `sep` or `delimiter`, `field`; `single`: it is one row."""

    @property
    def path(self) -> str:
        return self.entry.path

    async def page(
        self, offset: int, limit: int, *, columns: Sequence[str] | None = None, patience: float = PATIENCE
    ) -> Rows:
        """Rows from `offset`, from 0: at most `limit`, fewer where they are long; the last known one past the end.

        What is not known yet is waited for `patience` seconds; the rest of the file is looked through in the
        background. `columns` reads no others where the format allows that. Raises `Unreadable` with the reason,
        `Upstream` and what else reading the Hub raises.
        """
        found, source = await anyio.to_thread.run_sync(self._page, offset, limit, columns, patience)
        desk = self.repo.desk
        if desk is not None and not _is_over(source):
            desk.start(self._name(), lambda: self._look_through(source))
        return found

    def _page(self, offset: int, limit: int, columns: Sequence[str] | None, patience: float) -> tuple[Rows, Source]:
        source = self._source()
        until = time.monotonic() + patience
        while source.known.rows < offset + limit and not _is_over(source):
            source.advance()
            if time.monotonic() >= until and source.known.rows:
                break
        if _is_over(source):
            self._save(source)
        known = source.known
        start = max(0, min(offset, known.rows - 1))
        rows = source.rows(start, limit, columns)
        told = (source.columns, source.shape, source.within, source.count, known.rows, known.share, source.trouble)
        return Rows(start, rows, *told), source

    async def _look_through(self, source: Source) -> None:
        while not _is_over(source):
            if self.repo.client.budget.low("resolvers") or source.known.share * self.entry.size > _AHEAD:
                return  # who asks for more gets it all the same
            try:
                await anyio.to_thread.run_sync(_look_on, source)
            except Unreadable:
                return  # whoever asks for what follows is told why
        await anyio.to_thread.run_sync(self._save, source)

    def _save(self, source: Source) -> None:
        desk = self.repo.desk
        if desk is not None and isinstance(source, TextSource) and source.trouble is None:
            with suppress(OSError):  # where there is no room, it is learnt again
                source.save(desk.drawer(self._name()) / _MARKS)

    def _name(self) -> str:
        """Names the contents, within the repository: who may read that may share what is known of them."""
        path = self.entry.path
        contents = self.entry.oid or f"{self.repo.sha}/{path}"
        read_as = f"{packing_of(path)} {plain_name(path).lower().rpartition('.')[2]}"
        if self.options:
            read_as += f" {sorted(self.options.items(), key=str)}"
        told = (self.repo.client.endpoint, str(self.repo.key), contents, read_as, str(self.entry.size))
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:40]

    def _source(self) -> Source:
        octets = Ranged(self._name(), self.entry.size, self._fetch, _blocks)
        desk, name = self.repo.desk, self._name()
        if desk is None:
            return opened(self.path, octets, None, self.options)(octets)
        known = desk.find(name)
        if known is None:
            made = opened(self.path, octets, desk.drawer(name), self.options)
            source = made(octets)
            if isinstance(source, ListSource) and self.entry.size > _REMEMBERED:
                return source
            known = desk.keep(name, made, heavy=packing_of(self.entry.path) is not None)
        return known(octets)  # type: ignore[operator,no-any-return]  # a desk keeps anything; this name keeps an _Opened

    def _fetch(self, start: int, end: int) -> bytes:
        return anyio.from_thread.run(self.repo.fetch_range, self.entry, start, end)


_MARKS = "marks"


def opened(path: str, octets: Octets, folder: Path | None, options: Mapping[str, object] = _PLAIN) -> _Opened:
    """How the file at `path` is read from any octets of the same contents. Raises `Unreadable`.

    `folder` is where what was found earlier may be, and what is found is kept; `options` as those of `RowFile`.
    """
    packing, kind = packing_of(path), kind_of(path)
    if packing is not None:
        unpacking = Unpacking(packing, folder)
        inner = opened(plain_name(path), Unpacked(octets, unpacking), folder, options)
        return lambda packed: inner(Unpacked(packed, unpacking))
    if options.get("single") is True:
        return _json(open_single(octets), folder)
    if kind == "parquet":
        footer = read_footer(octets)
        return lambda octets: ParquetSource(octets, footer, folder)
    if kind == "delimited":
        reading, start = open_delimited(octets, path, options)
        marks = _marks(start, folder)
        return lambda octets: TextSource(octets, marks, reading)
    if kind in {"lines", "document"}:
        named = options.get("field")
        within = named if isinstance(named, str) and named else None
        return _json(open_lines(octets) if kind == "lines" else open_document(octets, within), folder)
    raise Unreadable(say("rows.no_rows"), quiet=True)


def source_of(path: str, data: bytes) -> Source:
    """The rows of a file that is at hand, all of them known. Raises `Unreadable`."""
    octets = Held(data)
    source = opened(path, octets, None)(octets)
    while not _is_over(source):
        source.advance()
    return source


def _json(found: Found, folder: Path | None) -> _Opened:
    if found.rows is not None:
        source = ListSource(found.reading.shape, found.within, found.reading.columns, found.rows)
        return lambda octets: source
    marks = _marks(found.start, folder)
    return lambda octets: TextSource(octets, marks, found.reading)


def _marks(start: int, folder: Path | None) -> Marks:
    marks = Marks(start)
    if folder is not None:
        marks.load(folder / _MARKS)
    return marks


def _is_over(source: Source) -> bool:
    return source.known.is_all or source.trouble is not None


def _look_on(source: Source) -> None:
    until = time.monotonic() + _PIECE
    while not _is_over(source) and time.monotonic() < until:
        source.advance()
