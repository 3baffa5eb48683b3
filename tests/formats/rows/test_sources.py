"""Every shape in which a file may hold its rows, read from the same seam."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.errors import Upstream
from rlx.formats.rows.opening import opened, source_of
from rlx.formats.rows.sources.base import MAX_ROW, Source, Unreadable
from rlx.formats.rows.sources.json_rows import WHOLE
from rlx.formats.rows.sources.marks import LONGEST
from rlx.formats.rows.sources.octets import BLOCK, Blocks, Held, Ranged
from rlx.texts import words

RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def source(path: str, data: str | bytes) -> Source:
    return source_of(path, data.encode() if isinstance(data, str) else data)


def values(found: Source, offset: int = 0, limit: int = 1000) -> list[object]:
    return [row.value for row in found.rows(offset, limit)]


@pytest.mark.parametrize(
    ("path", "data", "shape", "expected"),
    [
        ("a.json", json.dumps(RECORDS), "list", RECORDS),
        ("a.json", json.dumps(RECORDS, indent=2), "list", RECORDS),
        ("a.json", "\ufeff" + json.dumps(RECORDS), "list", RECORDS),
        (
            "a.json",
            json.dumps({"x": RECORDS[0], "y": RECORDS[1]}),
            "map",
            [{"": "x"} | RECORDS[0], {"": "y"} | RECORDS[1]],
        ),
        ("a.json", json.dumps({"a": [1, 2], "b": ["x", "y"]}), "columns", RECORDS),
        ("a.json", json.dumps({"version": 1, "data": RECORDS}), "inside", RECORDS),
        ("a.json", json.dumps({"data": RECORDS}), "inside", RECORDS),
        ("a.json", json.dumps({"a": 1, "b": {"c": [2]}}), "object", [{"a": 1, "b": {"c": [2]}}]),
        ("a.json", "\n".join(map(json.dumps, RECORDS)), "lines", RECORDS),
        ("a.jsonl", "\r\n".join(map(json.dumps, RECORDS)), "lines", RECORDS),
        ("a.jsonl", "\ufeff\n\n" + "\n \n".join(map(json.dumps, RECORDS)) + "\n\n", "lines", RECORDS),
        ("a.jsonl", json.dumps(RECORDS, indent=1), "list", RECORDS),
        ("a.ndjson", '[1, "x"]\n[2, "y"]\n', "lines", [[1, "x"], [2, "y"]]),
        ("a.csv", "a,b\n1,x\n2,y\n", "delimited", [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]),
        ("a.csv", '\ufeffa|b\r\n1|"x\ny"\r\n', "delimited", [{"a": "1", "b": "x\ny"}]),
        ("a.csv", 'a;b\n"1,5;2,5";x\n', "delimited", [{"a": "1,5;2,5", "b": "x"}]),
        ("a.tsv", "a\tb\n\n1\tx, y", "delimited", [{"a": "1", "b": "x, y"}]),
        ("a.csv", "a,a,\n1,2,3\n", "delimited", [{"a": "1", "a (2)": "2", "(3)": "3"}]),
    ],
)
def test_rows_are_found_in_every_shape(path: str, data: str, shape: str, expected: list[object]) -> None:
    found = source(path, data)
    assert (found.shape, values(found), found.count) == (shape, expected, len(expected))
    keys = [key for row in expected for key in (row if isinstance(row, dict) else [""])]
    assert found.columns == tuple(dict.fromkeys(keys))


def test_a_document_too_long_to_be_read_whole_is_walked_through() -> None:
    rows = {f"k{n}": {"n": n, "text": "x" * 1000} for n in range(WHOLE // 1000)}
    found = source("a.json", json.dumps(rows))
    assert (found.shape, found.count) == ("map", len(rows))
    assert values(found, 9_999, 1) == [{"": "k9999", "n": 9_999, "text": "x" * 1000}]
    with pytest.raises(Unreadable) as refused:
        source("a.json", json.dumps({"a": ["x" * 1000] * (WHOLE // 1000)}))
    assert "without reading it whole" in words(refused.value.reason)


def test_rows_with_something_wrong_say_so_and_leave_the_others_alone() -> None:
    found = source("a.csv", "a,b\n1\n1,2,3\n1,2\n").rows(0, 10)
    assert [row.value for row in found] == [{"a": "1"}, {"a": "1", "b": "2", "(3)": "3"}, {"a": "1", "b": "2"}]
    assert [row.note is None for row in found] == [False, False, True]
    elements = source("a.json", '[{"a": 1}, {"a": oops}, {"a": 3}, {"a": [').rows(0, 10)
    assert [row.broken is None for row in elements] == [True, False, True, False]
    lines = source("a.jsonl", '{"a": 1}\n{"a": ' + '"' + "x" * MAX_ROW + '"}\n{"a": 3}\n').rows(0, 10)
    assert [row.value for row in lines] == [{"a": 1}, None, {"a": 3}]
    assert words(lines[1].broken or "") == "Longer than 2 MB"


def test_where_no_row_ends_the_walk_does() -> None:
    found = source("a.jsonl", b'{"a": 1}\n' + b"x" * (LONGEST * 2))
    assert found.count is None
    assert values(found) == [{"a": 1}]
    assert "After row 1 no row ends within 16 MB" in words(found.trouble or "")


def test_cells_of_any_size_are_read_whatever_else_this_process_does_with_such_files() -> None:
    before = csv.field_size_limit()
    assert values(source("a.csv", f"a,b\n{'x' * 300_000},1\n")) == [{"a": "x" * 300_000, "b": "1"}]
    assert csv.field_size_limit() == before


def test_a_page_of_very_long_rows_is_shorter_than_asked_for_and_the_next_goes_on() -> None:
    data = "".join(json.dumps({"n": n, "x": "y" * 1_500_000}) + "\n" for n in range(30))
    found = source("a.jsonl", data)
    first = found.rows(0, 100)
    assert 10 < len(first) < 30
    following = found.rows(len(first), 100)
    assert [row.value["n"] for row in (*first, *following) if isinstance(row.value, dict)] == list(range(30))


def test_nested_values_of_parquet_come_as_they_are(tmp_path: Path) -> None:
    table = pa.table(
        {
            "m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
            "s": [{"x": [1, None]}, None],
            "d": pa.array([1, 2], pa.decimal128(5, 2)),
            "c": pa.array(["u", "u"]).dictionary_encode(),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=1)
    octets = Held(out.getvalue())
    found = opened("a.parquet", octets, tmp_path)(octets)
    assert values(found) == [
        {"m": {"k": 1}, "s": {"x": [1, None]}, "d": "1.00", "c": "u"},
        {"m": None, "s": None, "d": "2.00", "c": "u"},
    ]
    assert [row.value for row in found.rows(1, 5, columns=["d", "gone"])] == [{"d": "2.00"}]
    empty = io.BytesIO()
    pq.write_table(table.slice(0, 0), empty)
    assert source("a.parquet", empty.getvalue()).rows(0, 10) == ()


@settings(max_examples=200)
@given(
    st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.jsonl.gz", "a.csv.zst"]),
    st.binary(max_size=400)
    | st.text(alphabet='[]{}",:;\n\t a1\\é', max_size=400).map(str.encode)
    | st.binary(max_size=50).map(lambda data: b"PAR1" + data + b"PAR1"),
)
def test_no_bytes_do_anything_but_give_rows_or_a_reason(path: str, data: bytes) -> None:
    try:
        found = source(path, data)
        rows = found.rows(0, 50)
    except Unreadable as error:
        told = [error.reason]
    else:
        told = [row.broken for row in rows if row.broken is not None]
        assert rows or found.count == 0
    assert all(words(reason) for reason in told)


def test_blocks_are_fetched_once_side_by_side_ones_together_and_walks_pass_them_by() -> None:
    data = bytes(range(256)) * (12 * BLOCK // 256)
    asked: list[tuple[int, int]] = []

    def fetch(start: int, end: int) -> bytes:
        asked.append((start, end))
        return data[start:end]

    octets = Ranged("x", len(data), fetch, Blocks(2 * BLOCK))
    assert octets.read(BLOCK - 1, 2 * BLOCK + 1) == data[BLOCK - 1 : 2 * BLOCK + 1]
    assert asked == [(0, 3 * BLOCK)]
    assert octets.read(BLOCK, BLOCK + 9) == data[BLOCK : BLOCK + 9]
    assert len(asked) == 1
    assert octets.read(0, 9) == data[:9]
    assert len(asked) == 2
    assert octets.read(0, 8 * BLOCK) == data[: 8 * BLOCK]
    assert octets.read(len(data) - 5, len(data) + 5) == data[-5:]
    assert octets.read(len(data), len(data) + 5) == b""
    with pytest.raises(Upstream, match="for a range of"):
        Ranged("y", 10, lambda start, end: b"", Blocks(BLOCK)).read(0, 5)
