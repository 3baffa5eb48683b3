"""The agent `simple`, with a model and a shell that are functions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.agents.simple import Told, work
from rlx.errors import ModelError

pytestmark = pytest.mark.anyio


def reply(text: str = "", *commands: str) -> dict[str, Any]:
    calls = [
        {
            "id": f"c{place}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": each})},
        }
        for place, each in enumerate(commands)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    return {"choices": [{"message": message}], "usage": {"prompt_tokens": 10, "completion_tokens": 3}}


class Model:
    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.heard: list[list[Mapping[str, Any]]] = []

    async def __call__(self, messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        self.heard.append(list(messages))
        found: Mapping[str, Any] = self.replies.pop(0)
        return found


async def shell(command: str) -> tuple[int, str]:
    return (0, f"did {command}") if command != "false" else (1, "")


async def test_commands_are_run_and_their_output_is_told_until_the_model_stops() -> None:
    model, told = Model(reply("look", "ls"), reply("", "false"), reply("done")), Told()

    await work("Do it.", model, shell, told)

    assert [message["content"] for message in model.heard[-1] if message["role"] == "tool"] == [
        "did ls",
        "\n[exit code 1]",
    ]
    assert (told.tokens_in, told.tokens_out) == (30, 9)
    assert [step["source"] for step in told.steps] == ["system", "user", "agent", "agent", "agent"]
    assert told.steps[2]["observation"]["results"] == [{"source_call_id": "c0", "content": "did ls"}]


async def test_it_ends_after_its_turns() -> None:
    model = Model(*(reply("", "ls") for _ in range(9)))

    await work("Do it.", model, shell, Told(), max_turns=3)

    assert len(model.heard) == 3


async def test_an_answer_without_a_message_is_the_models_fault() -> None:
    with pytest.raises(ModelError):
        await work("Do it.", Model({"choices": []}), shell, Told())


async def test_what_was_said_before_a_failure_is_kept() -> None:
    told = Told()

    with pytest.raises(ModelError):
        await work("Do it.", Model(reply("look", "ls"), {}), shell, told)

    assert told.steps[2]["message"] == "look"


@given(arguments=st.one_of(st.none(), st.text(), st.integers(), st.just("[1]"), st.just('{"command": 3}')))
async def test_any_arguments_are_answered(arguments: object) -> None:
    call = {"id": "c", "function": {"name": "bash", "arguments": arguments}}
    model = Model({"choices": [{"message": {"tool_calls": [call, 3]}}]}, reply("done"))

    await work("Do it.", model, shell, Told())

    assert "takes a text" in model.heard[1][-1]["content"]


async def test_long_output_is_cut_in_the_middle() -> None:
    async def long(command: str) -> tuple[int, str]:
        return 0, "a" * 50_000 + "end"

    model = Model(reply("", "cat"), reply("done"))
    await work("Do it.", model, long, Told())

    shown = model.heard[1][-1]["content"]
    assert len(shown) < 17_000
    assert shown.endswith("end")
    assert "34003 characters left out" in shown
