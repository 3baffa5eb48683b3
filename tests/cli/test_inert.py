"""Nothing that reaches a terminal can command, reorder or hide."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.cli.inert import inert, inert_json, one_line

HARMLESS_CONTROLS = {"\n", "\t"}


@given(st.text())
def test_no_control_character_survives(text: str) -> None:
    left = {char for char in inert(text) if unicodedata.category(char) in {"Cc", "Cs"}}
    assert left <= HARMLESS_CONTROLS


@given(st.text(alphabet=st.characters(categories=["Cf", "Zl", "Zp"])))
def test_no_direction_mark_survives(text: str) -> None:
    left = {unicodedata.bidirectional(char) for char in inert(text)}
    assert not left & {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    assert not set(inert(text)) & {"\u200e", "\u200f", "\u061c"}


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert inert(text) == text


@given(st.text())
def test_one_line_is_one_line_without_tabs(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert "\t" not in one_line(text)


@given(st.text())
def test_harmless_json_is_the_same_value(text: str) -> None:
    encoded = inert_json(json.dumps({"text": text}, ensure_ascii=False))
    assert json.loads(encoded) == {"text": text}
    assert not {char for char in encoded if unicodedata.category(char) in {"Cc", "Cs"}}


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m"),
        ("\x9b31m", "<U+009B>31m"),
        ("user\u202e", "user<U+202E>"),
        ("a\r\nb", "a\nb"),
        ("over\rwritten", "over<U+000D>written"),
        ("zero\u200bwidth", "zero<U+200B>width"),
        ("\U000e0041", "<U+E0041>"),
    ],
)
def test_what_is_hidden_is_shown_as_its_code(hostile: str, shown: str) -> None:
    assert inert(hostile) == shown
