"""Opens environments for viewers: visibility first, then the surest format, then its index or the format itself.

What is public is read without a token and shared. What is private or gated is checked with the viewer's own token on
every request, read with it, and cached under that viewer's scope alone.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from rlx import answers
from rlx.errors import BadInput, Forbidden, Hidden, NotFound, NotReady, Upstream, UserError
from rlx.formats.base import Environment, HandOver, IndexedFormat, Viewing
from rlx.formats.files import FilesEnvironment
from rlx.formats.kinds import kind_of
from rlx.formats.registry import AnyFormat, Claimed, claims, marks
from rlx.hub.client import HubClient, Token
from rlx.hub.info import RepoInfo
from rlx.hub.repo import Repo
from rlx.ids import EnvKey
from rlx.index.build import build, review
from rlx.index.changes import compare, compare_task
from rlx.index.environment import IndexedEnvironment
from rlx.index.jobs import Job, Jobs
from rlx.index.pack import Pack
from rlx.index.records import Reader
from rlx.index.saving import names
from rlx.index.tasks import TaskIndex
from rlx.model import ANONYMOUS, Changes, Progress, Revision, TaskChanges, Viewer
from rlx.store.instance import InstanceFile
from rlx.store.shelf import Shelf

OPEN_ENVIRONMENTS = 256
"""Opened environments kept; the least used is closed."""
RESTS = 60.0
"""Seconds after which a reading that failed half-way may go on."""
_INFOS = 4096


@dataclass(frozen=True, slots=True)
class _Known:
    info: RepoInfo | UserError
    at: float


class Library:
    """One for the process."""

    def __init__(
        self,
        hub: HubClient,
        instance: InstanceFile,
        *,
        store: Path,
        cache_dir: Path,
        jobs: Jobs,
        formats: Sequence[AnyFormat],
        clock: Callable[[], float],
        info_ttl: float,
        max_files: int,
        deadline: float,
        pack_budget: int,
        reviews: bool,
        public_token: Token = False,
    ) -> None:
        """`public_token` is sent for the files of what everybody may read, for its rate limit alone."""
        self._hub = hub
        self._instance = instance
        self._cache_dir = cache_dir
        self._jobs = jobs
        self._formats = formats
        self._clock = clock
        self._info_ttl = info_ttl
        self._max_files = max_files
        self._deadline = deadline
        self._marks = marks(formats)
        self._pack_budget = pack_budget
        self._reviews = reviews
        self._public_token = public_token
        self._public = Shelf(store, cache_dir / "public")
        self._infos: OrderedDict[EnvKey, _Known] = OrderedDict()
        self._open: OrderedDict[tuple[str, ...], Environment] = OrderedDict()
        self._repos: OrderedDict[tuple[str, ...], Repo] = OrderedDict()
        self._views: OrderedDict[tuple[str, ...], Repo] = OrderedDict()
        self._resting: dict[tuple[str, ...], float] = {}
        """Readings that failed half-way, and when they may go on."""

    async def info(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> RepoInfo:
        """What `viewer` may know of `key` now, or at `revision`. Raises `NotFound`, `Forbidden`, `Upstream`."""
        if self._instance.current().hides(key):
            raise Hidden(f"{key} is not shown on this site.", hint="The people who run it hide it.")
        try:
            info = await self._public_info(key)
        except (NotFound, Forbidden):
            if viewer.token is None:
                raise
            return await self._hub.info(key, token=viewer.token, revision=revision)
        if info.restricted:
            await self._hub.may_read(key, token=viewer.token or False)
        if revision not in (None, info.sha):
            return await self._hub.info(key, token=self._token(info, viewer), revision=revision)
        return info

    async def repo(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> Repo:
        return self._repo(await self.info(key, viewer, revision), viewer)

    def _repo(self, info: RepoInfo, viewer: Viewer) -> Repo:
        token = self._token(info, viewer)
        name = (str(info.key), info.sha or "", self._scope(info, viewer))
        if name not in self._repos:
            _trim(self._repos, OPEN_ENVIRONMENTS)
            self._repos[name] = Repo(
                self._hub, info, token, max_files=self._max_files, deadline=self._deadline, marks=self._marks
            )
        self._repos.move_to_end(name)
        return self._repos[name]

    async def claims(self, key: EnvKey, viewer: Viewer) -> list[Claimed]:
        """Every format's claim, the surest first."""
        return await claims(await self.repo(key, viewer), self._formats)

    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
    ) -> Environment:
        """The environment at its current revision, or at a branch, tag or commit.

        One too big to list opens as soon as its tasks are named; the others are read meanwhile. Raises `NotReady` when
        that takes longer than `wait` seconds (None: wait till everything is read), and what `info` raises.
        """
        repo = await self.repo(key, viewer, revision)
        name = (str(key), repo.sha, self._scope(repo.info, viewer))
        environment = self._open.get(name) or self._shelved(repo, name)
        if environment is None or (_is_pending(environment) and (wait is None or not self._rests(name))):
            environment = await self._read_on(repo, viewer, name, environment, wait)
        _trim(self._open, OPEN_ENVIRONMENTS)
        self._open.move_to_end(name)
        return environment

    def kept(self, info: RepoInfo) -> Environment | None:
        """A public environment at its listed revision, when its index is kept already. Asks the Hub nothing."""
        if info.restricted or info.sha is None:
            return None
        name = (str(info.key), info.sha, "public")
        return self._open.get(name) or self._shelved(self._repo(info, ANONYMOUS), name)

    async def revisions(self, key: EnvKey, viewer: Viewer) -> tuple[Revision, ...]:
        """The newest commits, newest first."""
        info = await self.info(key, viewer)
        commits = await self._hub.commits(key, token=self._token(info, viewer))
        return tuple(Revision(commit.sha, answers.name(commit.title), commit.at) for commit in commits)

    async def changes(self, key: EnvKey, viewer: Viewer, old: str, new: str) -> Changes:
        """What became of the tasks between two revisions.

        Raises `NotReady` while one of them is read, and `BadInput` where there is no task list.
        """
        before, after = await self._both(key, viewer, old, new)
        return compare(before.index, after.index)

    async def task_changes(self, key: EnvKey, viewer: Viewer, old: str, new: str, ref: str) -> TaskChanges:
        """What became of one task's files, of a task of one revision alone too.

        Raises as `changes`, and `NotFound` where no revision has such a task.
        """
        before, after = await self._both(key, viewer, old, new)
        has_old, has_new = before.index.find(ref) is not None, after.index.find(ref) is not None
        return compare_task(
            ref,
            await before.record(ref) if has_old or not has_new else None,
            await after.record(ref) if has_new else None,
        )

    async def progress(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> Progress | None:
        """How far its first reading is; None when none is running."""
        job = await self._job(key, viewer, revision)
        return job.progress if job else None

    async def follow(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> AsyncIterator[Progress]:
        """Its first reading as it goes on, up to the end; nothing when none is running."""
        job = await self._job(key, viewer, revision)
        if job:
            async for progress in job.follow():
                yield progress

    async def _both(
        self, key: EnvKey, viewer: Viewer, old: str, new: str
    ) -> tuple[IndexedEnvironment, IndexedEnvironment]:
        before, after = [await self.open(key, viewer, revision=revision) for revision in (old, new)]
        if not (isinstance(before, IndexedEnvironment) and isinstance(after, IndexedEnvironment)):
            raise BadInput(f"{key} has no task list to compare at one of these revisions.")
        return before, after

    async def _public_info(self, key: EnvKey) -> RepoInfo:
        known = self._infos.get(key)
        if known is None or self._clock() - known.at >= self._info_ttl:
            try:
                answer: RepoInfo | UserError = await self._hub.info(key, token=False)
            except (NotFound, Forbidden) as error:
                answer = error
            known = self._infos[key] = _Known(answer, self._clock())
            _trim(self._infos, _INFOS)
        if isinstance(known.info, UserError):
            raise known.info
        return known.info

    def _shelved(self, repo: Repo, name: tuple[str, ...]) -> Environment | None:
        """From an index on the shelf."""
        for known in self._formats:
            found = self._find(repo, known.reader, name) if isinstance(known, IndexedFormat) else None
            if found is not None:
                self._open[name] = found
                return found
        return None

    async def _read_on(
        self, repo: Repo, viewer: Viewer, name: tuple[str, ...], known: Environment | None, wait: float | None
    ) -> Environment:
        """By a job, which lists, claims and reads it whoever asks; what is `known` already is there meanwhile."""
        job = self._jobs.start(name, lambda job: self._read(repo, viewer, name, job))
        if known is not None and wait is not None:
            return known
        with anyio.move_on_after(wait):
            await (job.ended if wait is None else job.ready).wait()
        if job.error is not None and (wait is None or name not in self._open):
            raise job.error
        if name not in self._open:
            raise NotReady(
                f"{repo.key} is being read for the first time.",
                hint="Ask again in a few seconds.",
                revision=repo.sha,
                before=self._before(repo, name),
            )
        return self._open[name]

    def _before(self, repo: Repo, name: tuple[str, ...]) -> str | None:
        """Another revision that is kept, the one read last."""
        endings = {
            f"{known.reader.format}{known.reader.version}.db"
            for known in self._formats
            if isinstance(known, IndexedFormat)
        }
        for kept in self._shelf(repo.info, name[-1]).names(f"indexes/{repo.key.slug}"):
            sha, _, ending = kept.partition(".")
            if sha != repo.sha and ending in endings:
                return sha
        return None

    def _rests(self, name: tuple[str, ...]) -> bool:
        return self._clock() < self._resting.get(name, 0.0)

    async def _read(self, repo: Repo, viewer: Viewer, name: tuple[str, ...], job: Job) -> None:
        """Open by the surest claim and remember it under `name`; one that was begun goes on."""
        begun = self._open.get(name)
        if isinstance(begun, IndexedEnvironment):
            await self._index(repo, begun.reader, name, job)
            return
        job.tell(Progress("listing"))
        repo.on_listed = lambda files: job.tell(Progress("listing", files))
        await self._claimed(repo, viewer, name, job)

    async def _claimed(self, repo: Repo, viewer: Viewer, name: tuple[str, ...], job: Job) -> None:
        for claimed in await claims(repo, self._formats):
            if isinstance(claimed.format, IndexedFormat):
                await self._index(repo, claimed.format.reader, name, job)
                return
            try:
                self._open[name] = await claimed.format.open(repo, viewer)
            except HandOver:
                continue
            return
        self._open[name] = FilesEnvironment(repo, kind_of(repo.info, (await repo.listing()).files))

    async def _index(self, repo: Repo, reader: Reader, name: tuple[str, ...], job: Job) -> None:
        """Read it and open what was published, whenever something was."""

        def reopen() -> None:
            found = self._find(repo, reader, name)
            if found is None:
                raise Upstream(f"What was read of {repo.key} could not be kept.", hint="Try again in a minute.")
            self._open[name] = found
            job.ready.set()

        shelf = self._shelf(repo.info, name[-1])
        try:
            await build(
                self._view(repo, reader, name),
                reader,
                shelf,
                on_progress=job.tell,
                pack_budget=self._pack_budget,
                turn=self._jobs.turn,
                on_published=reopen,
            )
        except Upstream as error:
            self._resting[name] = self._clock() + (error.retry_after or RESTS)
            raise
        self._resting.pop(name, None)
        reopen()

    def _find(self, repo: Repo, reader: Reader, name: tuple[str, ...]) -> Environment | None:
        """The index on the shelf; a second look follows in the background when it had none.

        A damaged one is dropped, to be built again.
        """
        shelf = self._shelf(repo.info, name[-1])
        index_name, pack_name = names(repo, reader)
        index_path, pack_path = shelf.find(index_name), shelf.find(pack_name)
        if index_path is None or pack_path is None:
            return None
        try:
            index, pack = TaskIndex(index_path), Pack(pack_path)
        except (sqlite3.DatabaseError, ValueError, KeyError):
            shelf.drop(index_name)
            shelf.drop(pack_name)
            return None

        async def look_again() -> None:
            if await review(self._view(repo, reader, name), reader, shelf):
                self._open.pop(name, None)  # opened anew, it has them

        if self._reviews and not (index.header.reviewed or index.header.walked):
            self._jobs.later(name, look_again)
        tasks = self._view(repo, reader, name) if isinstance(reader, Viewing) else None
        return IndexedEnvironment(repo, reader, index, pack, tasks=tasks)

    def _view(self, repo: Repo, reader: Reader, name: tuple[str, ...]) -> Repo:
        """The repository in which the tasks are folders; opened once, it is kept like the one it is made of."""
        if not isinstance(reader, Viewing):
            return repo
        if name not in self._views:
            _trim(self._views, OPEN_ENVIRONMENTS)
            self._views[name] = reader.view(repo)
        self._views.move_to_end(name)
        return self._views[name]

    async def _job(self, key: EnvKey, viewer: Viewer, revision: str | None) -> Job | None:
        info = await self.info(key, viewer, revision)
        return self._jobs.find((str(key), info.sha or "", self._scope(info, viewer)))

    def _token(self, info: RepoInfo, viewer: Viewer) -> Token:
        """Public things are read without the viewer's token, whoever asks."""
        return (viewer.token or False) if info.restricted else self._public_token

    def _scope(self, info: RepoInfo, viewer: Viewer) -> str:
        return viewer.scope if info.restricted else "public"

    def _shelf(self, info: RepoInfo, scope: str) -> Shelf:
        return self._public if scope == "public" else Shelf(None, self._cache_dir / "private" / scope)


def _is_pending(environment: Environment) -> bool:
    return isinstance(environment, IndexedEnvironment) and environment.is_pending


def _trim[K, V](cache: "OrderedDict[K, V]", size: int) -> None:
    while len(cache) > size:
        cache.popitem(last=False)
