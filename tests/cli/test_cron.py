"""Lines for cron, read back as cron and a shell read them."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.cli.cron import NICKNAMES, cron_line, read_schedule
from rlx.errors import BadInput

PRINTABLE = st.text(st.characters(categories=("L", "N", "P", "S")) | st.sampled_from("%\\' "), max_size=30)


def as_cron_reads(command: str) -> str:
    """The command up to the first `%` that no backslash stands before, as cron gives it to a shell."""
    told, escaped = "", False
    for char in command:
        if escaped:
            told = told[:-1] + char if char == "%" else told + char
            escaped = False
        elif char == "%":
            break
        else:
            told += char
            escaped = char == "\\"
    return told


@given(st.lists(PRINTABLE, min_size=1), PRINTABLE)
def test_a_command_reaches_the_shell_whole(command: list[str], value: str) -> None:
    *fields, rest = cron_line("17 * * * *", command, {"NAME": value}).split(" ", 5)
    assert fields == ["17", "*", "*", "*", "*"]
    assert shlex.split(as_cron_reads(rest)) == [f"NAME={value}", *command]


def test_a_line_break_is_refused() -> None:
    with pytest.raises(BadInput, match="line break"):
        cron_line("@daily", ["rlx", "a\nb"], {})


@pytest.mark.parametrize("text", ["*/15 0-6,22 1 jan-mar MON", "0  0 * * 7", "5/10 * * * sun,3", *NICKNAMES])
def test_what_cron_takes_is_taken(text: str) -> None:
    assert read_schedule(f" {text} ") == " ".join(text.split())
