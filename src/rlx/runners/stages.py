"""The stages that a rollout goes through: told as they begin and end, and each ended when it takes too long."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from rlx.errors import LimitError
from rlx.rollout import EventKind, Phase, Stage, Status

GRACE: Final = 60.0
"""Seconds over what a stage may take by itself, before it is ended from here."""
LIMITS: Final[Mapping[Stage, float]] = {
    "provision": 900.0,
    "prepare": 600.0,
    "agent": 4 * 3600.0,
    "verify": 3600.0,
    "close": 180.0,
}
"""Seconds, where nobody says otherwise."""
_STATUS: Final[Mapping[Stage, Status]] = {"agent": "running", "verify": "verifying"}


class Stages:
    """Of one rollout. `update` writes the record, `over` is called when a stage takes too long."""

    def __init__(
        self,
        update: Callable[..., object],
        emit: Callable[[EventKind, Mapping[str, Any]], None],
        clock: Callable[[], datetime],
        over: Callable[[LimitError], None],
        limits: Mapping[Stage, float] = LIMITS,
    ) -> None:
        self._update = update
        self._emit = emit
        self._clock = clock
        self._over = over
        self._limits = dict(limits)
        self._timer: asyncio.TimerHandle | None = None
        self.phases: tuple[Phase, ...] = ()

    @property
    def current(self) -> Stage | None:
        last = self.phases[-1] if self.phases else None
        return last.stage if last is not None and last.finished_at is None else None

    def limit(self, stage: Stage, seconds: float | None) -> None:
        """What a stage may take by itself; some more is granted. None leaves it as it is."""
        if seconds is not None:
            self._limits[stage] = seconds + GRACE
            if stage == self.current:
                self._watch(stage)

    def begin(self, stage: Stage) -> None:
        """End the current stage and begin another; the current one again changes nothing."""
        if stage == self.current:
            return
        self._end()
        self.phases = (*self.phases, Phase(stage=stage, started_at=self._clock()))
        status = {"status": _STATUS[stage]} if stage in _STATUS else {}
        self._update(stage=stage, phases=self.phases, **status)
        self._emit("stage", {"stage": stage, "state": "begun"})
        self._watch(stage)

    def finish(self) -> tuple[Phase, ...]:
        """End the last stage; the record is for whoever asks to write."""
        self._end()
        if self._timer is not None:
            self._timer.cancel()
        return self.phases

    def _end(self) -> None:
        if self.current is None:
            return
        last, now = self.phases[-1], self._clock()
        self.phases = (*self.phases[:-1], last.model_copy(update={"finished_at": now}))
        seconds = round((now - last.started_at).total_seconds(), 3)
        self._emit("stage", {"stage": last.stage, "state": "ended", "seconds": seconds})

    def _watch(self, stage: Stage) -> None:
        if self._timer is not None:
            self._timer.cancel()
        seconds = self._limits[stage]
        error = LimitError(f"The stage {stage!r} took longer than {seconds:.0f} seconds.")
        self._timer = asyncio.get_running_loop().call_later(seconds, self._over, error)
