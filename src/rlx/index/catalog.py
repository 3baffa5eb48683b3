"""The catalog that pages and the API ask: the published snapshot where there is one, else what this process knows.

What operators set, hidden environments, pins and collections, is applied to every query.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

import anyio.abc
import anyio.to_thread

from rlx.ids import EnvKey
from rlx.index.health import NOTHING
from rlx.index.live import Live, OnRead
from rlx.index.mine import Mine, merged
from rlx.index.snapshot.follow import Follower
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.rows import Counts
from rlx.model import EnvCard, EnvPage, EnvQuery, Relative, TaskHits, TaskSearch, Viewer
from rlx.store.health import Book, HealthStore
from rlx.store.instance import Instance, InstanceFile

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class CatalogStatus:
    """Which catalog is in use, and how old it is."""

    source: Literal["published", "process", "none"]
    """A snapshot of the store, one this process built, or none yet."""
    db: str | None
    built_at: datetime | None
    """When its listing was made."""
    counts: Counts | None
    since: datetime | None
    """When it was taken into use here."""
    checked: datetime | None
    """When the store was last looked at."""
    error: str | None
    """What kept the last look from using what the store's pointer names."""


class Catalog:
    """Environments that everybody may see. `hub` is where a published snapshot must have been made from."""

    def __init__(
        self,
        live: Live,
        mine: Mine,
        instance: InstanceFile,
        follower: Follower | None,
        *,
        hub: str,
        health: HealthStore | None = None,
    ) -> None:
        self._live = live
        self._mine = mine
        self._instance = instance
        self._follower = follower
        self._hub = hub
        self._health = health

    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
        """One page of environments. Raises `Upstream` when no listing could ever be had."""
        own = await self._mine.snapshot(viewer) if query.mine else None
        if own is None:
            page = await self._ask(lambda snapshot, instance: snapshot.environments(query, instance, self._book()))
        else:
            page = await self._ask(lambda snapshot, instance: merged(snapshot, own, query, instance, self._book()))
        return replace(page, building=self.published is None and self._live.reading)

    async def card(self, key: EnvKey) -> EnvCard | None:
        """None for what is not listed, or hidden."""
        return await self._ask(lambda snapshot, instance: snapshot.card(key, instance, self._book()))

    async def rank(self, key: EnvKey) -> tuple[int, int] | None:
        """Its place by trend among those of its kind, from 1, and how many those are. None when it is not listed."""
        return await self._ask(lambda snapshot, instance: snapshot.rank(key, instance))

    async def tasks(self, search: TaskSearch) -> TaskHits:
        """One page of the tasks of every environment that was read."""
        return await self._ask(lambda snapshot, instance: snapshot.tasks(search, instance, self._book()))

    async def relatives(self, key: EnvKey, ref: str) -> tuple[Relative, ...]:
        """Tasks with the same files as this one, then those that say nearly the same."""
        return await self._ask(lambda snapshot, instance: snapshot.relatives(key, ref, instance))

    async def random(self) -> tuple[EnvKey, str] | None:
        """A task of some environment that was read, each environment equally likely; None when none was."""
        return await self._ask(lambda snapshot, instance: snapshot.random(instance))

    async def all(
        self, viewer: Viewer, on_read: OnRead | None = None, *, limit: int | None = None, tasks: bool = False
    ) -> list[EnvCard]:
        """Every listed environment, each claimed and, where its format has an index, read. In listing order.

        With `tasks`, theirs are searched from now on, where no snapshot is in use.
        """
        return await self._live.all(viewer, on_read, limit=limit, tasks=tasks)

    def ready(self) -> bool:
        return self.published is not None or self._live.current is not None

    async def follow(self, group: anyio.abc.TaskGroup) -> None:
        """Look for a published snapshot now and, in `group`, from now on; without one keep the process's own."""
        if self._follower is not None:
            await self._follower.check()
            group.start_soon(self._follower.run)
        group.start_soon(self._live.keep, lambda: self.published is None)

    def status(self) -> CatalogStatus:
        """What is in use, and how the last look at the store went."""
        told = None if self._follower is None else self._follower.status
        checked, error = (None, None) if told is None else (told.checked, told.error)
        used = None if self._follower is None else self._follower.current
        if used is not None and self.published is None:
            error = f"the store's snapshot is of another hub, {used.hub}"
        elif told is not None and used is not None:
            return CatalogStatus("published", told.db, told.built_at, told.counts, told.since, checked, error)
        own = self._live.current
        if own is None:
            return CatalogStatus("none", None, None, None, None, checked, error)
        return CatalogStatus("process", None, own.built_at, own.counts, None, checked, error)

    async def look_through(self) -> None:
        """Know now what `follow` would in a while, where no snapshot is published."""
        await self._live.look_through()

    def _book(self) -> Book:
        """What is known of the health of tasks. Blocks where it was not looked at for a while."""
        return NOTHING if self._health is None else self._health.book()

    async def _ask[T](self, question: Callable[[Snapshot, Instance], T]) -> T:
        """The snapshot in use when the question is asked answers it, whatever is swapped in meanwhile."""
        snapshot = self.published or await self._live.snapshot()
        return await anyio.to_thread.run_sync(question, snapshot, self._instance.current())

    @property
    def published(self) -> Snapshot | None:
        """The store's snapshot, when it is of this hub."""
        found = None if self._follower is None else self._follower.current
        return found if found is not None and same_hub(found.hub, self._hub) else None


def same_hub(one: str, other: str) -> bool:
    """Whether two names mean one hub. A loopback address is a local hub on any port, and so may be any folder."""
    if one == other or not (one and other):
        return True
    web = [urlsplit(name) for name in (one, other) if name.startswith(("http://", "https://"))]
    return any(name.hostname in _LOOPBACK for name in web) and all(name.hostname in _LOOPBACK for name in web)
