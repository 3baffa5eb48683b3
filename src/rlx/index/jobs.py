"""First readings in progress: one job an environment and revision, whoever asks; followed by any number of viewers."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Literal

import anyio
import anyio.abc

from rlx.errors import RlxError, Upstream
from rlx.model import Progress
from rlx.texts import say

_log = logging.getLogger(__name__)

type Work = Callable[["Job"], Awaitable[None]]


@dataclass(slots=True)
class Job:
    """One reading. `ready` is set as soon as something can be opened, `ended` at its end, `error` when it failed."""

    progress: Progress = field(default_factory=lambda: Progress("listing"))
    error: RlxError | None = None
    ready: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)
    changed: anyio.Event = field(default_factory=anyio.Event)

    def tell(self, progress: Progress) -> None:
        self.progress = progress
        self.changed.set()
        self.changed = anyio.Event()
        if progress.step in ("done", "failed"):
            self.ready.set()
            self.ended.set()

    async def follow(self) -> AsyncIterator[Progress]:
        """The progress now and at every change, up to the end."""
        while True:
            changed, progress = self.changed, self.progress
            yield progress
            if progress.step in ("done", "failed"):
                return
            await changed.wait()


class Jobs:
    """Runs readings in the services' task group; `turn` keeps their heavy parts few."""

    def __init__(self, group: anyio.abc.TaskGroup, *, at_once: int) -> None:
        self._group = group
        self._slots = anyio.Semaphore(at_once)
        self._afterwards = anyio.Semaphore(1)
        self._running: dict[tuple[str, ...], Job] = {}
        self._later: set[tuple[str, ...]] = set()

    def find(self, name: tuple[str, ...]) -> Job | None:
        return self._running.get(name)

    def start(self, name: tuple[str, ...], work: Work) -> Job:
        """The job called `name`, started when it is not running."""
        job = self._running.get(name)
        if job is None:
            job = self._running[name] = Job()
            self._group.start_soon(self._run, name, job, work)
        return job

    def later(self, name: tuple[str, ...], work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` when nothing more urgent of its kind runs: one at a time, once a process and name."""
        if name not in self._later:
            self._later.add(name)
            self._group.start_soon(self._run_later, name, work)

    async def _run_later(self, name: tuple[str, ...], work: Callable[[], Awaitable[None]]) -> None:
        async with self._afterwards:
            try:
                await work()
            except RlxError as error:
                _log.warning("second look at %s: %s", name[0], error.message)
            except Exception:  # as for a job: its failure is its own
                _log.exception("second look at %s failed", name[0])

    def turn(self) -> AbstractAsyncContextManager[object]:
        """What a job's heavy part waits for: only a few are read at once."""
        return self._slots

    async def _run(self, name: tuple[str, ...], job: Job, work: Work) -> None:
        try:
            await work(job)
        except RlxError as error:
            job.error = error
        except Exception as error:  # what no rule foresaw fails this job, not its siblings
            job.error = Upstream(
                f"Reading failed: {type(error).__name__}.", hint="Report it with the environment's name."
            )
            _log.exception("reading %s failed", name[0])
        finally:
            self._running.pop(name, None)
            if not job.ended.is_set():
                step: Literal["done", "failed"] = "failed" if job.error else "done"
                message = say("index.unreadable", reason=job.error.message) if job.error else None
                job.tell(replace(job.progress, step=step, left=None, message=message))
