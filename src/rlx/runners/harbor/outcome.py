"""What a trial came to: its scores, and why there is none, told apart."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rlx.rollout import Cause, Failure, Stage, StepScore, Usage
from rlx.runners.scrub import Scrub

NOT_STARTED: Final = (126, 127)
"""Exit codes of a shell for a program that cannot be run, and for one that is not there."""
_STILL_GRADED: Final = frozenset({"AgentTimeoutError", "NonZeroAgentExitCodeError"})
"""What Harbor records of an agent, and grades its work all the same."""
_KINDS: Final[Mapping[str, tuple[Cause, str]]] = {
    "RewardFileNotFoundError": ("verifier", "no-reward"),
    "RewardFileEmptyError": ("verifier", "bad-reward"),
    "VerifierOutputParseError": ("verifier", "bad-reward"),
    "VerifierTimeoutError": ("verifier", "timeout"),
    "AddTestsDirError": ("verifier", "infrastructure"),
    "DownloadVerifierDirError": ("verifier", "infrastructure"),
    "EnvironmentStartTimeoutError": ("sandbox", "timeout"),
    "HealthcheckError": ("task", "healthcheck"),
    "AgentSetupTimeoutError": ("agent", "timeout"),
    "AgentTimeoutError": ("limit", "timeout"),
    "NonZeroAgentExitCodeError": ("agent", "exit-code"),
    "TaskError": ("task", "environment"),
    "SandboxError": ("sandbox", "infrastructure"),
    "LimitError": ("limit", "sandbox"),
    "SeatIdle": ("limit", "idle"),
    "ModelError": ("model", "error"),
    "AgentError": ("agent", "error"),
    "VerifierError": ("verifier", "error"),
}
_OF_STAGE: Final[Mapping[Stage | None, tuple[Cause, str]]] = {
    "provision": ("sandbox", "infrastructure"),
    "prepare": ("agent", "setup"),
    "agent": ("agent", "error"),
    "verify": ("verifier", "error"),
}
_MODEL_ERRORS: Final = ("Api", "RateLimit", "Authentication", "ModelNotFound", "ContextWindow", "BadRequest")
_MESSAGE: Final = 1500


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception as Harbor records it."""

    type: str
    message: str


def failure_of(
    raised: Raised, *, stage: Stage | None, verifier_code: int | None, trouble: str | None, scrub: Scrub
) -> Failure:
    """`stage` it happened in, what the verifier exited with, and what the model answered last if that was an error."""
    cause, kind = _KINDS.get(raised.type) or _OF_STAGE.get(stage) or ("worker", "error")
    message = f"{raised.type}: {raised.message}"
    if raised.type in ("TaskError", "SandboxError", "LimitError", "SeatIdle", "ModelError"):
        message = raised.message
    if raised.type == "RewardFileNotFoundError":
        message = "The verifier ran and wrote no reward."
        if verifier_code in NOT_STARTED:
            kind = "verifier-missing"
            message = f"The verifier's script could not be run: the shell exits with {verifier_code}."
    elif raised.type == "ValidationError" and stage == "verify":
        cause, kind, message = "verifier", "bad-reward", "The verifier's reward file is no table of numbers."
    elif raised.type == "ValueError" and "is not given to this rollout" in raised.message:
        cause, kind = "task", "unbound-variable"
    elif stage == "agent" and raised.type not in _STILL_GRADED and trouble is not None:
        cause, kind, message = "model", "error", f"The model answered {trouble}"
    elif stage == "agent" and raised.type.startswith(_MODEL_ERRORS):
        cause, kind = "model", "error"
    return Failure(cause=cause, kind=kind, message=scrub.text(message)[:_MESSAGE])


def voids(raised: Raised | None) -> bool:
    """Whether a reward beside this exception is none."""
    return raised is not None and raised.type not in _STILL_GRADED


def finite(rewards: Mapping[str, Any] | None) -> dict[str, float]:
    """The scores that are numbers."""
    found = {}
    for name, value in (rewards or {}).items():
        if isinstance(value, int | float) and math.isfinite(value):
            found[str(name)[:200]] = float(value)
    return found


def headline(rewards: Mapping[str, float], wanted: str | None) -> tuple[float | None, str | None, str | None]:
    """The score that counts and its name; or why there is none."""
    if wanted:
        if wanted in rewards:
            return rewards[wanted], wanted, None
        return None, None, f"There is no score {wanted!r}; there is {', '.join(sorted(rewards)) or 'none'}."
    if len(rewards) == 1:
        name = next(iter(rewards))
        return rewards[name], name, None
    if "reward" in rewards:
        return rewards["reward"], "reward", None
    if not rewards:
        return None, None, "The verifier gave a table without any score."
    return None, None, f"None of the scores {', '.join(sorted(rewards))} is named as the one that counts."


def step_scores(steps: Any, scrub: Scrub) -> tuple[StepScore, ...]:
    """Of Harbor's step results."""
    found = []
    for step in steps or ():
        result, raised = step.verifier_result, step.exception_info
        error = scrub.text(f"{raised.exception_type}: {raised.exception_message}")[:_MESSAGE] if raised else None
        found.append(StepScore(name=step.step_name, rewards=finite(result.rewards if result else None), error=error))
    return tuple(found)


def usage_of(agent_result: Any, watched: Usage) -> Usage:
    """What was watched; of an agent whose calls were not, what it says itself."""
    if watched.model_calls or agent_result is None:
        return watched
    return Usage(
        tokens_in=agent_result.n_input_tokens,
        tokens_out=agent_result.n_output_tokens,
        tokens_cached=agent_result.n_cache_tokens,
    )
