"""The contract of a runner: it takes one rollout from a materialized task to its scores."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rlx.rollout import EventKind, Failure, ModelUse, Rollout, StepScore, Usage
from rlx.runners.stages import Stages
from rlx.runners.workers import Handed


@dataclass(frozen=True, slots=True)
class Run:
    """One rollout in the hands of a runner. Its calls may be made from the loop, and block for moments only."""

    rollout: Rollout
    handed: Handed
    task: Path
    """The task as a folder, answers included."""
    work: Path
    """An empty folder for whatever the runner writes, removed afterwards."""
    stages: Stages
    emit: Callable[[EventKind, Mapping[str, Any]], None]
    keep: Callable[[str, bytes], None]
    """Keep a file as `trajectory.json`, `verifier/PATH` or `artifacts/PATH`."""
    note: Callable[[str], None]
    """What a reader should know."""
    settle: Callable[[], Awaitable[None]]
    """To be awaited once the stage `agent` was begun, before the agent does anything that costs: then it is written
    down that this rollout may not begin again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    reward: float | None = None
    reward_key: str | None = None
    rewards: Mapping[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    judge_calls: int | None = None
    judge_usage: Usage = field(default_factory=Usage)
    judge_cost: float | None = None
    steps: tuple[StepScore, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    voided: bool = False
    """Something happened that makes the reward none."""

    @property
    def graded(self) -> bool:
        return self.reward is not None and not self.voided


class Runner(Protocol):
    @property
    def name(self) -> str: ...

    async def run(self, run: Run) -> Outcome:
        """Raises `RolloutError` where part of it failed. Cancelled, it leaves nothing running."""
        ...


def cost_of(usage: Usage, model: ModelUse | None) -> float | None:
    """Dollars, where both prices and both counts are known."""
    if model is None or model.dollars_in is None or model.dollars_out is None:
        return None
    if usage.tokens_in is None or usage.tokens_out is None:
        return None
    return (usage.tokens_in * model.dollars_in + usage.tokens_out * model.dollars_out) / 1_000_000
