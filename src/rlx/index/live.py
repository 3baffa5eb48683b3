"""The catalog as this process alone knows it: a listing, and what was read here, built into the same database.

Used where no snapshot was published. On a local hub every environment is read in the background, so that counts and
kinds come from the files; on the Hub what was never opened on this store is known by its tags alone.
"""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread

from rlx.errors import NotReady, UserError
from rlx.formats.base import Environment
from rlx.hub.client import HubClient
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.index import similar
from rlx.index.entries import Entry, entry_of
from rlx.index.env_cards import failed_card, fresh_card, listed_card, read_card
from rlx.index.environment import IndexedEnvironment
from rlx.index.library import Library
from rlx.index.listing import list_hub, read_listing
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.index.snapshot.write import write_snapshot
from rlx.model import ANONYMOUS, EnvCard, Viewer

READ_AT_ONCE = 4
READ_AGAIN = 30.0
"""Seconds after which a local hub is looked through for what changed."""
INDEXED_TASKS = 20_000
LISTED_TASKS = 1_000
"""Tasks of one environment that are searched: of one with an index, and of one whose tasks must be listed."""
COMPARED = 2_000
"""Tasks up to which this process looks for those that say nearly the same; past it the indexer does."""
_QUICK = 0.25
"""Seconds of a build that a visitor waits for; a longer one goes on behind the database before it."""
_REST = 20
"""Times its own length that a longer build rests before the next."""

_log = logging.getLogger(__name__)

type OnRead = Callable[[int, int], None]
"""Told how many environments are read, of how many."""


@dataclass(frozen=True, slots=True)
class _Listing:
    infos: tuple[RepoInfo, ...]
    at: datetime
    fetched: float


class Live:
    """`folder` is on local disk; `stored` is a listing that the indexer keeps, used while it is fresh."""

    def __init__(
        self,
        hub: HubClient,
        library: Library,
        group: anyio.abc.TaskGroup,
        *,
        folder: Path,
        everything: bool,
        ttl: float,
        clock: Callable[[], float],
        stored: Path | None = None,
    ) -> None:
        self._hub = hub
        self._library = library
        self._group = group
        self._folder = folder
        self._everything = everything
        self._ttl = ttl
        self._clock = clock
        self._stored = stored
        self._listing: _Listing | None = None
        self._entries: dict[EnvKey, Entry] = {}
        self._lock = anyio.Lock()
        self._snapshot: Snapshot | None = None
        self._is_old = True
        self._built = self._took = 0.0
        self._refreshing = False
        self.reading = False
        """Whether environments are being read, so that counts will grow."""

    @property
    def current(self) -> Snapshot | None:
        return self._snapshot

    async def snapshot(self) -> Snapshot:
        """What is known now, or a moment ago. Raises `Upstream` when no listing could ever be had."""
        if self._snapshot is None or (self._everything and self._took <= _QUICK):
            await self._refresh()
        elif self._is_due() and not self._refreshing:
            self._refreshing = True
            self._group.start_soon(self._refresh_behind)
        if self._snapshot is None:
            raise NotReady("The list of environments is being made.", hint="Ask again in a few seconds.")
        return self._snapshot

    async def all(
        self, viewer: Viewer, on_read: OnRead | None = None, *, limit: int | None = None, tasks: bool = False
    ) -> list[EnvCard]:
        """Every listed environment, each claimed and, where its format has an index, read. In listing order.

        With `tasks`, theirs are searched from now on.
        """
        infos = (await self._infos()).infos[:limit]
        await self._read_each(infos, viewer, on_read, tasks=tasks)
        return [self._card(info) for info in infos]

    async def keep(self, is_needed: Callable[[], bool]) -> None:
        """While it is needed, have a listing and, of a local hub, everything read. Ends only when cancelled."""
        self.reading = self._everything
        while True:
            if is_needed():
                await self.look_through()
            await anyio.sleep(READ_AGAIN)

    async def look_through(self) -> None:
        """Know what is listed and can be known of it."""
        try:
            infos = (await self._infos()).infos
            if self._snapshot is None:
                await self._refresh()  # what the listing tells is searched before anything is read
            if self._everything:
                await self._read_each(infos, ANONYMOUS, None, tasks=True)
                self.reading = False
            else:
                await self._note_kept(infos)
            await self._refresh()
        except UserError as error:
            _log.info("the list of environments waits: %s", error.message)  # pages say so themselves
        except Exception:  # what no rule foresaw must not end the server; it is looked through again
            _log.exception("looking through the list of environments failed")

    async def _note_kept(self, infos: Sequence[RepoInfo]) -> None:
        """Remember what was read here, or is kept in the store, at the listed revision."""
        for info in infos:
            known = self._entries.get(info.key)
            if known is None or known.card.revision != info.sha:
                kept = self._library.kept(info)
                if kept is not None:
                    await self._note(kept, info)
            await anyio.lowlevel.checkpoint()

    async def _read_each(
        self, infos: Sequence[RepoInfo], viewer: Viewer, on_read: OnRead | None, *, tasks: bool
    ) -> None:
        done = 0

        async def read(info: RepoInfo) -> None:
            nonlocal done
            async with slots:
                await self._read(info, viewer, tasks=tasks)
            done += 1
            if on_read:
                on_read(done, len(infos))

        slots = anyio.Semaphore(READ_AT_ONCE)
        async with anyio.create_task_group() as group:
            for info in infos:
                group.start_soon(read, info)

    async def _read(self, info: RepoInfo, viewer: Viewer, *, tasks: bool) -> None:
        known = self._entries.get(info.key)
        if known and known.card.state == "ready" and known.card.revision == info.sha and (known.tasks or not tasks):
            return
        try:
            environment = await self._library.open(info.key, viewer, wait=None)
            listed = await self._library.info(info.key, viewer)
            if tasks:
                await self._note(environment, listed)
            else:
                self._remember(Entry(read_card(listed, await environment.summary())))
        except NotReady:
            return
        except UserError as error:
            self._remember(Entry(failed_card(info, error.message)))
        except Exception as error:  # one environment's trouble is its own; the others are still read
            _log.exception("reading %s failed", info.key)
            self._remember(Entry(failed_card(info, type(error).__name__)))

    async def _note(self, environment: Environment, info: RepoInfo) -> None:
        limit = INDEXED_TASKS if isinstance(environment, IndexedEnvironment) else LISTED_TASKS
        self._remember(await entry_of(environment, info, limit=limit))

    def _remember(self, entry: Entry) -> None:
        self._is_old = self._is_old or self._entries.get(entry.card.key) != entry
        self._entries[entry.card.key] = entry

    async def _infos(self) -> _Listing:
        if self._listing is None or self._clock() - self._listing.fetched >= self._ttl:
            try:
                infos, at = await self._fetch()
            except UserError:
                if self._listing is None:
                    raise
                infos, at = self._listing.infos, self._listing.at  # better an old list than none
            self._is_old = self._is_old or self._listing is None or infos != self._listing.infos
            self._listing = _Listing(infos, at, self._clock())
        return self._listing

    async def _fetch(self) -> tuple[tuple[RepoInfo, ...], datetime]:
        stored = None if self._stored is None else read_listing(self._stored)
        if stored is not None and stored.fresh(datetime.now(UTC)):
            return stored.infos, stored.at
        return await list_hub(self._hub, everything=self._everything), datetime.now(UTC)

    def _is_due(self) -> bool:
        stale = self._listing is None or self._clock() - self._listing.fetched >= self._ttl
        return (stale or self._is_old) and self._clock() - self._built >= self._took * _REST

    async def _refresh_behind(self) -> None:
        try:
            await self._refresh()
        except UserError as error:
            _log.info("the list of environments stays as it was: %s", error.message)
        except Exception:  # as above
            _log.exception("renewing the list of environments failed")
        finally:
            self._refreshing = False

    async def _refresh(self) -> None:
        """Fetch the listing when it is old, and build when anything changed."""
        async with self._lock:
            listing = await self._infos()
            if self._snapshot is not None and not self._is_old:
                return
            self._is_old = False
            cards = [self._card(info) for info in listing.infos]
            tasks = {card.key: self._entries[card.key].tasks for card in cards if card.key in self._entries}
            start = time.monotonic()
            self._snapshot = await anyio.to_thread.run_sync(self._build, cards, tasks, listing.at)
            self._took = time.monotonic() - start
            self._built = self._clock()

    def _build(self, cards: Sequence[EnvCard], tasks: dict[EnvKey, tuple[TaskRow, ...]], at: datetime) -> Snapshot:
        """The database is opened and its name let go of: nobody else is to read it."""
        path = self._folder / f".live.{secrets.token_hex(6)}.db"
        n = sum(map(len, tasks.values()))
        alike = similar.alike((key, row) for key, rows in tasks.items() for row in rows) if n <= COMPARED else ()
        try:
            write_snapshot(path, Content(cards, tasks, at, alike=alike))
            return Snapshot(path)
        finally:
            path.unlink(missing_ok=True)

    def _card(self, info: RepoInfo) -> EnvCard:
        known = self._entries.get(info.key)
        return listed_card(info) if known is None else fresh_card(known.card, info)
