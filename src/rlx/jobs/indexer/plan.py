"""What a run reads, and in what order. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.index.entries import Entry
from rlx.index.listing import Listing
from rlx.jobs.indexer.state import State

type Why = Literal["changed", "format", "partial", "new"]

_ORDER: tuple[Why, ...] = ("changed", "format", "partial", "new")


@dataclass(frozen=True, slots=True)
class Step:
    """One environment to read."""

    info: RepoInfo
    why: Why
    """changed: at another revision; format: kept in an older one, or damaged; partial: lacks tasks; new: not known."""
    featured: bool


@dataclass(frozen=True, slots=True)
class Policy:
    """What decides whether an entry is good enough."""

    featured: Collection[str] = ()
    """Keys that come first."""
    hidden: Collection[str] = ()
    """Keys that are not read."""
    readers: Mapping[str, int] = field(default_factory=dict)
    """Version of each format's reader."""
    most: int = 0
    """Tasks that are listed of an environment without an index of its own."""


def plan(
    listing: Listing, entries: Mapping[EnvKey, Entry | None], state: State, policy: Policy, now: datetime
) -> tuple[Step, ...]:
    """Featured ones first, then changed, old formats, partial, never indexed; each in listing order, by trending.

    `entries` holds None for an entry that cannot be read.
    """
    steps = [
        Step(info, why, str(info.key) in policy.featured)
        for info in listing.infos
        if str(info.key) not in policy.hidden
        and (why := _why(info, entries, policy)) is not None
        and not state.waits(info.key, info.sha, now)
    ]
    return tuple(sorted(steps, key=lambda step: (not step.featured, _ORDER.index(step.why))))


def _why(info: RepoInfo, entries: Mapping[EnvKey, Entry | None], policy: Policy) -> Why | None:
    if info.key not in entries:
        return "new"
    entry = entries[info.key]
    if entry is None:
        return "format"
    if _changed(info, entry):
        return "changed"
    if entry.reader is not None and policy.readers.get(entry.card.format or "") != entry.reader:
        return "format"
    if not entry.complete and (entry.indexed or len(entry.tasks) < policy.most):
        return "partial"
    return None


def _changed(info: RepoInfo, entry: Entry) -> bool:
    if info.sha is None:  # the listing does not tell it: the date does as well
        return info.modified != entry.card.modified
    return info.sha != entry.card.revision
