"""Reads environments, a few at once, in rounds, until there is no more or a budget is used up."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

import anyio
import anyio.to_thread

from rlx.errors import Forbidden, RlxError, Upstream
from rlx.hub.client import HubClient
from rlx.ids import EnvKey
from rlx.index.entries import Entry, entry_of
from rlx.index.environment import IndexedEnvironment
from rlx.index.library import Library
from rlx.index.listing import is_open
from rlx.jobs.indexer.entries import Entries
from rlx.jobs.indexer.plan import Step
from rlx.jobs.indexer.state import Attempt
from rlx.model import ANONYMOUS

AT_ONCE = 4
IN_TROUBLE = 6
"""Failures of the Hub one after another after which it is taken for down, and its environments for blameless."""
MOST_INDEXED = 1_000_000
"""Tasks of one indexed environment that are searched across all."""

_log = logging.getLogger(__name__)

type OnEvent = Callable[[str, Mapping[str, object]], None]
"""Told what happens: a word, and facts that can be written as JSON."""


@dataclass(frozen=True, slots=True)
class Budget:
    minutes: float | None = None
    """Time for reading; a snapshot follows in any case."""
    count: int | None = None
    """Environments to read."""
    rows_each: int = 2_000
    """Tasks that are listed of an environment without an index of its own."""
    rows: int = 50_000
    """Tasks that are listed of all such environments in one run."""
    round: float = 10.0
    """Minutes after which what was read so far is published."""


@dataclass(slots=True)
class Outcome:
    entries: dict[EnvKey, Entry] = field(default_factory=dict)
    attempts: dict[str, Attempt] = field(default_factory=dict)
    failed: int = 0
    stopped: str | None = None
    """Why not all that was planned was read: time, count, rate, hub."""


class Readings:
    """The reading part of one run. Each environment's failure is its own."""

    def __init__(
        self,
        hub: HubClient,
        library: Library,
        entries: Entries,
        steps: Sequence[Step],
        budget: Budget,
        tell: OnEvent,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._hub = hub
        self._library = library
        self._entries = entries
        self._budget = budget
        self._tell = tell
        self._now = now
        self._rows_left = budget.rows
        self.outcome = Outcome(stopped=None if budget.count is None or budget.count >= len(steps) else "count")
        self._steps = steps[: budget.count]
        self._waiting = iter(enumerate(self._steps, 1))
        self._end = inf if budget.minutes is None else time.monotonic() + budget.minutes * 60
        self._suspects: list[tuple[str, Attempt]] = []
        """Failures that may be the Hub's, since the last success."""

    async def read(self) -> bool:
        """One round. True when there is more to read. Raises `OSError` when entries cannot be kept."""
        failure: OSError | None = None
        now = time.monotonic()
        ends = now + self._budget.round * 60
        more = True

        async def work() -> None:
            nonlocal failure, more
            while failure is None and not self._must_stop():
                place, step = next(self._waiting, (0, None))
                if step is None:
                    more = False
                    return
                try:
                    await self._one(step, place, len(self._steps))
                except OSError as error:
                    failure = error
                if time.monotonic() >= ends:
                    return

        with anyio.move_on_after(self._end - now) as scope:
            async with anyio.create_task_group() as group:
                for _ in range(AT_ONCE):
                    group.start_soon(work)
        if scope.cancelled_caught:
            self.outcome.stopped = "time"
        if failure is not None:
            raise failure
        if self.outcome.stopped not in ("hub", "rate"):
            self._blame()
        return more and self.outcome.stopped in (None, "count")

    def _must_stop(self) -> bool:
        if len(self._suspects) >= IN_TROUBLE:
            self.outcome.stopped = "hub"
        elif any(self._hub.budget.low(bucket) for bucket in ("api", "resolvers")):
            self.outcome.stopped = "rate"
        return self.outcome.stopped in ("hub", "rate")

    async def _one(self, step: Step, place: int, of: int) -> None:
        key = step.info.key
        start = time.monotonic()
        facts = {"id": str(key), "why": step.why, "n": place, "of": of}
        try:
            entry = await self._entry(key)
        except RlxError as error:
            self._fail(step, facts, error.message, passing=isinstance(error, Upstream) and bool(error.retry_after))
            return
        except OSError:
            raise
        except Exception as error:  # what no rule foresaw fails this environment, not the others
            _log.exception("reading %s failed", key)
            self._fail(step, facts, type(error).__name__, passing=False)
            return
        await anyio.to_thread.run_sync(self._entries.save, key, entry)
        self._blame()
        self.outcome.entries[key] = entry
        self._note_partial(step, entry)
        told = {"revision": entry.card.revision, "format": entry.card.format, "tasks": entry.card.tasks}
        seconds = round(time.monotonic() - start, 3)
        self._tell("read", {**facts, **told, "searched": len(entry.tasks), "seconds": seconds})

    async def _entry(self, key: EnvKey) -> Entry:
        """Read to the end, by nobody in particular: only what everybody may read gets in."""
        info = await self._library.info(key, ANONYMOUS)
        if not is_open(info):
            raise Forbidden(f"{key} is not open to everybody.")
        await self._library.open(key, ANONYMOUS, wait=None)
        async for _ in self._library.follow(key, ANONYMOUS):
            pass  # a large one opens before it is complete
        environment = await self._library.open(key, ANONYMOUS, wait=None)
        if isinstance(environment, IndexedEnvironment):
            entry = await entry_of(environment, info, limit=MOST_INDEXED)
        else:
            most = min(self._budget.rows_each, self._rows_left)
            self._rows_left -= most
            entry = await entry_of(environment, info, limit=most)
            self._rows_left += most - len(entry.tasks)
        if not is_open(await self._hub.info(key, token=False)):
            raise Forbidden(f"{key} was closed while it was read.")
        return entry

    def _note_partial(self, step: Step, entry: Entry) -> None:
        """An entry that lacks tasks for another reason than the budget is not asked for again today."""
        found, tasks = len(entry.tasks), entry.card.tasks or 0
        short = entry.indexed or (found < self._budget.rows_each and self._rows_left > 0)
        if found < tasks and short:
            reason = f"{found:,} of {tasks:,} tasks could be listed."
            attempt = Attempt(sha=step.info.sha, at=self._now(), reason=reason, failed=False)
            self.outcome.attempts[str(step.info.key)] = attempt

    def _fail(self, step: Step, facts: Mapping[str, object], reason: str, *, passing: bool) -> None:
        attempt = Attempt(sha=step.info.sha, at=self._now(), reason=reason)
        self.outcome.failed += 1
        if passing:
            self._suspects.append((str(step.info.key), attempt))
        else:
            self.outcome.attempts[str(step.info.key)] = attempt
        self._tell("failed", {**facts, "reason": reason})

    def _blame(self) -> None:
        """The Hub works: what failed before is the environments' own."""
        self.outcome.attempts |= dict(self._suspects)
        self._suspects.clear()
