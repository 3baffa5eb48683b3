"""The local hub's router: the scripted model, asked as the real one is."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from rlx.demo import demo_hub
from rlx.localhub import LocalHub, LocalHubServer, serve
from rlx.runners.models.pool import parse_models
from rlx.runners.models.streams import read_stream

TOOL = {"type": "function", "function": {"name": "bash", "parameters": {}}}
ASK = {"model": "scripted/solve:swift", "messages": [{"role": "user", "content": "# Tidy"}], "tools": [TOOL]}


@pytest.fixture(scope="module")
def hub() -> Iterator[LocalHubServer]:
    with serve(demo_hub()) as running:
        yield running


def post(hub: LocalHubServer, body: object, token: str | None = None) -> httpx2.Response:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx2.post(f"{hub.url}/v1/chat/completions", json=body, headers=headers)


def test_it_lists_models_with_providers_prices_and_tools(hub: LocalHubServer) -> None:
    models = parse_models(httpx2.get(f"{hub.url}/v1/models").json())
    assert [model.id for model in models] == ["scripted/solve", "scripted/wrong", "scripted/solve-unpriced"]
    assert {each.name: each.tools for each in models[0].live} == {"swift": True, "thrifty": True, "wordy": False}


def test_a_stream_holds_what_the_whole_answer_does(hub: LocalHubServer) -> None:
    whole = post(hub, ASK).json()
    answer = post(hub, ASK | {"stream": True, "stream_options": {"include_usage": True}})
    assert answer.headers["content-type"] == "text/event-stream"
    said = read_stream(answer.content)
    message = whole["choices"][0]["message"]
    call = message["tool_calls"][0]["function"]
    assert said.content == message["content"]
    assert said.calls == {0: (call["name"], call["arguments"])}
    assert json.loads(call["arguments"])["command"]
    assert (said.usage, said.finished) == (whole["usage"], True)
    assert said.pieces > 3
    assert read_stream(post(hub, ASK | {"stream": True}).content).usage is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (ASK | {"model": "org/other"}, 404),
        (ASK | {"model": "scripted/solve:nobody"}, 400),
        (ASK | {"model": "scripted/solve:away"}, 400),
        (ASK | {"model": "scripted/solve:wordy"}, 400),
        ({"model": "scripted/solve"}, 400),
        ([], 400),
    ],
)
def test_what_it_does_not_have_is_refused(hub: LocalHubServer, body: object, status: int) -> None:
    answer = post(hub, body)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_a_hub_that_has_users_answers_them_alone() -> None:
    with serve(LocalHub(demo_hub(), users={"hf_ann": "ann"})) as hub:
        assert post(hub, ASK).status_code == 401
        assert post(hub, ASK, "hf_other").status_code == 401
        assert post(hub, ASK, "hf_ann").status_code == 200
        assert httpx2.get(f"{hub.url}/v1/models").status_code == 200
        assert httpx2.get(f"{hub.url}/v1/chat/completions").status_code == 405
        assert httpx2.get(f"{hub.url}/v1/other").status_code == 404
