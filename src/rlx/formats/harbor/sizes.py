"""How long prompts are and how long agents get: a number for sorting, a range for filtering and counting."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import inf, isfinite
from statistics import median_low

from rlx.formats.harbor.schema import TaskSettings

LENGTHS = ("Empty", "1-49", "50-199", "200-499", "500-1999", "2000+")
"""Words of the prompt."""
NO_LIMIT = "No limit"
TIMEOUTS = ("Up to 5 min", "Up to 15 min", "Up to 30 min", "Up to 1 h", "Up to 3 h", "Over 3 h", NO_LIMIT)

_WORDS = (0, 49, 199, 499, 1999)
_SECONDS = (300, 900, 1800, 3600, 3 * 3600)


def words_in(text: str) -> int:
    """Words as a person would count them, near enough."""
    return len(text.split())


def length_range(words: int) -> str:
    return LENGTHS[bisect_left(_WORDS, words)]


def agent_seconds(settings: TaskSettings) -> float:
    """What the agent gets for the whole task, all steps together; infinite without a limit."""
    limits = [step.agent.timeout or settings.agent.timeout for step in settings.steps] or [settings.agent.timeout]
    return sum(limit if limit is not None else inf for limit in limits)


def timeout_range(seconds: float) -> str:
    return TIMEOUTS[bisect_left(_SECONDS, seconds)] if isfinite(seconds) else NO_LIMIT


def spread(numbers: Sequence[float | None]) -> Mapping[str, float] | None:
    """The least, the middle and the most of a number over the tasks that have one; None when none has."""
    told = [number for number in numbers if number is not None and isfinite(number)]
    return {"least": min(told), "middle": median_low(told), "most": max(told)} if told else None
