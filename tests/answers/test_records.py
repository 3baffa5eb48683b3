"""Records: answers replaced at any depth, what the agent gets left as it is, hostile values made safe."""

import datetime
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import DENY, MARK, Policy, keys, record

CANARY = "RLX-CANARY-RECORD01"


def shown(value: object, policy: Policy = DENY) -> Any:
    return record(value, policy=policy).value.value


def written(value: object, policy: Policy = DENY) -> str:
    return json.dumps(shown(value, policy), ensure_ascii=False, allow_nan=False)


@pytest.mark.parametrize(
    "row",
    [
        {"question": "q", "answer": CANARY},
        {"metadata": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"answer": CANARY}}}}}}}}}}},
        {"info": json.dumps({"answer": CANARY})},
        {"info": "  \n" + json.dumps({"answerKey": CANARY})},
        {"infos": [json.dumps([{"gold": CANARY}])]},
        {"info": json.dumps(json.dumps({"finalAnswer": CANARY}))},
        {"info": "{'answer': '" + CANARY + "'}"},
        {"info": '{"answer": "' + CANARY + '", "cut'},
        {"info": '{"answer": "' + CANARY + '"}\n{"answer": "x"}'},
        {"responses_create_params": {"input": [], "metadata": {"golden_patch": CANARY}}},
        {"responses_create_params": {"metadata": {"instance_dict": json.dumps({"patch": CANARY})}}},
        {"verifier_metadata": {"unit_tests": {"inputs": ["1"], "outputs": [CANARY]}}},
        {"verifier_metadata": {"label": CANARY, "target": CANARY, "reference_passage": CANARY}},
        {"sub_steps": [{"ground_truth_code": CANARY}]},
        {"kwargs": [None, {"reference_text": CANARY}]},
        {"injection": {"target_args": {"body": CANARY}}},
        {"verifier": {"verify_regex": CANARY, "expected_ids": [CANARY]}},
        {"expected_action": {"arguments": json.dumps({"user_id": CANARY})}},
        {"evaluator": {"expected": {"rules": {"expected": CANARY}}, "options": {"rules": [{"ref": CANARY}]}}},
        {"evaluation_criteria": {"actions": [{"arguments": {"x": CANARY}}], "nl_assertions": [CANARY]}},
        {"metadata": {"evaluation_criteria": [CANARY]}},
        {"evaluation": {"match": CANARY, "example": {"code": CANARY}}},
        {"reward_model": {"style": "rule", "ground_truth": CANARY}},
        {"extra_info": {"tools_kwargs": {"calc": {"create_kwargs": {"ground_truth": CANARY}}}}},
        {"checklist": [{"name": "n", "criteria_description": CANARY}]},
        {"prompt": "def f():", "canonical_solution": CANARY, "test": CANARY},
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": CANARY}]},
        {"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": CANARY}]},
        {"trajectory": f"done\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+{CANARY}\n"},
        {"info": {"submission": CANARY, "exit_status": "submitted"}},
        {"completion": [{"role": "assistant", "content": CANARY}], "reward": 1.0},
        {"response": {"output": [{"content": [{"text": CANARY}]}]}, "reward": 1.0},
        {"reward": 1.0, "extracted_model_code": CANARY, "judge_output": CANARY},
        {"choices": [{"text": "a", "correct": CANARY}]},
        {"type": "reasoning", "question": "q", "output": CANARY},
        {"role": "user", "content": "q", "output": CANARY, "rationale": CANARY},
        {"invocation": "list files", "cmd": CANARY},
        {"text": "The weather is lovely.", "translation": CANARY},
        {"rationale": {"steps": [CANARY + " because it has to be"]}},
        {"explanation": [{"n": 1}, CANARY]},
        {"tools": [{"parameters": {"properties": {"answer": {"type": "string", "const": CANARY}}}}]},
    ],
    ids=lambda row: next(iter(row)) if isinstance(row, dict) else str(row),
)
def test_an_answer_is_replaced_wherever_real_sets_keep_it(row: dict[str, object]) -> None:
    found = record(row, at="data.jsonl")
    assert CANARY not in json.dumps(found.value.value)
    assert MARK in json.dumps(found.value.value, ensure_ascii=False)
    assert found.withheld
    assert all(CANARY not in one.where and one.where.startswith("data.jsonl") for one in found.withheld)


@pytest.mark.parametrize(
    "row",
    [
        {"tools": [{"name": "f", "parameters": {"properties": {"target": {"type": "string", "description": "to"}}}}]},
        {"metadata": {"target_color": "yellow", "config": {"verifier": {"timeout": 5}}}},
        {"responses_create_params": {"input": [{"type": "function_call_output", "call_id": "c", "output": "17 rows"}]}},
        {"messages": [{"role": "assistant", "content": "What now?"}, {"role": "user", "content": "Go on."}]},
        {"problem_statement": "Apply this:\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"},
        {"prompt": [{"role": "user", "content": "See\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n"}]},
        {"resolution": "closed", "answerable": True, "expected_runtime_min": 3, "golden_retriever": "a dog"},
        {"target_lang": "de", "answer_type": "expression", "num_solutions": 2},
        {"reasoning": {"effort": "medium"}, "parallel_tool_calls": True},
        {"Country": "Norway", "Gold": 16, "Silver": 8, "Bronze": 13},
        {"schema_str": json.dumps({"type": "object", "properties": {"label": {"type": ["integer", "null"]}}})},
        {"text": "[Instructions] You are a judge. Answer: with one word."},
        {"labels": ["file", "process"], "description": "Count the files."},
        {"image": "data:image/png;base64," + "A" * 400},
    ],
    ids=lambda row: next(iter(row)) if isinstance(row, dict) else str(row),
)
def test_what_is_harmless_is_shown_as_it_is(row: dict[str, object]) -> None:
    found = record(row)
    assert found.value.value == row
    assert found.withheld == ()


def test_a_key_that_is_repeated_does_not_smuggle_its_first_value() -> None:
    assert shown({"info": '{"answer": "' + CANARY + '", "answer": ""}'}) == {"info": '{"answer": ""}'}


def test_a_known_format_shows_its_columns_alone() -> None:
    policy = Policy("gsm8k", columns=frozenset({"question"}))
    assert shown({"question": "q", "notes": "n", "answer": "a"}, policy) == {
        "question": "q",
        "notes": MARK,
        "answer": MARK,
    }


def test_what_the_agent_gets_is_shown_whole() -> None:
    policy = Policy("gym", allow=frozenset({"responses_create_params.input"}))
    row = {"responses_create_params": {"input": [{"role": "assistant", "content": "x"}], "golden_patch": "secret"}}
    assert shown(row, policy) == {
        "responses_create_params": {"input": [{"role": "assistant", "content": "x"}], "golden_patch": MARK}
    }


def test_a_format_may_withhold_more() -> None:
    policy = Policy("eleusis", deny=frozenset({"rule_id", "meta.seed"}))
    assert shown({"rule_id": 3, "meta": {"seed": 1, "n": 2}, "seed": 4}, policy) == {
        "rule_id": MARK,
        "meta": {"seed": MARK, "n": 2},
        "seed": 4,
    }


@pytest.mark.parametrize(
    "info", [{"plain": 1, "puzzle": {"target": "T", "way": CANARY}, "odd": [CANARY]}, [CANARY], CANARY]
)
def test_of_an_object_that_is_closed_only_what_is_named_is_shown(info: object) -> None:
    policy = Policy(
        "closed",
        allow=frozenset({"info.plain", "info.puzzle.target"}),
        look=frozenset({"info.puzzle"}),
        only=frozenset({"info", "info.puzzle"}),
    )
    found = [written({"info": value, "text": "t"}, policy) for value in (info, json.dumps(info), repr(info))]
    assert not any(CANARY in text for text in found)
    if isinstance(info, dict):
        assert shown({"info": info}, policy)["info"]["plain"] == 1
        assert shown({"info": info}, policy)["info"]["puzzle"] == {"target": "T", "way": MARK}
    assert shown({"info": None}, policy)["info"] is None


def test_odd_values_become_safe_json() -> None:
    value = {
        "nan": math.nan,
        "inf": -math.inf,
        "huge": 10**5000,
        "long": 10**30,
        "lone": "a\ud800b",
        "pair": "\ud83d\ude00",
        "day": datetime.date(2024, 2, 29),
        "bytes": b"\x00\x01",
        "set": {1},
        "other": object(),
        5: "key",
    }
    text = written(value)
    text.encode()
    assert json.loads(text) == {
        "nan": "NaN",
        "inf": "-Infinity",
        "huge": "‹number of about 5001 digits›",
        "long": str(10**30),
        "lone": "a\ufffdb",
        "pair": "😀",
        "day": "2024-02-29",
        "bytes": "‹2 bytes›",
        "set": [1],
        "other": "‹object›",
        "5": "key",
    }


def test_what_is_too_deep_is_withheld_and_never_passed_through() -> None:
    value: object = {"note": CANARY}
    for _ in range(400):
        value = [value]
    found = record(value)
    assert CANARY not in json.dumps(found.value.value)
    assert [one.reason.key for one in found.withheld] == ["answers.too_deep"]


def test_past_the_budget_nothing_is_passed_through() -> None:
    value = {"a": [[1] * 1000 for _ in range(300)], "z": CANARY}
    assert CANARY not in written(value)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "[" * 100_000 + "]" * 100_000])
def test_json_nested_without_end_is_withheld(text: str) -> None:
    assert shown({"x": text})["x"] in {MARK, text}
    assert shown({"x": '[{"answer": "' + CANARY + '"}, ' + text + "]"})["x"] == MARK


def test_a_number_of_a_million_digits_is_named_and_not_read() -> None:
    found = shown({"x": '{"n": ' + "9" * 1_000_000 + ', "answer": "' + CANARY + '"}'})["x"]
    assert json.loads(found) == {"n": "‹number of 1000000 digits›", "answer": MARK}


def test_packed_tests_are_withheld() -> None:
    assert shown({"blob": "H4sI" + "A" * 300}) == {"blob": MARK}


KEYS = st.sampled_from(
    sorted(
        keys.names(
            "answer finalAnswer gold_patch ground_truth canonical_solution expected_output solution-text oracle "
            "answerKey reference_solution test_patch rubric completion outputs hidden_tests target rationale "
            "FAIL_TO_PASS"
        )
    )
)
PLAIN = st.sampled_from(["meta", "info", "items", "data", "a", "x y", "extra-info", "inner"])
PAYLOAD = st.sampled_from([CANARY, [CANARY], {"value": CANARY}, [[{"deep": CANARY}]], f"It is {CANARY}."])


@st.composite
def planted(draw: st.DrawFn) -> object:
    """An answer under an answer's key, under any nest of objects, lists and JSON texts."""
    value: object = {draw(KEYS): draw(PAYLOAD)}
    for _ in range(draw(st.integers(0, 12))):
        match draw(st.integers(0, 3)):
            case 0:
                value = {draw(PLAIN): value, "n": 1}
            case 1:
                value = [value, "text"]
            case 2:
                value = {draw(PLAIN): json.dumps(value)}
            case _:
                value = [" " * draw(st.integers(0, 3)) + json.dumps(value)]
    return value


@given(planted())
def test_an_answer_planted_at_any_depth_never_appears(value: object) -> None:
    assert CANARY not in written(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
)


@given(JSON)
def test_any_value_gives_strict_json(value: object) -> None:
    json.loads(written(value).encode())
    assert record(value).value.value == record(value).value.value


@given(JSON)
def test_masking_twice_is_masking_once(value: object) -> None:
    once = shown(value)
    assert shown(once) == once or MARK in json.dumps(once, ensure_ascii=False)
