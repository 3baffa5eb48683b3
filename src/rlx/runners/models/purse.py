"""What a rollout may spend on its model: held before each call, so that calls side by side stay below the ceiling too.

Before a call the most that it may cost is set aside: what is sent at its price, and as many tokens of answer as still
can be paid, which the model is told as its limit. Afterwards what it did cost takes its place; of a call whose tokens
are not told, all that was set aside counts.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from rlx.errors import LimitError
from rlx.rollout import ModelUse
from rlx.runners.models.completion import tokens_of
from rlx.runners.models.pool import Price

USUAL: Final = 8192
"""Tokens of an answer for which nobody set a limit."""
LEAST: Final = 256
"""Tokens of an answer that is worth asking for."""
SPENT: Final = "The rollout has cost what it may."
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_PER_BYTE: Final = 0.5
"""Tokens a byte of a request, before the first answer says how many they are: about twice what they usually are."""
_MARGIN: Final = 1.25
_PICTURE: Final = 6000
"""Bytes of text that a picture within a request counts as."""

type Send = Callable[[Mapping[str, Any]], Awaitable[tuple[int, Any]]]
"""A chat request to a status and the JSON of the answer."""


@dataclass(frozen=True, slots=True)
class _Hold:
    dollars: float
    tokens: int
    """Of the answer, at most."""


class Purse:
    """Of one rollout. `over` is told once, when the next call cannot be paid."""

    def __init__(self, ceiling: float, price: Price, over: Callable[[LimitError], None]) -> None:
        self._ceiling = ceiling
        self._price = price
        self._over = over
        self._settled = anyio.Condition()
        self._held = 0.0
        self._per_byte = _PER_BYTE
        self.spent = 0.0
        self.is_over = False

    def through(self, send: Send) -> Send:
        """`send` for as long as it can be paid; then it answers 400, without asking anybody."""

        async def paid(body: Mapping[str, Any]) -> tuple[int, Any]:
            size = _size(body)
            hold = await self._take(size, _limit(body))
            if hold is None:
                return 400, {"error": {"message": SPENT}}
            cost = hold.dollars
            try:
                status, answer = await send({**body, **_limited(body, hold.tokens)})
                cost = self._cost(status, answer, size, hold)
                return status, answer
            finally:
                await self._settle(hold, cost)

        return paid

    async def _take(self, size: int, wanted: int) -> _Hold | None:
        """Set the most that a call may cost aside, once it can be; None: it never can."""
        async with self._settled:
            while not self.is_over:
                left = self._ceiling - self.spent - self._held
                sent = size * self._per_byte * self._price.dollars_in / 1e6
                tokens = self._payable(left - sent, wanted)
                if tokens >= min(wanted, LEAST):
                    hold = _Hold(sent + tokens * self._price.dollars_out / 1e6, tokens)
                    self._held += hold.dollars
                    return hold
                if self._held <= 0:
                    self._end()
                    break
                await self._settled.wait()
            return None

    def _payable(self, dollars: float, wanted: int) -> int:
        if dollars < 0:
            return 0
        if self._price.dollars_out <= 0:
            return wanted
        return min(wanted, int(dollars * 1e6 / self._price.dollars_out))

    def _cost(self, status: int, answer: object, size: int, hold: _Hold) -> float:
        """Of a call that was answered. One that was refused costs nothing; one that failed may have."""
        if 400 <= status < 500:
            return 0.0
        counts = tokens_of(answer.get("usage")) if isinstance(answer, Mapping) else None
        if counts is None:
            return hold.dollars
        self._per_byte = min(_PER_BYTE, _MARGIN * counts[0] / max(size, 1))
        return (counts[0] * self._price.dollars_in + counts[1] * self._price.dollars_out) / 1e6

    async def _settle(self, hold: _Hold, cost: float) -> None:
        with anyio.CancelScope(shield=True):
            async with self._settled:
                self._held = max(0.0, self._held - hold.dollars)
                if self._held < 1e-12:
                    self._held = 0.0
                self.spent += cost
                self._settled.notify_all()

    def _end(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._over(
                LimitError(
                    f"The agent was stopped: its model has cost ${self.spent:.4g} of the ${self._ceiling:g} that it "
                    "may, and another call could go over."
                )
            )


def price_of(model: ModelUse) -> Price | None:
    """None where one of its prices is not known."""
    if model.dollars_in is None or model.dollars_out is None:
        return None
    return Price(model.dollars_in, model.dollars_out)


def _limit(body: Mapping[str, Any]) -> int:
    told = [body.get(name) for name in _LIMITS]
    limits = [value for value in told if isinstance(value, int) and not isinstance(value, bool) and value > 0]
    return min(limits, default=USUAL)


def _limited(body: Mapping[str, Any], tokens: int) -> dict[str, int]:
    names = [name for name in _LIMITS if body.get(name) is not None] or [_LIMITS[0]]
    return dict.fromkeys(names, tokens)


def _size(body: Mapping[str, Any]) -> int:
    """Bytes of what is sent, pictures counted as what they usually cost."""
    return sum(_weight(body.get(name)) for name in ("messages", "tools", "response_format"))


def _weight(value: object) -> int:
    if isinstance(value, str):
        return _PICTURE if value.startswith("data:") else len(value.encode("utf-8", "replace"))
    if isinstance(value, Mapping):
        return sum(len(str(key)) + 4 + _weight(each) for key, each in value.items())
    if isinstance(value, list):
        return sum(2 + _weight(each) for each in value)
    return 0 if value is None else len(json.dumps(value))
