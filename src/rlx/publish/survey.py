"""What the files of the whole catalog support, found in the background a few environments at a time, and kept."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import anyio
import anyio.to_thread

from rlx.errors import RlxError, Upstream
from rlx.hub.repo import Repo
from rlx.ids import EnvKey
from rlx.index.jobs import Job
from rlx.model import EnvCard
from rlx.publish.detect.base import Detection, Evidence
from rlx.publish.detect.detect import Detections
from rlx.publish.frameworks import FRAMEWORKS, MEMBER
from rlx.publish.survey_file import Kept, Looked, read_kept, write_kept
from rlx.texts import Say

CAP: Final = 1_000
"""Environments that are looked at, the first of the catalog: each costs the Hub some requests."""
AT_ONCE: Final = 3
EVIDENCE: Final = 3
"""Pieces of evidence kept for a framework."""
SAVED_EVERY: Final = 25
AGAIN: Final = 60.0
"""Seconds after the end of a look through the catalog before a visit starts another."""
TROUBLE: Final = 5
"""Times that the Hub may fail before a look is given up; the next visit goes on from there."""

type Group = Literal["claimed", "untagged"]
"""Tagged and not loadable; loadable, and lacking a tag."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do: an environment and a framework."""

    key: EnvKey
    framework: str
    group: Group
    missing: tuple[str, ...]
    """Tags that the card lacks."""
    evidence: tuple[Evidence, ...]
    rank: int
    """Its place in the catalog, from 0."""


@dataclass(slots=True)
class Survey:
    """One for the process; `file` outlives it."""

    detections: Detections
    file: Path
    clock: Callable[[], float]
    cap: int = CAP
    job: Job | None = None
    """The look that goes on, or the last one."""
    total: int = 0
    """Environments in the catalog; those past `cap` are not looked at."""
    _listed: tuple[EnvCard, ...] = ()
    _kept: Kept | None = None
    _ended: float | None = None
    _failures: int = 0

    @property
    def listed(self) -> tuple[EnvKey, ...]:
        """What is looked at, in the catalog's order."""
        return tuple(card.key for card in self._listed)

    def is_due(self) -> bool:
        running = self.job is not None and not self.job.ended.is_set()
        return not running and (self._ended is None or self.clock() - self._ended >= AGAIN)

    def looked(self, key: EnvKey) -> Looked | None:
        """What was found of an environment; None while it was not looked at."""
        return self._kept.get(str(key)) if self._kept is not None else None

    def items(self) -> tuple[Item, ...]:
        """All that is known to be done, in the catalog's order."""
        found: list[Item] = []
        for rank, card in enumerate(self._listed):
            looked = self.looked(card.key)
            if looked is not None:
                found += _items(card.key, looked, rank)
        return tuple(found)

    async def look(
        self,
        cards: Callable[[int], Awaitable[tuple[Sequence[EnvCard], int]]],
        repo: Callable[[EnvKey], Awaitable[Repo]],
    ) -> None:
        """Look at what is new or changed. `cards` gives the first of the catalog and how many it has, `repo` one as
        everybody may read it. Raises what `cards` raises."""
        try:
            if self._kept is None:
                self._kept = await anyio.to_thread.run_sync(read_kept, self.file)
            listed, self.total = await cards(self.cap)
            self._listed, self._failures = tuple(listed), 0
            await self._look_at_each(self._kept, repo)
        finally:
            self._ended = self.clock()

    async def _look_at_each(self, kept: Kept, repo: Callable[[EnvKey], Awaitable[Repo]]) -> None:
        names = {str(card.key) for card in self._listed}
        for gone in [name for name in kept if name not in names]:
            del kept[gone]
        waiting = [card for card in self._listed if _is_new(card, kept.get(str(card.key)))]
        slots, writing, done = anyio.Semaphore(AT_ONCE), anyio.Lock(), 0

        async def one(card: EnvCard) -> None:
            nonlocal done
            async with slots:
                if self._failures < TROUBLE:
                    await self._look_at(card, kept, repo)
            done += 1
            if done % SAVED_EVERY == 0 or done == len(waiting):
                async with writing:
                    await anyio.to_thread.run_sync(write_kept, self.file, dict(kept))

        async with anyio.create_task_group() as group:
            for card in waiting:
                group.start_soon(one, card)

    async def _look_at(self, card: EnvCard, kept: Kept, repo: Callable[[EnvKey], Awaitable[Repo]]) -> None:
        try:
            found = await self.detections.of(await repo(card.key))
        except Upstream as error:
            self._failures += 1
            _log.info("%s was not looked at: %s", card.key, error.message)
        except RlxError:
            kept[str(card.key)] = Looked(card.revision, readable=False)
        except Exception:  # one environment's trouble is its own; the others are still looked at
            _log.exception("looking at %s failed", card.key)
            kept[str(card.key)] = Looked(card.revision, readable=False)
        else:
            kept[str(card.key)] = _looked(card.revision, found)


def _is_new(card: EnvCard, looked: Looked | None) -> bool:
    return looked is None or looked.revision != card.revision


def _looked(revision: str | None, found: Detection) -> Looked:
    states = {support.framework: support.state for support in found.supports}
    evidence = {
        # A text of ours can be kept in a file. Words of a repository come proven to be shown; those of a file do not.
        support.framework: tuple(seen for seen in support.evidence if isinstance(seen.told, Say))[:EVIDENCE]
        for support in found.supports
    }
    return Looked(revision, True, found.member, found.whole, states, evidence)


def _items(key: EnvKey, looked: Looked, rank: int) -> list[Item]:
    found: list[Item] = []
    for framework, state in looked.states.items():
        evidence = looked.evidence.get(framework, ())
        if state == "claimed":
            # Of a repository too big to list, files that were not seen may hold what the tag claims.
            if looked.whole:
                found.append(Item(key, framework, "claimed", (), evidence, rank))
            continue
        member = () if looked.member else (MEMBER,)
        missing = (*member, *((framework,) if state == "untagged" else ()))
        if missing and framework in FRAMEWORKS:
            found.append(Item(key, framework, "untagged", missing, evidence, rank))
    return found
