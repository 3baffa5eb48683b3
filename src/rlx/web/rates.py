"""How often somebody may do what costs others: so many times in so many seconds, by name."""

from collections import OrderedDict, deque
from collections.abc import Callable

from rlx.errors import TooMany

TRIES = 30
"""Of endpoints, in ten minutes, by whoever has them tried: each costs a stranger a few requests."""
_REMEMBERED = 10_000


class Rate:
    """Of one kind of request; the names that came longest ago are forgotten first."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def spend(self, name: str) -> None:
        """Count a request of `name`. Raises `TooMany`."""
        now = self._clock()
        times = self._times.setdefault(name, deque())
        self._times.move_to_end(name)
        while len(self._times) > _REMEMBERED:
            self._times.popitem(last=False)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) >= self._most:
            wait = int(times[0] + self._seconds - now) + 1
            raise TooMany("That was asked for very often.", hint="Try again later.", retry_after=wait)
        times.append(now)
