"""The catalog in this process: a listing of the Hub, and what is known of each environment that was read.

On a local hub every environment is read in the background, so that counts and kinds come from the files; on the Hub
what has not been opened is known by its tags alone.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import randbelow

import anyio

from rlx.errors import NotReady, UserError
from rlx.hub.client import HubClient
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.index.env_cards import listed_card, read_card
from rlx.index.library import Library
from rlx.index.listing import list_hub, read_listing
from rlx.index.selection import Selection
from rlx.model import ANONYMOUS, EnvCard, EnvPage, EnvQuery, Summary, TaskHit, TaskQuery, Viewer
from rlx.store.instance import InstanceFile
from rlx.texts import say

READ_AT_ONCE = 4
READ_AGAIN = 30.0
"""Seconds after which a local hub is looked through for what changed."""
HITS = 50
"""Tasks of one environment that a search across all of them looks at."""

_log = logging.getLogger(__name__)

type OnRead = Callable[[int, int], None]
"""Told how many environments are read, of how many."""


@dataclass(frozen=True, slots=True)
class _Listing:
    infos: tuple[RepoInfo, ...]
    at: float


class Catalog:
    """Environments that everybody may see. `stored` is a listing that the indexer keeps; used while it is fresh."""

    def __init__(
        self,
        hub: HubClient,
        library: Library,
        instance: InstanceFile,
        *,
        everything: bool,
        ttl: float,
        clock: Callable[[], float],
        stored: Path | None = None,
    ) -> None:
        self._hub = hub
        self._instance = instance
        self._library = library
        self._everything = everything
        self._stored = stored
        self._ttl = ttl
        self._clock = clock
        self._listing: _Listing | None = None
        self._lock = anyio.Lock()
        self._cards: dict[EnvKey, EnvCard] = {}
        self._reading = False

    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
        """One page of environments. Raises `Upstream` when no listing could ever be had."""
        instance = self._instance.current()
        infos = [info for info in await self._infos() if not instance.hides(info.key)]
        cards = [self._card(info) for info in infos]
        selection = Selection(cards, query, instance)
        chosen = selection.sorted(query.sort)
        return EnvPage(
            items=tuple(chosen[query.offset : query.offset + query.limit]),
            total=len(chosen),
            kinds=selection.kinds(),
            facets=selection.facets(),
            environments=len(cards),
            tasks=sum(item.tasks or 0 for item in cards),
            offset=query.offset,
            limit=query.limit,
            building=self._reading,
        )

    async def all(self, viewer: Viewer, on_read: OnRead | None = None, *, limit: int | None = None) -> list[EnvCard]:
        """Every listed environment, each claimed and, where its format has an index, read. In listing order."""
        infos = (await self._infos())[:limit]
        done = 0

        async def read(info: RepoInfo) -> None:
            nonlocal done
            async with slots:
                await self._read(info, viewer, wait=None)
            done += 1
            if on_read:
                on_read(done, len(infos))

        slots = anyio.Semaphore(READ_AT_ONCE)
        async with anyio.create_task_group() as group:
            for info in infos:
                group.start_soon(read, info)
        return [self._card(info) for info in infos]

    async def read_all(self) -> None:
        """Keep everything read, in the background, so that the explore page knows it. Ends only when cancelled."""
        self._reading = True
        while True:
            try:
                await self.all(ANONYMOUS)
                self._reading = False
            except UserError as error:
                _log.info("reading everything waits: %s", error.message)  # pages say so themselves
            await anyio.sleep(READ_AGAIN)

    async def tasks(self, text: str, *, limit: int = 10) -> tuple[TaskHit, ...]:
        """Tasks of the environments read here that hold every word: first those that are called so."""
        hidden = self._instance.current()
        words = text.lower().split()
        found: list[TaskHit] = []
        for info in await self._infos():
            card = self._cards.get(info.key)
            if not words or card is None or not card.tasks or hidden.hides(info.key):
                continue
            try:
                environment = await self._library.open(info.key, ANONYMOUS)
                page = await environment.tasks(TaskQuery(text=text, limit=HITS))
            except UserError:
                continue  # gone or changed since it was read: the others still answer
            found += [TaskHit(info.key, task) for task in page.items]

        def named(hit: TaskHit) -> bool:
            return all(word in f"{hit.card.ref} {hit.card.title}".lower() for word in words)

        return tuple(sorted(found, key=lambda hit: not named(hit))[:limit])

    async def random(self, viewer: Viewer) -> tuple[EnvKey, str] | None:
        """A task of some environment that was read, each environment equally likely; None when none was."""
        hidden = self._instance.current()
        keys = [key for key, item in self._cards.items() if item.tasks and not hidden.hides(key)]
        while keys:
            key = keys.pop(randbelow(len(keys)))
            try:
                ref = await (await self._library.open(key, viewer)).random()
            except UserError:
                continue  # gone since it was read; another will do
            if ref is not None:
                return key, ref
        return None

    def ready(self) -> bool:
        return self._listing is not None

    async def note(self, summary: Summary, info: RepoInfo) -> None:
        """Remember what an opened environment said of itself, when everybody may see it."""
        if not info.restricted:
            self._cards[info.key] = read_card(info, summary)

    async def _infos(self) -> tuple[RepoInfo, ...]:
        async with self._lock:
            if self._listing is None or self._clock() - self._listing.at >= self._ttl:
                try:
                    infos = await self._fetch()
                except UserError:
                    if self._listing is None:
                        raise
                    infos = self._listing.infos  # better an old list than none
                self._listing = _Listing(infos, self._clock())
        return self._listing.infos

    async def _fetch(self) -> tuple[RepoInfo, ...]:
        stored = None if self._stored is None else read_listing(self._stored)
        if stored is not None and stored.fresh(datetime.now(UTC)):
            return stored.infos
        return await list_hub(self._hub, everything=self._everything)

    async def _read(self, info: RepoInfo, viewer: Viewer, *, wait: float | None) -> None:
        known = self._cards.get(info.key)
        if known and known.state == "ready" and known.revision == info.sha:
            return
        try:
            environment = await self._library.open(info.key, viewer, wait=wait)
            await self.note(await environment.summary(), await self._library.info(info.key, viewer))
        except NotReady:
            return
        except UserError as error:
            self._cards[info.key] = _failed(info, error.message)
        except Exception as error:  # one environment's trouble is its own; the others are still read
            _log.exception("reading %s failed", info.key)
            self._cards[info.key] = _failed(info, type(error).__name__)

    def _card(self, info: RepoInfo) -> EnvCard:
        known = self._cards.get(info.key)
        if known is None:
            return listed_card(info)
        return replace(
            known,
            downloads=info.downloads,
            likes=info.likes,
            trending=info.trending,
            modified=info.modified,
        )


def _failed(info: RepoInfo, reason: str) -> EnvCard:
    return replace(listed_card(info), state="failed", why=say("index.unreadable", reason=reason))
