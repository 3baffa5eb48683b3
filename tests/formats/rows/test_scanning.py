"""Rows end where the text says so, wherever the text is cut into pieces."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.rows.sources.marks import Marks, texts
from rlx.formats.rows.sources.octets import Held
from rlx.formats.rows.sources.scanning import MAX_QUOTED, Delimited, Elements, Lines, Scanner

cell = st.text(alphabet='ab",;\n\r é', max_size=8)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\[]{},:\n é', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def walked(data: bytes, scanner: Scanner, piece: int) -> list[bytes]:
    """Rows of a text that is read `piece` bytes at a time."""
    found: list[bytes] = []
    at, length = 0, piece
    while True:
        text = data[at : at + length]
        is_last = at + length >= len(data)
        spans, got = scanner.spans(text, is_last=is_last)
        found += [text[begin:end] for begin, end in spans]
        if is_last:
            return found
        at, length = at + got, piece if got else length * 2


@given(st.lists(st.lists(cell, min_size=2, max_size=4), max_size=6), st.integers(1, 40), st.sampled_from([",", ";"]))
def test_records_are_those_of_the_csv_module_wherever_the_text_is_cut(
    rows: list[list[str]], piece: int, delimiter: str
) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    scanner = Delimited(delimiter.encode())
    found = [scanner.cells(record) for record in walked(out.getvalue().encode(), scanner, piece)]
    assert found == [row for row in rows if _has_content(row, delimiter)]


def _has_content(row: list[str], delimiter: str) -> bool:
    """Whether a row is more than quotes and delimiters once it is written."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerow(row)
    return bool(out.getvalue().strip(f' \t\r\n"{delimiter}'))


@given(st.lists(json_value, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]))
def test_elements_of_a_list_are_found_wherever_the_text_is_cut(
    values: list[object], piece: int, indent: int | None
) -> None:
    data = json.dumps(values, indent=indent).encode()[1:]
    assert [json.loads(text) for text in walked(data, Elements(), piece)] == values


@given(st.lists(json_value, max_size=6), st.integers(1, 40), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_lines_are_found_wherever_the_text_is_cut(values: list[object], piece: int, end: str) -> None:
    data = "".join(json.dumps(value) + end for value in values).encode()
    assert [json.loads(text) for text in walked(data, Lines(), piece)] == values


@given(
    st.binary(max_size=300),
    st.integers(1, 60),
    st.sampled_from([Lines(), Elements(), Delimited(b","), Delimited(b"\t")]),
)
def test_no_bytes_make_a_scanner_fail_or_stay_where_it_is(data: bytes, piece: int, scanner: Scanner) -> None:
    found = walked(data, scanner, piece)
    assert sum(map(len, found)) <= len(data)
    if isinstance(scanner, Delimited):
        assert all(scanner.cells(record) for record in found)


def test_a_quote_that_nothing_closes_is_a_character_like_any_other() -> None:
    scanner = Delimited(b",")
    data = b'name,size\n"5 inch,1\n' + b"a,b\n" * (MAX_QUOTED // 2)
    spans, _ = scanner.spans(data, is_last=False)
    assert [scanner.cells(data[begin:end]) for begin, end in spans[:3]] == [
        ["name", "size"],
        ['"5 inch', "1"],
        ["a", "b"],
    ]
    assert scanner.cells(b'5" disk,x') == ['5" disk', "x"]
    assert scanner.cells(b'"a"b,"c""d",') == ["ab", 'c"d', ""]


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=300), st.integers(0, 320), st.integers(1, 50))
def test_rows_are_the_same_from_whatever_mark_they_are_read(sizes: list[int], offset: int, limit: int) -> None:
    rows = [json.dumps({"n": n, "x": "y" * size}) for n, size in enumerate(sizes)]
    octets, marks = Held("".join(f"{row}\n" for row in rows).encode()), Marks(0)
    while not marks.walked.is_done:
        marks.advance(octets, Lines())
    found = texts(marks, octets, Lines(), offset, limit, 2500)
    expected = rows[offset : offset + limit]
    assert [text.data for text in found] == [row.encode() if len(row) <= 2500 else None for row in expected]
    assert [text.line for text in found] == list(range(offset + 1, offset + 1 + len(expected)))
