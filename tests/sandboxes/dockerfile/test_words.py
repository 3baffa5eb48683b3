"""Variables, quotes and escapes are filled in as BuildKit does."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.dockerfile.refusals import Refused
from rlx.sandboxes.dockerfile.words import expand, expand_text, split

ENV = {"X": "x", "EMPTY": "", "PATH": "/usr/bin:/bin", "TWO": "a b"}


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("$X", "x"),
        ("${X}y", "xy"),
        ("$Xy", ""),
        ("$X.y", "x.y"),
        ("/opt:$PATH", "/opt:/usr/bin:/bin"),
        ("'$X'", "$X"),
        ('"$X"', "x"),
        ("\\$X", "$X"),
        ('"\\$X"', "$X"),
        ('"\\n"', "\\n"),
        ("\\n", "n"),
        ("a\\ b", "a b"),
        ("'a\\'", "a\\"),
        ("${NONE:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY-d}", ""),
        ("${X:-d}", "x"),
        ("${NONE:-${X}z}", "xz"),
        ("${X:+set}", "set"),
        ("${NONE:+set}", ""),
        ("${EMPTY:+set}", ""),
        ("${EMPTY+set}", "set"),
        ("${X:?no}", "x"),
        ("$NONE", ""),
        ("$", "$"),
        ("$ a", "$ a"),
        ("a$", "a$"),
        ("$1x", "x"),
        ("$$X", "X"),
        ("$TWO", "a b"),
        ("a'b'\"c\"", "abc"),
    ],
)
def test_a_word_is_expanded(word: str, told: str) -> None:
    assert expand(word, ENV) == told


def test_another_escape_leaves_backslashes_alone() -> None:
    assert expand("C:\\dir`$X", ENV, "`") == "C:\\dir$X"


@pytest.mark.parametrize(
    "word", ["'a", '"a', "${X", "${", "${}", "${:a}", "${{X}}", "${X:-a", "${X!a}", "${NONE:?must be}"]
)
def test_a_word_that_is_none_is_a_syntax_error(word: str) -> None:
    with pytest.raises(Refused) as found:
        expand(word, ENV)
    assert found.value.kind == "syntax"


@pytest.mark.parametrize("word", ["${X#a}", "${X##a}", "${X%a}", "${X/a/b}"])
def test_cutting_by_patterns_is_refused_and_not_guessed(word: str) -> None:
    with pytest.raises(Refused) as found:
        expand(word, ENV)
    assert found.value.kind == "unsupported"


def test_a_heredoc_keeps_its_quotes_and_loses_its_escapes() -> None:
    assert expand_text("a \"$X\" \\$X \\n '$X'\n", ENV) == "a \"x\" $X n 'x'\n"


def test_variables_without_a_value_can_be_kept() -> None:
    assert expand("$NONE/${NONE}/$X/${NONE:-d}", ENV, keep_unset=True) == "$NONE/${NONE}/x/d"


def test_words_are_parted_as_a_shell_does() -> None:
    assert split("a 'b c' d\\ e \"f\"") == ["a", "b c", "d e", "f"]
    assert split("a 'b c'", quotes=True) == ["a", "'b c'"]


@given(st.text(alphabet="$X{}:-+?#%/'\"\\ `a1_", max_size=60))
def test_any_word_is_expanded_or_refused(word: str) -> None:
    try:
        expand(word, ENV)
        split(word)
        expand_text(word, ENV)
    except Refused:
        pass


@pytest.mark.timeout(10)
@pytest.mark.parametrize("word", ["${A:-" * 50_000, "$" * 200_000, "'" + "a" * 500_000, "${X:-a}" * 100_000])
def test_hostile_words_are_read_soon(word: str) -> None:
    with contextlib.suppress(Refused):
        expand(word, ENV)
