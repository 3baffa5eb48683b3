"""How a rollout's model is asked, and what a server that means harm comes to."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from rlx.errors import ModelError
from rlx.rollout import ModelUse
from rlx.runners.models.completion import MOST_CALLS, MOST_TEXT
from rlx.runners.models.exchange import NoAnswer, Server, exchange
from rlx.runners.models.purse import Send
from rlx.runners.models.reach import sender
from rlx.runners.workers import Handed
from tests.runners.models.servers import Behave, Heard, answering, call, dripping, flooding, head, said, served

pytestmark = pytest.mark.anyio

KEY = "sk-RLXCANARYkey"
OWN = ModelUse(id="org/model", provider="endpoint")
ASK = {"messages": [{"role": "user", "content": "hi"}], "model": "alias"}


async def pauses_none(seconds: float) -> None:
    """A server that is busy asks to be left alone; here nobody waits."""


def asked(url: str, model: ModelUse = OWN) -> Send:
    return sender(model, Handed(base_url=url, api_key=KEY, any_address=True), sleep=pauses_none)


async def answered(behave: Behave) -> tuple[int, Any]:
    async with served(behave) as place:
        return await asked(place.url)(ASK)


async def test_the_key_and_the_models_own_name_go_with_each_call() -> None:
    async with served(answering(said())) as place:
        assert (await asked(place.url)(ASK))[0] == 200
        routed = ModelUse(id="Qwen/Qwen3", provider="router", route="cheapest")
        await asked(place.url, routed)(ASK)
    assert [heard.body["model"] for heard in place.heard] == ["org/model", "Qwen/Qwen3:cheapest"]
    assert {heard.headers["authorization"] for heard in place.heard} == {f"Bearer {KEY}"}
    assert KEY not in repr(Server(place.url, KEY))


async def test_one_whose_address_nobody_knows_any_more_says_so() -> None:
    with pytest.raises(ModelError, match="gone"):
        sender(OWN, Handed())


@pytest.mark.parametrize(
    ("behave", "told"),
    [
        (answering(b"<html>"), "no JSON"),
        (answering(b"[" * 200_000), "no JSON"),
        (answering([]), "no chat completion"),
        (answering({"choices": []}), "no chat completion"),
        (answering({"choices": [{"message": "x"}]}), "no chat completion"),
        (answering(b"data: {}\n\ndata: [DONE]\n\n", content_type="text/event-stream"), "no JSON"),
        (answering(said("x" * (MOST_TEXT + 1))), "characters"),
        (answering(said(None, calls=[call("{}")] * (MOST_CALLS + 1))), "tools at once"),
        (answering(said(None, calls=[call("x" * 600_000)])), "arguments"),
        (answering(said(None, calls=[{"function": {"name": 5}}])), "without its name"),
        (answering(said(None, calls="all of them")), "no list"),
        (answering(gzip.compress(b"0" * 10**7), content_encoding="gzip"), "compressed"),
        (answering({}, status=307, location="http://127.0.0.1:9/"), "sends elsewhere"),
    ],
)
async def test_what_is_no_completion_is_refused_with_the_reason(behave: Behave, told: str) -> None:
    status, answer = await answered(behave)
    assert status == 502
    assert told in answer["error"]["message"]


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_flood_ends_at_the_bound(kind: str) -> None:
    status, answer = await answered(flooding(b"data: " + b"x" * 65_536 + b"\n\n", kind=kind))
    assert status == 502
    assert "larger" in answer["error"]["message"]


async def test_fifty_megabytes_that_are_announced_are_not_read() -> None:
    async def behave(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await head(writer, 200, {"content-type": "application/json", "content-length": str(50 * 2**20)})
        piece = b" " * 2**16
        for _ in range(50 * 16):
            writer.write(piece)
            await writer.drain()

    status, answer = await answered(behave)
    assert status == 502
    assert "larger" in answer["error"]["message"]


async def test_a_drip_ends_at_the_time_for_the_whole_answer() -> None:
    async with served(dripping(b" ")) as place:
        with pytest.raises(NoAnswer) as slow:
            await exchange(Server(place.url, any_address=True), "models", seconds=0.2)
    assert slow.value.trouble == "slow"


async def test_a_server_that_says_nothing_ends_at_its_time_and_one_that_hangs_up_at_once() -> None:
    async def silent(heard: Heard, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def hang_up(heard: Heard, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    for behave, trouble in ((silent, "slow"), (hang_up, "broken")):
        async with served(behave) as place:
            with pytest.raises(NoAnswer) as failed:
                await exchange(Server(place.url, any_address=True), "models", seconds=0.2)
        assert failed.value.trouble == trouble


async def test_nothing_there_is_told_as_such() -> None:
    async with served(answering({})) as place:
        gone = place.url
    status, answer = await asked(gone)(ASK)
    assert (status, "nothing takes connections" in answer["error"]["message"]) == (502, True)


async def test_a_refusal_is_handed_on_and_a_busy_server_is_asked_again() -> None:
    assert (await answered(answering({"error": {"message": "no"}}, status=401)))[0] == 401

    async def busy(heard: Heard, writer: asyncio.StreamWriter) -> None:
        is_late = len(place.heard) > 2
        body = said() if is_late else {"error": {"message": "busy"}}
        await answering(body, status=200 if is_late else 429, retry_after="1")(heard, writer)

    async with served(busy) as place:
        assert (await asked(place.url)(ASK))[0] == 200
    assert len(place.heard) == 3


@pytest.mark.parametrize("after", ["99999", "-1", "nan", "inf"])
async def test_one_that_wants_to_be_left_alone_for_long_has_refused(after: str) -> None:
    async with served(answering({"error": {"message": "busy"}}, status=429, retry_after=after)) as place:
        assert (await asked(place.url)(ASK))[0] == 429
    assert len(place.heard) == 1


async def test_the_router_of_a_folder_is_asked_in_the_process(fixture_hub: Any) -> None:
    model = ModelUse(id="scripted/wrong", provider="router", route="thrifty")
    send = sender(model, Handed(base_url="http://hub.localhost/v1", hub_folder=str(fixture_hub)))
    status, answer = await send({**ASK, "tools": [{"function": {"name": "bash"}}]})
    assert status == 200
    assert json.loads(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])["command"]
