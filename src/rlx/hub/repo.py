"""One repository at one revision, read with one viewer's token: what formats are given."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from rlx.errors import NotFound, TooLarge, UserError
from rlx.hub.client import PATHS_A_CALL, HubClient, Token
from rlx.hub.desk import Desk
from rlx.hub.info import FolderEntry, RepoInfo, TreeEntry
from rlx.hub.parallel import each
from rlx.hub.tree import Folder, Listed, Marks, Tree, as_entries, folder_children
from rlx.hub.walk import AT_ONCE, Walk
from rlx.ids import EnvKey

MAX_TEXT = 8 * 1024 * 1024
"""Bytes of a file that is read whole for a reader or an index."""
_TELLING = 1000
"""Files between two tellings of a listing: the Hub's pages hold as many."""
FOLDER_ENTRIES = 10_000
"""Entries of one folder that are listed for a reader; of a larger one there is more than that."""
_LOOKED_AT = 64
"""Files and folders that are remembered where there is no listing of the whole."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One file of `read_many`: its bytes, or why there are none."""

    path: str
    data: bytes | None
    error: UserError | None = None


@dataclass(slots=True)
class Repo:
    """A pinned repository. Its files are listed once and kept; one too big for that is walked, and asked as needed."""

    client: HubClient
    info: RepoInfo
    token: Token
    max_files: int = 400_000
    """Entries past which a listing is given up for a walk."""
    deadline: float | None = None
    """Seconds after which it is."""
    marks: Marks = field(default_factory=Marks)
    """What a walk looks for."""
    is_big: bool = False
    """Known to be too big to list: that is not tried again."""
    on_listed: Callable[[int], None] | None = field(default=None, repr=False)
    """Told now and then how many files and folders are known, while they are listed."""
    _tree: Tree | None = field(default=None, repr=False)
    _walk: Walk | None = field(default=None, repr=False)
    _looked_at: OrderedDict[str, TreeEntry | Folder] = field(default_factory=OrderedDict, repr=False)
    _lock: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    @property
    def key(self) -> EnvKey:
        return self.info.key

    @property
    def sha(self) -> str:
        if self.info.sha is None:
            raise ValueError("A repository is opened from HubClient.info, which sets the revision.")
        return self.info.sha

    @property
    def desk(self) -> Desk | None:
        return self.client.desk

    async def listing(self) -> Tree:
        """Everything or, where that is too much, what a walk for tasks came across: `Tree.is_whole` tells."""
        async with self._lock:
            if self._tree is None:
                self._tree = await self._list()
                self._walk = None
        return self._tree

    async def tree(self) -> Mapping[str, TreeEntry]:
        """Every file by path, sorted. Raises `TooLarge` when they are too many to list."""
        listing = await self.listing()
        if not listing.is_whole:
            raise TooLarge(f"{self.key} holds too many files to list them all.")
        return listing.files

    def forget(self) -> None:
        """Let go of what a walk found, once it is kept elsewhere."""
        if self._tree is not None and not self._tree.is_whole:
            self.is_big, self._tree = True, None

    async def entry(self, path: str) -> TreeEntry | None:
        """The file at `path`, or None."""
        found = await self.look(path)
        return found if isinstance(found, TreeEntry) else None

    async def look(self, path: str) -> TreeEntry | Folder | None:
        """The file or the folder at `path`, from the listing or, where that is not whole, from the Hub."""
        tree = self._tree if self.is_big else await self.listing()
        if tree is not None and tree.is_whole:
            return tree.files.get(path) or _folder_in(tree.files, path)
        if path not in self._looked_at:
            found = await self._look(path)
            if found is None:
                return None
            self._looked_at[path] = found
            if len(self._looked_at) > _LOOKED_AT:
                self._looked_at.popitem(last=False)
        return self._looked_at[path]

    async def lookup(self, paths: Sequence[str]) -> dict[str, TreeEntry]:
        """Those of `paths` that are there, sorted, from the Hub; a folder's path has a slash at its end."""
        found: list[TreeEntry | FolderEntry] = []

        async def ask(call: Sequence[str]) -> None:
            found.extend(await self.client.paths_info(self.key, self.sha, call, token=self.token))

        calls = [paths[start : start + PATHS_A_CALL] for start in range(0, len(paths), PATHS_A_CALL)]
        await each(calls, ask, at_once=min(AT_ONCE, self.client.connections))
        return as_entries(found)

    async def below(self, folder: str) -> list[TreeEntry]:
        """Every file below `folder`, in path order. Raises `TooLarge` where even they are too many."""
        tree = self._tree if self.is_big else await self.listing()
        prefix = f"{folder}/" if folder else ""
        if tree is not None and tree.is_whole:
            return [entry for path, entry in tree.files.items() if path.startswith(prefix)]
        listed = self.client.tree(self.key, self.sha, token=self.token, limit=self.max_files, folder=folder)
        found = [entry async for entry in listed if isinstance(entry, TreeEntry)]
        return sorted(found, key=lambda entry: entry.path)

    async def read(self, path: str, *, limit: int = MAX_TEXT) -> bytes:
        """The file at `path`. Raises `NotFound` where there is none, `TooLarge`, `Upstream`."""
        entry = await self.entry(path)
        if entry is None:
            raise NotFound(f"No file {path[:200]!r} in {self.key}.")
        return await self.fetch(entry, limit=limit)

    async def fetch(self, entry: TreeEntry, *, limit: int = MAX_TEXT) -> bytes:
        """A file of this repository. Raises `TooLarge`, `Upstream`."""
        return await self.client.read(
            self.key, self.sha, entry.path, token=self.token, limit=limit, expected=entry.size
        )

    async def fetch_range(self, entry: TreeEntry, start: int, end: int) -> bytes:
        """Bytes `start` up to, not including, `end` of a file of this repository. Raises `Upstream`."""
        return await self.client.read_range(self.key, self.sha, entry.path, token=self.token, start=start, end=end)

    @asynccontextmanager
    async def read_many(
        self, entries: Iterable[TreeEntry], *, limit: int = MAX_TEXT
    ) -> AsyncIterator[MemoryObjectReceiveStream[Fetched]]:
        """A stream of files as they arrive, in any order, as many at a time as the client has connections.

        Leaving the block early stops the rest. What a file lacks is in `Fetched.error`; do not raise it inside the
        block, where a task group would wrap it.
        """
        waiting = iter(list(entries))
        send, receive = anyio.create_memory_object_stream[Fetched](self.client.connections)

        async def fetch(out: MemoryObjectSendStream[Fetched]) -> None:
            async with out:
                for entry in waiting:
                    try:
                        fetched = Fetched(entry.path, await self.fetch(entry, limit=limit))
                    except UserError as error:
                        fetched = Fetched(entry.path, None, error)
                    await out.send(fetched)

        async with anyio.create_task_group() as group:
            async with send:
                for _ in range(self.client.connections):
                    group.start_soon(fetch, send.clone())
            async with receive:
                yield receive
            group.cancel_scope.cancel()

    async def _list(self) -> Tree:
        """The whole within the bounds, else a walk. One that failed goes on where it was."""
        if self._walk is None:
            listed = Listed()
            if not self.is_big:
                with anyio.move_on_after(self.deadline):
                    if await self._list_whole(listed):
                        return listed.tree()
            self._walk = Walk(
                self.client,
                self.key,
                self.sha,
                token=self.token,
                marks=self.marks,
                max_files=self.max_files,
                given=listed,
            )
        return await self._walk.run(self._tell)

    async def _list_whole(self, listed: Listed) -> bool:
        """Whether there was no more than may be listed."""
        tree = self.client.tree(self.key, self.sha, token=self.token, limit=self.max_files)
        try:
            async with aclosing(tree) as entries:
                await anyio.lowlevel.checkpoint()  # a hub in this process may answer without ever giving way
                async for entry in entries:
                    listed.add(entry)
                    if len(listed.files) % _TELLING == 0:
                        self._tell(len(listed.files))
                        await anyio.lowlevel.checkpoint()
        except TooLarge:
            return False
        return True

    def _tell(self, known: int) -> None:
        if self.on_listed and known:
            self.on_listed(known)

    async def _look(self, path: str) -> TreeEntry | Folder | None:
        known = await self.lookup([path]) if path else {}
        if path in known:
            return known[path]
        if path and not known:
            return None
        folders: list[str] = []
        files: list[TreeEntry] = []
        is_whole = True
        tree = self.client.tree(
            self.key, self.sha, token=self.token, limit=FOLDER_ENTRIES, folder=path, recursive=False
        )
        try:
            async with aclosing(tree) as entries:
                async for entry in entries:
                    if isinstance(entry, TreeEntry):
                        files.append(entry)
                    else:
                        folders.append(entry.path)
        except TooLarge:
            is_whole = False
        return Folder(path, tuple(sorted(folders)), tuple(sorted(files, key=lambda entry: entry.path)), is_whole)


def _folder_in(files: Mapping[str, TreeEntry], path: str) -> Folder | None:
    folders, paths = folder_children(files, path)
    if path and not folders and not paths:
        return None
    return Folder(path, tuple(folders), tuple(files[child] for child in paths))
