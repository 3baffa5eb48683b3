"""What a snapshot is made of: a card of everything listed, and the tasks of what was read."""

from collections.abc import Mapping

from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.index.entries import Entry
from rlx.index.env_cards import failed_card, fresh_card, listed_card
from rlx.index.listing import Listing
from rlx.index.snapshot.rows import Content
from rlx.jobs.indexer.likeness import likenesses
from rlx.jobs.indexer.state import State
from rlx.model import EnvCard
from rlx.store.storage import Storage


def content_of(
    storage: Storage, hub: str, listing: Listing, entries: Mapping[EnvKey, Entry], state: State
) -> tuple[Content, Mapping[str, int]]:
    """The content and its figures. Likenesses are found here, before the snapshot is built.

    Raises `OSError` when they cannot be kept.
    """
    cards = [_card(info, entries.get(info.key), state) for info in listing.infos]
    tasks = {card.key: entries[card.key].tasks for card in cards if card.key in entries}
    alike = likenesses(storage, tasks)
    figures = {"environments": len(cards), "tasks": sum(map(len, tasks.values())), "alike": len(alike)}
    return Content(envs=cards, tasks=tasks, built_at=listing.at, hub=hub, alike=alike), figures


def _card(info: RepoInfo, entry: Entry | None, state: State) -> EnvCard:
    if entry is not None:
        return fresh_card(entry.card, info)
    reason = state.reason(info.key, info.sha)
    return listed_card(info) if reason is None else failed_card(info, reason)
