"""Reads one environment: a listing, parallel GETs at the pinned revision, a record a task, a pack and an index.

Each distinct file is fetched once. Memory is bounded by the tasks in flight: a task is read, packed and let go as soon
as its last file arrives. The pack is published before the index that points at it. Where not everything could be
listed, `rlx.index.filling` builds instead.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import anyio
import anyio.lowlevel
import anyio.to_thread

from rlx.errors import TooLarge, UserError
from rlx.formats import card as env_card
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.hub.tree import Tree
from rlx.index.digests import digests
from rlx.index.filling import LOOKED_UP, Turn, draft_of, fill, published
from rlx.index.pack import PackWriter
from rlx.index.records import Reader, TaskPlan, TaskRecord
from rlx.index.saving import MAX_FILE, OnProgress, names, prune, save
from rlx.index.tasks import Extra, add_reviews
from rlx.model import Progress
from rlx.store.shelf import Shelf

_YIELD_EVERY = 0.02
"""Seconds of parsing after which others get the event loop."""
_TELLING = 20
"""Files after which their pace says how long the others take."""


async def build(
    repo: Repo,
    reader: Reader,
    shelf: Shelf,
    *,
    on_progress: OnProgress,
    pack_budget: int,
    turn: Turn,
    on_published: Callable[[], None],
    together: int = LOOKED_UP,
) -> None:
    """Build and publish. `turn` is waited for before much is read.

    Where not everything could be listed, the index is published before it is whole too, each time followed by
    `on_published`, and one that was is gone on with. Raises `UserError` when the Hub fails; then nothing else was
    published.
    """
    start = time.monotonic()

    def told(progress: Progress) -> None:
        on_progress(replace(progress, seconds=time.monotonic() - start))

    draft = await anyio.to_thread.run_sync(published, shelf, repo, reader)
    if draft is not None:
        repo.is_big = True
    else:
        told(Progress("listing"))
        tree = await repo.listing()
        if tree.is_whole:
            async with turn():
                await _build_whole(repo, reader, shelf, tree, told=told, pack_budget=pack_budget)
            prune(shelf, repo.key.slug)
            return
        draft = await anyio.to_thread.run_sync(draft_of, reader, tree)
        repo.forget()
    await fill(
        repo,
        reader,
        shelf,
        draft,
        told=told,
        pack_budget=pack_budget,
        turn=turn,
        on_published=on_published,
        together=together,
    )
    prune(shelf, repo.key.slug)


async def _build_whole(
    repo: Repo, reader: Reader, shelf: Shelf, tree: Tree, *, told: OnProgress, pack_budget: int
) -> None:
    """Build from a whole listing."""
    plans = await anyio.to_thread.run_sync(reader.plan, tree.files)
    told(Progress("reading", 0, None, len(plans)))
    index_name, pack_name = names(repo, reader)
    with ExitStack() as stack:
        index_path = stack.enter_context(shelf.writing(index_name))
        pack_path = stack.enter_context(shelf.writing(pack_name))
        pack = PackWriter(pack_path, budget=pack_budget)
        try:
            gathered = await _gather(repo, reader, plans, tree.files, pack, told)
            told(Progress("parsing", len(plans), len(plans), len(plans)))
            await anyio.lowlevel.checkpoint()
            finished = await reader.finish(gathered.records, gathered.shared)
            told(Progress("saving", len(plans), len(plans), len(plans)))
            places = {record.card.ref: ord_ for ord_, record in enumerate(gathered.records)}
            for ref, settings in finished.settings.items():
                pack.settings(places[ref], settings)
        finally:
            pack.close()
        of_plans = digests(plans, tree)
        extras = [Extra(record.search, digest) for record, digest in zip(gathered.records, of_plans, strict=True)]
        await save(index_path, repo, reader, finished, extras, await env_card.readme(repo))


@dataclass(frozen=True, slots=True)
class _Gathered:
    records: Sequence[TaskRecord]
    """In plan order, without their texts."""
    shared: Mapping[str, bytes]


class _Waiting:
    """Which plans wait for which contents, and the contents that plans still need."""

    def __init__(self, plans: Sequence[TaskPlan], tree: Mapping[str, TreeEntry]) -> None:
        self._plans = plans
        self._content = {path: tree[path].oid or path for plan in plans for path in plan.wanted}
        self._missing = [{self._content[path] for path in plan.wanted} for plan in plans]
        self._waiters: dict[str, list[int]] = {}
        for place, contents in enumerate(self._missing):
            for content in contents:
                self._waiters.setdefault(content, []).append(place)
        self._users = {content: len(places) for content, places in self._waiters.items()}
        self._data: dict[str, bytes] = {}
        first: dict[str, str] = {}
        for path, content in self._content.items():
            first.setdefault(content, path)
        self.paths = tuple(first.values())
        """One path for each distinct content, in plan order."""

    def arrived(self, path: str, data: bytes | None) -> list[int]:
        """Note what a fetch gave; returns the places of plans that now have all they wait for."""
        content = self._content[path]
        if data is not None:
            self._data[content] = data
        ready = []
        for place in self._waiters.get(content, ()):
            self._missing[place].discard(content)
            if not self._missing[place]:
                ready.append(place)
        return ready

    def take(self, place: int) -> dict[str, bytes]:
        """The files of a ready plan. Contents that no other plan waits for are let go."""
        plan = self._plans[place]
        data = {path: self._data[self._content[path]] for path in plan.wanted if self._content[path] in self._data}
        for content in {self._content[path] for path in plan.wanted}:
            self._users[content] -= 1
            if not self._users[content]:
                self._data.pop(content, None)
        return data


async def _gather(
    repo: Repo,
    reader: Reader,
    plans: Sequence[TaskPlan],
    tree: Mapping[str, TreeEntry],
    pack: PackWriter,
    told: OnProgress,
) -> _Gathered:
    waiting = _Waiting(plans, tree)
    records: dict[int, TaskRecord] = {}
    files = 0
    start = slept = time.monotonic()

    def read(place: int, data: Mapping[str, bytes]) -> None:
        record = reader.read(plans[place], data)
        pack.add(place, record)
        records[place] = replace(record, texts={}, files=())

    for place, plan in enumerate(plans):
        if not plan.wanted:
            read(place, {})
    failure: UserError | None = None
    async with repo.read_many((tree[path] for path in waiting.paths), limit=MAX_FILE) as stream:
        async for fetched in stream:
            if fetched.error is not None and not isinstance(fetched.error, TooLarge):
                failure = fetched.error
                break
            files += 1
            for place in waiting.arrived(fetched.path, fetched.data):
                read(place, waiting.take(place))
            if time.monotonic() - slept > _YIELD_EVERY:
                still = len(waiting.paths) - files
                left = (time.monotonic() - start) * still / files if files >= _TELLING else None
                told(Progress("reading", files, len(waiting.paths), len(plans), left=left))
                await anyio.lowlevel.checkpoint()
                slept = time.monotonic()
    if failure is not None:
        raise failure
    shared = {path: await repo.fetch(tree[path]) for path in reader.shared(tree) if tree[path].size <= MAX_FILE}
    return _Gathered([records[place] for place in range(len(plans))], shared)


async def review(repo: Repo, reader: Reader, shelf: Shelf) -> bool:
    """Ask for second opinions and publish the index again with them. False when there were none to be had."""
    name, _ = names(repo, reader)
    current = shelf.find(name)
    if current is None or not reader.reviews():
        return False
    tree = await repo.tree()
    plans = await anyio.to_thread.run_sync(reader.plan, tree)
    wanted = {path: tree[path] for plan in plans for path in plan.judged}
    data: dict[str, bytes] = {}
    async with repo.read_many(wanted.values(), limit=MAX_FILE) as stream:
        async for fetched in stream:
            if fetched.data is not None:
                data[fetched.path] = fetched.data
    opinions = await reader.review(plans, data)
    if not opinions:
        return False
    with shelf.writing(name) as path:
        path.write_bytes(current.read_bytes())
        add_reviews(path, opinions)
    return True
