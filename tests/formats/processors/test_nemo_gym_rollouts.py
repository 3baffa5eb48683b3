"""Rollouts of NeMo Gym: what was answered, what it was worth, and what it repeats of the answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.processors.nemo_gym import NeMoGym, NeMoGymRollouts
from rlx.formats.processors.registry import choose
from rlx.model import Transcript
from rlx.texts import words
from tests.formats.processors.rowwise import HOSTILE, Read, read, table_of

TASK = {"responses_create_params": {"input": [{"role": "user", "content": "What is it?"}]}, "instance_id": "i-1"}
RESPONSE = {
    "model": "acme/small",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "RLX-SHOWN-THOUGHT"}]},
        {"type": "function_call", "name": "look", "arguments": '{"at": "sky"}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "It reads RLX-CANARY-ROLLOUT-ANSWER-1 there."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "RLX-SHOWN-SAID it."}]},
    ],
    "usage": {"input_tokens": 10, "output_tokens": 32, "total_tokens": 42},
}
ROW = {
    **TASK,
    "response": RESPONSE,
    "reward": 1.0,
    "accuracy": 0.5,
    "finished": True,
    "agent_run_time": 2.5,
    "expected_answer": "RLX-CANARY-ROLLOUT-ANSWER-1",
    "_ng_task_index": 3,
}


def transcript(found: Read, at: int = 0) -> Transcript | None:
    section = next(section for section in found.view(at).sections if section.id == "transcript")
    return next((block for block in section.blocks if isinstance(block, Transcript)), None)


def test_what_was_answered_is_shown_and_what_it_repeats_of_the_answer_is_not() -> None:
    found = read(NeMoGymRollouts(), table_of([ROW]))
    told = transcript(found)
    assert told is not None
    assert [message.kind for message in told.items] == ["reasoning", "call", "output", "message"]
    shown = found.shown()
    assert "RLX-SHOWN-THOUGHT" in shown
    assert "RLX-SHOWN-SAID" in shown
    assert "RLX-CANARY" not in shown


def test_a_rollout_is_told_in_the_order_in_which_it_came_and_promises_no_commands() -> None:
    found = read(NeMoGymRollouts(), table_of([ROW]))
    assert [section.id for section in found.view().sections][:3] == ["prompt", "transcript", "outcome"]
    for support in (found.view().support, found.summary().support):
        assert [words(item.evidence) for item in support.capabilities if item.id == "run"] == [
            "NeMo Gym ran it; the requests it was made of are run with it again."
        ]
    assert "run-there" not in {section.id for section in (*found.view().sections, *found.summary().sections)}


def test_rewards_measures_tokens_and_the_model_are_told() -> None:
    found = read(NeMoGymRollouts(), table_of([ROW]))
    card = found.cards[0]
    assert card.numbers == {"reward": 1.0, "tokens": 42.0, "turns": 2.0, "seconds": 2.5}
    assert card.facets["outcome"] == ("Solved",)
    assert card.facets["model"] == ("acme/small",)
    page = found.page()
    for line in ("Reward: 1", "accuracy: 0.5", "finished: Yes", "output_tokens: 32"):
        assert line in page
    assert "_ng_task_index: " not in page.split("## What came of it")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"reward": 1.0}, "Solved"),
        ({"reward": 0.0}, "Failed"),
        ({"reward": -1}, "Failed"),
        ({"reward": 0.4}, "Partly solved"),
        ({"reward": None}, "Not graded"),
        ({"reward": None, "error": "The sandbox died."}, "Error"),
    ],
)
def test_an_outcome_is_what_the_reward_says(row: dict[str, Any], outcome: str) -> None:
    assert read(NeMoGymRollouts(), table_of([{**ROW, **row}])).cards[0].facets["outcome"] == (outcome,)


def test_attempts_at_one_task_belong_together_and_inputs_among_them_stay_tasks() -> None:
    other = {**ROW, "instance_id": "i-2"}
    found = read(NeMoGymRollouts(), table_of([ROW, {**ROW, "reward": 0}, other, TASK]))
    first, second, third, task = found.cards
    assert first.of == second.of
    assert first.of is not None
    assert third.of != first.of
    assert (task.of, dict(task.numbers)) == (None, {})
    assert "outcome" not in task.facets
    assert transcript(found, 3) is None
    assert "a task without an attempt" in found.page(3)


def test_rollouts_are_told_from_tasks_by_what_most_rows_are() -> None:
    known = (NeMoGymRollouts(), NeMoGym())
    cases: list[tuple[list[dict[str, Any]], str]] = [
        ([ROW, ROW], "nemo-gym-rollouts"),
        ([ROW, TASK], "nemo-gym-rollouts"),
        ([ROW, TASK, TASK, TASK], "nemo-gym"),
        ([TASK], "nemo-gym"),
        ([{**TASK, "response": None, "reward": 1.0}], "nemo-gym"),
    ]
    for rows, expected in cases:
        chosen = choose(table_of(rows), known)
        assert chosen is not None
        assert chosen[0].name == expected


def test_replies_without_a_request_are_rollouts_where_the_card_says_nemo_gym() -> None:
    rows = [{"policy_response": "RLX-SHOWN-REPLY", "reward": 1, "provenance_id": "p"}]
    assert NeMoGymRollouts().match(table_of(rows)) is None
    assert NeMoGymRollouts().match(table_of(rows, tags=("nemo-gym",))) is not None
    assert "RLX-SHOWN-REPLY" in read(NeMoGymRollouts(), table_of(rows)).shown()


def test_what_went_wrong_is_told() -> None:
    row = {**ROW, "response": {"status": "incomplete", "output": []}, "error_kind": "timeout", "mask_sample": True}
    page = read(NeMoGymRollouts(), table_of([row])).page()
    assert "ended with the status incomplete" in page
    assert "error_kind tells of an error" in page
    assert "mask_sample" in page
    assert "holds no turns" in page


def test_a_response_as_json_text_is_read_like_an_object() -> None:
    found = read(NeMoGymRollouts(), table_of([{**ROW, "response": json.dumps(RESPONSE)}]))
    told = transcript(found)
    assert told is not None
    assert len(told.items) == 4
    assert "RLX-CANARY" not in found.shown()


KEYS = st.sampled_from(
    ["responses_create_params", "response", "reward", "policy_response", "error", "turns_used", "id"]
)
REPLY = st.dictionaries(st.sampled_from(["output", "usage", "model", "status"]), HOSTILE)


@given(st.lists(st.dictionaries(KEYS, HOSTILE | REPLY, max_size=6), min_size=1, max_size=4))
def test_no_row_raises(rows: list[dict[str, Any]]) -> None:
    table = table_of(rows)
    NeMoGymRollouts().match(table)
    assert read(NeMoGymRollouts(), table).shown()
