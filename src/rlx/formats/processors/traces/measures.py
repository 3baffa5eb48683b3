"""What came of a rollout, who made it and what it took: from masked rows, under the many names that sets give these."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from rlx.answers import MARK
from rlx.formats.processors.prompts.cells import at, opened
from rlx.formats.processors.traces.atif import number
from rlx.formats.processors.traces.shapes import agent_turns
from rlx.model import Message

REWARDS: Final = (
    *("reward", "final_reward", "total_reward", "rewards", "score", "scores", "success", "passed", "pass", "resolved"),
    *("solved", "is_success", "is_solved", "is_resolved", "is_correct", "correct", "all_correct", "answer_correct"),
    *("result", "outcome", "verdict", "judgment", "judgement", "verifier_result.rewards", "verifier_result.reward"),
    *(
        "info.resolved",
        "info.reward",
        "info.score",
        "metrics.reward",
        "metadata.reward",
        "extra.reward",
        "evaluation.score",
    ),
)
STATUS: Final = (
    *(
        "exit_status",
        "info.exit_status",
        "status",
        "termination_reason",
        "stop_reason",
        "finish_reason",
        "stop_condition",
    ),
)
ERRORS: Final = ("error", "exception", "exception_info", "exception_type", "info.error", "agent_error")
MODELS: Final = (
    *("model", "model_name", "agent.model_name", "model_id", "generator", "policy_model", "info.model", "eval.model"),
    *("replay_config.agent.model.name", "info.config.model.model_name", "metadata.model", "agent_model"),
)
AGENTS: Final = ("agent", "agent.name", "agent_name", "scaffold", "harness", "agent_framework")
TASKS: Final = ("task", "task_name", "task_id", "instance_id", "problem_id", "question_id", "_task_name", "sample_id")
_ATTEMPTS: Final = ("episode", "epoch", "attempt", "rollout", "rollout_id", "sample_index", "trial", "run", "replica")
_TOKENS: Final = (
    ("total_tokens",),
    ("usage.total_tokens",),
    ("final_metrics.total_prompt_tokens", "final_metrics.total_completion_tokens"),
    ("info.model_stats.tokens_sent", "info.model_stats.tokens_received"),
    ("stats.input_tokens", "stats.output_tokens"),
    ("usage.prompt_tokens", "usage.completion_tokens"),
    ("input_tokens", "output_tokens"),
    ("num_tokens",),
    ("n_tokens",),
    ("tokens",),
)
_SECONDS: Final = (
    *(
        "seconds",
        "duration_seconds",
        "elapsed_seconds",
        "duration",
        "elapsed",
        "total_time",
        "working_time",
        "wall_time",
    ),
    *("runtime", "runtime_seconds", "latency_seconds", "time_taken"),
)
_COSTS: Final = (
    *(
        "final_metrics.total_cost_usd",
        "info.model_stats.instance_cost",
        "cost_usd",
        "total_cost_usd",
        "total_cost",
        "cost",
    ),
)
_YES: Final = frozenset(
    {"true", "yes", "pass", "passed", "success", "succeeded", "successful", "solved", "resolved", "correct", "c", "win"}
)
_NO: Final = frozenset(
    {
        "false",
        "no",
        "fail",
        "failed",
        "failure",
        "unsolved",
        "unresolved",
        "not_resolved",
        "incorrect",
        "wrong",
        "i",
        "lose",
        "loss",
    }
)
_FAULTS: Final = ("error", "exception", "traceback", "timeout", "timed_out", "crash", "oom", "killed")
_INNER: Final = ("reward", "value", "score", "resolved", "success", "passed")


def reward_of(row: Mapping[str, Any]) -> tuple[float | None, str | None]:
    """How far the attempt got, 1 being all of it, and the column that tells."""
    for path in REWARDS:
        found = graded(at(row, path))
        if found is not None:
            return found, path
    return None, None


def graded(value: Any, depth: int = 0) -> float | None:
    """A reward of any make as a number: a switch, a number, a word for yes or no, an object that holds one."""
    if isinstance(value, bool):
        return 1.0 if value else 0.0
    if (found := number(value)) is not None:
        return found
    if isinstance(value, str) and value != MARK and len(value) < 100_000:
        word = value.strip().lower()
        if word in _YES or word in _NO:
            return 1.0 if word in _YES else 0.0
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return None if isinstance(inner, str) else graded(inner, depth + 1)
    if depth > 3:
        return None
    if isinstance(value, Mapping):
        named = [value[key] for key in _INNER if key in value] or (
            list(value.values()) if len(value) == 1 else _nested(value)
        )
        return next((found for item in named if (found := graded(item, depth + 1)) is not None), None)
    if isinstance(value, list) and value:
        return graded(value[-1], depth + 1) if not isinstance(value[-1], str) else None
    return None


def _nested(value: Mapping[str, Any]) -> list[Any]:
    """Of an object of scorers, what each said."""
    return [item for item in value.values() if isinstance(item, Mapping)]


def outcome_of(row: Mapping[str, Any]) -> str:
    """A value of the facet `outcome`."""
    reward = reward_of(row)[0]
    if reward is None:
        failed = any(errors_of(row)) or any(word in status.lower() for status in statuses(row) for word in _FAULTS)
        return "Error" if failed else "Not graded"
    return "Solved" if reward >= 1 else "Failed" if reward <= 0 else "Partly solved"


def statuses(row: Mapping[str, Any]) -> Iterator[str]:
    """How the rollout ended, in its framework's words."""
    yield from (text for path in STATUS if (text := _words(at(row, path))) is not None)


def errors_of(row: Mapping[str, Any]) -> Iterator[str]:
    """What went wrong, where the row tells."""
    for path in ERRORS:
        value = opened(at(row, path))
        if isinstance(value, Mapping):
            value = next(
                (value[key] for key in ("message", "exception_message", "type", "exception_type") if value.get(key)),
                None,
            )
        if isinstance(value, str) and value.strip() and value != MARK:
            yield value


def model_of(row: Mapping[str, Any]) -> str | None:
    told = next((text for path in MODELS if (text := _words(at(row, path))) is not None), None)
    if told is not None:
        return told
    steps = row.get("steps")
    named = (step.get("model_name") for step in steps if isinstance(step, Mapping)) if isinstance(steps, list) else ()
    return next((text for item in named if (text := _words(item)) is not None), None)


def agent_of(row: Mapping[str, Any]) -> str | None:
    return next((text for path in AGENTS if (text := _words(at(row, path))) is not None), None)


def task_of(row: Mapping[str, Any]) -> str | None:
    """The same for attempts at the same task: made of the name that the row has for it."""
    told = next((text for path in TASKS if (text := _words(at(row, path), 10_000)) is not None), None)
    return None if told is None else digest(told)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:20]


def task_name(row: Mapping[str, Any]) -> str | None:
    return next((text for path in TASKS if (text := _words(at(row, path))) is not None), None)


def attempt_of(row: Mapping[str, Any]) -> str | None:
    """Which attempt at its task it is, where it tells."""
    found = ((key, _words(row.get(key), 40)) for key in _ATTEMPTS)
    return next((f"{key} {text}" if text.isdecimal() else text for key, text in found if text is not None), None)


def numbers_of(row: Mapping[str, Any], said: Sequence[Message]) -> dict[str, float | None]:
    """Reward, tokens, turns, seconds and cost; None where the row does not tell, as a replay that cost nothing."""
    return {
        "reward": reward_of(row)[0],
        "tokens": _tokens(row, said) or None,
        "turns": float(agent_turns(said)) or None,
        "seconds": next((found for path in _SECONDS if (found := number(at(row, path))) is not None), _between(row)),
        "cost": next((found for path in _COSTS if (found := number(at(row, path)))), None),
    }


def _tokens(row: Mapping[str, Any], said: Sequence[Message]) -> float | None:
    for paths in _TOKENS:
        found = [told for path in paths if (told := number(at(row, path))) is not None]
        if found:
            return sum(found)
    usage = row.get("model_usage")
    if isinstance(usage, Mapping):
        totals = [number(item.get("total_tokens")) for item in usage.values() if isinstance(item, Mapping)]
        return sum(total for total in totals if total is not None) if totals else None
    told_by_turns = [item.tokens for item in said if item.tokens is not None]
    return float(sum(told_by_turns)) if told_by_turns else None


def _between(row: Mapping[str, Any]) -> float | None:
    """Seconds from the first time that is told to the last."""
    steps = row.get("steps")
    stamps = [step.get("timestamp") for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []
    ends = [(row.get("start_time"), row.get("end_time")), (row.get("started_at"), row.get("completed_at"))]
    told = [item for item in stamps if isinstance(item, str)]
    for start, end in (*ends, (told[0], told[-1]) if told else (None, None)):
        if isinstance(start, str) and isinstance(end, str):
            try:
                passed = (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
            except (ValueError, TypeError, OverflowError):
                continue
            return passed if 0 < passed < 10**9 else None
    return None


def _words(value: Any, most: int = 120) -> str | None:
    """A name of one line, where `value` is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or value == MARK or not value.strip() or len(value) > most:
        return None
    return value.strip() if "\n" not in value.strip() or most > 1000 else None
