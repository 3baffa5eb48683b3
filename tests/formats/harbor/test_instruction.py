"""The instruction is shown as the agent gets it; titles and briefs are drawn from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.instruction import agent_text
from rlx.formats.prose import MAX_BRIEF, heading, paragraphs


@pytest.mark.parametrize(
    ("written", "given_to_the_agent", "dropped"),
    [
        ("Do it.\n", "Do it.\n", ""),
        ("<!-- canary GUID 1 -->\n\n\nDo it.", "Do it.", "<!-- canary GUID 1 -->"),
        ("# Terminal CANARY 1\n<!-- canary 2 -->\nDo it.", "Do it.", "# Terminal CANARY 1\n<!-- canary 2 -->"),
        ("\n\nDo it.", "Do it.", ""),
        ("Do it.\n<!-- canary -->", "Do it.\n<!-- canary -->", ""),
        ("", "", ""),
    ],
)
def test_leading_canary_and_blank_lines_do_not_reach_the_agent(
    written: str, given_to_the_agent: str, dropped: str
) -> None:
    found = agent_text(written)
    assert (found.text, found.dropped) == (given_to_the_agent, dropped)


def test_windows_line_ends_become_plain_ones() -> None:
    found = agent_text("<!-- canary -->\r\n\r\nOne\r\nTwo\r\n")
    assert found.text == "One\nTwo\n"
    assert found.newlines
    assert not agent_text("One\n").newlines


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Mend the parser\n\nIt breaks.", "Mend the parser"),
        ("\n<!-- note -->\n## Hazard check: `valves` (site)\nText", "Hazard check: valves (site)"),
        ("# Task\n\nDo it.", None),
        ("# Task Description\n\nDo it.", None),
        ("# {instance_id}\nText", None),
        ("Prose first.\n# Then a heading", None),
        ("# 任务描述\n", "任务描述"),
        ("# " + "long " * 40, None),
        ("", None),
    ],
)
def test_a_heading_is_a_title_when_it_says_something(text: str, title: str | None) -> None:
    assert heading(text) == title


def test_paragraphs_leave_out_headings_code_tables_and_marks() -> None:
    text = "# Title\n\n```sh\nls\n```\n\nFix **the** `thing` in [docs](http://x).\nNow.\n\n| a | b |\n\n- one\n- two\n"
    assert paragraphs(text) == ("Fix the thing in docs. Now.", "one two")


def test_a_placeholder_alone_is_no_paragraph() -> None:
    assert paragraphs("{{PROBLEM_STATEMENT}}\n\n{prompt}\n\nWrite the answer down.") == ("Write the answer down.",)


def test_a_long_paragraph_is_cut_at_a_word() -> None:
    (brief,) = paragraphs("word " * 200)
    assert len(brief) <= MAX_BRIEF
    assert brief.endswith("word…")


@given(st.text(max_size=400))
def test_any_text_gives_short_single_lines(text: str) -> None:
    for words in (*paragraphs(text), heading(text) or ""):
        assert len(words) <= MAX_BRIEF
        assert "\n" not in words


@pytest.mark.timeout(10)
@pytest.mark.parametrize("text", ["[" * 60_000, "**" * 60_000, "a](" * 30_000, "# " * 30_000, "<" * 60_000])
def test_hostile_text_is_read_soon(text: str) -> None:
    agent_text(text)
    paragraphs(text)
    heading(text)
