"""The settings of a Terminal-Bench task of the first format."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers.shown import MARK
from rlx.formats.folders.terminal import read_terminal

TASK = b"""# canary
instruction: |-
  Sort it.

  answer: not one
difficulty: easy
tags: [a, b]
parser_name: unittest
max_agent_timeout_sec: 900
max_test_timeout_sec: 1.5
expected_output: 42
"""


def test_the_prompt_is_whole_and_what_else_is_said_is_masked() -> None:
    found = read_terminal(TASK)
    assert found.prompt == "Sort it.\n\nanswer: not one"
    assert found.values["tags"] == ["a", "b"]
    assert found.values["expected_output"] == MARK
    assert (found.parser, found.agent_seconds, found.test_seconds) == ("unittest", 900.0, 1.5)


def test_what_is_not_said_is_what_terminal_bench_takes() -> None:
    found = read_terminal(b"instruction: Do.\nmax_agent_timeout_sec: soon\n")
    assert (found.parser, found.agent_seconds, found.test_seconds) == ("pytest", 360.0, 60.0)


def test_of_several_descriptions_the_base_one_is_the_prompt() -> None:
    told = b"descriptions:\n- {key: easy, description: Easy.}\n- {key: base, description: Base.}\n"
    assert read_terminal(told).prompt == "Base."
    assert read_terminal(b"descriptions:\n- {key: easy, description: Easy.}\n").prompt == "Easy."


@pytest.mark.parametrize(
    ("data", "problem", "line"),
    [
        (b"instruction: [a\n", "yaml", 2),
        (b"- a\n", "table", None),
        (b"", "table", None),
        (b"title: x\n", "prompt", None),
        (b"instruction: {a: b}\n", "prompt", None),
        (b"a: &x 1\ninstruction: *x\n", "yaml", None),
        (b"a: &a [x]\nb: &b [*a, *a]\n", "yaml", None),
        (b"{" * 5000, "deep", None),
        (b"instruction: x\n" + b"#" * 100_000, "long", None),
        (b"? [a]\n: b\n", "yaml", 1),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, problem: str, line: int | None) -> None:
    found = read_terminal(data)
    assert (found.prompt, found.problem, found.line) == (None, problem, line)


@given(st.binary(max_size=200) | st.text(alphabet="abc:- \n[]{}&*!|>'\"#?%", max_size=80).map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    found = read_terminal(data)
    assert (found.prompt is None) == (found.problem is not None)
    assert found.agent_seconds > 0
