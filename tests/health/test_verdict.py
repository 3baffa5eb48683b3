"""What runs of a task say of it."""

from typing import Any, Literal

import pytest

from rlx.health.verdict import is_evidence, verdict
from rlx.store.health import Trial

BROKE = {"cause": "verifier", "kind": "no-reward"}
LOST = {"cause": "sandbox", "kind": "infrastructure"}


def trial(agent: Literal["oracle", "nop"], *scores: float, **more: Any) -> Trial:
    return Trial(agent=agent, rollout="r", scores=scores, **more)


@pytest.mark.parametrize(
    ("oracle", "floor", "expected"),
    [
        ([(1.0,)], [(0.0,)], ("proven", None)),
        ([(1.0,)], [(0.999,)], ("proven", None)),
        ([(3.0,)], [(0.5,)], ("proven", None)),
        ([(1.0, 1.0)], [(1.0, 0.0)], ("proven", None)),
        ([(1.0,)] * 3, [(0.25,)] * 3, ("proven", None)),
        ([(0.9,)], [(0.0,)], ("broken", "oracle-below")),
        ([(1.0, 0.5)], [(0.0, 0.0)], ("broken", "oracle-below")),
        ([(1.0,)], [(1.0,)], ("broken", "floor-equal")),
        ([(1.0,)], [(2.0,)], ("broken", "floor-equal")),
        ([(1.0,), (0.0,)], [(0.0,), (0.0,)], ("broken", "flaky")),
        ([(1.0,), (1.0,)], [(0.0,), (0.5,)], ("broken", "flaky")),
        ([(1.0,), ()], [(0.0,), (0.0,)], ("broken", "flaky")),
        ([()], [(0.0,)], ("broken", "no-reward")),
        ([(1.0,)], [()], ("broken", "no-floor")),
    ],
)
def test_a_task_is_proven_when_its_solution_earns_everything_and_nothing_less(
    oracle: list[tuple[float, ...]], floor: list[tuple[float, ...]], expected: tuple[str, str | None]
) -> None:
    trials = [trial("oracle", *scores, **({} if scores else BROKE)) for scores in oracle]
    trials += [trial("nop", *scores, **({} if scores else BROKE)) for scores in floor]

    assert verdict(trials, len(oracle)) == expected


def test_a_run_that_the_machine_failed_says_nothing_of_the_task() -> None:
    assert not is_evidence(trial("oracle", **LOST))
    assert verdict([trial("nop", 0.0), trial("oracle", **LOST)], 1) == ("unproven", "environment")


def test_nothing_is_proven_before_all_runs_were_made() -> None:
    assert verdict([trial("oracle", 1.0), trial("nop", 0.0)], 2) == ("unproven", "unfinished")
    assert verdict([trial("oracle", 1.0), trial("nop", 1.0)], 2) == ("broken", "floor-equal")
