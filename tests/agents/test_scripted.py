"""The scripted model."""

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.agents.scripted import answer, create_app

TOOLS = [{"type": "function", "function": {"name": "bash"}}]
TASK = {"role": "user", "content": "# Tidy a configuration file\n\nTidy it."}


def said(turns: int) -> list[dict[str, Any]]:
    return [TASK, *({"role": "assistant", "content": ""} for _ in range(turns))]


def commands(script: str, task: dict[str, Any] = TASK) -> list[str]:
    found: list[str] = []
    for turn in range(9):
        messages = [task, *said(turn)[1:]]
        message = answer({"model": script, "messages": messages, "tools": TOOLS})["choices"][0]["message"]
        if "tool_calls" not in message:
            return found
        found.append(json.loads(message["tool_calls"][0]["function"]["arguments"])["command"])
    raise AssertionError("it never stops")


def test_a_known_task_is_solved_in_steps() -> None:
    assert len(commands("solve")) == 3
    assert "service.conf" in commands("solve")[1]


def test_programs_of_a_solution_are_written_into_the_command() -> None:
    (_, solving, _) = commands("solve", {"role": "user", "content": "# A year of orders"})

    assert "/solution/" not in solving
    assert "python3 - <<'SOLVE_PY'" in solving


@pytest.mark.parametrize("script", ["wrong", "nonsense", ""])
def test_the_wrong_script_solves_nothing(script: str) -> None:
    assert "service.conf" not in " ".join(commands(script))


def test_an_unknown_task_is_not_solved() -> None:
    assert len(commands("solve", {"role": "user", "content": "# Something else"})) == 2


def test_without_tools_it_types_into_a_terminal() -> None:
    def typed(turn: int) -> Any:
        asked = [{"role": "system", "content": 'Answer in JSON: {"keystrokes": ...}'}, *said(turn)]
        return json.loads(answer({"model": "solve", "messages": asked})["choices"][0]["message"]["content"])

    assert typed(0)["commands"][0]["keystrokes"].endswith("\n")
    assert not typed(0)["task_complete"]
    assert typed(3) == {**typed(3), "commands": [], "task_complete": True}


def test_asked_for_words_alone_it_gives_words() -> None:
    message = answer({"model": "solve", "messages": said(0)})["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "I have done what was asked for."}


def test_the_tool_that_runs_commands_is_called_as_its_schema_has_it() -> None:
    def called(name: str, parameters: object) -> dict[str, Any]:
        tools = [{"function": {"name": each, "parameters": parameters}} for each in ("edit", name, "todo")]
        message = answer({"model": "solve", "messages": said(0), "tools": tools})["choices"][0]["message"]
        function = message["tool_calls"][0]["function"]
        assert function["name"] == name
        return dict(json.loads(function["arguments"]))

    text, words = {"type": "string"}, {"type": "array"}
    described = {"properties": {"command": text, "description": text}, "required": ["command", "description"]}
    assert set(called("bash", described)) == {"command", "description"}
    assert called("shell", {"properties": {"command": words}})["command"][:2] == ["bash", "-lc"]
    assert set(called("exec_command", {"properties": {"cmd": text}})) == {"cmd"}


def test_an_agent_that_takes_no_answer_without_a_command_is_told_the_end_by_one() -> None:
    task = {
        "role": "user",
        "content": "Submit with COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT.\n# Tidy a configuration file",
    }
    assert commands("solve", task)[-1] == "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@given(messages=st.lists(st.dictionaries(st.sampled_from(["role", "content"]), st.text() | st.none() | st.integers())))
def test_any_messages_are_answered(messages: list[Any]) -> None:
    assert answer({"messages": messages, "tools": [None, {}]})["usage"]["total_tokens"] > 0


@pytest.mark.anyio
async def test_it_is_a_server_like_others() -> None:
    transport = httpx2.ASGITransport(app=create_app())
    async with httpx2.AsyncClient(transport=transport, base_url="http://model") as client:
        models = (await client.get("/v1/models")).json()
        done = (await client.post("/v1/chat/completions", json={"model": "wrong", "messages": [TASK]})).json()
        refused = await client.post("/v1/chat/completions", content=b"[")

    assert [model["id"] for model in models["data"]] == ["solve", "wrong"]
    assert done["choices"][0]["finish_reason"] == "stop"
    assert refused.status_code == 400
