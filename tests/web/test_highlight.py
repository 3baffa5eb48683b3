"""Code as lines of HTML: every character is there, none of them acts."""

import re
from functools import partial
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.web import inert
from rlx.web.bounded import Bounded
from rlx.web.highlight import WINDOW, html_lines, split_lines
from rlx.web.lexers import lexer_name

LEXERS = st.sampled_from(["python", "bash", "toml", "json", "markdown", "html", "diff", "docker", "yaml", None])


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]) | st.just("\n"), max_size=300), LEXERS)
def test_lines_hold_the_text_and_nothing_else(text: str, lexer: str | None) -> None:
    assert [text_of(line) for line in html_lines(text, lexer)] == split_lines(text) or inert.has_marks(text)


@given(st.text(max_size=300), LEXERS)
def test_no_text_breaks_out_of_its_line(text: str, lexer: str | None) -> None:
    for line in html_lines(text, lexer):
        assert not re.search(r"<(?!/?span\b)", line)
        assert line.count("<span") == line.count("</span>")
        assert not inert.has_marks(line)


def test_lines_are_numbered_as_editors_do() -> None:
    assert split_lines("") == []
    assert split_lines("a") == ["a"]
    assert split_lines("a\r\nb\n\n") == ["a", "b", ""]


def test_windows_of_a_long_text_are_the_same_as_the_whole() -> None:
    text = "".join(f"x = {n}\n" for n in range(2500))
    whole = html_lines(text, "python")
    assert len(whole) == 2500
    assert html_lines(text, "python", 250, 100) == whole[250:350]
    assert html_lines(text, "python", 2490, 100) == whole[2490:]
    assert html_lines(text, "python", WINDOW, WINDOW) == whole[WINDOW : 2 * WINDOW]


def test_a_string_may_span_windows_of_a_file_of_ordinary_length() -> None:
    text = '"""' + "words\n" * 400 + '"""\n'
    assert html_lines(text, "python", 350, 1) == ['<span class="s">words</span>']


def test_very_long_lines_and_files_are_shown_plain() -> None:
    assert html_lines("import os; " * 300, "python")[0].startswith("import os; import")
    assert "<span" not in html_lines("import os\n" * 150_000, "python", 0, 1)[0]


@pytest.mark.parametrize(
    ("path", "language", "name"),
    [
        ("tests/test.sh", None, "bash"),
        ("environment/Dockerfile", None, "docker"),
        ("Dockerfile.dev", None, "docker"),
        ("a/task.toml", None, "toml"),
        ("x.unknown", None, None),
        (None, "py", "python"),
        (None, "no-such-language", None),
        ("data.json", "yaml", "yaml"),
    ],
)
def test_the_lexer_is_known_by_name(path: str | None, language: str | None, name: str | None) -> None:
    assert lexer_name(path, language) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "U+202E"),
        ("a\u200bb", "U+200B"),
        ("\ufeffa", "U+FEFF"),
        ("\x1b[31mred\x1b[0m", "ESC[31m"),
        ("\x1b]0;title\x07", "ESC]0;title"),
        ("\x00", "U+0000"),
        ("\u2066x", "U+2066"),
        ("\U000e0041", "U+E0041"),
        ("\x9b31m", "U+009B"),
    ],
)
def test_what_hides_or_commands_is_marked(text: str, shown: str) -> None:
    marked = str(inert.mark(text))
    assert shown in marked
    assert 'class="inv"' in marked
    assert not inert.has_marks(marked)


def test_titles_keep_joiners_and_spell_what_reorders() -> None:
    assert inert.spell("👩\u200d🔬 na\u00adme") == "👩\u200d🔬 na\u00adme"
    assert inert.spell("a\u202eb") == "a⟨U+202E⟩b"


@given(st.text(max_size=100))
def test_marked_text_is_escaped(text: str) -> None:
    assert not re.search(r"<(?!/?span\b)", str(inert.mark(text)))


def test_a_bounded_cache_keeps_within_its_size() -> None:
    cache: Bounded[str] = Bounded(10, len)
    made: list[str] = []

    def make(value: str) -> str:
        made.append(value)
        return value

    for value in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb", "x" * 11, "x" * 11):
        assert cache.get(value, partial(make, value)) == value
    assert made == ["aaaa", "bbbb", "cccc", "bbbb", "x" * 11, "x" * 11]
