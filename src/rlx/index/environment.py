"""An indexed environment: lists and tasks from its index and pack, files from the Hub at the same revision."""

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Never

import anyio.to_thread

from rlx.errors import BadInput, NotFound, UserError
from rlx.formats.repo_files import RepoFiles, folder_of, packed_blob, relative_to
from rlx.hub.repo import Repo
from rlx.index.lookups import read_tasks
from rlx.index.pack import Pack
from rlx.index.records import Reader, TaskRecord, root_of
from rlx.index.tasks import TaskIndex
from rlx.model import (
    Alias,
    Blob,
    Listing,
    Page,
    Progress,
    RunOption,
    Subset,
    Summary,
    Task,
    TaskCard,
    TaskQuery,
    Text,
    Tile,
    Tiles,
)
from rlx.texts import say

MAX_MATERIALIZED = 2 * 1024**3
"""Bytes of one file of a task that is written out."""
READ_KEPT = 32
"""Tasks that are remembered of those that were read before the index had them."""


class IndexedEnvironment:
    """Meets `rlx.formats.base.Environment`."""

    def __init__(self, repo: Repo, reader: Reader, index: TaskIndex, pack: Pack, *, tasks: Repo | None = None) -> None:
        """`tasks` is where the folders of the tasks are, when that is not `repo`."""
        repo.is_big = repo.is_big or index.header.walked
        self._repo = repo
        self._reader = reader
        self.index = index
        self._pack = pack
        self._summaries: dict[str | None, Summary] = {}
        self._tasks = tasks or repo
        roots = tuple(root_of(ref) for ref in index.refs())
        self._files = RepoFiles(repo, roots)
        self._task_files = RepoFiles(self._tasks, roots) if tasks else self._files
        self._read = OrderedDict[int, TaskRecord]()

    @property
    def format(self) -> str:
        return self._reader.format

    @property
    def reader(self) -> Reader:
        return self._reader

    @property
    def is_pending(self) -> bool:
        """Whether some of its tasks are named and not read yet."""
        return self.index.header.pending > 0

    async def summary(self, subset: str | None = None) -> Summary:
        known = self._summaries.get(subset)
        if known is None:
            known = await anyio.to_thread.run_sync(self._summary, subset)
            if subset is None or subset in {item.id for item in known.subsets}:
                self._summaries[subset] = known
        return known

    def _summary(self, subset: str | None) -> Summary:
        header = self.index.header
        view = self._reader.summary_view(header.facts, self.index.counts)
        page = self.index.page(TaskQuery(subset=subset, limit=0))
        return Summary(
            key=self._repo.key,
            title=header.title,
            brief=header.brief,
            format=self.format,
            support=view.support,
            revision=header.sha,
            tasks=header.tasks,
            why=None,
            how=(*view.how, *self._walked()),
            sections=view.sections,
            facets=page.facets,
            tiles=self._tiles(),
            subsets=self._subsets(),
            withheld=header.withheld,
            readme=header.readme,
            progress=self._progress(),
        )

    def _walked(self) -> Iterator[Text]:
        header = self.index.header
        if header.walked:
            yield say("index.walked")
        if header.unsearched:
            yield say("index.unsearched", n=header.unsearched)

    def _progress(self) -> Progress | None:
        tasks, pending = self.index.header.tasks, self.index.header.pending
        return Progress("reading", tasks - pending, tasks, tasks, unit="tasks") if pending else None

    async def tasks(self, query: TaskQuery) -> Page[TaskCard]:
        return await anyio.to_thread.run_sync(self.index.page, query)

    async def canonical(self, ref: str) -> str:
        if self.index.find(ref) is not None:
            return ref
        for spelling in (ref.strip("/"), ref.strip("/").removesuffix("/task.toml")):
            if self.index.find(spelling) is not None:
                return spelling
        return self.index.ending(ref.strip("/")) or self._unknown(ref)

    async def task(self, ref: str) -> Task:
        place = self._place(ref)
        record = await self._record(place)
        card = record.card
        view = self._reader.task_view(record)
        return Task(
            ref=ref,
            title=card.title,
            brief=card.brief,
            sections=view.sections,
            glance=view.glance,
            withheld=record.withheld,
            run_options=view.run_options,
            support=view.support,
            facets=card.facets,
            problem=card.problem,
            previous=self.index.ref(place - 1) if place else None,
            next=self.index.ref(place + 1),
            position=place,
            total=self.index.header.tasks,
        )

    async def record(self, ref: str) -> TaskRecord:
        """What is kept of a task; one that is not read yet is read now. Raises `NotFound`, `Upstream`."""
        return await self._record(self._place(ref))

    async def _record(self, place: int) -> TaskRecord:
        card = self.index.card(place)
        packed = self._pack.record(place, card, self.index.review(place))
        if packed is not None:
            return packed
        if place in self._read:
            return self._read[place]
        (record,) = [record async for record in read_tasks(self._tasks, self._reader, [card.ref])]
        self._read[place] = record
        if len(self._read) > READ_KEPT:
            self._read.popitem(last=False)
        return record

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if ref is None:
            return await self._files.open(path, offset)
        record = await self.record(ref)
        listed = {entry.path: entry for entry in record.files}
        if path in record.texts and path in listed:
            return packed_blob(listed[path], record.texts[path])
        if path not in listed and not self.index.header.walked:
            return folder_of(path, listed, offset)
        root = root_of(ref)
        inner = path.strip("/")
        whole = f"{root}/{inner}".strip("/") if root else path
        return relative_to(root, await self._task_files.open(whole, offset))

    async def run_options(self, ref: str) -> tuple[RunOption, ...]:
        return (await self.task(ref)).run_options

    async def aliases(self, ref: str) -> tuple[Alias, ...]:
        self._place(ref)
        return ()

    async def random(self) -> str | None:
        return self.index.random()

    async def materialize(self, ref: str, into: Path) -> Path:
        self._place(ref)
        root = root_of(ref)
        prefix = f"{root}/" if root else ""
        target = into / (Path(root).name or self._repo.key.name)
        failure: UserError | None = None
        async with self._tasks.read_many(await self._tasks.below(root), limit=MAX_MATERIALIZED) as stream:
            async for fetched in stream:
                file = target / fetched.path[len(prefix) :]
                if fetched.data is None or not file.resolve().is_relative_to(target.resolve()):
                    failure = fetched.error or BadInput(f"{fetched.path} leaves the task's folder.")
                    break
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(fetched.data)
                if file.suffix == ".sh":
                    file.chmod(0o755)
        if failure is not None:
            raise failure
        return target

    def _place(self, ref: str) -> int:
        place = self.index.find(ref)
        return place if place is not None else self._unknown(ref)

    def _unknown(self, ref: str) -> Never:
        key, header = self._repo.key, self.index.header
        raise NotFound(
            f"No task {ref[:200]!r} in {key} at revision {header.sha[:8]} ({header.tasks:,} tasks).",
            hint=f"Try `rlx task ls {key}`.",
        )

    def _tiles(self) -> Tiles | None:
        key = self.index.header.tile
        values = self.index.counts.facets.get(key, ()) if key else ()
        return Tiles(key, tuple(Tile(value.value, value.n) for value in values)) if key and values else None

    def _subsets(self) -> tuple[Subset, ...]:
        if not self.index.header.subsets:
            return ()
        groups = self.index.counts.facets.get("group", ())
        return tuple(Subset(str(group.value), group.value, group.n) for group in groups)
