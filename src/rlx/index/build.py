"""Reads one environment: a listing, parallel GETs at the pinned revision, a record a task, a pack and an index.

Each distinct file is fetched once. Memory is bounded by the tasks in flight: a task is read, packed and let go as soon
as its last file arrives. The pack is published before the index that points at it.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import anyio
import anyio.lowlevel
import anyio.to_thread

from rlx.errors import TooLarge, UserError
from rlx.formats import card as env_card
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.index.pack import PackWriter
from rlx.index.records import Reader, TaskPlan, TaskRecord
from rlx.index.tasks import Extra, Header, add_reviews, write_index
from rlx.model import Progress
from rlx.store.shelf import Shelf

MAX_FILE = 512 * 1024
"""Bytes of one file that an index reads. Larger ones are left to the file viewer."""
KEPT_REVISIONS = 3
_YIELD_EVERY = 0.02
"""Seconds of parsing after which others get the event loop."""

_TELLING = 20
"""Files after which their pace says how long the others take."""

type OnProgress = Callable[[Progress], None]


def names(repo: Repo, reader: Reader) -> tuple[str, str]:
    """Shelf names of the index and the pack of `repo` at its revision, as `reader` reads it."""
    leaf = f"{repo.key.slug}/{repo.sha}.{reader.format}{reader.version}.db"
    return f"indexes/{leaf}", f"packs/{leaf}"


async def build(repo: Repo, reader: Reader, shelf: Shelf, *, on_progress: OnProgress, pack_budget: int) -> None:
    """Build and publish. Raises `UserError` when the Hub fails; then nothing was published."""
    start = time.monotonic()

    def told(progress: Progress) -> None:
        on_progress(replace(progress, seconds=time.monotonic() - start))

    told(Progress("listing"))
    tree = await repo.tree()
    plans = reader.plan(tree)
    told(Progress("reading", 0, None, len(plans)))
    index_name, pack_name = names(repo, reader)
    with ExitStack() as stack:
        index_path = stack.enter_context(shelf.writing(index_name))
        pack_path = stack.enter_context(shelf.writing(pack_name))
        pack = PackWriter(pack_path, budget=pack_budget)
        try:
            gathered = await _gather(repo, reader, plans, pack, told)
            told(Progress("parsing", len(plans), len(plans), len(plans)))
            await anyio.lowlevel.checkpoint()
            finished = await reader.finish(gathered.records, gathered.shared)
            told(Progress("saving", len(plans), len(plans), len(plans)))
            places = {record.card.ref: ord_ for ord_, record in enumerate(gathered.records)}
            for ref, settings in finished.settings.items():
                pack.settings(places[ref], settings)
        finally:
            pack.close()
        readme = await env_card.readme(repo)
        header = Header(
            key=str(repo.key),
            sha=repo.sha,
            format=reader.format,
            reader_version=reader.version,
            built_at=datetime.now(UTC),
            tasks=len(plans),
            title=env_card.title(repo.info),
            brief=env_card.brief(repo.info, readme or ""),
            readme=readme,
            facts=finished.header,
            facet_order=finished.facet_order,
            ordered=finished.ordered,
            tile=finished.tile,
            subsets=finished.subsets,
            withheld=finished.withheld,
        )
        extras = [Extra(record.search, _digest(plan)) for record, plan in zip(gathered.records, plans, strict=True)]
        await anyio.to_thread.run_sync(write_index, index_path, header, finished, extras)
    _prune(shelf, repo.key.slug)
    told(Progress("done", len(plans), len(plans), len(plans)))


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
    repo: Repo, reader: Reader, plans: Sequence[TaskPlan], pack: PackWriter, told: OnProgress
) -> _Gathered:
    tree = await repo.tree()
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
    async with repo.read_many(waiting.paths, limit=MAX_FILE) as stream:
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
    shared = {path: await repo.read(path) for path in reader.shared(tree) if tree[path].size <= MAX_FILE}
    return _Gathered([records[place] for place in range(len(plans))], shared)


async def review(repo: Repo, reader: Reader, shelf: Shelf) -> bool:
    """Ask for second opinions and publish the index again with them. False when there were none to be had."""
    name, _ = names(repo, reader)
    current = shelf.find(name)
    if current is None or not reader.reviews():
        return False
    tree = await repo.tree()
    plans = reader.plan(tree)
    wanted = {path for plan in plans for path in plan.judged}
    data: dict[str, bytes] = {}
    async with repo.read_many(wanted, limit=MAX_FILE) as stream:
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


def _digest(plan: TaskPlan) -> str:
    """Changes when any file of the task is added, removed, renamed within it, or edited."""
    skip = len(plan.root)
    lines = (f"{entry.path[skip:]}\0{entry.oid or entry.size}\n" for entry in plan.files)
    return hashlib.blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _prune(shelf: Shelf, slug: str) -> None:
    """Keep the newest revisions; an open database outlives its name."""
    for folder in (f"indexes/{slug}", f"packs/{slug}"):
        for name in shelf.names(folder)[KEPT_REVISIONS:]:
            shelf.drop(f"{folder}/{name}")
        shelf.sweep(folder)
