"""What a trial came to."""

from importlib import import_module
from typing import Any

import pytest

from rlx.runners.scrub import Scrub

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def outcome() -> Any:
    return import_module("rlx.runners.harbor.outcome")


@pytest.mark.parametrize(
    ("type", "stage", "code", "trouble", "expected"),
    [
        ("RewardFileNotFoundError", "verify", 0, None, ("verifier", "no-reward")),
        ("RewardFileNotFoundError", "verify", 127, None, ("verifier", "verifier-missing")),
        ("RewardFileNotFoundError", "verify", 126, None, ("verifier", "verifier-missing")),
        ("VerifierOutputParseError", "verify", 0, None, ("verifier", "bad-reward")),
        ("RewardFileEmptyError", "verify", 0, None, ("verifier", "bad-reward")),
        ("ValidationError", "verify", 0, None, ("verifier", "bad-reward")),
        ("VerifierTimeoutError", "verify", None, None, ("verifier", "timeout")),
        ("DownloadVerifierDirError", "verify", 0, None, ("verifier", "infrastructure")),
        ("EnvironmentStartTimeoutError", "provision", None, None, ("sandbox", "timeout")),
        ("TaskError", "provision", None, None, ("task", "environment")),
        ("OSError", "provision", None, None, ("sandbox", "infrastructure")),
        ("AgentSetupTimeoutError", "prepare", None, None, ("agent", "timeout")),
        ("ModelError", "agent", None, None, ("model", "error")),
        ("ApiError", "agent", None, None, ("model", "error")),
        ("RuntimeError", "agent", None, "401: no", ("model", "error")),
        ("RuntimeError", "agent", None, None, ("agent", "error")),
        ("AgentTimeoutError", "agent", None, "500: busy", ("limit", "timeout")),
        ("Surprise", None, None, None, ("worker", "error")),
    ],
)
def test_failures_are_told_apart(
    outcome: Any, type: str, stage: Any, code: int | None, trouble: str | None, expected: tuple[str, str]
) -> None:
    raised = outcome.Raised(type, "it broke in /work/x")
    scrub = Scrub(paths={"/work/x": "[work]"})
    failure = outcome.failure_of(raised, stage=stage, verifier_code=code, trouble=trouble, scrub=scrub)

    assert (failure.cause, failure.kind) == expected
    assert "/work/x" not in failure.message


@pytest.mark.parametrize(
    ("rewards", "wanted", "expected"),
    [
        ({"reward": 1.0}, None, (1.0, "reward")),
        ({"accuracy": 0.5}, None, (0.5, "accuracy")),
        ({"reward": 0.0, "style": 1.0}, None, (0.0, "reward")),
        ({"speed": 0.0, "style": 1.0}, None, (None, None)),
        ({"speed": 0.0, "style": 1.0}, "style", (1.0, "style")),
        ({"reward": 1.0}, "style", (None, None)),
        ({}, None, (None, None)),
    ],
)
def test_the_score_that_counts(outcome: Any, rewards: Any, wanted: str | None, expected: Any) -> None:
    reward, key, why = outcome.headline(rewards, wanted)
    assert (reward, key) == expected
    assert (why is None) == (reward is not None)


def test_only_finite_numbers_are_scores(outcome: Any) -> None:
    told = {"a": 1, "b": True, "c": float("nan"), "d": float("inf"), "e": "1", "f": None}
    assert outcome.finite(told) == {"a": 1.0, "b": 1.0}


def test_an_agent_that_ran_out_of_time_is_graded_all_the_same(outcome: Any) -> None:
    assert not outcome.voids(outcome.Raised("AgentTimeoutError", ""))
    assert not outcome.voids(None)
    assert outcome.voids(outcome.Raised("VerifierTimeoutError", ""))
