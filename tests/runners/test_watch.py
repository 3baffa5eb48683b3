"""Calls of models as events."""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rlx.rollout import ModelUse
from rlx.runners.watch import Watch

PRICED = ModelUse(id="m", provider="endpoint", dollars_in=2.0, dollars_out=10.0)


def watched(model: ModelUse | None = None, *, quiet: bool = False) -> tuple[Watch, list[tuple[str, Mapping[str, Any]]]]:
    told: list[tuple[str, Mapping[str, Any]]] = []
    return Watch(lambda kind, data: told.append((kind, data)), model, quiet=quiet), told


USER = {"role": "user", "content": "Do it."}
CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{}"}}],
}


def test_a_conversation_is_told_once_however_often_it_is_sent() -> None:
    watch, told = watched()
    watch.request([USER])
    watch.response({**CALL, "reasoning_content": "hm"}, {"prompt_tokens": 5, "completion_tokens": 2})
    watch.request([USER, CALL, {"role": "tool", "tool_call_id": "c1", "content": ""}])
    watch.response({"role": "assistant", "content": "done"}, {"prompt_tokens": 9, "completion_tokens": 1})

    assert [kind for kind, _ in told] == ["prompt", "thinking", "call", "usage", "output", "message", "usage"]
    assert told[4][1] == {"id": "c1", "text": ""}
    assert told[-1][1] == {"tokens_in": 14, "tokens_out": 3, "calls": 2}
    assert watch.usage.tool_calls == 1


def test_tools_are_told_when_they_change() -> None:
    watch, told = watched()
    bash = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
    for tools in (None, [bash], [bash], [bash, {**bash, "function": {"name": "read"}}], "no list"):
        watch.offered(tools)
    assert [[json.loads(item)["function"]["name"] for item in data["items"]] for _, data in told] == [
        *(["bash"], ["bash", "read"], [])
    ]
    quiet, nothing = watched(quiet=True)
    quiet.offered([bash])
    assert nothing == []


def test_keystrokes_are_calls_and_the_screen_is_their_output() -> None:
    watch, told = watched()
    typed = json.dumps({"analysis": "x", "commands": [{"keystrokes": "ls\n", "duration": 1}]})
    watch.request([USER])
    watch.response({"role": "assistant", "content": typed}, None)
    watch.request([USER, {"role": "assistant", "content": typed}, {"role": "user", "content": "a b"}])

    calls = [data for kind, data in told if kind == "call"]
    outputs = [data for kind, data in told if kind == "output"]
    assert calls[0]["arguments"]["keystrokes"] == "ls\n"
    assert outputs == [{"id": calls[0]["id"], "text": "a b"}]


def test_what_is_unknown_is_not_zero() -> None:
    watch, _ = watched(PRICED)
    watch.response({"role": "assistant", "content": "x"}, None)
    assert (watch.usage.tokens_in, watch.usage.tokens_out, watch.cost) == (None, None, None)
    assert watch.usage.model_calls == 1


def test_one_call_of_unknown_size_makes_the_whole_unknown() -> None:
    watch, _ = watched(PRICED)
    said = {"role": "assistant", "content": "x"}
    for usage in ({"prompt_tokens": 5, "completion_tokens": 5}, None, {"prompt_tokens": 5, "completion_tokens": 5}):
        watch.response(said, usage)
    assert (watch.usage.tokens_in, watch.usage.tokens_out, watch.cost) == (None, None, None)
    assert watch.usage.model_calls == 3


def test_prices_give_the_cost() -> None:
    watch, told = watched(PRICED)
    watch.response({"role": "assistant", "content": "x"}, {"prompt_tokens": 500_000, "completion_tokens": 100_000})
    assert watch.cost == 2.0
    assert told[-1][1]["cost"] == 2.0


def test_of_a_quiet_one_only_usage_is_told() -> None:
    watch, told = watched(quiet=True)
    watch.request([USER])
    watch.response(CALL, {"prompt_tokens": 1, "completion_tokens": 1})
    assert {kind for kind, _ in told} == {"usage"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_MESSAGE = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "reasoning_content"]), _JSON
)


@given(messages=st.lists(_MESSAGE), answer=_MESSAGE, usage=st.dictionaries(st.text(), _JSON))
def test_any_messages_can_be_watched(messages: list[Any], answer: dict[str, Any], usage: dict[str, Any]) -> None:
    watch, told = watched()
    watch.request(messages)
    watch.response(answer, usage)
    json.dumps([data for _, data in told])
