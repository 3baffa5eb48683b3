"""What would grade one model call, told from masked rows; and the run option that says so."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers.shown import MARK
from rlx.formats.frameworks import table
from rlx.formats.predict import RUNNER, Check, Hints, Unchecked, check_of, predict_option
from rlx.formats.predict.checks import _SERVERS
from rlx.texts import LANGUAGES, words

OPTIONS = [{"A": "one"}, {"B": "two"}]
REQUEST = {"responses_create_params": {"input": "?"}}
RULE = {"style": "rule", "ground_truth": MARK}


def nemo(server: str, loop: str | None = "simple_agent") -> Hints:
    return Hints("nemo-gym", grader=server, loop=loop)


@pytest.mark.parametrize(
    ("row", "hints", "kind", "where"),
    [
        ({**REQUEST, "options": OPTIONS, "expected_answer": MARK}, nemo("mcqa"), "choice", "expected_answer"),
        (
            {"options": OPTIONS, "expected_answer": MARK, "grading_mode": "lenient_boxed"},
            nemo("gpqa_diamond"),
            "choice",
            "expected_answer",
        ),
        ({"expected_answer": MARK, "case_sensitive": True}, nemo("string_match"), "exact", "expected_answer"),
        ({"schema_type": "json", "schema_str": "{}"}, nemo("structured_outputs"), "schema", "schema_str"),
        (
            {"responses_create_params": {"tools": [{"name": "a"}]}, "expected_answers": MARK},
            nemo("xlam_fc"),
            "tool-call",
            "expected_answers",
        ),
        ({"reward_model": RULE}, Hints("verl", grader="gsm8k"), "exact", "reward_model.ground_truth"),
        (
            {"reward_model": '{"style": "rule", "ground_truth": "‹withheld›"}'},
            Hints("verl", grader="math_reward"),
            "math",
            "reward_model.ground_truth",
        ),
        ({"reward_spec": {"ground_truth": MARK}}, Hints("skyrl", grader="gsm8k"), "exact", "reward_spec.ground_truth"),
        ({"reward_model": MARK}, Hints("skyrl", grader="aime"), "math", "reward_model.ground_truth"),
        ({"question": "?", "answer": MARK}, Hints("rows", repo="openai/gsm8k"), "exact", "answer"),
        ({"question": "?", **dict.fromkeys("ABCD", "x"), "answer": MARK}, Hints("rows"), "choice", "answer"),
        (
            {"choices": {"label": ["A", "B"], "text": ["x", "y"]}, "answerKey": MARK},
            Hints("rows"),
            "choice",
            "answerKey",
        ),
        ({"options": {"A": "x", "B": "y"}, "answer": MARK}, Hints("rows"), "choice", "answer"),
    ],
)
def test_a_comparison_that_can_be_made_exactly_is_a_check(
    row: dict[str, Any], hints: Hints, kind: str, where: str
) -> None:
    found = check_of(row, hints)
    assert isinstance(found, Check)
    assert (found.kind, found.where) == (kind, where)


@pytest.mark.parametrize(
    ("row", "hints", "why"),
    [
        ({"options": OPTIONS, "expected_answer": MARK}, Hints("nemo-gym", grader="mcqa", judge=True), "judge"),
        ({"options": OPTIONS, "expected_answer": MARK}, nemo("mcqa", "codex_agent"), "loop"),
        ({"options": OPTIONS, "expected_answer": MARK, "template_metadata": {"a": 1}}, nemo("mcqa"), "pattern"),
        ({"options": OPTIONS, "expected_answer": MARK, "grading_mode": "new"}, nemo("mcqa"), "pattern"),
        ({"options": OPTIONS}, nemo("mcqa"), "lacks"),
        (
            {"responses_create_params": {"tools": [{}]}, "options": OPTIONS, "expected_answer": MARK},
            nemo("mcqa"),
            "tools",
        ),
        ({"expected_answer": MARK, "case_sensitive": False}, nemo("string_match"), "forgiving"),
        ({"expected_answer": MARK}, nemo("string_match"), "forgiving"),
        ({"schema_type": "toml", "schema_str": "{}"}, nemo("structured_outputs"), "schema"),
        (
            {"schema_type": "json", "schema_str": "{}", "response_mode": "tool_call"},
            nemo("structured_outputs"),
            "schema",
        ),
        ({"expected_action": MARK}, nemo("single_step_tool_use_with_argument_comparison"), "tolerance"),
        ({"answer": MARK}, nemo("reasoning_gym"), "package"),
        ({"answer": MARK}, nemo("code_gen"), "server"),
        ({"answer": MARK}, Hints("nemo-gym"), "unserved"),
        ({"reward_model": {"style": "model", "ground_truth": MARK}}, Hints("verl", grader="gsm8k"), "judge"),
        ({"reward_model": {"ground_truth": MARK}}, Hints("verl", grader="gsm8k"), "style"),
        ({"reward_model": RULE}, Hints("verl", grader="prime_code"), "scorer"),
        ({"reward_model": RULE}, Hints("verl"), "unscored"),
        ({"reward_model": RULE}, Hints("verl", grader="gsm8k", loop="tool_agent"), "loop"),
        (
            {"reward_model": RULE, "extra_info": {"tools_kwargs": {"calc": {"create_kwargs": {"x": 1}}}}},
            Hints("verl", grader="gsm8k"),
            "tools",
        ),
        ({"reward_model": {"style": "rule"}}, Hints("verl", grader="gsm8k"), "lacks"),
        ({"reward_spec": {"ground_truth": MARK}}, Hints("skyrl", grader="gsm8k_multi_turn"), "scorer"),
        ({"answer": MARK}, Hints("reasoning-gym"), "package"),
        ({"question": "?", "answer": MARK, "task": "knights_knaves"}, Hints("rows"), "package"),
        ({"choices": ["x", "y"], "answer": MARK}, Hints("rows"), "unlettered"),
        ({"choices": [{"A": "x"}, "y"], "answer": MARK}, Hints("rows"), "unlettered"),
        ({"question": "?", "answer": MARK}, Hints("rows", repo="a/b"), "unknown"),
        ({"question": "?"}, Hints("rows"), "unknown"),
        ({"answer": MARK}, Hints("harbor"), "unknown"),
    ],
)
def test_what_is_not_surely_a_comparison_says_why_not(row: dict[str, Any], hints: Hints, why: str) -> None:
    found = check_of(row, hints)
    assert isinstance(found, Unchecked)
    assert found.why.key == f"predict.why.{why}"
    for language in LANGUAGES:
        assert words(found.why, language)


def test_every_server_with_a_rule_is_one_of_the_package_and_has_no_judge() -> None:
    servers = table("nemo_gym").servers
    assert not [name for name in _SERVERS if name not in servers or servers[name].judge]


def test_a_check_becomes_an_option_that_says_what_grades_and_cannot_start_yet() -> None:
    found = check_of({"question": "?", "answer": MARK}, Hints("rows", repo="openai/gsm8k"))
    option = predict_option(found, "x" * 401)
    assert (option.runner, option.sandbox, option.ok) == (RUNNER, None, False)
    assert (option.needs_endpoint, option.needs_sandbox) == (True, False)
    assert option.reason is not None
    assert option.estimate is not None
    assert option.estimate.tokens_in == 101
    assert option.estimate.tokens_out is None
    assert {field.key for field in option.fields} == {"model", "max_tokens", "temperature", "timeout"}
    numbers = [field for field in option.fields if field.type == "number"]
    for field in numbers:
        assert isinstance(field.default, int | float)
        assert field.minimum is not None
        assert field.maximum is not None
        assert field.minimum <= field.default <= field.maximum
    assert any("answer" in words(note) for note in option.notes if not isinstance(note, str))


def test_without_a_check_the_option_tells_why_and_asks_for_nothing() -> None:
    option = predict_option(check_of({}, Hints("rows")), "a prompt")
    assert option.ok is False
    assert option.reason is not None
    assert option.fields == ()
    assert option.notes == ()
    assert option.estimate is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([MARK, "{", '{"style": "rule"}', "json"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.sampled_from("AB"), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "options",
        "expected_answer",
        "grading_mode",
        "case_sensitive",
        "schema_type",
        "schema_str",
        "responses_create_params",
        "reward_model",
        "reward_spec",
        "extra_info",
        "answer",
        "choices",
        "question",
        "A",
        "B",
        "C",
        "D",
        "tools",
        "template_metadata",
    ]
)


@given(
    st.dictionaries(KEYS, JSON, max_size=6),
    st.sampled_from(["nemo-gym", "verl", "skyrl", "rows", "reasoning-gym", "", "x"]),
    st.sampled_from([*_SERVERS, "gsm8k", "math_dapo", "aime", "", "?"]) | st.none(),
)
def test_no_row_raises_and_a_check_compares_with_something_that_is_there(
    row: dict[str, Any], framework: str, grader: str | None
) -> None:
    found = check_of(row, Hints(framework, repo="a/gsm8k", grader=grader))
    predict_option(found, "")
    if isinstance(found, Check):
        assert found.where.split(".")[0] in row
