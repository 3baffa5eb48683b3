"""One repository at one revision, read with one viewer's token: what formats are given."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from rlx.errors import NotFound, UserError
from rlx.hub.client import HubClient, Token
from rlx.hub.info import RepoInfo, TreeEntry
from rlx.ids import EnvKey

MAX_TEXT = 8 * 1024 * 1024
"""Bytes of a file that is read whole for a reader or an index."""
_TELLING = 1000
"""Files between two tellings of a listing: the Hub's pages hold as many."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One file of `read_many`: its bytes, or why there are none."""

    path: str
    data: bytes | None
    error: UserError | None = None


@dataclass(slots=True)
class Repo:
    """A pinned repository. The tree is listed once and kept."""

    client: HubClient
    info: RepoInfo
    token: Token
    max_files: int = 400_000
    on_listed: Callable[[int], None] | None = field(default=None, repr=False)
    """Told now and then how many files are listed, while they are."""
    _tree: dict[str, TreeEntry] | None = field(default=None, repr=False)
    _lock: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    @property
    def key(self) -> EnvKey:
        return self.info.key

    @property
    def sha(self) -> str:
        if self.info.sha is None:
            raise ValueError("A repository is opened from HubClient.info, which sets the revision.")
        return self.info.sha

    async def tree(self) -> dict[str, TreeEntry]:
        """Files by path, sorted. Raises `TooLarge` past `max_files`."""
        async with self._lock:
            if self._tree is None:
                found: list[TreeEntry] = []
                async for entry in self.client.tree(self.key, self.sha, token=self.token, limit=self.max_files):
                    found.append(entry)
                    if self.on_listed and len(found) % _TELLING == 0:
                        self.on_listed(len(found))
                self._tree = {entry.path: entry for entry in sorted(found, key=lambda entry: entry.path)}
        return self._tree

    async def read(self, path: str, *, limit: int = MAX_TEXT) -> bytes:
        """A file the tree lists. Raises `NotFound` for any other path, `TooLarge`, `Upstream`."""
        entry = (await self.tree()).get(path)
        if entry is None:
            raise NotFound(f"No file {path[:200]!r} in {self.key}.")
        return await self.client.read(self.key, self.sha, path, token=self.token, limit=limit, expected=entry.size)

    async def read_range(self, path: str, start: int, end: int) -> bytes:
        """Bytes `start` up to, not including, `end` of a file the tree lists. Raises `NotFound`, `Upstream`."""
        if path not in await self.tree():
            raise NotFound(f"No file {path[:200]!r} in {self.key}.")
        return await self.client.read_range(self.key, self.sha, path, token=self.token, start=start, end=end)

    @asynccontextmanager
    async def read_many(
        self, paths: Iterable[str], *, limit: int = MAX_TEXT
    ) -> AsyncIterator[MemoryObjectReceiveStream[Fetched]]:
        """A stream of files as they arrive, in any order, as many at a time as the client has connections.

        Leaving the block early stops the rest. What a file lacks is in `Fetched.error`; do not raise it inside the
        block, where a task group would wrap it.
        """
        await self.tree()
        waiting = iter(list(paths))
        send, receive = anyio.create_memory_object_stream[Fetched](self.client.connections)

        async def fetch(out: MemoryObjectSendStream[Fetched]) -> None:
            async with out:
                for path in waiting:
                    try:
                        fetched = Fetched(path, await self.read(path, limit=limit))
                    except UserError as error:
                        fetched = Fetched(path, None, error)
                    await out.send(fetched)

        async with anyio.create_task_group() as group:
            async with send:
                for _ in range(self.client.connections):
                    group.start_soon(fetch, send.clone())
            async with receive:
                yield receive
            group.cancel_scope.cancel()
