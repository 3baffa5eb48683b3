"""What a record withholds is withheld where it is said again, and nothing else is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import MARK, Masked, Policy, file_text, record
from rlx.answers.echoes import LEAST, Echoes

LEAVES = frozenset({"messages.content", "messages.tool_calls"})
HEARING = Policy("hearing", allow=LEAVES, look=frozenset({"messages"}), echoes=frozenset({"messages"}))
ANSWER = "the left one of the two"
PATCH = "diff --git a/x.py b/x.py\nindex 1a2b3c4..5d6e7f8 100644\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"


def said(content: object, **columns: object) -> Any:
    row = {"messages": [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": content}], **columns}
    shown: Any = record(row, policy=HEARING).value.value
    return shown["messages"][1]["content"]


def test_an_answer_that_is_said_again_is_withheld_and_the_place_is_named() -> None:
    row = {"messages": [{"role": "assistant", "content": f"It is {ANSWER}."}], "answer": ANSWER}
    found = record(row, policy=HEARING)
    assert json.dumps(found.value.value).count(ANSWER) == 0
    assert [item.where for item in found.withheld] == ["answer", "messages"]


def test_what_a_model_tried_is_shown_its_last_turn_too() -> None:
    assert said("I try the right one.", answer=ANSWER) == "I try the right one."
    assert said("I try the right one.", response="I try the right one.") == "I try the right one."


@pytest.mark.parametrize("column", ["solution", "patch", "model_patch", "submission"])
def test_a_patch_is_withheld_whole_or_in_part_and_what_stands_around_it_is_not(column: str) -> None:
    part = "".join(PATCH.splitlines(keepends=True)[:3])
    assert said(f"See:\n{PATCH}done", **{column: PATCH}) in (f"See:\n{MARK}\ndone", f"See:\n{MARK}done")
    assert said(f"See:\n{part}and more", **{column: PATCH}) == f"See:\n{MARK}\nand more"
    assert said("a = 2", **{column: PATCH}) == "a = 2"


def test_a_patch_at_the_end_is_what_was_handed_in_and_one_before_is_not() -> None:
    shown = said([{"type": "text", "text": f"The patch:\n{PATCH}"}])
    assert shown[0]["text"].splitlines() == ["The patch:", MARK]
    row = {"messages": [{"role": "tool", "content": PATCH}, *({"role": "user", "content": "Go on."} for _ in range(3))]}
    assert record(row, policy=HEARING).value.value == row


def test_an_answer_in_json_in_a_text_is_withheld() -> None:
    assert ANSWER not in said(json.dumps({"final": f"{ANSWER}"}), answer=ANSWER)
    two = "first line of it\nsecond line of it"
    assert "second" not in said(json.dumps({"code": f"# {two}"}), solution=two)


def test_answers_within_withheld_objects_and_json_texts_are_known() -> None:
    assert ANSWER not in said(f"So {ANSWER}", reward_model={"ground_truth": json.dumps({"deep": [ANSWER]})})


def test_a_choice_that_the_agent_was_given_is_no_echo() -> None:
    row = {
        "messages": [
            {"role": "user", "content": f"The right one, or {ANSWER}?"},
            {"role": "assistant", "content": f"I say: {ANSWER}."},
        ],
        "answer": ANSWER,
    }
    assert record(row, policy=HEARING).value.value == {**row, "answer": MARK}


@pytest.mark.parametrize("text", ["a long choice, " * 40 + "at last", "return first\nelse: return second\nend of it"])
@pytest.mark.parametrize("column", ["prompt", "question", "choices", "options", "messages"])
def test_what_the_agent_was_given_is_no_echo_however_long_and_over_lines(text: str, column: str) -> None:
    asked = f"Which? {text} Or not?" if column == "messages" else "Which?"
    given = {"choices": [{"text": text}, {"text": "another"}], "options": ["another", text]}
    row = {
        "messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": f"I say: {text}."}],
        "answer": text,
        "solution": f"It is\n{text}\nfor it is so",
        **({} if column == "messages" else {column: given.get(column, f"Which?\n{text}\nOr not?")}),
    }
    assert record(row, policy=HEARING).value.value == {**row, "answer": MARK, "solution": MARK}


@given(
    choices=st.lists(st.text(alphabet="ab \n", min_size=LEAST, max_size=300).map(str.strip), min_size=2, max_size=5),
    said_one=st.integers(0, 4),
    right=st.integers(0, 4),
)
def test_masking_does_not_tell_which_choice_is_right(choices: list[str], said_one: int, right: int) -> None:
    says = choices[said_one % len(choices)]
    row = {
        "prompt": "\n\n".join(choices),
        "messages": [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": says}],
    }
    shown: Any = record({**row, "answer": choices[right % len(choices)]}, policy=HEARING).value.value
    assert shown["messages"] == row["messages"]


def test_short_answers_are_no_echoes() -> None:
    assert said("It is 42.", answer="42") == "It is 42."


@pytest.mark.parametrize("token", ["HTB{t3h_fUTur3}", "RLX{1_a}", "k3y_9f"])
def test_a_flag_that_was_submitted_is_withheld_where_it_is_said(token: str) -> None:
    assert said(f"submit '{token}'", submission=token) == f"submit '{MARK}'"
    assert said(json.dumps({"cmd": f"submit {token}"}), submission=token) == json.dumps(
        {"cmd": f"submit {MARK}"}, ensure_ascii=False
    )
    assert said(f"The flag is {token}", flag_answer=token) == f"The flag is {MARK}"


def test_what_a_model_said_is_hidden_where_it_is_a_flag_and_nowhere_else() -> None:
    assert said("It is HTB{abc}.", response="HTB{abc}") == f"It is {MARK}."
    assert said("I call get_it_done_now.", response="get_it_done_now") == "I call get_it_done_now."


def test_a_token_is_no_echo_within_another_word_nor_where_the_agent_was_given_it() -> None:
    assert said("ak3y_9f and k3y_9fb", submission="k3y_9f") == "ak3y_9f and k3y_9fb"
    row = {
        "messages": [{"role": "user", "content": "Is it k3y_9f?"}, {"role": "assistant", "content": "It is k3y_9f."}],
        "answer": "k3y_9f",
    }
    assert record(row, policy=HEARING).value.value == {**row, "answer": MARK}


def test_policies_that_seek_no_echoes_find_none() -> None:
    row = {"messages": f"It is {ANSWER}.", "answer": ANSWER}
    assert record(row, policy=Policy("none")).value.value == {"messages": f"It is {ANSWER}.", "answer": MARK}


def test_records_of_unknown_make_and_files_have_no_echoes_where_they_keep_what_was_said() -> None:
    turns = [("assistant", "I look."), ("tool", f"It is {ANSWER}."), ("user", "So?")]
    row = {"messages": [{"role": role, "content": text} for role, text in turns], "answer": ANSWER}
    assert ANSWER not in json.dumps(record(row).value.value)
    shown = file_text("a.traj", json.dumps(row).encode(), task_root=None)
    assert isinstance(shown, Masked)
    assert ANSWER not in shown.text


def test_many_texts_are_sought_as_few_are() -> None:
    many = [f"reference number {at} of many" for at in range(400)]
    assert said("; ".join(many), answers=many) == "; ".join([MARK] * 400)


def test_more_than_can_be_sought_hides_what_may_hold_it() -> None:
    heard = Echoes()
    heard.gather("answer", [f"{at:>20}" for at in range(10**12, 10**12 + 20_001)])
    heard.settle([])
    assert heard.masked("whatever it may be") == MARK
    assert heard.masked("short") == "short"


WORDS = st.text(alphabet="abc \n", min_size=LEAST, max_size=40).filter(
    lambda text: len(text.strip()) >= LEAST and any(map(str.isalnum, text))
)


@given(answers=st.lists(WORDS, min_size=1, max_size=60), before=st.text(max_size=30), after=st.text(max_size=30))
def test_no_withheld_text_is_left_in_what_is_said(answers: list[str], before: str, after: str) -> None:
    content = f"{before}{answers[-1]}{after}"
    shown = said([{"type": "text", "text": content}], answer=answers)
    assert answers[-1].strip() not in shown[0]["text"]


@given(st.text(alphabet="xyz \n", max_size=200), st.lists(WORDS, max_size=50))
def test_a_text_that_repeats_nothing_stays_as_it_is(text: str, answers: list[str]) -> None:
    assert said(text, answer=answers) == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just('[{"role":'),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["role", "content", "answer", "messages", "x"]), inner, max_size=4)
        | inner.map(json.dumps)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_anything_is_masked_without_an_error(value: object) -> None:
    record({"messages": value, "answer": "a text that is long enough", "x": value}, policy=HEARING)
