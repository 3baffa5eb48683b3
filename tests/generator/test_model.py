"""The scripted model answers and streams as OpenAI's do."""

import json

from rlx.generator.archetypes.base import Call
from rlx.generator.check.model import answer, streamed

SCRIPT = [Call("drop_piece", {"column": 4})]


def test_it_plays_its_script_and_then_stops() -> None:
    first = answer(SCRIPT, {"messages": [{"role": "user", "content": "Play."}]})["choices"][0]
    assert first["finish_reason"] == "tool_calls"
    assert json.loads(first["message"]["tool_calls"][0]["function"]["arguments"]) == {"column": 4}
    spoken = {"messages": [{"role": "user", "content": "Play."}, {"role": "assistant", "content": None}]}
    assert answer(SCRIPT, spoken)["choices"][0]["finish_reason"] == "stop"


def test_a_stream_says_the_same_with_the_usage_last() -> None:
    events = streamed(answer(SCRIPT, {"messages": []})).split("\n\n")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events if event.startswith("data: {")]
    assert chunks[0]["choices"][0]["delta"]["tool_calls"][0]["index"] == 0
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 2
    assert events[-2] == "data: [DONE]"
