"""The served folder: finds its repositories, keeps what is known of them fresh, and lists them."""

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import anyio

from rlx.errors import BadInput, NotFound
from rlx.ids import make_key
from rlx.localhub.access import Visitor, not_found
from rlx.localhub.catalog import Catalog
from rlx.localhub.faults import Faults
from rlx.localhub.hashes import HashStore
from rlx.localhub.repo import Repo
from rlx.localhub.sidecar import Meta, SidecarFile, User
from rlx.localhub.snapshot import Snapshot
from rlx.localhub.wire import Refusal
from rlx.localhub.writing.ledger import Ledger
from rlx.localhub.writing.repo import WrittenRepo

logger = logging.getLogger(__name__)

KINDS = ("datasets", "spaces", "models")
_PAUSE_FACTOR = 20
"""A folder is looked at again no sooner than this many times what the last look took: at most 5 % of one core."""
_MAX_PAUSE = 5.0
"""Seconds beyond which a slow look stretches the pause no further."""


class Shelf:
    """Asynchronous methods may be called from one event loop; looks at the disk happen in worker threads."""

    def __init__(
        self,
        root: Path,
        *,
        cache_dir: Path | None,
        users: Mapping[str, str | User],
        faults: Faults,
        interval: float,
        clock: Callable[[], float],
        ledger: Ledger | None = None,
    ) -> None:
        if not root.is_dir():
            raise NotFound(f"{root} is not a folder.", hint="A local hub is a folder with datasets/ and spaces/ in it.")
        self.root = root.resolve()
        self.sidecar = SidecarFile(self.root, users)
        self._faults = faults
        self._interval = interval
        self._clock = clock
        self._ledger = ledger
        self._store = HashStore(cache_dir)
        self._repos: dict[str, Repo] = {}
        self._catalogs: dict[str, Catalog] = {}
        self._due = dict.fromkeys((*KINDS, "sidecar"), 0.0)
        self._lock = threading.Lock()
        self._load_sidecar()

    def tick(self) -> None:
        """Re-read `hub.json` when it changed; a malformed one is reported, and the last good one stays in force."""
        now = self._clock()
        if now < self._due["sidecar"]:
            return
        self._due["sidecar"] = now + self._interval
        try:
            self._load_sidecar()
        except BadInput as error:
            logger.warning("%s", error.message)

    def _load_sidecar(self) -> None:
        if self.sidecar.reload():
            self._faults.replace_from_file(self.sidecar.current.faults)
            for repo in list(self._repos.values()):
                repo.meta = self._meta(repo.key)
            self._due.update(dict.fromkeys(KINDS, 0.0))

    async def repo(self, kind: str, id_: str, visitor: Visitor) -> Repo:
        """A repository, freshly looked at. Refuses one that is not there or that `visitor` must not know of."""
        repo = self._repos.get(f"{kind}/{id_}") or self._discover(kind, id_)
        if repo is None or not visitor.sees(repo):
            raise not_found(visitor, kind)
        if not repo.fresh(self._clock()):
            try:
                await self.look(repo)
            except FileNotFoundError:
                self._repos.pop(repo.key, None)
                raise not_found(visitor, kind) from None
        return repo

    async def look(self, repo: Repo, *, force: bool = False) -> None:
        """Look at a repository's folder now. Raises `FileNotFoundError` when it is gone."""
        await anyio.to_thread.run_sync(self._look, repo, force)

    def _look(self, repo: Repo, force: bool) -> None:
        repo.refresh(self._clock, self._pause, force=force)
        self._store.flush()

    def _pause(self, cost: float) -> float:
        return max(self._interval, min(_PAUSE_FACTOR * cost, _MAX_PAUSE)) if self._interval else 0.0

    def _discover(self, kind: str, id_: str) -> Repo | None:
        org, _, name = id_.partition("/")
        if not is_name(org, name):
            return None
        key = f"{kind}/{id_}"
        if self._ledger is not None and self._ledger.knows(key):
            return self._add_written(kind, id_, self._ledger) if self._ledger.meta(key) is not None else None
        return self._add(kind, org, name) if (self.root / kind / org / name).is_dir() else None

    def _add(self, kind: str, org: str, name: str) -> Repo:
        repo = Repo(kind, f"{org}/{name}", self.root / kind / org / name, self._store)
        repo.meta = self._meta(repo.key)
        return self._repos.setdefault(repo.key, repo)

    def _add_written(self, kind: str, id_: str, ledger: Ledger) -> Repo:
        repo = WrittenRepo(kind, id_, ledger)
        repo.meta = self._meta(repo.key)
        repo.refresh(self._clock, self._pause)
        return self._repos.setdefault(repo.key, repo)

    def _meta(self, key: str) -> Meta:
        told = self.sidecar.current.meta(key)
        written = self._ledger.meta(key) if self._ledger is not None else None
        return told.model_copy(update=dict(written)) if written else told

    def known(self, key: str) -> Repo | None:
        """A repository by its key, whoever may see it."""
        kind, _, id_ = key.partition("/")
        return self._repos.get(key) or self._discover(kind, id_)

    def names(self, kind: str) -> list[str]:
        """Ids of every repository of a kind."""
        on_disk = [f"{org}/{name}" for org in folders(self.root / kind) for name in folders(self.root / kind / org)]
        if self._ledger is None:
            return on_disk
        kept = [key.partition("/")[2] for key in self._ledger.keys(kind)]
        return kept + [id_ for id_ in on_disk if not self._ledger.knows(f"{kind}/{id_}")]

    def wrote(self, key: str) -> None:
        """Take note that the ledger holds something new of a repository. From any thread."""
        repo = self._repos.get(key)
        if isinstance(repo, WrittenRepo) and self._ledger is not None and self._ledger.meta(key) is not None:
            repo.meta = self._meta(key)
            repo.refresh(self._clock, self._pause)
        else:
            self._repos.pop(key, None)
        self._due.update(dict.fromkeys(KINDS, 0.0))

    async def catalog(self, kind: str) -> Catalog:
        """Every repository of a kind, freshly looked at."""
        known = self._catalogs.get(kind)
        if known is not None and self._clock() < self._due[kind]:
            return known
        return await anyio.to_thread.run_sync(self._load_catalog, kind)

    def _load_catalog(self, kind: str) -> Catalog:
        with self._lock:
            started = self._clock()
            known = self._catalogs.get(kind)
            if known is not None and started < self._due[kind]:
                return known
            repos = list(self._walk(kind))
            present = {repo.key for repo in repos}
            for repo in list(self._repos.values()):
                if repo.kind == kind and repo.key not in present:
                    self._repos.pop(repo.key, None)
            self._store.flush()
            if known is None or known.version != [(repo.id, repo.generation) for repo in repos]:
                known = self._catalogs[kind] = Catalog(repos)
            ended = self._clock()
            self._due[kind] = ended + self._pause(ended - started)
            return known

    def _walk(self, kind: str) -> Iterator[Repo]:
        """Repositories sorted by id, each refreshed."""
        for id_ in sorted(self.names(kind)):
            repo = self._repos.get(f"{kind}/{id_}") or self._discover(kind, id_)
            if repo is None:
                continue
            try:
                repo.refresh(self._clock, self._pause)
            except FileNotFoundError:
                continue
            yield repo

    def warm(self) -> dict[str, int]:
        """Look at everything now, so that no first request waits. Gives the number of repositories by kind."""
        return {kind: len(self._load_catalog(kind).repos) for kind in KINDS}


def folders(path: Path) -> list[str]:
    """Names of the folders in `path`, sorted; none when it is not there."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def is_name(org: str, name: str) -> bool:
    """Whether the Hub could have a repository of this name."""
    try:
        make_key("dataset", org, name)
    except BadInput:
        return False
    return True


def revision(repo: Repo, name: str) -> Snapshot:
    """The files at a branch or commit. Refuses a revision that is not there."""
    at = repo.at(name)
    if at is None:
        raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {name[:100]}")
    return at
