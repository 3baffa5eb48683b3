"""Rows searched and filtered, columns counted, and what the viewer says it can, as its own client would ask."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub import LocalHub
from rlx.localhub.viewer.features import Type, columns_of
from rlx.localhub.viewer.statistics import spread
from rlx.localhub.viewer.where import Invalid, parse_where
from tests.localhub.small_hub import Write, client_of, writer

pytestmark = pytest.mark.anyio

SPLIT = {"dataset": "org/name", "config": "default", "split": "train"}
ROWS: list[dict[str, Any]] = [
    {"id": 0, "q": "What is a fox's name?", "level": "easy", "score": 0.5, "ok": True, "turns": [{"text": "Rhyme"}]},
    {"id": 1, "q": "Count to ten", "level": "hard", "score": None, "ok": False, "turns": []},
    {"id": 2, "q": 'Say "hi"', "level": "easy", "score": 2.0, "ok": None, "turns": None},
    {"id": 3, "q": None, "level": "it's", "score": -1.0, "ok": True, "turns": [{"text": "fox"}]},
]


@pytest.fixture
def put(tmp_path: Path) -> Write:
    put = writer(tmp_path / "datasets/org/name")
    put("train.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))
    return put


async def get(root: Path, route: str, **params: str | int) -> httpx2.Response:
    async with client_of(LocalHub(root, rescan=0)) as client:
        return await client.get(f"/viewer/{route}", params={**SPLIT, **params})


async def ids(root: Path, route: str, **params: str | int) -> list[int]:
    answer = await get(root, route, **params)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert [one["row_idx"] for one in told["rows"]] == [one["row"]["id"] for one in told["rows"]]
    return [one["row_idx"] for one in told["rows"]]


@pytest.mark.parametrize(
    ("query", "found"), [("FOX", [0, 3]), ("rhyme", [0]), ("ten hi", [1, 2]), ("fo", []), ("!?", [])]
)
async def test_a_search_finds_words_at_any_depth(tmp_path: Path, put: Write, query: str, found: list[int]) -> None:
    assert await ids(tmp_path, "search", query=query) == found


async def test_what_is_found_comes_in_pages_and_is_told_as_rows_are(tmp_path: Path, put: Write) -> None:
    told = (await get(tmp_path, "search", query="fox", offset=1, length=1)).json()
    whole = (await get(tmp_path, "rows", offset=3, length=1)).json()
    assert told == {**whole, "num_rows_total": 2}
    assert (await get(tmp_path, "filter", where="\"level\"='easy'", offset=1)).json()["num_rows_total"] == 2


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("\"level\"='easy'", [0, 2]),
        ("\"level\" = 'it''s'", [3]),
        ("level<>'easy'", [1, 3]),
        ('"id">=1 AND "id"<3', [1, 2]),
        ('"score" > -1.5 and not "score" > 0', [3]),
        ('NOT "score" = 2', [0, 3]),
        ('"score" = 2 OR "ok" = false', [1, 2]),
        ('"score" IS NULL OR "q" is null', [1, 3]),
        ('"q" IS NOT NULL AND ("id" = 0 OR ("id" = 2))', [0, 2]),
        ("\"id\" = '2'", [2]),
        ("\"ok\" = 'true'", [0, 3]),
        ('"q" = \'Say "hi"\'', [2]),
        ('"id" < 1e9', [0, 1, 2, 3]),
    ],
)
async def test_a_filter_is_worked_out_as_sql_would(tmp_path: Path, put: Write, where: str, found: list[int]) -> None:
    assert await ids(tmp_path, "filter", where=where) == found


async def test_what_is_filtered_can_be_put_in_an_order(tmp_path: Path, put: Write) -> None:
    assert await ids(tmp_path, "filter", where='"id">=0', orderby='"score"') == [3, 0, 2, 1]
    assert await ids(tmp_path, "filter", where='"id">=0', orderby='"score" DESC') == [2, 0, 3, 1]
    assert await ids(tmp_path, "filter", where='"id">0', orderby='"level" asc', length=2) == [2, 1]


@pytest.mark.parametrize(
    ("route", "params", "code"),
    [
        ("search", {}, "MissingRequiredParameter"),
        ("filter", {}, "MissingRequiredParameter"),
        ("search", {"query": "x", "length": 101}, "InvalidParameter"),
        ("filter", {"where": '"nothing"=1'}, "InvalidParameter"),
        ("filter", {"where": '"id"='}, "InvalidParameter"),
        ("filter", {"where": '"id"=1 1'}, "InvalidParameter"),
        ("filter", {"where": '("id"=1'}, "InvalidParameter"),
        ("filter", {"where": '"id"=1; DROP TABLE data'}, "InvalidParameter"),
        ("filter", {"where": '"id"=1 -- x'}, "InvalidParameter"),
        ("filter", {"where": "\"id\"='one'"}, "InvalidParameter"),
        ("filter", {"where": '"turns"=1'}, "InvalidParameter"),
        ("filter", {"where": '"q"=\'open'}, "InvalidParameter"),
        ("filter", {"where": "(" * 500 + '"id"=1' + ")" * 500}, "InvalidParameter"),
        ("filter", {"where": '"id"=' + "9" * 5000}, "InvalidParameter"),
        ("filter", {"where": '"id"=1', "orderby": "id sideways"}, "InvalidParameter"),
        ("filter", {"where": '"id"=1', "orderby": '"nothing"'}, "InvalidParameter"),
    ],
)
async def test_what_cannot_be_asked_is_refused_in_the_viewers_words(
    tmp_path: Path, put: Write, route: str, params: dict[str, str | int], code: str
) -> None:
    answer = await get(tmp_path, route, **params)
    assert (answer.status_code, answer.headers["x-error-code"]) == (422, code)
    assert "Parameter '" in answer.json()["error"]


COLUMNS: dict[str, Type] = {"n": "int64", "s": "string"}
TESTS = st.builds(
    lambda name, sign, n, s: f'"{name}" {sign} ' + (str(n) if name == "n" else "'" + s.replace("'", "''") + "'"),
    st.sampled_from("ns"),
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    st.integers(-3, 3),
    st.text("ab' ", max_size=3),
)
WHERES = st.recursive(
    TESTS,
    lambda inside: st.one_of(
        st.builds(lambda a, b: f"{a} AND {b}", inside, inside),
        st.builds(lambda a, b: f"{a} OR {b}", inside, inside),
        st.builds(lambda a: f"NOT {a}", inside),
        st.builds(lambda a: f"({a})", inside),
    ),
    max_leaves=8,
)


@given(WHERES, st.none() | st.integers(-3, 3), st.none() | st.text("ab' ", max_size=3))
def test_a_condition_means_what_it_means_in_a_database(where: str, n: int | None, s: str | None) -> None:
    expected = sqlite3.connect(":memory:").execute(
        f"SELECT ({where}) FROM (SELECT ? AS n, ? AS s)",  # noqa: S608  made of known pieces, by the strategy above
        (n, s),
    )
    (told,) = expected.fetchone()
    assert parse_where(where, COLUMNS)({"n": n, "s": s}) == (None if told is None else bool(told))


@given(st.text("\"'ns=<>() ANDORT01.", max_size=40))
def test_any_text_is_a_condition_or_invalid(text: str) -> None:
    try:
        condition = parse_where(text, COLUMNS)
    except Invalid:
        return
    assert condition({"n": 1, "s": "x"}) in {True, False, None}


async def statistics(root: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    answer = await get(root, "statistics")
    assert answer.status_code == 200, answer.text
    return {one["column_name"]: (one["column_type"], one["column_statistics"]) for one in answer.json()["statistics"]}


async def test_statistics_are_told_by_the_type_of_a_column(tmp_path: Path, put: Write) -> None:
    rows = [
        {
            "i": n,
            "f": n / 100 if n else None,
            "b": n % 2 == 0,
            "label": f"l{n % 3}",
            "text": "x" * n,
            "list": [0] * (n % 3),
            "struct": {"a": n},
        }
        for n in range(100)
    ]
    put("train.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    told = await statistics(tmp_path)
    assert {name: kind for name, (kind, _) in told.items()} == {
        "i": "int",
        "f": "float",
        "b": "bool",
        "label": "string_label",
        "text": "string_text",
        "list": "list",
    }
    assert told["i"][1] == {
        "nan_count": 0,
        "nan_proportion": 0.0,
        "min": 0,
        "max": 99,
        "mean": 49.5,
        "median": 49.5,
        "std": 29.01149,
        "histogram": {"hist": [10] * 10, "bin_edges": [*range(0, 100, 10), 99]},
    }
    assert told["f"][1]["nan_count"] == 1
    assert told["f"][1]["nan_proportion"] == 0.01
    assert sum(told["f"][1]["histogram"]["hist"]) == 99
    assert len(told["f"][1]["histogram"]["bin_edges"]) == 11
    assert told["b"][1]["frequencies"] == {"False": 50, "True": 50}
    assert told["label"][1]["n_unique"] == 3
    assert told["label"][1]["frequencies"] == {"l0": 34, "l1": 33, "l2": 33}
    assert told["text"][1]["max"] == 99
    assert told["list"][1]["histogram"] == {"hist": [34, 33, 33], "bin_edges": [0, 1, 2, 2]}


async def test_labels_of_a_class_are_counted_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "datasets/org/name"
    folder.mkdir(parents=True)
    features = {"label": {"names": ["no", "yes", "maybe"], "_type": "ClassLabel"}}
    table = pa.table({"label": [0, 1, 1, -1, None]}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )
    pq.write_table(table, folder / "train.parquet")
    kind, told = (await statistics(tmp_path))["label"]
    assert kind == "class_label"
    assert told["frequencies"] == {"no": 1, "yes": 2, "maybe": 0}
    assert (told["nan_count"], told["no_label_count"], told["n_unique"]) == (1, 1, 3)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False), max_size=30))
def test_a_histogram_counts_every_number(values: list[int | float | None]) -> None:
    numbers = [value for value in values if value is not None and abs(value) != float("inf")]
    told = spread(numbers, is_float=columns_of([{"n": n} for n in numbers]).get("n") != "int64")
    if numbers:
        assert isinstance(told["histogram"], dict)
        assert sum(told["histogram"]["hist"]) == len(numbers)
        assert len(told["histogram"]["hist"]) <= 10
    json.dumps(told, allow_nan=False)


async def test_a_split_without_rows_has_no_statistics(tmp_path: Path, put: Write) -> None:
    put("train.jsonl", "")
    assert (await get(tmp_path, "statistics")).json() == {"num_examples": 0, "statistics": [], "partial": False}


async def test_an_answer_is_valid_for_what_can_be_asked(tmp_path: Path, put: Write) -> None:
    everything = {"preview": True, "viewer": True, "search": True, "filter": True, "statistics": True}
    assert (await get(tmp_path, "is-valid")).json() == everything
    put("train.jsonl", '{"n": 1}\n')
    assert (await get(tmp_path, "is-valid")).json() == {**everything, "search": False}
    put("train.jsonl", "no JSON")
    assert (await get(tmp_path, "is-valid")).json() == dict.fromkeys(everything, False)


async def test_info_tells_features_and_lengths(tmp_path: Path, put: Write) -> None:
    told = (await get(tmp_path, "info")).json()["dataset_info"]
    assert told["splits"]["train"]["num_examples"] == 4
    assert told["features"]["id"] == {"dtype": "int64", "_type": "Value"}
    async with client_of(LocalHub(tmp_path)) as client:
        whole = (await client.get("/viewer/info", params={"dataset": "org/name"})).json()["dataset_info"]
    assert whole == {"default": told}


@pytest.mark.parametrize("is_stream", [True, False])
async def test_arrow_files_are_read_as_rows(tmp_path: Path, is_stream: bool) -> None:
    folder = tmp_path / "datasets/org/name"
    folder.mkdir(parents=True)
    table = pa.table({"id": [0, 1], "q": ["a", None]})
    make = pa.ipc.new_stream if is_stream else pa.ipc.new_file
    with make(folder / "data-00000-of-00001.arrow", table.schema) as out:
        out.write_table(table)
    assert await ids(tmp_path, "rows") == [0, 1]
    (folder / "data-00000-of-00001.arrow").write_bytes(b"ARROW1 no arrow")
    answer = await get(tmp_path, "rows")
    assert (answer.status_code, answer.headers["x-error-code"]) == (500, "StreamingRowsError")


async def test_lines_of_a_text_are_rows(tmp_path: Path) -> None:
    writer(tmp_path / "datasets/org/name")("prompts.txt", "One\r\n\nTwo")
    told = (await get(tmp_path, "rows")).json()
    assert [one["row"] for one in told["rows"]] == [{"text": "One"}, {"text": ""}, {"text": "Two"}]
