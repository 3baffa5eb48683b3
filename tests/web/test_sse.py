"""How many streams of events are open at once, and for whom."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from fastapi import FastAPI

from rlx.errors import TooMany
from rlx.web.sse import Event, EventStream, Lines
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio


async def test_one_who_is_known_follows_so_many_and_others_still_may() -> None:
    lines = Lines(in_all=3, each=2, strangers=1)
    with lines.line("ann", known=True), lines.line("ann", known=True):
        with pytest.raises(TooMany, match="2 things"), lines.line("ann", known=True):
            raise AssertionError
        with lines.line("anonymous", known=False), pytest.raises(TooMany, match="here"), lines.line("bob", known=True):
            raise AssertionError
    with lines.line("anonymous", known=False), pytest.raises(TooMany), lines.line("anonymous", known=False):
        raise AssertionError


async def test_a_stream_past_the_bound_is_answered_with_when_to_come_again(app: FastAPI) -> None:
    app.state.lines = Lines(strangers=0)
    async with visitor(app) as client:
        answer = await client.get("/api/env/toy/slow/progress", headers={"accept": "text/event-stream"})
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "10"
    assert answer.json()["error"]["code"] == "too_many"


async def test_whoever_leaves_gives_the_place_back() -> None:
    lines = Lines(each=1)

    async def events() -> AsyncIterator[Event]:
        await anyio.sleep_forever()
        yield Event(1, "never", None)

    async def leave() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        await anyio.lowlevel.checkpoint()

    for _ in range(2):
        with anyio.fail_after(10):
            await EventStream(events(), line=lambda: lines.line("ann", known=True))({"type": "http"}, leave, send)
