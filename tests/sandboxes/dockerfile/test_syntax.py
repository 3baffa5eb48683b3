"""The text of a Dockerfile is read as BuildKit reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.dockerfile import parse
from rlx.texts import words


def rests(text: str) -> list[tuple[int, str, str]]:
    found = parse(text)
    assert not found.faults, words(found.faults[0].why)
    return [(each.line, each.word, each.rest) for each in found.instructions]


def test_continued_lines_are_joined_without_comments_and_empty_lines() -> None:
    text = "FROM a\nRUN x \\\n  # a note \\\n\n  --y \\\n    z\nUSER me\n"
    assert rests(text) == [(1, "FROM", "a"), (2, "RUN", "x   --y     z"), (7, "USER", "me")]


def test_an_escaped_escape_does_not_continue_a_line() -> None:
    assert rests("RUN echo a\\\\\nUSER me") == [(1, "RUN", "echo a\\\\"), (2, "USER", "me")]


def test_blanks_may_follow_the_character_that_continues_a_line() -> None:
    assert rests("RUN a \\ \t\n b") == [(1, "RUN", "a  b")]


def test_the_escape_directive_changes_what_continues_a_line() -> None:
    text = "# escape=`\nRUN dir C:\\\nRUN a `\n b\n"
    assert rests(text) == [(2, "RUN", "dir C:\\"), (3, "RUN", "a  b")]
    assert parse(text).escape == "`"


def test_a_directive_counts_only_before_everything_else() -> None:
    assert parse("# a comment\n# escape=`\nRUN a").escape == "\\"
    assert parse("\n# escape=`\nRUN a").escape == "\\"
    assert parse("# syntax=docker/dockerfile:1\n#escape = `\nRUN a").syntax == "docker/dockerfile:1"


@pytest.mark.parametrize(("text", "name"), [("# escape=x\n", "escape"), ("# escape=`\n# escape=`\n", "twice")])
def test_directives_that_cannot_be_are_faults(text: str, name: str) -> None:
    (fault,) = parse(f"{text}FROM a").faults
    assert (fault.kind, fault.why.key) == ("syntax", f"dockerfile.directive.{name}")


def test_a_mark_and_windows_line_ends_are_read_over() -> None:
    assert rests("\ufeffFROM a\r\nRUN b \\\r\n c\r\n") == [(1, "FROM", "a"), (2, "RUN", "b  c")]


def test_a_hash_inside_a_line_is_no_comment() -> None:
    assert rests("RUN echo a # b") == [(1, "RUN", "echo a # b")]


def test_flags_are_parted_from_the_rest_with_quotes_taken_away() -> None:
    (found,) = parse('RUN --mount=type=cache,target="/a b" --network=none -- --x y').instructions
    assert found.flags == ("--mount=type=cache,target=/a b", "--network=none")
    assert found.rest == "--x y"


def test_the_json_form_is_told_from_a_shell_test() -> None:
    first, second, third = parse('RUN ["a", "b c"]\nRUN [ -f x ] && y\nRUN [\'a\']').instructions
    assert (first.words, second.words, third.words) == (("a", "b c"), None, None)


def test_the_json_form_takes_texts_only() -> None:
    assert parse("CMD [1]").faults[0].why.key == "dockerfile.json.strings"


def test_heredocs_are_read_to_their_own_ends() -> None:
    text = "RUN <<A cat > a; <<-'B' cat > b\nin $A\nA\n\tin B\n\tB\nCOPY <<\"C\" <<D /x/\nc\nC\nd\nD\nUSER me"
    run, copy, user = parse(text).instructions
    assert [(doc.name, doc.text, doc.expand, doc.chomp) for doc in run.heredocs] == [
        ("A", "in $A\n", True, False),
        ("B", "\tin B\n", False, True),
    ]
    assert run.heredocs[1].plain == "in B\n"
    assert [(doc.name, doc.expand) for doc in copy.heredocs] == [("C", False), ("D", True)]
    assert (user.line, user.word) == (11, "USER")
    assert run.lines == tuple(text.split("\n")[:5])


def test_blanks_may_stand_between_a_heredoc_and_its_name() -> None:
    assert rests("RUN cat << 'E' > x\na\nE\nUSER me") == [(1, "RUN", "cat << 'E' > x"), (4, "USER", "me")]


@pytest.mark.parametrize(
    "line", ["python -c 'print(1<<4)'", "echo $((1<<4))", "cat <<< x", 'echo "<<EOF"', "echo \\<<EOF", "echo ${A:-<<B}"]
)
def test_what_looks_like_a_heredoc_and_is_none_is_left_alone(line: str) -> None:
    assert rests(f"RUN {line}\nUSER me") == [(1, "RUN", line), (2, "USER", "me")]


def test_only_instructions_that_may_hold_heredocs_do() -> None:
    assert rests("ENV A=<<B\nUSER me") == [(1, "ENV", "A=<<B"), (2, "USER", "me")]
    assert rests('RUN ["a", "<<B"]\nUSER me') == [(1, "RUN", '["a", "<<B"]'), (2, "USER", "me")]


def test_faults_name_their_line_and_reading_goes_on() -> None:
    found = parse("FROM a\nRUNN x\nENV\nRUN <<E\nnever ended")
    assert [(fault.kind, fault.line, fault.text) for fault in found.faults] == [
        ("syntax", 2, "RUNN x"),
        ("syntax", 3, "ENV"),
        ("syntax", 4, "RUN <<E"),
    ]
    assert [each.word for each in found.instructions] == ["FROM"]


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    parse(text)


LINES = st.sampled_from(
    [
        "RUN a \\",
        "RUN <<E",
        "E",
        "# escape=`",
        "# note \\",
        "  b `",
        "",
        "COPY <<-'F' <<G /x",
        "\tF",
        'RUN ["a',
        "FROM ${X:-a} AS b",
        "\\",
        "ENV a=b\\ c d='",
    ]
)


@given(st.lists(LINES, max_size=14))
def test_every_line_is_part_of_one_instruction_at_most(lines: list[str]) -> None:
    found = parse("\n".join(lines))
    told = [number for each in found.instructions for number in range(each.line, each.line + len(each.lines))]
    assert len(told) == len(set(told))
    assert all(1 <= number <= max(1, len(lines)) for number in told)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    ["RUN \\\n" * 100_000, "RUN <<A\n" * 100_000, "RUN " + "\\ " * 400_000, "RUN [" + "[" * 500_000, "x" * 2_000_000],
)
def test_hostile_files_are_read_soon(text: str) -> None:
    parse(text)
