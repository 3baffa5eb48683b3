"""Lines of code as rows: each has its number and address, and a stretch that is withheld is one row."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from rlx.web.lines_html import numbered

ROW = re.compile(r'<span class="l( mask)?" id="p(\d+)"><a href="#p(\d+)" data-n="(\d+)"')
LINES = st.lists(st.sampled_from(["x", "y = ‹withheld›", "⋯", "", "<b>"]), min_size=1, max_size=400)


def rows(lines: list[str], first: int = 1, masked: frozenset[int] = frozenset()) -> str:
    return str(numbered([str(escape(line)) for line in lines], first, "p", masked, "en"))


@given(LINES, st.integers(1, 5000))
def test_without_masks_every_line_is_a_row_with_its_number(lines: list[str], first: int) -> None:
    html = rows(lines, first)
    assert [int(found[2]) for found in ROW.finditer(html)] == list(range(first, first + len(lines)))
    assert "<b>" not in html


@given(LINES, st.integers(1, 50), st.sets(st.integers(0, 400)))
def test_every_line_that_is_no_further_line_of_a_withheld_stretch_keeps_its_row(
    lines: list[str], first: int, at: set[int]
) -> None:
    masked = frozenset(first + place for place in at)
    found = {int(row[2]) for row in ROW.finditer(rows(lines, first, masked))}
    for number, line in enumerate(lines, first):
        if line != "⋯" or number not in masked:
            assert number in found


def test_a_stretch_is_told_with_its_lines_and_answers_are_drawn_as_withheld() -> None:
    html = numbered(["a = ‹withheld›", "⋯", "⋯", "b"], 7, "p", frozenset({7, 8, 9}), "en", Markup("<svg></svg>"))
    assert "a = <i><svg></svg>withheld</i>" in html
    assert '<span class="l mask" id="p8">' in html
    assert "lines 8–9 withheld" in html
    assert 'id="p9"' not in html
    assert 'id="p10"' in html


def test_what_stands_on_a_withheld_line_besides_is_kept() -> None:
    html = rows(["‹withheld›", "⋯) + 1", "⋯"], 1, frozenset({1, 2, 3}))
    assert "⋯) + 1" in html
    assert "line 3 withheld" in html


def test_a_prefix_cannot_break_out() -> None:
    assert 'id="&#34;&gt;1"' in str(numbered(["x"], 1, '">', frozenset(), "en"))


def test_many_lines_come_in_windows() -> None:
    assert rows(["x"] * 650).count('<span class="win">') == 3
