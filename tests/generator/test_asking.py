"""A model reads descriptions: what it proves counts, and whatever else it says harms nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rlx.errors import BadInput, Upstream
from rlx.generator.asking import ROUNDS, Endpoint, before, choose, read_by_model
from rlx.generator.interview import Question
from rlx.texts import say
from tests.endpoints import endpoint

DESCRIPTION = "The agent steers a lift. It is rewarded\nwhen everybody has arrived. Put it into games/lift."


def called(*answers: Mapping[str, Any]) -> bytes:
    return completed(json.dumps({"answers": answers}))


def completed(arguments: object) -> bytes:
    call = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": arguments}}
    return json.dumps({"choices": [{"message": {"tool_calls": [call]}}]}).encode()


REWARD = {"question": "reward", "answer": "everybody has arrived", "quote": "Rewarded when everybody has arrived"}


def test_what_the_description_says_is_taken_with_its_quote() -> None:
    with endpoint(lambda body: (200, called(REWARD))) as (url, heard):
        assert read_by_model(DESCRIPTION, Endpoint(url, "m", "k")) == {"reward": "everybody has arrived"}
    assert heard == [{"model": "m", "key": "Bearer k"}]


def test_what_is_not_proven_is_told_to_the_model_and_then_stays_open() -> None:
    told: list[str] = []

    def guess(body: Mapping[str, Any]) -> tuple[int, bytes]:
        told.append(body["messages"][-1]["content"])
        invented = {"question": "path", "answer": "/etc", "quote": "Put it into games/lift"}
        return 200, called(REWARD, invented, {"question": "state", "answer": "memory", "quote": "it remembers"})

    with endpoint(guess) as (url, heard):
        assert read_by_model(DESCRIPTION, Endpoint(url, "m", None)) == {"reward": "everybody has arrived"}
    assert len(heard) == ROUNDS
    assert "quote for state is not in the description" in told[1]
    assert "path is not in the description" in told[1]


@pytest.mark.parametrize(
    "data",
    [
        b"no json",
        b"[]",
        b"[" * 100_000,
        b'{"choices": [{"message": {"content": "hi"}}]}',
        completed(None),
        completed({"answers": []}),
        completed('{"answers": 7}'),
        completed('{"answers": [{"question": "reward"}]}'),
        called({**REWARD, "question": "__class__"}),
        called({**REWARD, "extra": 1}),
    ],
    ids=range(10),
)
def test_wild_answers_leave_everything_open(data: bytes) -> None:
    with endpoint(lambda body: (200, data)) as (url, heard):
        assert read_by_model(DESCRIPTION, Endpoint(url, "m", None)) == {}
    assert len(heard) == ROUNDS


def test_a_model_that_refuses_is_told_without_its_key() -> None:
    with endpoint(lambda body: (401, b"bad key hunter2")) as (url, _), pytest.raises(Upstream) as caught:
        read_by_model(DESCRIPTION, Endpoint(url, "m", "hunter2"))
    assert "answered 401" in str(caught.value)
    assert "hunter2" not in f"{caught.value!r} {Endpoint(url, 'm', 'hunter2')!r}"


def test_keys_choose_the_model_and_stand_in_a_file_too(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no key"):
        choose(None, None, {}, tmp_path)
    (tmp_path / ".env").write_text("export HF_TOKEN='from-file'\nOTHER=1\n")
    qwen = choose(None, None, {}, tmp_path)
    assert (qwen.model.split("/")[0], qwen.key) == ("Qwen", "from-file")
    assert choose(None, None, {"HF_TOKEN": "from-variable"}, tmp_path).key == "from-variable"
    assert choose(None, None, {"OPENAI_API_KEY": "o"}, tmp_path).url == "https://api.openai.com/v1"
    with pytest.raises(BadInput, match="OPENAI_API_KEY holds characters") as caught:
        choose(None, None, {"OPENAI_API_KEY": "hunter\u00e9"}, tmp_path)
    assert "hunter" not in str(caught.value)
    with pytest.raises(BadInput, match="Which model"):
        choose(None, "http://127.0.0.1:1/v1", {}, tmp_path)


def test_a_model_answers_what_is_open_and_settles_no_contradiction() -> None:
    ask = before({"reward": "per_step", "scope": "yes"}, lambda question: "a person")
    assert ask(Question("reward", say("new.ask_measure"), say("new.because_reward_open"), None)) == "per_step"
    assert ask(Question("reward", say("new.ask_styles", styles="two"), say("new.because_styles"), None)) == "a person"
    assert ask(Question("scope", say("new.ask_scope", title="", rest=""), say("new.because_scope"), "no")) == "a person"
    assert ask(Question("path", say("new.ask_path"), say("new.because_path"), None)) == "a person"


@pytest.mark.parametrize("url", ["ftp://x", "http://[bad", "nonsense", "http://127.0.0.1:1/v1"])
def test_an_address_where_nothing_answers_is_told(url: str) -> None:
    with pytest.raises(Upstream, match="could not be asked"):
        read_by_model(DESCRIPTION, Endpoint(url, "m", None))
