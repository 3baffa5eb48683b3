"""What runs of a task say of it: pure."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from rlx.rollout import Rollout
from rlx.store.health import Reason, State, Trial

ORACLE: Final[Literal["oracle"]] = "oracle"
NOP: Final[Literal["nop"]] = "nop"
FULL: Final = 1.0
"""The reward that a solution has to earn."""
_ALIKE: Final = 1e-6
"""Rewards nearer than this are the same."""
_OF_TASK: Final = frozenset({"verifier"})
"""Causes of a failure that say something of the task; others say something of where it ran."""


def scores_of(rollout: Rollout) -> tuple[float, ...]:
    """The headline, or every score where the task names none that counts."""
    if rollout.graded and rollout.reward is not None:
        return (rollout.reward,)
    unnamed = rollout.failure is not None and rollout.failure.kind == "no-headline"
    return tuple(rollout.rewards[name] for name in sorted(rollout.rewards)) if unnamed else ()


def is_evidence(trial: Trial) -> bool:
    """Whether it says something of the task: a run that the machine failed, or a person stopped, does not."""
    return bool(trial.scores) or trial.cause in _OF_TASK


def verdict(trials: Sequence[Trial], times: int) -> tuple[State, Reason | None]:
    """Of the runs of both agents, `times` of each when all were made."""
    if not all(map(is_evidence, trials)):
        return "unproven", "environment"
    oracle = [trial.scores for trial in trials if trial.agent == ORACLE]
    floor = [trial.scores for trial in trials if trial.agent == NOP]
    if not all(oracle):
        return "broken", "no-reward" if not any(oracle) else "flaky"
    if _differ(oracle) or (all(floor) and _differ(floor)):
        return "broken", "flaky"
    if any(min(scores) < FULL - _ALIKE for scores in oracle):
        return "broken", "oracle-below"
    if not all(floor):
        return "broken", "no-floor" if not any(floor) else "flaky"
    if any(min(scores) >= FULL - _ALIKE for scores in floor):
        return "broken", "floor-equal"
    if len(oracle) < times or len(floor) < times:
        return "unproven", "unfinished"
    return "proven", None


def _differ(runs: Iterable[Sequence[float]]) -> bool:
    """Whether the same work earned something else another time."""
    columns = list(zip(*runs, strict=False))
    return any(max(column) - min(column) > _ALIKE for column in columns)
