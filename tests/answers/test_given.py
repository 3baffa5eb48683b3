"""What an agent is given is shown, and the answers that stand beside it are not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import MARK, Policy, record

CANARY = "RLX-CANARY-GIVEN01"
GIVEN = Policy(
    "given",
    allow=frozenset(
        {"prompt", "tools", "request.input", "issues", "nodes.message", "metrics", "options", "completion"}
    ),
    echoes=frozenset({"completion"}),
)
TOOL = {
    "name": "submit",
    "description": "Hands in.",
    "parameters": {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "what was found"}, "solution": True},
        "required": ["answer"],
    },
}
TURN = {"role": "user", "content": "Which?"}


def shown(row: object, policy: Policy = GIVEN) -> Any:
    return record(row, policy=policy).value.value


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": [{**TURN, "answer": CANARY}]},
        {"prompt": [TURN, {**TURN, "meta": {"solution": [CANARY]}}]},
        {"prompt": [{**TURN, "input": {"answer": CANARY}}]},
        {"prompt": [{**TURN, "result": {"answer": CANARY}}]},
        {"prompt": {"messages": [TURN], "ground_truth": CANARY}},
        {"tools": [{**TOOL, "answer": CANARY}]},
        {"tools": [{**TOOL, "solution": {"text": CANARY}}]},
        {"tools": [{"name": "f", "parameters": {"properties": {"answer": CANARY}}}]},
        {"request": {"input": [{**TURN, "answer": CANARY}]}},
        {"issues": [{"title": "t", "fix_patch": CANARY}]},
        {"nodes": [{"message": {**TURN, "answer": CANARY}}]},
        {"metrics": {"answer": CANARY, "turns": 3}},
        {"options": [{"text": "a", "correct": CANARY}, {"text": "b"}]},
    ],
    ids=lambda row: json.dumps(row)[:40],
)
def test_an_answer_beside_what_the_agent_gets_is_withheld(row: dict[str, Any]) -> None:
    texts = {key: json.dumps(value) for key, value in row.items()}
    for found in (record(row, policy=GIVEN), record(texts, policy=GIVEN)):
        assert CANARY not in json.dumps(found.value.value)
        assert MARK in json.dumps(found.value.value, ensure_ascii=False)
        assert found.withheld


@pytest.mark.parametrize(
    "row",
    [
        {"tools": [TOOL]},
        {"tools": json.dumps([TOOL])},
        {"tools": {"submit_answer": {"description": "d", "parameters": {"answer": {"type": "string"}}}}},
        {"prompt": [TURN, {"role": "assistant", "content": "Let me think."}]},
        {"prompt": [{"role": "user", "content": '{"question": "q", "answer": "an example"}'}]},
        {"request": {"input": [{"type": "function_call_output", "call_id": "c", "output": {"answer": "17 rows"}}]}},
        {"completion": [{"role": "assistant", "content": '{"answer": "B"}'}]},
        {"completion": [{"role": "assistant", "tool_calls": [{"function": {"arguments": {"answer": "B"}}}]}]},
        {"metrics": {"correct_answer": 0.5, "num_turns": 7}},
    ],
    ids=lambda row: json.dumps(row)[:40],
)
def test_what_the_agent_gets_or_said_is_shown(row: dict[str, Any]) -> None:
    found = record(row, policy=GIVEN)
    assert found.value.value == row
    assert found.withheld == ()


@pytest.mark.parametrize(
    ("end", "answer"),
    [
        ("It is the left one of the two, for it is red.", "the left one of the two"),
        ("42", 42),
        ("The answer is 42.", "42"),
        ("So: \\boxed{x = 3}", "x = 3"),
        ([{"type": "text", "text": "Paris"}], "paris"),
    ],
)
def test_a_prompt_that_ends_in_the_answer_is_masked_there(end: object, answer: object) -> None:
    prompt = [TURN, {"role": "assistant", "content": end}]
    expected = [TURN, {"role": "assistant", "content": MARK}]
    assert shown({"prompt": prompt, "answer": answer})["prompt"] == expected
    assert shown({"answer": answer, "prompt": json.dumps(prompt)})["prompt"] == json.dumps(expected, ensure_ascii=False)


@pytest.mark.parametrize("said", ["I count 142", "Shall I take 42?", "It is 42, or 43"])
def test_what_the_assistant_says_at_the_end_and_is_no_answer_stays(said: str) -> None:
    row = {"prompt": [TURN, {"role": "assistant", "content": said}], "answer": "42"}
    assert shown(row) == {**row, "answer": MARK}


KEYS = st.sampled_from(["answer", "gold_answer", "solution", "ground_truth", "correctanswer", "정답", "fix_patch"])
BESIDE = st.sampled_from(["meta", "extra", "data", "notes", "x y"])


@given(key=KEYS, names=st.lists(BESIDE, max_size=5), root=st.sampled_from(["prompt", "tools", "issues", "options"]))
def test_an_answer_planted_in_what_is_given_never_appears(key: str, names: list[str], root: str) -> None:
    value: object = {key: CANARY}
    for at, name in enumerate(names):
        value = [{name: json.dumps(value) if at % 2 else value}]
    assert CANARY not in json.dumps(shown({root: value}))


FLAGS = st.sampled_from([True, 1, 1.0, "true", "yes", "x", "correct"])
NONE = st.sampled_from([None, "", False, 0, "absent"])


@given(flag=FLAGS, others=st.lists(NONE, min_size=1, max_size=6), at=st.integers(0, 6), allowed=st.booleans())
def test_choices_do_not_tell_which_one_is_right(flag: object, others: list[object], at: int, allowed: bool) -> None:
    flags = [*others[:at], flag, *others[at:]]
    items = [{**({} if one == "absent" else {"correct": one}), "text": "t"} for one in flags]
    found = shown({"options" if allowed else "items": items})
    assert {json.dumps(item) for one in found.values() for item in one} == {json.dumps({"text": "t", "correct": MARK})}


def test_choices_under_letters_and_with_explanations_do_not_tell_either() -> None:
    lettered = shown({"choices": {"A": {"text": "a"}, "B": {"text": "b", "explanation": "For it is red."}}})
    assert lettered == {"choices": {key: {"text": key.lower(), "explanation": MARK} for key in "AB"}}


def test_objects_that_are_no_choices_get_no_marks() -> None:
    row = [{"question": "q", "answer": "a long one"}, {"note": "n"}]
    assert shown(row, Policy("none")) == [{"question": "q", "answer": MARK}, {"note": "n"}]


def test_a_record_may_be_given_less_to_look_at() -> None:
    value = {"a": [1] * 100, "z": CANARY}
    assert CANARY in json.dumps(record(value).value.value)
    assert CANARY not in json.dumps(record(value, nodes=50).value.value)
