"""Data in four forms: for people, for programs, for shells."""

import json
from pathlib import Path

import pytest

from rlx.cli.output import Format, Output, cell, choose_columns, progress, share_width
from rlx.errors import BadInput

RECORDS = [{"id": "a/b", "tasks": 1200, "title": "One\ttwo\nthree \x1b[31m", "tags": ["x", "y"], "why": None}]
COLUMNS = ("id", "tasks", "title", "tags", "why")


def printed(capsys: pytest.CaptureFixture[str], form: Format) -> str:
    Output(form).table(RECORDS, COLUMNS, id_columns=("id",))
    return capsys.readouterr().out


def test_tsv_has_a_head_and_a_row_of_clean_cells(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "tsv").splitlines() == [
        "id\ttasks\ttitle\ttags\twhy",
        "a/b\t1200\tOne two three <U+001B>[31m\tx, y\t",
    ]


def test_auto_is_tsv_when_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "auto") == printed(capsys, "tsv")


def test_quiet_is_the_ids_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "quiet") == "a/b\n"


def test_json_is_whole_whatever_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    Output("json").table(RECORDS, ("id",), id_columns=("id",))
    assert json.loads(capsys.readouterr().out) == RECORDS


def test_a_person_sees_a_table_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "human")
    assert "a/b" in text
    assert "1,200" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_table_fits_the_terminal_and_cuts_prose_first(width: int) -> None:
    columns = ("id", "tasks", "title", "brief")
    widths = share_width(width, columns, [30, 6, 40, 500], ("id",))
    assert sum(widths) <= width
    assert widths[:2] == [30, 6]
    assert widths[3] >= len("brief")


def test_a_table_that_has_room_cuts_nothing() -> None:
    assert share_width(200, ("ref", "title", "brief"), [30, 20, 60], ("ref",)) == [30, 20, 60]


def test_an_id_is_printed_whole_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    key = "organisation-with-a-name/and-a-name-that-is-long"
    Output("human").table([{"id": key, "title": "Something " * 9}], ("id", "title"), id_columns=("id",))
    lines = capsys.readouterr().out.splitlines()[1:]
    assert "".join(line[:24].strip() for line in lines) == key


def test_people_get_a_screenful_and_programs_everything() -> None:
    assert (Output("human").most(None), Output("json").most(None)) == (50, None)
    assert (Output("human").most(0), Output("json").most(7)) == (None, 7)


def test_markup_of_the_terminal_library_is_only_text(capsys: pytest.CaptureFixture[str]) -> None:
    Output("human").table([{"id": "[bold red]x[/]"}], ("id",), id_columns=("id",))
    assert "[bold red]x[/]" in capsys.readouterr().out


def test_a_document_is_markdown_unless_a_form_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    record = {"id": "a/b", "title": "T", "facets": [1, 2]}
    forms: tuple[Format, ...] = ("auto", "json", "tsv", "quiet")
    shown = {}
    for form in forms:
        Output(form).document(record, lambda: "# T\n", id_columns=("id",))
        shown[form] = capsys.readouterr().out
    assert shown["auto"] == "# T\n"
    assert json.loads(shown["json"]) == record
    assert shown["tsv"] == "id\ta/b\ntitle\tT\n"
    assert shown["quiet"] == "a/b\n"


def test_a_file_goes_to_a_pipe_byte_for_byte(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Output().text("a\x1b[0m\n")
    Output().bytes(b"\0\xff")
    assert capfdbinary.readouterr().out == b"a\x1b[0m\n\0\xff"


def test_unknown_columns_are_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput) as caught:
        choose_columns("id,colour", ("id", "title"), ("id",))
    assert "colour" in caught.value.message
    assert "title" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (True, "yes"), (0, "0"), ([], ""), (["a", 1], "a, 1"), ({"k": ["v"]}, "k: v"), (1.5, "1.5")],
)
def test_unknown_is_empty_and_never_zero(value: object, text: str) -> None:
    assert cell(value) == text


def test_no_bar_is_drawn_when_nobody_watches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with progress("Reading") as tell:
        tell(1, 2)
    assert capsys.readouterr().err == ""
