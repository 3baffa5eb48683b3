"""The Hub's rate limits: fixed windows of five minutes, a bucket of requests per visitor and kind of route."""

from collections.abc import Callable, Mapping

from rlx.localhub.wire import Bucket, Headers, Refusal

WINDOW = 300
QUOTAS: Mapping[Bucket, int] = {"api": 1_000_000, "resolvers": 5_000_000, "pages": 100_000}
"""Told in the headers while `hub.json` sets no limits; far beyond what one machine can send."""


class Meter:
    """Counts requests. All windows open together, which the Hub's need not."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._opened = clock()
        self._spent: dict[tuple[str, str], int] = {}

    def spend(self, bucket: Bucket, visitor: str, limits: Mapping[Bucket, int]) -> Headers:
        """Count one request and give the headers that tell what is left. Refuses with 429 when nothing was."""
        age = self._clock() - self._opened
        if age >= WINDOW:
            self._opened, age = self._opened + age, 0.0
            self._spent.clear()
        quota = limits.get(bucket, QUOTAS[bucket])
        spent = self._spent.get((bucket, visitor), 0)
        left = quota - spent - 1
        reset = WINDOW - int(age)
        headers = [
            (b"ratelimit", f'"{bucket}";r={max(left, 0)};t={reset}'.encode()),
            (b"ratelimit-policy", f'"fixed window";"{bucket}";q={quota};w={WINDOW}'.encode()),
        ]
        if left < 0:
            text = f"You have exceeded your limit of {quota} {bucket} requests per {WINDOW} seconds."
            raise Refusal(429, "", text, [*headers, (b"retry-after", b"%d" % reset)])
        self._spent[bucket, visitor] = spent + 1
        return headers
