"""A repository whose files are those in its archives: what the index reads instead of the repository itself."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
import anyio.from_thread
import anyio.to_thread

from rlx.errors import TooLarge
from rlx.formats.harbor.discovery import SETTINGS
from rlx.formats.packed.archive import Archive, open_archive, stem
from rlx.formats.packed.budget import REPOSITORY, Budget, Member, RefusedArchive
from rlx.formats.packed.layout import Layout, Lying, lay_out
from rlx.formats.rows.sources.octets import Blocks, Ranged
from rlx.hub.info import TreeEntry
from rlx.hub.parallel import each
from rlx.hub.repo import MAX_TEXT, Repo
from rlx.hub.tree import Tree
from rlx.index.codec import text_out
from rlx.texts import Say, say

MAX_ARCHIVES: Final = 5000
"""Archives of a repository that are opened."""
TOLD: Final = ".packed.json"
"""Where the view tells its reader what it was made of. No file of an archive lies there."""
_NAMED: Final = 50
"""Refusals that are told one by one."""
_UNPACKED: Final = 100_000
"""Characters of the paths of archives that are told one by one."""
_THREADS: Final = 8
_AT_ONCE: Final = 4
MAX_SPOOLED: Final = 12 * 1024**3
"""Bytes on local disk that the tar files of a repository unpack to together."""
_blocks = Blocks(32 * 1024 * 1024)


def archives_of(tree: Mapping[str, TreeEntry]) -> list[TreeEntry]:
    """The files called as archives, but for those of hidden folders."""
    return [
        entry
        for path, entry in tree.items()
        if stem(path) is not None and not any(part.startswith(".") for part in path.split("/"))
    ]


def octets_of(repo: Repo, entry: TreeEntry) -> Ranged:
    """A file of the Hub, to be read from a worker thread."""

    def fetch(start: int, end: int) -> bytes:
        return anyio.from_thread.run(repo.fetch_range, entry, start, end)

    return Ranged(_contents(repo, entry), entry.size, fetch, _blocks)


@dataclass(slots=True)
class PackedRepo(Repo):
    """The tasks in the archives of `outer`, with the files at its top. It is listed, and everything in it read, like
    any other repository."""

    outer: Repo = field(kw_only=True)
    _archives: dict[str, tuple[TreeEntry, Archive]] = field(default_factory=dict, repr=False)
    _lying: Mapping[str, Lying] = field(default_factory=dict, repr=False)
    _told: bytes = b""
    _threads: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(_THREADS), repr=False)
    """Of its own: who waits for a file may hold one of those that all share."""
    _opening: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    async def listing(self) -> Tree:
        """Opens every archive when first asked. Raises what reading the Hub raises."""
        async with self._opening:
            if self._tree is None:
                self._tree = await self._opened(await self.outer.listing())
        return self._tree

    async def fetch(self, entry: TreeEntry, *, limit: int = MAX_TEXT) -> bytes:
        if entry.size > limit:
            raise TooLarge(f"{entry.path} holds {entry.size:,} bytes; {limit:,} are read at most.")
        return await self.fetch_range(entry, 0, entry.size)

    async def fetch_range(self, entry: TreeEntry, start: int, end: int) -> bytes:
        await self.listing()
        if entry.path == TOLD:
            return self._told[start:end]
        lying = self._lying.get(entry.path)
        if lying is None:
            return await self.outer.fetch_range(entry, start, end) if end > start else b""
        file, archive = self._archives[lying.archive]
        octets = octets_of(self.outer, file)
        return await self._run(lambda: archive.read(octets, lying.member, start, end))

    async def _opened(self, tree: Tree) -> Tree:
        found = archives_of(tree.files)
        refused: dict[str, Say] = {entry.path: say("packed.too_many") for entry in found[MAX_ARCHIVES:]}
        held = listed = 0

        async def open_(entry: TreeEntry) -> None:
            nonlocal held, listed
            room, left = MAX_SPOOLED - held, self.max_files - listed
            budget = replace(
                REPOSITORY, total=min(REPOSITORY.total, room), members=max(1, min(REPOSITORY.members, left))
            )
            try:
                archive = await self._run(lambda: self._open(entry, budget))
            except RefusedArchive as error:
                refused[entry.path] = error.reason
                return
            held, listed = held + archive.held, listed + len(archive.members)
            self._archives[entry.path] = (entry, archive)
            if self.outer.on_listed:
                self.outer.on_listed(listed)

        await each(found[:MAX_ARCHIVES], open_, at_once=_AT_ONCE)
        members: dict[str, tuple[Member, ...]] = {path: of.members for path, (_, of) in self._archives.items()}
        laid_out = await anyio.to_thread.run_sync(lay_out, members)
        self._lying = laid_out.files
        self._told = self._telling(laid_out, [*sorted(refused.items()), *laid_out.refused])
        return Tree(dict(sorted(self._entries(tree))), {})

    def _telling(self, layout: Layout, refused: Sequence[tuple[str, Say]]) -> bytes:
        told = {
            "key": self.key.repo_id,
            "sha": self.sha,
            "archives": len(layout.places),
            "unpack": list(layout.places.items()) if sum(map(len, layout.places)) < _UNPACKED else [],
            "parents": layout.parents[:_NAMED],
            "refused": [{"where": where[:200], "why": text_out(why)} for where, why in refused[:_NAMED]],
            "more": max(0, len(refused) - _NAMED),
        }
        return json.dumps(told).encode()

    def _open(self, entry: TreeEntry, budget: Budget) -> Archive:
        desk = self.outer.desk
        if desk is None:
            raise ValueError("Archives are opened from a HubClient that has a desk.")
        drawer = desk.drawer(_named(self.outer, self.outer.sha))
        return open_archive(octets_of(self.outer, entry), drawer / f"{_contents(self.outer, entry)}.tar", budget)

    def _entries(self, tree: Tree) -> list[tuple[str, TreeEntry]]:
        found = {path: entry for path, entry in tree.files.items() if "/" not in path and path not in (TOLD, SETTINGS)}
        for path, lying in self._lying.items():
            name = self._archives[lying.archive][0].oid
            found[path] = TreeEntry(path, lying.member.size, f"{name or lying.archive}:{lying.member.at}")
        found[TOLD] = TreeEntry(TOLD, len(self._told), hashlib.sha256(self._told).hexdigest())
        return list(found.items())

    async def _run[T](self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)


def view(repo: Repo) -> PackedRepo:
    """What the index reads of `repo`."""
    return PackedRepo(repo.client, repo.info, repo.token, repo.max_files, repo.deadline, repo.marks, outer=repo)


def _contents(repo: Repo, entry: TreeEntry) -> str:
    return _named(repo, entry.oid or f"{repo.sha}/{entry.path}", str(entry.size))


def _named(repo: Repo, *parts: str) -> str:
    """A name within the repository: who may read that may share what is known of it."""
    told = (repo.client.endpoint, str(repo.key), "archives", *parts)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:40]
