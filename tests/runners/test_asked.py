"""Fields of an option, checked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput
from rlx.model import Field, RunOption
from rlx.runners.asked import checked_fields
from rlx.runners.launch import FIELDS
from rlx.texts import say

OPTION = RunOption("harbor", "local", say("harbor.sandbox.local"), True, fields=FIELDS)


def one(field: Field) -> RunOption:
    return RunOption("harbor", "local", say("harbor.sandbox.local"), True, fields=(field,))


def test_what_is_not_given_has_its_default() -> None:
    assert checked_fields(OPTION, {}) == {
        "max_calls": 60,
        "minutes": None,
        "max_dollars": None,
        "reward_key": None,
        "keep_processes": False,
    }


def test_texts_of_a_form_become_values() -> None:
    given_texts = {"max_calls": "5", "minutes": "1.5", "keep_processes": "on", "reward_key": "", "max_dollars": ""}
    found = checked_fields(OPTION, given_texts)
    assert (found["max_calls"], found["minutes"], found["keep_processes"]) == (5, 1.5, True)
    assert isinstance(found["max_calls"], int)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_calls": 0},
        {"max_calls": 1001},
        {"max_calls": 1.5},
        {"max_calls": "many"},
        {"max_calls": True},
        {"minutes": "nan"},
        {"minutes": float("inf")},
        {"keep_processes": "perhaps"},
        {"reward_key": "x" * 501},
        {"unknown": 1},
    ],
)
def test_what_a_field_does_not_take_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        checked_fields(OPTION, wrong)


def test_a_required_field_has_to_be_given_and_a_select_is_one_of_its_values() -> None:
    with pytest.raises(BadInput):
        checked_fields(one(Field("who", say("launch.minutes"), required=True)), {})
    size = one(Field("size", say("launch.minutes"), "select", options=("s", "m")))
    assert checked_fields(size, {"size": "m"}) == {"size": "m"}
    with pytest.raises(BadInput):
        checked_fields(size, {"size": "l"})


_VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.dictionaries(st.sampled_from([field.key for field in FIELDS]), _VALUES))
def test_anything_is_checked_or_refused(given_values: dict[str, Any]) -> None:
    try:
        found = checked_fields(OPTION, given_values)
    except BadInput:
        return
    calls = found["max_calls"]
    assert isinstance(calls, int)
    assert 1 <= calls <= 1000
