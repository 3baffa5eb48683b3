"""An indexed environment: lists and tasks from its index and pack, files from the Hub at the same revision."""

from pathlib import Path
from typing import Never

import anyio.to_thread

from rlx.errors import BadInput, NotFound, UserError
from rlx.formats.repo_files import RepoFiles, folder_of, packed_blob, relative_to
from rlx.hub.repo import Repo
from rlx.ids import ROOT_REF
from rlx.index.pack import Pack
from rlx.index.records import Reader, TaskRecord
from rlx.index.tasks import TaskIndex
from rlx.model import (
    Alias,
    Blob,
    Listing,
    Page,
    RunOption,
    Subset,
    Summary,
    Task,
    TaskCard,
    TaskQuery,
    Tile,
    Tiles,
)

MAX_MATERIALIZED = 2 * 1024**3
"""Bytes of one file of a task that is written out."""


class IndexedEnvironment:
    """Meets `rlx.formats.base.Environment`."""

    def __init__(self, repo: Repo, reader: Reader, index: TaskIndex, pack: Pack) -> None:
        self._repo = repo
        self._reader = reader
        self.index = index
        self._pack = pack
        self._summaries: dict[str | None, Summary] = {}
        self._files = RepoFiles(repo, (_root(ref) for ref in index.refs()))

    @property
    def format(self) -> str:
        return self._reader.format

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
            how=view.how,
            sections=view.sections,
            facets=page.facets,
            tiles=self._tiles(),
            subsets=self._subsets(),
            withheld=header.withheld,
            readme=header.readme,
        )

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
        card = self.index.card(place)
        record = self._pack.record(place, card, self.index.review(place))
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

    def record(self, ref: str) -> TaskRecord:
        """What the index and the pack hold of a task. Raises `NotFound`."""
        place = self._place(ref)
        return self._pack.record(place, self.index.card(place), None)

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if ref is None:
            return await self._files.open(path, offset)
        record = self.record(ref)
        listed = {entry.path: entry for entry in record.files}
        if path not in listed:
            return folder_of(path, listed, offset)
        if path in record.texts:
            return packed_blob(listed[path], record.texts[path])
        root = _root(ref)
        return relative_to(root, await self._files.open(f"{root}/{path}" if root else path))

    async def run_options(self, ref: str) -> tuple[RunOption, ...]:
        return (await self.task(ref)).run_options

    async def aliases(self, ref: str) -> tuple[Alias, ...]:
        self._place(ref)
        return ()

    async def random(self) -> str | None:
        return self.index.random()

    async def materialize(self, ref: str, into: Path) -> Path:
        self._place(ref)
        root = _root(ref)
        prefix = f"{root}/" if root else ""
        target = into / (Path(root).name or self._repo.key.name)
        paths = [path for path in await self._repo.tree() if path.startswith(prefix)]
        failure: UserError | None = None
        async with self._repo.read_many(paths, limit=MAX_MATERIALIZED) as stream:
            async for fetched in stream:
                file = target / fetched.path[len(prefix) :]
                if fetched.data is None or not file.resolve().is_relative_to(target.resolve()):
                    failure = fetched.error or BadInput(f"{fetched.path} leaves the task's folder.")
                    break
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(fetched.data)
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


def _root(ref: str) -> str:
    return "" if ref == ROOT_REF else ref
