"""How much of the Hub's rate limit is left, per bucket, from its `RateLimit` headers (IETF draft 9)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_REMAINING = re.compile(r'"(?P<bucket>[a-z]+)"\s*;\s*r=(?P<r>\d{1,9})\s*;\s*t=(?P<t>\d{1,6})')
_QUOTA = re.compile(r"\bq=(\d{1,9})")

MAX_WAIT = 900
"""Seconds: three of the Hub's windows. Who is told to wait longer than that asks again sooner than it says."""


@dataclass(frozen=True, slots=True)
class Budget:
    bucket: str
    """api, resolvers or pages."""
    remaining: int
    quota: int | None
    resets_at: float
    """On the meter's clock, seconds."""


class BudgetMeter:
    """Remembers the last word of each bucket. Background work asks `low` before it goes on."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._budgets: dict[str, Budget] = {}

    def read(self, headers: Mapping[str, str]) -> None:
        found = _REMAINING.search(headers.get("ratelimit", ""))
        if not found:
            return
        quota = _QUOTA.search(headers.get("ratelimit-policy", ""))
        self._budgets[found["bucket"]] = Budget(
            found["bucket"], int(found["r"]), int(quota[1]) if quota else None, self._clock() + int(found["t"])
        )

    def all(self) -> tuple[Budget, ...]:
        return tuple(self._budgets.values())

    def low(self, bucket: str) -> bool:
        """Under a fifth of the quota is left in the running window."""
        known = self._budgets.get(bucket)
        if known is None or known.quota is None or self._clock() >= known.resets_at:
            return False
        return known.remaining < known.quota / 5


def retry_after(headers: Mapping[str, str]) -> int | None:
    """Seconds to wait after a 429 or 503, at most `MAX_WAIT`: the window's reset when it is spent, else a numeric
    `Retry-After`."""
    found = _REMAINING.search(headers.get("ratelimit", ""))
    if found and int(found["r"]) == 0:
        return min(int(found["t"]) + 1, MAX_WAIT)
    value = headers.get("retry-after", "")
    return min(int(value), MAX_WAIT) if value.isascii() and value.isdigit() and len(value) < 10 else None
