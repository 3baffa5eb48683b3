"""Fills an index in where a repository is too big to list: published before a file is read, as it grows, and whole.

What was published is never read again: a process that comes after a killed one goes on from there.
"""

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass, field, replace
from itertools import batched
from pathlib import Path

import anyio.to_thread

from rlx.answers import Shown, name, record
from rlx.errors import UserError
from rlx.formats import card as env_card
from rlx.hub.repo import Repo
from rlx.hub.tree import Tree
from rlx.index.digests import digests
from rlx.index.lookups import read_tasks
from rlx.index.pack import Pack, PackWriter
from rlx.index.records import Finished, Reader, TaskRecord, root_of
from rlx.index.saving import MAX_FILE, OnProgress, names, save
from rlx.index.tasks import Extra, TaskIndex
from rlx.model import Progress, TaskCard
from rlx.store.shelf import Shelf

LOOKED_UP = 500
"""Tasks that are looked up together."""
PUBLISHED_EVERY = 4000
"""Tasks that are read at most before the index is published again; at first as many as were read before."""

type Turn = Callable[[], AbstractAsyncContextManager[object]]


@dataclass(slots=True)
class Draft:
    """The tasks of a repository, and those that are read so far."""

    refs: Sequence[str]
    digests: Sequence[str]
    shared: tuple[str, ...]
    """Files of the repository that the format wants beside those of tasks."""
    unsearched: int
    records: dict[int, TaskRecord] = field(default_factory=dict)
    """By place, without texts and files."""
    is_published: bool = False


def draft_of(reader: Reader, tree: Tree) -> Draft:
    """A draft of what a walk found, nothing of it read."""
    plans = reader.plan(tree.entries)
    shared = tuple(path for path in reader.shared(tree.files) if tree.files[path].size <= MAX_FILE)
    return Draft([plan.ref for plan in plans], digests(plans, tree), shared, tree.unsearched)


def published(shelf: Shelf, repo: Repo, reader: Reader) -> Draft | None:
    """What was published of an index that still fills in."""
    index_path, pack_path = map(shelf.find, names(repo, reader))
    if index_path is None or pack_path is None:
        return None
    try:
        index = TaskIndex(index_path)
        if not index.header.pending:
            return None
        known = index.digests()
        shared, unsearched = index.header.shared, index.header.unsearched
        return Draft(tuple(known), tuple(known.values()), shared, unsearched, Pack(pack_path).unfinished(), True)
    except (sqlite3.DatabaseError, ValueError, KeyError):
        return None


async def fill(
    repo: Repo,
    reader: Reader,
    shelf: Shelf,
    draft: Draft,
    *,
    told: OnProgress,
    pack_budget: int,
    turn: Turn,
    on_published: Callable[[], None],
    together: int = LOOKED_UP,
) -> None:
    """Read what is pending, so many tasks `together`, and publish.

    Raises `UserError` when the Hub fails; then what was read is published.
    """
    index_name, pack_name = names(repo, reader)
    shared, readme = await _shared(repo, draft.shared), await env_card.readme(repo)
    with ExitStack() as stack:
        index_path = stack.enter_context(shelf.writing(index_name))
        pack_path = stack.enter_context(shelf.writing(pack_name))
        former = shelf.find(pack_name) if draft.records else None
        if former is not None:
            await anyio.to_thread.run_sync(shutil.copyfile, former, pack_path)
        pack = PackWriter(pack_path, budget=pack_budget, goes_on=former is not None)
        filling = _Filling(repo, reader, shelf, draft, pack, pack_path, shared, readme, on_published, together)
        try:
            if not draft.is_published:
                await filling.publish()
            await filling.read_pending(told, turn)
            told(Progress("parsing", len(draft.refs), len(draft.refs), len(draft.refs)))
            finished = await filling.finish()
            places = {ref: place for place, ref in enumerate(draft.refs)}
            for ref, settings in finished.settings.items():
                pack.settings(places[ref], settings)
            told(Progress("saving", len(draft.refs), len(draft.refs), len(draft.refs)))
            await anyio.to_thread.run_sync(pack.finish)
        finally:
            pack.close()
        await filling.save(index_path, finished)


@dataclass(slots=True)
class _Filling:
    repo: Repo
    reader: Reader
    shelf: Shelf
    draft: Draft
    pack: PackWriter
    pack_path: Path
    """Where the pack grows; what is published are copies."""
    shared: dict[str, bytes]
    readme: Shown | None
    on_published: Callable[[], None]
    together: int
    at_last: int = 0
    """How many tasks were read when it was last published."""

    async def read_pending(self, told: OnProgress, turn: Turn) -> None:
        draft = self.draft
        self.at_last = len(draft.records)
        pending = [place for place in range(len(draft.refs)) if place not in draft.records]
        try:
            for places in batched(pending, self.together):
                async with turn():
                    await self._read(places, told)
                if len(draft.records) - self.at_last >= min(max(self.at_last, self.together), PUBLISHED_EVERY):
                    await self.publish()
        except UserError:
            if len(draft.records) > self.at_last:
                await self.publish()
            raise

    async def _read(self, places: Sequence[int], told: OnProgress) -> None:
        draft, waiting = self.draft, iter(places)
        async for read in read_tasks(self.repo, self.reader, [draft.refs[place] for place in places]):
            place = next(waiting)
            self.pack.add(place, read)
            self.pack.keep(place, read)
            draft.records[place] = replace(read, settings=_NOTHING, texts={}, files=())
            told(Progress("reading", len(draft.records), len(draft.refs), len(draft.refs), unit="tasks"))

    async def publish(self) -> None:
        """What is read so far, under the names of the whole."""
        index_name, pack_name = names(self.repo, self.reader)
        self.pack.commit()
        with ExitStack() as stack:
            index_path = stack.enter_context(self.shelf.writing(index_name))
            pack_path = stack.enter_context(self.shelf.writing(pack_name))
            await anyio.to_thread.run_sync(shutil.copyfile, self.pack_path, pack_path)
            await self.save(index_path, await self.finish())
        self.at_last = len(self.draft.records)
        self.draft.is_published = True
        self.on_published()

    async def finish(self) -> Finished:
        return await self.reader.finish(self._records(), self.shared)

    async def save(self, path: Path, finished: Finished) -> None:
        draft = self.draft
        pending = len(draft.refs) - len(draft.records)
        extras = [Extra(read.search, digest) for read, digest in zip(self._records(), draft.digests, strict=True)]
        await save(
            path,
            self.repo,
            self.reader,
            finished,
            extras,
            self.readme,
            walked=True,
            pending=pending,
            unsearched=draft.unsearched,
            shared=draft.shared if pending else (),
        )

    def _records(self) -> list[TaskRecord]:
        return [self.draft.records.get(place) or self._unread(ref) for place, ref in enumerate(self.draft.refs)]

    def _unread(self, ref: str) -> TaskRecord:
        """A task of which the name is known."""
        title = root_of(ref).rpartition("/")[2] or self.repo.key.name
        return TaskRecord(TaskCard(ref, name(title), name(""), {}), "", _NOTHING, {}, ())


async def _shared(repo: Repo, paths: Sequence[str]) -> dict[str, bytes]:
    found = await repo.lookup(paths)
    return {path: await repo.fetch(entry) for path, entry in found.items() if entry.size <= MAX_FILE}


_NOTHING = record({}).value
