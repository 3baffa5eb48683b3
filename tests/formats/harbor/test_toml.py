"""task.toml is parsed in bounded time, and a broken one says where."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.toml import MAX_BYTES, TomlProblem, parse_toml


def test_a_good_file_is_a_table_of_values_of_any_type() -> None:
    file = parse_toml(b"a = 1\nb = [{c = 1.5}, {c = true}]\nd = 2026-01-02T03:04:05Z\n[e.f]\ng = ''\n")
    assert file.problem is None
    assert file.table["b"] == [{"c": 1.5}, {"c": True}]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (b"[a]\nb = {{ x }}", 2, 6),
        (b"a = 1\na = 2", 2, 6),
        (b"a = {max}", 1, 9),
        (b"a = '''open", 1, 12),
        (b"\n\n[a", 3, 3),
    ],
)
def test_a_problem_has_the_parsers_message_line_and_column(text: bytes, line: int, column: int) -> None:
    problem = parse_toml(text).problem
    assert problem is not None
    assert problem.message
    assert "(at " not in problem.message
    assert (problem.line, problem.column) == (line, column)


def test_windows_line_ends_are_fine() -> None:
    assert parse_toml(b"a = 1\r\n[b]\r\nc = 'd'\r\n").table == {"a": 1, "b": {"c": "d"}}


def test_a_byte_order_mark_is_skipped_and_said() -> None:
    file = parse_toml(b"\xef\xbb\xbfa = 1\n")
    assert (file.table, file.mark) == ({"a": 1}, True)


def test_bytes_that_are_no_utf8_are_pointed_at() -> None:
    assert parse_toml("a = 1\nb = 'gr\xf6\xdfe'".encode("latin-1")).problem == TomlProblem(
        "The text is not UTF-8", 2, 8
    )


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        b"x = " + b"[" * 100_000,
        b"a." * 100_000 + b"a = 1",
        b"x = " + b"9" * 200_000,
        b'x = """a\n' + b'\\"' * 100_000,
        b'x = "' + b'\\"' * 100_000,
        b'"""' * 80_000,
        b"x = {" + b"a = {" * 30_000,
        b"\x00" * 1000,
        b"a" * (MAX_BYTES + 1),
    ],
    ids=["brackets", "dots", "digits", "escapes", "quotes", "triples", "braces", "nuls", "size"],
)
def test_hostile_files_are_refused_soon(text: bytes) -> None:
    assert parse_toml(text).problem is not None


def test_long_lists_of_fractions_are_not_taken_for_deep_keys() -> None:
    numbers = ", ".join(["0.5"] * 500)
    assert parse_toml(f"x = [{numbers}]\ny = [\n{numbers},\n]\n".encode()).problem is None


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    file = parse_toml(data)
    assert file.problem is None or not file.table


@given(st.text(max_size=200))
def test_whatever_python_parses_is_parsed(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert parse_toml(text.encode("utf-8")).table == expected or text.startswith("\ufeff")
