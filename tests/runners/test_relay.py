"""Lines to models: who is let through, and till when."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from rlx.runners.models.pool import Price
from rlx.runners.models.purse import Purse
from rlx.runners.relay import Gate, Line, Relay, Send
from rlx.runners.watch import Watch

pytestmark = pytest.mark.anyio

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1000}
ANSWER = {
    "choices": [{"message": {"role": "assistant", "content": "Hi"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}


async def answered(body: Mapping[str, Any]) -> tuple[int, Any]:
    return 200, ANSWER


@contextmanager
def served(send: Send, gate: Gate, told: list[str]) -> Iterator[tuple[httpx2.AsyncClient, str, Line]]:
    """Who asks, the address of a line, and the line; what it tells of calls goes to `told`."""
    relay = Relay()
    app = Starlette(routes=[Route("/relay/{name}/v1/chat/completions", relay.endpoint, methods=["POST"])])
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://relay")
    line = Line(send, Watch(lambda kind, data: told.append(kind), None), gate)
    with relay.line(line) as path:
        yield client, f"{path}/chat/completions", line


async def test_a_closed_line_asks_nobody_and_counts_nothing_and_opens_again() -> None:
    told: list[str] = []
    gate = Gate(is_open=False)
    with served(answered, gate, told) as (client, path, line):
        async with client:
            before = await client.post(path, json=ASKED)
            assert (before.status_code, told, line.watch.usage.model_calls) == (403, [], None)
            gate.is_open = True
            assert (await client.post(path, json=ASKED)).status_code == 200
            gate.is_open = False
            assert (await client.post(path, json=ASKED)).status_code == 403
    assert line.watch.usage.model_calls == 1
    assert line.trouble is None


async def test_a_call_that_waits_for_money_when_the_line_closes_is_not_sent() -> None:
    asked, answer = [], anyio.Event()
    is_asked = anyio.Event()

    async def slow(body: Mapping[str, Any]) -> tuple[int, Any]:
        asked.append(body)
        is_asked.set()
        await answer.wait()
        return 200, ANSWER

    gate = Gate()
    send = Purse(0.0011, Price(0.0, 1.0), lambda error: None).through(gate.through(slow))
    statuses: list[int] = []

    async def call() -> None:
        statuses.append((await send(ASKED))[0])

    async with anyio.create_task_group() as calls:
        calls.start_soon(call)
        await is_asked.wait()
        calls.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        gate.is_open = False
        answer.set()
    assert len(asked) == 1
    assert sorted(statuses) == [200, 403]


async def test_a_line_ends_with_its_block() -> None:
    with served(answered, Gate(), []) as (client, path, _):
        pass
    async with client:
        assert (await client.post(path, json=ASKED)).status_code == 404
