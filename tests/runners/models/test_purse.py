"""What a rollout may spend holds, however many calls are made side by side."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import LimitError
from rlx.runners.models.pool import Price
from rlx.runners.models.purse import LEAST, USUAL, Purse, Send

pytestmark = pytest.mark.anyio

PRICE = Price(2.0, 10.0)
ASK = {"messages": [{"role": "user", "content": "x" * 4000}], "max_tokens": 1000}


class Model:
    """Says as much as it may, after all calls that can be made were made."""

    def __init__(self, *, into: int = 1000, obeys: bool = True, counts: bool = True) -> None:
        self.into, self.obeys, self.counts = into, obeys, counts
        self.limits: list[int] = []
        self.now = self.most = 0

    async def __call__(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        self.limits.append(body["max_tokens"])
        await asyncio.sleep(0)
        self.now -= 1
        out = body["max_tokens"] if self.obeys else 50_000
        usage = {"prompt_tokens": self.into, "completion_tokens": out}
        return 200, {"choices": [{"message": {}}], **({"usage": usage} if self.counts else {})}


def purse(dollars: float, price: Price = PRICE) -> tuple[Purse, list[LimitError]]:
    told: list[LimitError] = []
    return Purse(dollars, price, told.append), told


async def drained(send: Send, *, by: int, body: Mapping[str, Any] = ASK) -> list[int]:
    """Statuses of calls that `by` callers make until each is refused."""

    async def caller() -> list[int]:
        statuses: list[int] = []
        while not statuses or statuses[-1] == 200:
            statuses.append((await send(body))[0])
        return statuses

    return [status for statuses in await asyncio.gather(*(caller() for _ in range(by))) for status in statuses]


@pytest.mark.parametrize("by", [1, 2, 16])
async def test_a_ceiling_holds_with_calls_side_by_side_and_is_told_once(by: int) -> None:
    own, told = purse(0.25)
    model = Model()

    statuses = await drained(own.through(model), by=by)

    assert 0.2 < own.spent <= 0.25
    assert len(told) == 1
    assert statuses.count(400) == by
    assert statuses.count(200) == len(model.limits)
    assert by == 1 or model.most > 1


async def test_the_last_call_is_told_a_smaller_limit_and_none_is_made_for_less_than_is_of_use() -> None:
    own, _ = purse(0.022)
    model = Model()
    await drained(own.through(model), by=1)
    assert model.limits[0] == 1000
    assert LEAST <= model.limits[-1] < 1000
    assert own.spent <= 0.022


async def test_a_request_without_a_limit_gets_one_and_one_of_its_own_kind_keeps_its_name() -> None:
    own, _ = purse(100.0)
    heard: list[Mapping[str, Any]] = []

    async def send(body: Mapping[str, Any]) -> tuple[int, Any]:
        heard.append(body)
        return 200, {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}

    await own.through(send)({"messages": []})
    await own.through(send)({"messages": [], "max_completion_tokens": 77})
    assert heard[0]["max_tokens"] == USUAL
    assert (heard[1]["max_completion_tokens"], "max_tokens" in heard[1]) == (77, False)


async def test_a_model_that_heeds_no_limit_goes_over_by_one_call_at_most() -> None:
    own, told = purse(0.25)
    model = Model(obeys=False)
    await drained(own.through(model), by=1)
    assert len(model.limits) == 1
    assert len(told) == 1


async def test_a_call_whose_tokens_are_not_told_counts_as_all_that_it_may_cost() -> None:
    own, _ = purse(0.05)
    model = Model(counts=False)
    await drained(own.through(model), by=4)
    assert 0.02 < own.spent <= 0.05


async def test_what_is_refused_costs_nothing_and_what_fails_may_have() -> None:
    own, _ = purse(1.0)

    async def refusing(body: Mapping[str, Any]) -> tuple[int, Any]:
        return 401, {}

    async def failing(body: Mapping[str, Any]) -> tuple[int, Any]:
        return 502, {}

    await own.through(refusing)(ASK)
    assert own.spent == 0
    await own.through(failing)(ASK)
    assert own.spent > 0.01


async def test_a_call_that_is_cut_off_lets_others_go_on() -> None:
    own, _ = purse(0.03)
    begun = asyncio.Event()

    async def hanging(body: Mapping[str, Any]) -> tuple[int, Any]:
        begun.set()
        await asyncio.Event().wait()
        return 200, {}

    first = asyncio.ensure_future(own.through(hanging)(ASK))
    await begun.wait()
    waiting = asyncio.ensure_future(own.through(Model())(ASK | {"max_tokens": 1500}))
    await asyncio.sleep(0)
    first.cancel()
    status, _ = await waiting
    assert status == 200
    assert own.spent <= 0.03


async def test_a_picture_is_no_book() -> None:
    own, _ = purse(0.1)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 2_000_000}}
    status, _ = await own.through(Model())({"messages": [{"role": "user", "content": [picture]}]})
    assert status == 200


@given(
    ceiling=st.floats(0.001, 5),
    dollars_in=st.floats(0, 20),
    dollars_out=st.floats(0.01, 60),
    calls=st.lists(st.tuples(st.integers(1, 20_000), st.integers(1, 40_000)), min_size=1, max_size=12),
)
async def test_no_prices_and_no_calls_break_a_ceiling(
    ceiling: float, dollars_in: float, dollars_out: float, calls: list[tuple[int, int]]
) -> None:
    own, _ = purse(ceiling, Price(dollars_in, dollars_out))

    async def send(body: Mapping[str, Any]) -> tuple[int, Any]:
        await asyncio.sleep(0)
        size = len(body["messages"][0]["content"])
        return 200, {"usage": {"prompt_tokens": size // 4, "completion_tokens": body["max_tokens"]}}

    paid = own.through(send)
    bodies = [{"messages": [{"role": "user", "content": "x" * size}], "max_tokens": limit} for size, limit in calls]
    await asyncio.gather(*(paid(body) for body in bodies))
    assert own.spent <= ceiling * (1 + 1e-9)
