"""The shapes of what is told of the health of tasks."""

from typing import Literal

from rlx.web.api.shape import Shape


class HealthCounts(Shape):
    proven: int
    broken: int
    unproven: int
    unchecked: int | None


class HealthGlance(Shape):
    revision: str | None
    counts: HealthCounts
    checked_at: str | None


class HealthRuns(Shape):
    runs: int
    low: float | None
    high: float | None
    seconds: float | None


class TaskHealthAnswer(Shape):
    ref: str
    state: Literal["proven", "broken", "unproven"]
    reasons: list[str]
    oracle: HealthRuns
    floor: HealthRuns
    sandbox: str | None
    revision: str | None
    checked_at: str | None
    stale: bool


class HealthAnswer(HealthGlance):
    id: str
    tasks: list[TaskHealthAnswer]
    total: int
    offset: int
