"""What is found of an endpoint: each way in which it can fail is told from the others."""

import asyncio
import json
from typing import Any

import pytest

from rlx.demo import demo_hub
from rlx.errors import Upstream
from rlx.localhub import LocalHubServer, serve
from rlx.runners.models.exchange import Server
from rlx.runners.models.probe import Probe, listed, probe
from rlx.texts import words
from tests.runners.models.servers import Behave, Heard, answering, call, dripping, flooding, said, served

pytestmark = pytest.mark.anyio

KEY = "sk-RLXCANARYkey"
REFUSED = {"error": {"message": f"no such key {KEY}"}}


def streaming(text: str, *, end: bool = True) -> bytes:
    chunks = [json.dumps({"choices": [{"delta": {"content": piece}}]}) for piece in text]
    return "".join(f"data: {chunk}\r\n\r\n" for chunk in [*chunks, *(["[DONE]"] if end else [])]).encode()


def model(tools: Behave, plain: Behave | None = None, stream: Behave | None = None) -> Behave:
    """Answers requests with tools, without, and for streams, each in its own way."""

    async def behave(heard: Heard, writer: asyncio.StreamWriter) -> None:
        body = heard.body or {}
        which = tools if "tools" in body else (stream if body.get("stream") else plain)
        await (which or answering(said()))(heard, writer)

    return behave


async def found(behave: Behave, *, seconds: float = 10.0, name: str = "m") -> Probe:
    async with served(behave) as place:
        return await probe(Server(place.url, KEY, any_address=True), name, seconds=seconds)


CALLED = answering(said(None, calls=[call('{"a": 19, "b": 23}')]))
BAD = answering({"error": {"message": "tools are not supported"}}, status=400)


@pytest.mark.parametrize(
    ("behave", "verdict"),
    [
        (answering(b"<html>hello"), "not-openai"),
        (answering({"hello": "world"}), "not-openai"),
        (answering(b"Not Found", status=404), "not-openai"),
        (answering(REFUSED, status=401), "bad-key"),
        (answering(REFUSED, status=403), "bad-key"),
        (answering({"error": {"message": "The model 'm' does not exist."}}, status=404), "unknown-model"),
        (answering({"error": {"message": "x", "code": "model_not_found"}}, status=400), "unknown-model"),
        (answering({"error": "model m not found"}, status=400), "unknown-model"),
        (answering({"error": {"message": "You have exceeded your credits"}}, status=402), "busy"),
        (answering({"error": {"message": "slow down"}}, status=429), "busy"),
        (answering({"error": {"message": "CUDA out of memory"}}, status=500), "failed"),
        (answering({}, status=301, location="https://elsewhere"), "redirect"),
        (flooding(b"x" * 65_536), "too-large"),
        (dripping(b" "), "slow"),
        (model(CALLED), "tools"),
        (model(answering(said("19 + 23 = 42"))), "no-tools"),
        (model(BAD), "no-tools"),
        (model(answering(said(None, calls=[call('{"a": 19, "b":')]))), "tools-broken"),
        (model(answering(said(None, calls=[call({"a": 19})]))), "tools-broken"),
        (model(answering(said(None, calls=[call("[1, 2]")]))), "tools-broken"),
        (model(answering(said(None, calls=[call("[" * 100_000)]))), "tools-broken"),
        (model(answering(said(None, calls=[{"function": "add"}]))), "tools-broken"),
        (model(answering(said(None, calls=[call("{}")] * 5000))), "tools-broken"),
    ],
)
async def test_each_way_to_fail_is_told_from_the_others(behave: Behave, verdict: str) -> None:
    probed = await found(behave, seconds=0.3 if verdict == "slow" else 10.0)
    assert probed.verdict == verdict
    assert probed.works == (verdict in ("tools", "no-tools", "tools-broken"))
    for language in ("en", "ko"):
        assert all(words(each, language) for each in probed.said)
    assert KEY not in f"{probed}"


async def test_nothing_there_and_what_may_not_be_reached_are_told_apart() -> None:
    async with served(answering({})) as place:
        port = place.port
    assert (
        await probe(Server(f"http://127.0.0.1:{port}/v1", any_address=True), "m", seconds=5)
    ).verdict == "unreachable"
    assert (await probe(Server(f"https://127.0.0.1:{port}/v1"), "m", seconds=5)).verdict == "refused"


@pytest.mark.parametrize(
    ("stream", "streams"),
    [
        (answering(streaming("yes"), content_type="text/event-stream; charset=utf-8"), True),
        (answering(streaming("yes", end=False), content_type="text/event-stream"), False),
        (answering(b"data: {broken\n\n", content_type="text/event-stream"), False),
        (answering(b"data: [DONE]\n\n", content_type="text/event-stream"), False),
        (answering(b"data: " + b"[" * 100_000 + b"\n\n", content_type="text/event-stream"), False),
        (answering(said()), False),
        (answering({"error": "no"}, status=400), False),
        (flooding(b'data: {"choices": [{"delta": {"content": "again "}}]}\n\n', kind="text/event-stream"), False),
    ],
)
async def test_whether_it_streams_is_told_whatever_the_stream_holds(stream: Behave, streams: bool) -> None:
    probed = await found(model(CALLED, stream=stream))
    assert (probed.verdict, probed.streams, probed.usage) == ("tools", streams, True)


async def test_an_endpoint_that_counts_no_tokens_is_told_as_one() -> None:
    uncounted = answering(said(None, calls=[call("{}")], usage=None))
    odd = answering(said(None, calls=[call("{}")], usage={"prompt_tokens": -1, "completion_tokens": True}))
    assert [(await found(model(each))).usage for each in (uncounted, odd)] == [False, False]


async def test_models_are_listed_and_what_lists_none_says_so() -> None:
    async with served(answering({"data": [{"id": "a"}, {"id": 5}, {"id": "b"}, {"id": "a"}, "x"]})) as place:
        assert await listed(Server(place.url, any_address=True)) == ("a", "b")
    wrong: tuple[tuple[Any, int], ...] = (({"data": 5}, 200), (b"<html>", 200), (REFUSED, 401), ({}, 500))
    for body, status in wrong:
        async with served(answering(body, status=status)) as place:
            with pytest.raises(Upstream) as refused:
                await listed(Server(place.url, KEY, any_address=True))
        assert KEY not in refused.value.message


@pytest.fixture(scope="module")
def hub() -> Any:
    with serve(demo_hub()) as running:
        yield running


@pytest.mark.parametrize(("name", "verdict"), [("swift", "tools"), ("wordy", "no-tools"), ("gone", "unknown-model")])
async def test_the_router_of_a_local_hub_is_found_as_what_it_is(hub: LocalHubServer, name: str, verdict: str) -> None:
    server = Server(f"{hub.url}/v1", any_address=True)
    probed = await probe(server, f"scripted/solve:{name}")
    assert probed.verdict == verdict
    assert not probed.works or (probed.streams, probed.usage) == (True, True)
    assert "scripted/solve" in await listed(server)
