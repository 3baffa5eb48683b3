"""The health of a task or an environment as it is told: words of ours, rewards and times."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rlx.answers.shown import Json
from rlx.health.verdict import NOP, ORACLE
from rlx.index.codec import say_in
from rlx.store.health import STATES, EnvHealth, State, TaskHealth, Trial
from rlx.texts import Say, say, words

LABELS: Final[Mapping[State, Say]] = {state: say(f"health.{state}") for state in STATES}


@dataclass(frozen=True, slots=True)
class Runs:
    """Of one agent."""

    n: int
    low: float | None
    """The least score of any run; None: none had one."""
    high: float | None
    seconds: float | None
    """A run's, on average."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    ref: str
    state: State
    reasons: tuple[Say, ...]
    oracle: Runs
    floor: Runs
    checked_at: datetime | None
    """None: it was never checked at this revision."""
    revision: str | None
    sandbox: str | None
    stale: bool = False
    """It was checked, at another revision."""

    @property
    def label(self) -> Say:
        return LABELS[self.state]


@dataclass(frozen=True, slots=True)
class EnvReport:
    revision: str | None
    total: int | None
    """Tasks of the environment."""
    tasks: tuple[TaskReport, ...]
    """Those that were checked at the revision, the broken ones first."""

    def count(self, state: State) -> int:
        return sum(task.state == state for task in self.tasks)

    @property
    def unchecked(self) -> int | None:
        return None if self.total is None else max(0, self.total - len(self.tasks))

    @property
    def checked_at(self) -> datetime | None:
        return max((task.checked_at for task in self.tasks if task.checked_at is not None), default=None)


def task_report(known: EnvHealth, ref: str, revision: str | None) -> TaskReport:
    """What is known of a task at a revision: unproven where that is nothing."""
    found = known.tasks.get(ref)
    if found is None or found.revision != revision:
        nothing, stale = _runs(()), found is not None
        reasons = (say("health.reason_stale"),) if stale else ()
        return TaskReport(ref, "unproven", reasons, nothing, nothing, None, revision, None, stale)
    return _of(found)


def evidence(report: TaskReport) -> list[str]:
    """What runs proved of a task, as lines of Markdown in English; none where nobody ran it at the revision."""
    if report.checked_at is None:
        return []
    lines = [f"Runs on {report.checked_at:%Y-%m-%d} ({report.sandbox or 'a sandbox'}) found it {report.state}:", ""]
    lines += [f"- {words(reason)}" for reason in report.reasons]
    for title, runs in (("Reference solution", report.oracle), ("Doing nothing", report.floor)):
        if runs.n:
            scores = "no reward" if runs.low is None or runs.high is None else f"{runs.low:g} to {runs.high:g}"
            lines.append(f"- {title}: {runs.n} run{'s' if runs.n > 1 else ''}, {scores}")
    return lines


def env_report(known: EnvHealth, revision: str | None, total: int | None) -> EnvReport:
    order = {state: place for place, state in enumerate(("broken", "unproven", "proven"))}
    tasks = sorted(map(_of, known.at(revision).values()), key=lambda task: (order[task.state], task.ref))
    return EnvReport(revision, total, tuple(tasks))


def _of(found: TaskHealth) -> TaskReport:
    reasons = [say(f"health.reason_{found.reason.replace('-', '_')}")] if found.reason is not None else []
    if isinstance(found.why, Mapping):
        reasons.append(say_in(found.why))
    oracle, floor = _runs(found.of(ORACLE)), _runs(found.of(NOP))
    return TaskReport(
        found.ref, found.state, tuple(reasons), oracle, floor, found.checked_at, found.revision, found.sandbox
    )


def _runs(trials: Sequence[Trial]) -> Runs:
    scores = [score for trial in trials for score in trial.scores]
    seconds = [trial.seconds for trial in trials if trial.seconds is not None]
    mean = round(sum(seconds) / len(seconds), 1) if seconds else None
    return Runs(len(trials), min(scores, default=None), max(scores, default=None), mean)


def task_json(task: TaskReport, told: Mapping[Say, str]) -> dict[str, Json]:
    """`told` is what its reasons say in some language."""
    return {
        "ref": task.ref,
        "state": task.state,
        "reasons": [told[reason] for reason in task.reasons],
        "oracle": _runs_json(task.oracle),
        "floor": _runs_json(task.floor),
        "sandbox": task.sandbox,
        "revision": task.revision,
        "checked_at": None if task.checked_at is None else task.checked_at.isoformat(),
        "stale": task.stale,
    }


def counts_json(report: EnvReport) -> dict[str, Json]:
    return {**{state: report.count(state) for state in STATES}, "unchecked": report.unchecked}


def reasons_of(tasks: Iterable[TaskReport]) -> set[Say]:
    return {reason for task in tasks for reason in task.reasons}


def _runs_json(runs: Runs) -> dict[str, Json]:
    return {"runs": runs.n, "low": runs.low, "high": runs.high, "seconds": runs.seconds}
