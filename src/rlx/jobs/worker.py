"""A worker: leases rollouts, runs each in a slot, gives signs of life, and brings what failed into a true state.

It knows nothing of how a rollout is run: runners do. Whatever happens to a rollout in its hands ends in a record, but
for the death of the process, after which others recover it.
"""

import asyncio
import logging
import shutil
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from rlx.errors import (
    AgentError,
    LimitError,
    ModelError,
    RlxError,
    RolloutError,
    SandboxError,
    TaskError,
    UserError,
    VerifierError,
    boundary,
)
from rlx.jobs.pen import Pen
from rlx.jobs.queue import Offer
from rlx.jobs.queue_held import Held
from rlx.jobs.queue_service import Rollouts
from rlx.rollout import Cause, Failure, Rollout
from rlx.runners.base import Outcome, Run, Runner
from rlx.runners.stages import Stages
from rlx.runners.workers import Handed
from rlx.store.rollouts.states import LeaseLost, WrongState

_log = logging.getLogger(__name__)

BEAT: Final = 1.0
"""Seconds between two signs of life, and so till a stop is heard of."""
LOOK: Final = 2.0
"""Seconds between two looks at the queue, where nobody calls."""
RECOVER: Final = 30.0
END: Final = 45.0
"""Seconds that a cancelled rollout has to clean up."""
_MOST_HANDED: Final = 2000
_CAUSES: Final[Mapping[type[RolloutError], Cause]] = {
    ModelError: "model",
    SandboxError: "sandbox",
    AgentError: "agent",
    TaskError: "task",
    VerifierError: "verifier",
    LimitError: "limit",
}

type Materialize = Callable[[Rollout, Handed, Path], Awaitable[Path]]
"""Writes a rollout's task below a folder. Raises `UserError`."""
type Why = Literal["stopped", "lost", "ending"] | Exception


@dataclass(slots=True)
class _Slot:
    held: Held
    task: "asyncio.Task[None]"
    why: Why | None = None
    """For what it was cancelled."""


@dataclass(slots=True)
class Worker:
    id: str
    rollouts: Rollouts
    runners: Mapping[str, Runner]
    offer: Offer
    materialize: Materialize
    folder: Path
    """Where each rollout has a folder while it runs. Nobody else's."""
    clean: Callable[[], object] = lambda: None
    """Removes what killed workers left. Blocks."""
    gone: Callable[[], list[str]] = list
    """Names of workers that are known to be dead. Blocks."""
    slots: dict[str, _Slot] = field(default_factory=dict)
    _handed: OrderedDict[str, Handed] = field(default_factory=OrderedDict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, rollout: str, handed: Handed | None) -> None:
        """There is a rollout, and what no record holds of it."""
        if handed is not None:
            self._handed[rollout] = handed
            while len(self._handed) > _MOST_HANDED:
                self._handed.popitem(last=False)
        self._wake.set()

    async def run(self, ending: asyncio.Event) -> None:
        """Work until `ending` is set; rollouts that run then are given back, or interrupted."""
        await self._recover()
        loops = [asyncio.create_task(work()) for work in (self._lease_on, self._beat_on, self._recover_on)]
        stopped = asyncio.create_task(ending.wait())
        try:
            done, _ = await asyncio.wait([*loops, stopped], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for work in (*loops, stopped):
                work.cancel()
            await asyncio.gather(*loops, stopped, return_exceptions=True)
            await self._end()
        for each in done - {stopped}:
            each.result()

    async def _lease_on(self) -> None:
        while True:
            self._wake.clear()
            held = None
            if len(self.slots) < sum(self.offer.sandboxes.values()):
                try:
                    held = await asyncio.to_thread(self.rollouts.queue.lease, self.id, self.offer)
                except (OSError, RlxError) as error:
                    _log.warning("No rollout can be leased: %s", error)
            if held is not None:
                self._start(held)
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK)

    def _start(self, held: Held) -> None:
        id = held.rollout.id
        task = asyncio.create_task(self._play(held), name=f"rollout {id}")
        self.slots[id] = _Slot(held, task)

        def ended(_: "asyncio.Task[None]") -> None:
            self.slots.pop(id, None)
            self._handed.pop(id, None)
            self._wake.set()

        task.add_done_callback(ended)

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            for slot in list(self.slots.values()):
                try:
                    is_stopped = await asyncio.to_thread(slot.held.beat)
                except LeaseLost:
                    self._cancel(slot, "lost")
                except (OSError, RlxError) as error:
                    _log.warning("Rollout %s gives no sign of life: %s", slot.held.rollout.id, error)
                else:
                    if is_stopped:
                        self._cancel(slot, "stopped")

    async def _recover_on(self) -> None:
        while True:
            await asyncio.sleep(RECOVER)
            await self._recover()

    async def _recover(self) -> None:
        try:
            gone = await asyncio.to_thread(self.gone)
            await asyncio.to_thread(lambda: self.rollouts.recover(gone=gone))
            await asyncio.to_thread(self.clean)
        except (OSError, RlxError) as error:
            _log.warning("What others left could not be recovered: %s", error)

    async def _end(self) -> None:
        for slot in list(self.slots.values()):
            self._cancel(slot, "ending")
        running = [slot.task for slot in self.slots.values()]
        if running:
            await asyncio.wait(running, timeout=END)

    def _cancel(self, slot: _Slot, why: Why) -> None:
        """Once: the first reason is the one that is told."""
        if slot.why is None:
            slot.why = why
            slot.task.cancel()

    # One rollout

    async def _play(self, held: Held) -> None:
        rollout, clock = held.rollout, self.rollouts.queue.clock
        work = self.folder / rollout.id
        notes: list[str] = []
        loop = asyncio.get_running_loop()

        def failed(error: Exception) -> None:
            loop.call_soon_threadsafe(self._unwritten, rollout.id, error)

        pen = Pen(held, clock, failed)
        stages = Stages(pen.change, pen.say, clock, lambda error: self._over(rollout.id, error))
        try:
            try:
                changes: dict[str, Any] | None = await self._attempt(held, pen, stages, work, notes)
            except asyncio.CancelledError:
                changes = self._cancelled(held)
            except LeaseLost:
                raise
            except Exception as error:
                changes = _failed(error, rollout.id)
            await asyncio.to_thread(partial(_finish, held, pen, stages, notes, changes))
        except (LeaseLost, WrongState) as error:
            _log.warning("Rollout %s is not this worker's any more: %s", rollout.id, error)
        except (OSError, UserError) as error:
            _log.error("The end of rollout %s cannot be written: %s", rollout.id, error)
        finally:
            await asyncio.shield(asyncio.to_thread(_leave, held, pen, work))

    async def _attempt(self, held: Held, pen: Pen, stages: Stages, work: Path, notes: list[str]) -> dict[str, Any]:
        rollout = held.rollout
        handed = self._handed.get(rollout.id, Handed())
        runner = self.runners[rollout.runner]
        stages.begin("provision")
        await asyncio.to_thread(_make_folders, work)
        async with boundary(TaskError, "Fetching the task"):
            task = await self.materialize(rollout, handed, work / "task")

        def note(text: str) -> None:
            if text not in notes:
                notes.append(text)
                pen.say("note", {"text": text})

        def keep(path: str, data: bytes) -> None:
            held.keep(path, data)

        run = Run(rollout, handed, task, work / "trial", stages, pen.say, keep, note, pen.settle)
        async with boundary(AgentError, "Running the rollout"):
            return _scored(await runner.run(run))

    def _unwritten(self, id: str, error: Exception) -> None:
        """What a rollout said could not be written down."""
        slot = self.slots.get(id)
        if slot is not None:
            self._cancel(slot, "lost" if isinstance(error, LeaseLost | WrongState) else error)

    def _over(self, id: str, error: LimitError) -> None:
        slot = self.slots.get(id)
        if slot is not None:
            self._cancel(slot, error)

    def _cancelled(self, held: Held) -> dict[str, Any] | None:
        """What is written of a rollout that was cancelled; None: it is given back."""
        slot = self.slots.get(held.rollout.id)
        why = slot.why if slot is not None else "ending"
        match why:
            case Exception():
                return _failed(why, held.rollout.id)
            case "lost":
                raise LeaseLost(f"Rollout {held.rollout.id} was taken over.")
            case "stopped":
                failure = Failure(cause="person", kind="cancelled", message="It was stopped while it ran.")
                return {"status": "cancelled", "failure": failure, "graded": False}
        return None


def _make_folders(work: Path) -> None:
    for name in ("task", "trial"):
        (work / name).mkdir(parents=True, mode=0o700)


def _finish(held: Held, pen: Pen, stages: Stages, notes: list[str], changes: dict[str, Any] | None) -> None:
    """Write the end of a rollout. Blocks."""
    phases = stages.finish()
    if changes is None:
        pen.finish()
        held.release()
        return
    failure = changes.get("failure")
    if isinstance(failure, Failure) and changes["status"] != "done":
        pen.say("error", {"text": failure.message, "kind": failure.kind})
    end = {**changes, "phases": phases, "notes": tuple(notes)}
    pen.change(**end)
    try:
        pen.finish()
    except (OSError, UserError):  # a disk or a database that failed may have come back since
        held.update(**end)


def _leave(held: Held, pen: Pen, work: Path) -> None:
    """Blocks."""
    with suppress(Exception):  # which was told when it happened
        pen.finish()
    held.close()
    shutil.rmtree(work, ignore_errors=True)


def _scored(outcome: Outcome) -> dict[str, Any]:
    has_scores = bool(outcome.rewards) and not outcome.voided
    return {
        "status": "done" if has_scores else "failed",
        "reward": outcome.reward if not outcome.voided else None,
        "reward_key": outcome.reward_key if not outcome.voided else None,
        "rewards": dict(outcome.rewards),
        "graded": outcome.graded,
        "failure": outcome.failure,
        "usage": outcome.usage,
        "cost": outcome.cost,
        "judge_calls": outcome.judge_calls,
        "judge_usage": outcome.judge_usage,
        "judge_cost": outcome.judge_cost,
        "steps": outcome.steps,
        "versions": dict(outcome.versions),
    }


def _failed(error: Exception, id: str) -> dict[str, Any]:
    match error:
        case RolloutError():
            cause = next((cause for kind, cause in _CAUSES.items() if isinstance(error, kind)), "worker")
            kind = "limit" if isinstance(error, LimitError) else "error"
            if error.__cause__ is not None:
                _log.error("Rollout %s failed", id, exc_info=error)
            message = error.message if error.hint is None else f"{error.message} {error.hint}"
        case UserError():
            cause, kind, message = "task", "unavailable", error.message
        case OSError():
            cause, kind, message = "worker", "disk", f"What happened could not be written down: {error.strerror}."
        case _:
            _log.error("A fault of ours ended rollout %s", id, exc_info=error)
            cause, kind, message = "worker", "bug", f"A fault of ours: {type(error).__name__}."
    failure = Failure(cause=cause, kind=kind, message=message)
    return {"status": "failed", "failure": failure, "graded": False}
