"""An environment of rows: lists and tasks straight from its tables, searched by an index of the first of them."""

import hashlib
import json
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import SystemRandom
from typing import Final, Never

import anyio
import anyio.to_thread

from rlx.answers import Policy
from rlx.errors import BadInput, NotFound, NotReady
from rlx.formats import card as env_card
from rlx.formats.processors.base import Correctable, Opened, Processor, Roles, Unpacking, split_id
from rlx.formats.repo_files import RepoFiles, folder_of
from rlx.formats.rows.layout import is_table
from rlx.formats.rows.media import named
from rlx.formats.rows.row_files import ROW, row_blob, row_entries
from rlx.formats.rows.row_index import (
    FIRST_ROWS,
    FIRST_SECONDS,
    LEAST_ROWS,
    MAX_ROWS,
    MAX_SECONDS,
    RowIndex,
    build_index,
)
from rlx.formats.rows.row_page import row_task
from rlx.formats.rows.splits import Found, find_splits
from rlx.formats.rows.summary import rows_summary
from rlx.formats.rows.tables import OpenTable, RawRow, corrected, open_table
from rlx.hub.repo import Repo
from rlx.model import Alias, Blob, Listing, Page, RunOption, Summary, Task, TaskCard, TaskQuery, Text
from rlx.texts import say

OPENED: Final = 24
"""Tables that are looked into when the environment is opened; the others when they are asked for."""
_CORRECTED: Final = 8
VERSION: Final = 1
"""Raised when the reading of rows changes whatever processor reads them."""
_random = SystemRandom()


def reader_version(processors: Sequence[Processor]) -> int:
    """Changes with any of the processors and with which there are."""
    told = [f"{processor.name} {processor.version}" for processor in processors]
    return zlib.crc32("\n".join([f"rows {VERSION}", *told]).encode())


async def open_rows(repo: Repo, processors: Sequence[Processor]) -> "RowsEnvironment":
    """Look into the first tables and at their first rows. Raises what reading the Hub raises."""
    environment = RowsEnvironment(repo, processors, await find_splits(repo))
    await environment.begin()
    return environment


class RowsEnvironment:
    """Meets `Environment`, `Filling`, `Revealing`, `Versioned` and `Correctable` of `rlx.formats.base`."""

    format = "rows"

    @property
    def reader_version(self) -> int:
        return reader_version(self._processors)

    def __init__(self, repo: Repo, processors: Sequence[Processor], found: Found) -> None:
        self._repo = repo
        self._processors = processors
        self._found = found
        self._splits = {split_id(split.config, split.name): split for split in reversed(found.layout.splits)}
        self._ids = tuple(dict.fromkeys(split_id(split.config, split.name) for split in found.layout.splits))
        self._tables: dict[str, OpenTable] = {}
        self._index: RowIndex | None = None
        self._files = RepoFiles(repo, policy_of=self._policy_of)
        self._corrected: OrderedDict[tuple[tuple[str, str], ...], RowsEnvironment] = OrderedDict()
        self._roles: Roles = {}
        self._lock = anyio.Lock()
        self._looked = anyio.Event()
        """Set when no more rows are looked at."""

    async def begin(self) -> None:
        """Look into the first tables, at their first rows, and go on with more beside the requests."""
        for id_ in self._ids[:OPENED]:
            await self._table(id_)
        await self._look(max(FIRST_ROWS, LEAST_ROWS * len(self._tables)), FIRST_SECONDS)
        desk = self._repo.desk
        if self.index.is_whole or desk is None or not desk.start(self._name(), self._look_on):
            self._looked.set()

    async def filled(self) -> None:
        await self._looked.wait()

    @property
    def tables(self) -> tuple[OpenTable, ...]:
        """Those that were looked into, in listing order."""
        return tuple(self._tables[id_] for id_ in self._ids if id_ in self._tables)

    @property
    def index(self) -> RowIndex:
        if self._index is None:
            raise NotReady(f"{self._repo.key} is being read.", hint="Ask again in a few seconds.")
        return self._index

    async def corrected(self, roles: Roles) -> "RowsEnvironment":
        """The same, with columns in other roles. Raises `BadInput` for a role or a column that there is not."""
        chosen = tuple(sorted(roles.items()))
        if chosen and chosen not in self._corrected:
            if not any(isinstance(table.reading, Correctable) for table in self.tables):
                raise BadInput(f"The columns of {self._repo.key} have the roles that its format gives them.")
            other = RowsEnvironment(self._repo, self._processors, self._found)
            for table in self.tables:
                changes = isinstance(table.reading, Correctable)
                other._tables[table.id] = corrected(table, roles) if changes else table
            other._roles = dict(roles)
            await other._look(max(FIRST_ROWS, LEAST_ROWS * len(other._tables)), FIRST_SECONDS)
            other._looked.set()
            self._corrected[chosen] = other
            if len(self._corrected) > _CORRECTED:
                self._corrected.popitem(last=False)
        return self._corrected[chosen] if chosen else self

    async def summary(self, subset: str | None = None) -> Summary:
        readme = await env_card.readme(self._repo)
        tables = (await self._table(subset),) if subset in self._splits else self.tables
        for table in tables:
            await table.look(0.0)
        looking = not self._looked.is_set()
        known = {path for split in self._found.layout.splits for path in split.paths}
        beside = [path for path in (await self._repo.listing()).files if is_table(path) and path not in known]
        return await anyio.to_thread.run_sync(
            lambda: rows_summary(
                self._repo, self._ids, self.tables, tables, self.index, readme, beside, looking=looking
            )
        )

    async def tasks(self, query: TaskQuery) -> Page[TaskCard]:
        split, asked = query.subset, replace(query, subset=None)
        if split is not None and (split not in self._splits or len(self._splits) > 1):
            asked = replace(asked, filters={**query.filters, "split": (split,)})
        tables = (await self._table(split),) if split in self._splits else self.tables
        if (
            query.text
            or query.filters
            or query.sort != "order"
            or self.index.is_whole
            or split not in (None, *self._splits)
        ):
            page = await anyio.to_thread.run_sync(self.index.tasks.page, asked)
            return replace(page, note=self._note(tables))
        counted = await anyio.to_thread.run_sync(self.index.tasks.page, replace(asked, offset=0, limit=0))
        cards: list[TaskCard] = []
        before = 0
        for table in tables:
            start, left = query.offset + len(cards) - before, query.limit - len(cards)
            if 0 <= start < table.length and left > 0:
                cards += await table.cards(start, left)
            before += table.length
        total = sum(table.length for table in tables)
        return Page(tuple(cards), total, query.offset, query.limit, counted.facets, self._note(tables))

    async def canonical(self, ref: str) -> str:
        id_, at = self._parsed(ref)
        return f"{id_}/{at}"

    async def task(self, ref: str) -> Task:
        table, row = await self._row(ref)
        opened = await self._opened(table, row)
        task = await anyio.to_thread.run_sync(row_task, table, row, opened)
        tables = self.tables
        place = tables.index(table)
        at = row.shown.at
        following = next((item for item in tables[place + 1 :] if item.length), None)
        earlier = next((item for item in reversed(tables[:place]) if item.length), None)
        called = self.index.called.get(ref)
        return replace(
            task,
            facets=task.facets if called is None else {**task.facets, "task": (called,)},
            previous=table.ref(at - 1) if at else earlier.ref(earlier.length - 1) if earlier else None,
            next=table.ref(at + 1) if at + 1 < table.length else following.ref(0) if following else None,
            position=sum(item.length for item in tables[:place]) + at,
            total=sum(item.length for item in tables),
        )

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if ref is None:
            return await self._files.open(path, offset)
        table, row = await self._row(ref)
        opened = await self._opened(table, row)
        inside = None if opened is None or isinstance(opened, BadInput) else opened
        listed = {entry.path: entry for entry in (row_entries(row) if inside is None else inside.entries)}
        if path not in listed:
            return folder_of(path, listed, offset)
        if inside is not None:
            return await anyio.to_thread.run_sync(inside.file, path)
        return await anyio.to_thread.run_sync(row_blob, row, path)

    async def run_options(self, ref: str) -> tuple[RunOption, ...]:
        return (await self.task(ref)).run_options

    async def aliases(self, ref: str) -> tuple[Alias, ...]:
        self._parsed(ref)
        return ()

    async def random(self) -> str | None:
        total = sum(table.length for table in self.tables)
        place = _random.randrange(total) if total else 0
        for table in self.tables:
            if place < table.length:
                return table.ref(place)
            place -= table.length
        return None

    async def materialize(self, ref: str, into: Path) -> Path:
        table, row = await self._row(ref)
        opened = await self._opened(table, row)
        if isinstance(opened, BadInput):
            raise opened
        if opened is None:
            raise BadInput(f"Rows of {table.processor.name} hold no files, so none becomes a Harbor folder.")
        return await anyio.to_thread.run_sync(_write, opened, into / ref.replace("/", "-"))

    async def revealed(self, ref: str) -> Mapping[str, str]:
        """The row as it is; nothing of one that holds files, which `materialize` writes."""
        table, row = await self._row(await self.canonical(ref))
        if isinstance(table.reading, Unpacking):
            return {}
        return {ROW: json.dumps(named(row.value), ensure_ascii=False, indent=2, default=str) + "\n"}

    async def _opened(self, table: OpenTable, row: RawRow) -> Opened | BadInput | None:
        """The files in a row; why they cannot be had; None where rows hold none."""
        reading = table.reading
        if not isinstance(reading, Unpacking) or row.broken is not None:
            return None
        try:
            return await anyio.to_thread.run_sync(reading.opened, row.shown, row.value)
        except BadInput as error:
            return error

    async def _policy_of(self, path: str) -> Policy | None:
        """Under which the rows of a file are shown; None for one that is in no split."""
        for id_, split in self._splits.items():
            if path in split.paths:
                return (await self._table(id_)).reading.policy
        return None

    async def _row(self, ref: str) -> tuple[OpenTable, RawRow]:
        id_, at = self._parsed(ref)
        table = await self._table(id_)
        rows = await table.raw(at, 1) if table.count is None or at < table.count else []
        if rows and rows[0].shown.ref == ref:
            return table, rows[0]
        if table.count is None and table.trouble is None:
            raise NotReady(
                f"Row {at:,} of {id_} is not reached yet; {table.known:,} are known.", hint="Ask again in a moment."
            )
        return self._unknown(ref)

    def _parsed(self, ref: str) -> tuple[str, int]:
        """The split and the number that a ref names, however it is spelled."""
        id_, _, number = ref.strip("/").rpartition("/")
        if id_ not in self._splits and len(self._ids) == 1 and not id_:
            id_ = self._ids[0]
        if id_ not in self._splits or not (number.isascii() and number.isdecimal() and len(number) <= 18):
            self._unknown(ref)
        return id_, int(number)

    def _unknown(self, ref: str) -> Never:
        told = ", ".join(f"{table.id}/0 to {table.id}/{table.length - 1}" for table in self.tables[:3] if table.length)
        raise NotFound(
            f"No row {ref[:200]!r} in {self._repo.key} at revision {self._repo.sha[:8]}.",
            hint=f"It has {told}." if told else f"Try `rlx task ls {self._repo.key}`.",
        )

    async def _table(self, id_: str) -> OpenTable:
        async with self._lock:
            if id_ not in self._tables:
                files = (await self._repo.listing()).files
                split = self._splits[id_]
                table = await open_table(self._repo, self._found, split, self._processors, files)
                changes = self._roles and isinstance(table.reading, Correctable)
                self._tables[id_] = corrected(table, self._roles) if changes else table
        return self._tables[id_]

    async def _look_on(self) -> None:
        try:
            await self._look(MAX_ROWS, MAX_SECONDS)
        finally:
            self._looked.set()

    async def _look(self, rows: int, seconds: float) -> None:
        """Look at the first `rows` of all tables together, for about so many seconds."""
        desk = self._repo.desk
        if desk is None:
            raise ValueError("Rows are opened from a HubClient that has a desk.")
        path = await anyio.to_thread.run_sync(desk.scratch, ".db")
        everything = len(self._tables) == len(self._ids)
        self._index = await build_index(
            self._repo, self.tables, path, rows=rows, seconds=seconds, everything=everything
        )

    def _name(self) -> str:
        told = f"{self._repo.client.endpoint}\n{self._repo.key}\n{self._repo.sha}\nrows"
        return hashlib.sha256(told.encode()).hexdigest()[:40]

    def _note(self, tables: Sequence[OpenTable]) -> Text | None:
        """How much of what is listed searches and counts cover."""
        if self.index.is_whole:
            return None
        if any(table.count is None for table in tables):
            return say("rows.searched_so_far", n=self.index.rows)
        return say("rows.searched", n=self.index.rows, total=sum(table.length for table in tables))


def _write(opened: Opened, target: Path) -> Path:
    root = target.resolve()
    for path, data in opened.contents():
        file = target / path
        if not file.resolve().is_relative_to(root):
            raise BadInput(f"{path[:200]} leaves the task's folder.")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if path.endswith(".sh"):
            file.chmod(0o755)
    return target
