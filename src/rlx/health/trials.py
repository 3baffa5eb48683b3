"""Proves tasks by running them: the reference solution has to earn everything, doing nothing has to earn less.

What is known of a task at a revision is kept, so that a check that was stopped goes on where it was. What the solution
does is looked at by nobody: of its rollouts the rewards, the times and the kind of a failure are taken.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, Protocol

import anyio
import anyio.to_thread

from rlx.errors import BadInput, UserError
from rlx.health.verdict import NOP, ORACLE, is_evidence, scores_of, verdict
from rlx.ids import EnvKey
from rlx.index.codec import text_out
from rlx.model import RunOption, Viewer
from rlx.rollout import Rollout
from rlx.runners.asked import Asked, Value
from rlx.runners.launch import RUNNER, Launcher
from rlx.store.health import HealthStore, Reason, State, TaskHealth, Trial
from rlx.store.rollouts.files import utc_now
from rlx.texts import Say

POLL: Final = 0.5
"""Seconds between two looks at a rollout."""
_REFUSED: Final = frozenset(
    f"harbor.run.{word}" for word in ("unparsed", "missing", "mark", "not_utf8", "refused", "no_image")
)
"""Reasons of an option that are Harbor's, whatever the machine."""

type Tell = Callable[[TaskHealth, bool], None]
"""Told of a task, and whether that was known before."""


class Views(Protocol):
    def find(self, id: str, viewer: Viewer | None) -> Rollout: ...


class Rollouts(Protocol):
    @property
    def views(self) -> Views: ...

    def stop(self, id: str, viewer: Viewer | None) -> Rollout: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """How tasks are to be proved."""

    times: int = 1
    """Runs of each of both agents."""
    at_once: int = 2
    minutes: float | None = None
    """For the agent of each; None leaves it to the task."""
    again: bool = False
    """Whatever is known."""
    judge: str | None = None
    """Of tasks that a model grades: see `rlx.runners.judge_asked`."""
    sandbox: str = "local"


@dataclass(slots=True)
class Trials:
    """Of one environment at one revision. Raises what starting a rollout raises, and `OSError` of the store."""

    key: EnvKey
    revision: str
    launcher: Launcher
    rollouts: Rollouts
    store: HealthStore
    viewer: Viewer
    wanted: Wanted = field(default_factory=Wanted)

    async def check(self, refs: Sequence[str], tell: Tell) -> list[TaskHealth]:
        """Of every ref, in their order. Cancelled, it stops what it started, and what was found is kept."""
        known = (await anyio.to_thread.run_sync(self.store.read, self.key)).at(self.revision)
        found: dict[str, TaskHealth] = {}
        slots = anyio.Semaphore(self.wanted.at_once)
        failed: list[UserError] = []

        async def one(ref: str) -> None:
            async with slots:
                if failed:
                    return
                try:
                    health, was_known = await self._task(ref, None if self.wanted.again else known.get(ref))
                except UserError as error:  # carried out by hand: the task group would wrap it
                    failed.append(error)
                    return
                found[ref] = health
                tell(health, was_known)

        async with anyio.create_task_group() as group:
            for ref in refs:
                group.start_soon(one, ref)
        if failed:
            raise failed[0]
        return [found[ref] for ref in refs]

    async def _task(self, ref: str, known: TaskHealth | None) -> tuple[TaskHealth, bool]:
        held = [trial for trial in known.trials if is_evidence(trial)] if known is not None else []
        trials = [trial for agent in (ORACLE, NOP) for trial in _of(held, agent)[: self.wanted.times]]
        if known is not None and len(trials) == 2 * self.wanted.times and known.state != "unproven":
            return known, True
        option = await self._option(ref)
        obstacle = _obstacle(option, self.wanted.judge)
        if obstacle is not None or option is None:
            return await self._keep(ref, *(obstacle or ("unproven", "cannot-run", None)), ()), False
        for agent in (NOP, ORACLE) * self.wanted.times:  # an image that fails is told by the run that may be looked at
            if len(_of(trials, agent)) < self.wanted.times:
                trials.append(await self._trial(ref, agent, option))
                if not is_evidence(trials[-1]):
                    break
                await self._keep(ref, *verdict(trials, self.wanted.times), None, trials)
        return await self._keep(ref, *verdict(trials, self.wanted.times), None, trials), False

    async def _option(self, ref: str) -> RunOption | None:
        options = await self.launcher.options(self.key, ref, self.viewer)
        return next((each for each in options if (each.runner, each.sandbox) == (RUNNER, self.wanted.sandbox)), None)

    async def _trial(self, ref: str, agent: Literal["oracle", "nop"], option: RunOption) -> Trial:
        known = {each.key for each in option.fields}
        chosen: Mapping[str, Value] = {
            "minutes": self.wanted.minutes,
            "judge": self.wanted.judge,
            "keep_processes": True,  # the solution may be a server, and neither agent writes rewards behind its back
        }
        fields = {name: value for name, value in chosen.items() if value is not None and name in known}
        asked = Asked(str(self.key), ref, agent, sandbox=self.wanted.sandbox, fields=fields)
        rollout = await self.launcher.start(asked, self.viewer)
        if rollout.revision != self.revision:
            await self._stop(rollout)
            raise BadInput(f"{self.key} changed while it was checked.", hint="Check it again.")
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._stop, rollout)
            while not rollout.ended:
                await anyio.sleep(POLL)
                rollout = await anyio.to_thread.run_sync(self.rollouts.views.find, rollout.id, self.viewer)
            stack.pop_all()
        begun, ended, failure = rollout.started_at, rollout.finished_at, rollout.failure
        return Trial(
            agent=agent,
            rollout=rollout.id,
            scores=scores_of(rollout),
            cause=failure.cause if failure is not None else None,
            kind=failure.kind if failure is not None else None,
            seconds=round((ended - begun).total_seconds(), 1) if begun is not None and ended is not None else None,
        )

    async def _stop(self, rollout: Rollout) -> None:
        """A rollout that nobody waits for any more."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.rollouts.stop, rollout.id, self.viewer)

    async def _keep(
        self, ref: str, state: State, reason: Reason | None, why: Say | None, trials: Sequence[Trial]
    ) -> TaskHealth:
        health = TaskHealth(
            ref=ref,
            revision=self.revision,
            state=state,
            reason=reason,
            why=None if why is None else text_out(why),
            trials=tuple(trials),
            checked_at=utc_now(),
            sandbox=self.wanted.sandbox,
        )
        await anyio.to_thread.run_sync(partial(self.store.put, self.key, health))
        return health


def _of(trials: Sequence[Trial], agent: str) -> list[Trial]:
    return [trial for trial in trials if trial.agent == agent]


def _obstacle(option: RunOption | None, judge: str | None) -> tuple[State, Reason, Say | None] | None:
    """What keeps a task from being run at all."""
    if option is None:
        return "unproven", "cannot-run", None
    if not option.ok:
        why = option.reason if isinstance(option.reason, Say) else None
        if why is not None and why.key in _REFUSED:
            return "broken", "refused", why
        return "unproven", "cannot-run", why
    if ORACLE not in option.agents:
        return "unproven", "no-solution", None
    if judge is None and any(each.key == "judge" for each in option.fields):
        return "unproven", "no-judge", None
    if any(each.required for each in option.variables):
        return "unproven", "cannot-run", None
    return None
