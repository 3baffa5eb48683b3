"""The environments that one visitor alone may see, merged into what everybody sees, for that visitor alone."""

import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio.to_thread

from rlx.formats.kinds import HUB_TAGS, SPACE_TAGS, is_environment
from rlx.hub.client import HubClient
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey, Kind
from rlx.index.env_cards import listed_card
from rlx.index.filters import spelled
from rlx.index.health import NOTHING
from rlx.index.snapshot.environments import FACETS, facets
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.rows import Content
from rlx.index.snapshot.write import write_snapshot
from rlx.model import KINDS, EnvCard, EnvPage, EnvQuery, Viewer
from rlx.store.health import Book
from rlx.store.instance import Instance

KEPT_FOR = 60.0
"""Seconds a visitor's list is used before it is fetched again."""
MAX_ACCOUNTS = 12
"""Of a visitor: their own, and organisations."""
_VISITORS = 64
_WHERE: tuple[tuple[Kind, tuple[str, ...]], ...] = (("dataset", HUB_TAGS), ("space", SPACE_TAGS))


@dataclass(frozen=True, slots=True)
class _Own:
    snapshot: Snapshot
    at: float


class Mine:
    """One for the process; what it keeps is keyed by the visitor's token. `folder` is on local disk."""

    def __init__(self, hub: HubClient, *, folder: Path, everything: bool, clock: Callable[[], float]) -> None:
        self._hub = hub
        self._folder = folder
        self._everything = everything
        self._clock = clock
        self._kept: OrderedDict[str, _Own] = OrderedDict()

    async def snapshot(self, viewer: Viewer) -> Snapshot | None:
        """The private environments of a visitor's account and organisations; None for one without a token.

        Raises `UserError`.
        """
        if viewer.token is None:
            return None
        own = self._kept.get(viewer.scope)
        if own is None or self._clock() - own.at >= KEPT_FOR:
            infos = await self._list(viewer.token)
            own = _Own(await anyio.to_thread.run_sync(self._build, infos), self._clock())
            self._kept[viewer.scope] = own
        self._kept.move_to_end(viewer.scope)
        while len(self._kept) > _VISITORS:
            self._kept.popitem(last=False)
        return own.snapshot

    async def _list(self, token: str) -> list[RepoInfo]:
        found: dict[EnvKey, RepoInfo] = {}
        for account in (await self._hub.accounts(token))[:MAX_ACCOUNTS]:
            for kind, tags in _WHERE:
                for info in await self._hub.repos(kind, token=token, author=account):
                    known = self._everything or any(tag.removeprefix("library:") in tags for tag in info.tags)
                    if info.private and known and is_environment(info):
                        found[info.key] = info
        return list(found.values())

    def _build(self, infos: list[RepoInfo]) -> Snapshot:
        path = self._folder / f".mine.{secrets.token_hex(6)}.db"
        try:
            write_snapshot(path, Content([listed_card(info) for info in infos], {}, datetime.now(UTC)))
            return Snapshot(path)
        finally:
            path.unlink(missing_ok=True)


def merged(public: Snapshot, own: Snapshot, query: EnvQuery, instance: Instance, book: Book = NOTHING) -> EnvPage:
    """One page over both: a visitor's own come first by trend, and among equals; every count is of both."""
    end = query.offset + query.limit
    wide = replace(query, offset=0, limit=end)
    pages = own.environments(wide, instance, book), public.environments(wide, instance, book)
    items = [card for page in pages for card in page.items]
    key = _SORTS.get(query.sort)
    if key is not None:
        items.sort(key=key)
    counts = {name: Counter[str]() for name in FACETS}
    for snapshot in (own, public):
        for name, values in snapshot.counted(query, instance, book).items():
            counts[name].update(values)
    kinds = Counter(dict(pages[1].kinds))
    kinds.update(dict(pages[0].kinds))
    return EnvPage(
        items=tuple(items[query.offset : end]),
        total=sum(page.total for page in pages),
        kinds=tuple((kind, kinds[kind]) for kind in KINDS if kinds[kind]),
        facets=facets(counts, replace(query, filters=spelled(query.filters, counts))),
        environments=sum(page.environments for page in pages),
        tasks=sum(page.tasks for page in pages),
        offset=query.offset,
        limit=query.limit,
        unknown=tuple(item for item in pages[1].unknown if item in pages[0].unknown),
    )


def _falling(value: float | None) -> tuple[bool, float]:
    """Greatest first, unknown last."""
    return value is None, -(value or 0)


_SORTS: dict[str, Callable[[EnvCard], tuple[bool, float] | str]] = {
    "updated": lambda card: _falling(card.modified.timestamp() if card.modified else None),
    "tasks": lambda card: _falling(card.tasks),
    "downloads": lambda card: _falling(card.downloads),
    "likes": lambda card: _falling(card.likes),
    "name": lambda card: card.key.repo_id.lower(),
}
