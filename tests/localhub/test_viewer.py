"""The dataset viewer's routes over every kind of data file."""

import datetime
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub import LocalHub
from rlx.localhub.viewer.features import cell, columns_of, merge, type_of
from tests.localhub.small_hub import ROWS, client_of, writer

pytestmark = pytest.mark.anyio

TRAIN = {"dataset": "org/name", "config": "default", "split": "train"}
ROWS_TRAIN = {**TRAIN, "dataset": "acme/rows"}

type Put = Callable[[str, str | bytes], Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    return writer(tmp_path / "datasets/org/name")


async def get_as(token: str | None, root: Path, route: str, **params: str | int) -> httpx2.Response:
    async with client_of(LocalHub(root, rescan=0), token) as client:
        return await client.get(f"/viewer/{route}", params=params)


async def get(root: Path, route: str, **params: str | int) -> httpx2.Response:
    return await get_as(None, root, route, **params)


async def rows(tmp_path: Path, **params: str | int) -> list[dict[str, Any]]:
    answer = await get(tmp_path, "rows", **{**TRAIN, **params})
    assert answer.status_code == 200, answer.text
    return [one["row"] for one in answer.json()["rows"]]


async def test_splits_name_configs_and_splits(root: Path) -> None:
    told = (await get(root, "splits", dataset="acme/rows")).json()
    assert told == {
        "splits": [{"dataset": "acme/rows", "config": "default", "split": "train"}],
        "pending": [],
        "failed": [],
    }


async def test_rows_come_in_pages_with_their_numbers(root: Path) -> None:
    answer = await get(root, "rows", **ROWS_TRAIN, offset=95, length=10)
    told = answer.json()
    assert [one["row_idx"] for one in told["rows"]] == list(range(95, 105))
    assert [one["row"] for one in told["rows"]] == ROWS[95:105]
    assert (told["num_rows_total"], told["num_rows_per_page"], told["partial"]) == (250, 100, False)
    assert told["features"] == [
        {"feature_idx": 0, "name": "id", "type": {"dtype": "int64", "_type": "Value"}},
        {"feature_idx": 1, "name": "text", "type": {"dtype": "string", "_type": "Value"}},
        {"feature_idx": 2, "name": "info", "type": {"level": {"dtype": "int64", "_type": "Value"}}},
    ]
    assert len(answer.headers["x-revision"]) == 40
    assert (await get(root, "rows", **ROWS_TRAIN, offset=245)).json()["rows"][-1]["row_idx"] == 249
    assert (await get(root, "rows", **ROWS_TRAIN, offset=1000)).json()["rows"] == []


@pytest.mark.parametrize("group", [1, 7, 100, 1000])
async def test_parquet_rows_are_found_in_their_groups(tmp_path: Path, group: int) -> None:
    (tmp_path / "datasets/org/name").mkdir(parents=True)
    table = pa.Table.from_pylist(ROWS)
    for number, part in enumerate((table.slice(0, 130), table.slice(130, 0), table.slice(130))):
        pq.write_table(part, tmp_path / f"datasets/org/name/part-{number}.parquet", row_group_size=group)
    for offset in (0, 6, 99, 100, 129, 130, 200, 249, 250):
        assert await rows(tmp_path, offset=offset, length=20) == ROWS[offset : offset + 20]


async def test_parquet_values_are_said_in_json(tmp_path: Path) -> None:
    (tmp_path / "datasets/org/name").mkdir(parents=True)
    row = {
        "bytes": b"\x00\xff",
        "when": datetime.datetime(2026, 1, 2, 3, 4, 5),  # noqa: DTZ001  parquet keeps times without a zone
        "day": datetime.date(2026, 1, 2),
        "nan": float("nan"),
        "half": 1.5,
        "list": [{"a": 1, "b": None}, {"a": None, "b": "x"}],
        "none": None,
        "flag": True,
    }
    schema = pa.Table.from_pylist([row])
    table = schema.append_column("map", pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())))
    table = table.append_column("kind", pa.array(["a"]).dictionary_encode())
    pq.write_table(table, tmp_path / "datasets/org/name/x.parquet")
    told = (await get(tmp_path, "rows", **TRAIN)).json()
    assert told["rows"][0]["row"] == {
        "bytes": "AP8=",
        "when": "2026-01-02T03:04:05",
        "day": "2026-01-02",
        "nan": None,
        "half": 1.5,
        "list": [{"a": 1, "b": None}, {"a": None, "b": "x"}],
        "none": None,
        "flag": True,
        "map": [{"key": "k", "value": 1}],
        "kind": "a",
    }
    types = {one["name"]: one["type"] for one in told["features"]}
    assert types["bytes"] == {"dtype": "binary", "_type": "Value"}
    assert types["when"] == {"dtype": "timestamp[us]", "_type": "Value"}
    assert types["day"] == {"dtype": "date32[day]", "_type": "Value"}
    assert types["list"]["_type"] == "List"
    assert types["kind"] == {"dtype": "string", "_type": "Value"}


async def test_features_that_a_parquet_file_declares_are_told(tmp_path: Path) -> None:
    (tmp_path / "datasets/org/name").mkdir(parents=True)
    features = {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    table = pa.table({"label": [0, 1]}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )
    pq.write_table(table, tmp_path / "datasets/org/name/x.parquet")
    told = (await get(tmp_path, "rows", **TRAIN)).json()
    assert told["features"][0]["type"] == features["label"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.jsonl", '{"a": 1}\n\n{"a": 2, "b": "x"}', [{"a": 1, "b": None}, {"a": 2, "b": "x"}]),
        ("a.ndjson", '{"a": 1}\r\n', [{"a": 1}]),
        (
            "a.jsonl",
            '{"a": {"x": 1}}\n{"a": {"y": [1.5]}}\n',
            [{"a": {"x": 1, "y": None}}, {"a": {"x": None, "y": [1.5]}}],
        ),
        ("a.jsonl", '{"a": 1}\n{"a": "one"}\n{"a": [1]}\n', [{"a": 1}, {"a": "one"}, {"a": [1]}]),
        ("a.jsonl", '{"a": 1}\n{"a": 2.5}\n', [{"a": 1.0}, {"a": 2.5}]),
        ("a.jsonl", '{"a": NaN}\n{"a": "\\ud800"}\n', [{"a": None}, {"a": "?"}]),
        ("a.jsonl", '"text"\n[1]\n', [{"text": "text"}, {"text": [1]}]),
        ("a.json", '[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ("a.json", '\n[\n{"a": 1}\n]\n', [{"a": 1}]),
        ("a.json", '{"a": [1, 2], "b": ["x", "y"]}', [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        ("a.json", '{"k1": {"a": 1}, "k2": {"a": 2}}', [{"key": "k1", "a": 1}, {"key": "k2", "a": 2}]),
        ("a.json", '{"a": 1}', [{"a": 1}]),
        ("a.json", '{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("a.json", '{\n"a": 1\n}\n', [{"a": 1}]),
        ("a.json", "[]", []),
        (
            "a.csv",
            'n,s\n1,"two\nlines, ""quotes"""\n2,\n',
            [{"n": 1, "s": 'two\nlines, "quotes"'}, {"n": 2, "s": None}],
        ),
        (
            "a.csv",
            "\ufeffn,f,b,s\n007,1.5,True,1_0\n008,2,False,nan\n",
            [{"n": 7, "f": 1.5, "b": True, "s": "1_0"}, {"n": 8, "f": 2.0, "b": False, "s": "nan"}],
        ),
        ("a.csv", "a,b\n1\n", [{"a": 1, "b": None}]),
        ("a.csv", "a,b\n", []),
        ("a.tsv", "a\tb\n1\tx,y\n", [{"a": 1, "b": "x,y"}]),
    ],
)
async def test_text_files_are_read_as_rows(
    tmp_path: Path, put: Put, name: str, text: str, expected: list[dict[str, object]]
) -> None:
    put(name, text)
    assert await rows(tmp_path) == expected
    put(name, "")
    put(f"{name}.gz", gzip.compress(text.encode()))
    (tmp_path / "datasets/org/name" / name).unlink()
    assert await rows(tmp_path) == expected


async def test_shared_formats_are_read(tmp_path: Path, put: Put) -> None:
    put("README.md", "---\nconfigs:\n- config_name: default\n  data_files: x.csv\n  sep: ';'\n---\n")
    put("x.csv", "a;b\n1;2,3\n")
    assert await rows(tmp_path) == [{"a": 1, "b": "2,3"}]
    put("README.md", "---\nconfigs:\n- config_name: default\n  data_files: x.json\n  field: data\n---\n")
    put("x.json", '{"version": 1, "data": [{"a": 1}]}')
    assert await rows(tmp_path) == [{"a": 1}]


@pytest.mark.parametrize(
    ("name", "data", "status", "code"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": ', 500, "StreamingRowsError"),
        ("a.jsonl", b"version https://git-lfs.github.com/spec/v1\n", 500, "StreamingRowsError"),
        ("a.jsonl", b'{"a": ' + b"[" * 100_000, 500, "StreamingRowsError"),
        ("a.jsonl", b'{"a": ' + b"[" * 3000 + b"]" * 3000 + b"}", 500, "StreamingRowsError"),
        ("a.jsonl", b'{"a": ' + b"9" * 100_000 + b"}", 500, "StreamingRowsError"),
        ("a.jsonl", b"\xff\xfe\n", 500, "StreamingRowsError"),
        ("a.json", b"{", 500, "StreamingRowsError"),
        ("a.json", b'{"a": [1], "b": [1, 2]}', 500, "StreamingRowsError"),
        ("a.csv", b"a\n1,2\n", 500, "StreamingRowsError"),
        ("a.csv", b"a\n\0\n", 200, ""),
        ("a.jsonl.gz", b"not gzip", 500, "StreamingRowsError"),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n', mtime=0)[:-6], 500, "StreamingRowsError"),
        ("a.jsonl.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20, 500, "StreamingRowsError"),
        ("a.parquet", b"", 500, "StreamingRowsError"),
        ("a.parquet", b"PAR1" + b"\0" * 100 + b"PAR1", 500, "StreamingRowsError"),
    ],
)
async def test_broken_files_are_told_in_the_viewers_shape(
    tmp_path: Path, put: Put, name: str, data: bytes, status: int, code: str
) -> None:
    put(name, data)
    for route in ("rows", "first-rows", "size"):
        answer = await get(tmp_path, route, **TRAIN)
        assert answer.status_code == status, answer.text
        assert answer.headers.get("x-error-code", "") == code
        if status != 200:
            assert {"error", "cause_exception", "cause_message"} <= set(answer.json())


@pytest.mark.parametrize(
    ("route", "params", "status", "code"),
    [
        ("splits", {}, 422, "MissingRequiredParameter"),
        ("rows", {"dataset": "acme/rows"}, 422, "MissingRequiredParameter"),
        ("rows", {"dataset": "acme/rows", "config": "default"}, 422, "MissingRequiredParameter"),
        ("rows", {**ROWS_TRAIN, "length": 101}, 422, "InvalidParameter"),
        ("rows", {**ROWS_TRAIN, "offset": -1}, 422, "InvalidParameter"),
        ("rows", {**ROWS_TRAIN, "split": "dev"}, 404, "ResponseNotFound"),
        ("splits", {"dataset": "acme/rows", "config": "other"}, 404, "ResponseNotFound"),
        ("splits", {"dataset": "acme/nowhere"}, 401, "ExternalUnauthenticatedError"),
        ("splits", {"dataset": "../acme/rows"}, 401, "ExternalUnauthenticatedError"),
        ("splits", {"dataset": "acme/secret"}, 401, "ExternalUnauthenticatedError"),
        ("splits", {"dataset": "acme/gated"}, 401, "ExternalUnauthenticatedError"),
        ("statistics", {"dataset": "acme/rows"}, 422, "MissingRequiredParameter"),
        ("lines", {"dataset": "acme/rows"}, 404, "ResponseNotFound"),
        ("splits", {"dataset": "bob/own"}, 401, "ExternalUnauthenticatedError"),
    ],
)
async def test_errors_are_the_viewers_own(
    root: Path, route: str, params: dict[str, str | int], status: int, code: str
) -> None:
    answer = await get(root, route, **params)
    assert (answer.status_code, answer.headers["x-error-code"]) == (status, code)
    assert answer.json()["error"]


async def test_private_and_gated_rows_are_for_those_who_may_read_them(root: Path) -> None:
    assert (await get_as("hf_carol", root, "splits", dataset="acme/gated")).status_code == 200
    refused = await get_as("hf_bob", root, "splits", dataset="acme/gated")
    assert (refused.status_code, refused.headers["x-error-code"]) == (404, "ExternalAuthenticatedError")
    assert (await get_as("hf_bob", root, "splits", dataset="acme/secret")).status_code == 404
    empty = await get_as("hf_alice", root, "splits", dataset="acme/secret")
    assert (empty.status_code, empty.headers["x-error-code"]) == (500, "ConfigNamesError")


async def test_a_card_can_switch_the_viewer_off(tmp_path: Path, put: Put) -> None:
    put("README.md", "---\nviewer: false\n---\n")
    put("a.jsonl", '{"a": 1}\n')
    answer = await get(tmp_path, "splits", dataset="org/name")
    assert (answer.status_code, answer.headers["x-error-code"]) == (404, "DisabledViewerError")


async def test_first_rows_are_cut_to_a_size(tmp_path: Path, put: Put) -> None:
    put("a.jsonl", "".join(json.dumps({"n": n, "long": "x" * 30_000}) + "\n" for n in range(150)))
    answer = await get(tmp_path, "first-rows", **TRAIN)
    told = answer.json()
    assert len(answer.content) < 1_100_000
    assert told["truncated"]
    assert told["rows"][0]["row"]["long"] == "x" * 30_000
    assert told["rows"][-1]["truncated_cells"] == ["long"]
    assert told["rows"][-1]["row"] == {"n": 99, "long": "x" * 100}
    whole = (await get(tmp_path, "rows", **TRAIN, offset=99, length=1)).json()["rows"][0]
    assert whole["row"]["long"] == "x" * 30_000
    put("a.jsonl", '{"n": 1}\n')
    assert not (await get(tmp_path, "first-rows", **TRAIN)).json()["truncated"]


async def test_sizes_add_up(tmp_path: Path, put: Put) -> None:
    put("train.jsonl", '{"a": 1, "b": 2}\n' * 3)
    put("test.jsonl", '{"a": 1}\n')
    told = (await get(tmp_path, "size", dataset="org/name")).json()["size"]
    assert told["dataset"]["num_rows"] == 4
    assert told["dataset"]["num_bytes_original_files"] == 3 * 17 + 9
    assert [(one["split"], one["num_rows"], one["num_columns"]) for one in told["splits"]] == [
        ("train", 3, 2),
        ("test", 1, 1),
    ]
    assert [(one["config"], one["num_rows"], one["num_columns"]) for one in told["configs"]] == [("default", 4, 2)]
    assert "dataset" not in (await get(tmp_path, "size", dataset="org/name", config="default")).json()["size"]


async def test_parquet_files_can_be_fetched_where_they_are_said_to_be(tmp_path: Path, put: Put) -> None:
    (tmp_path / "datasets/org/name/data").mkdir(parents=True)
    path = tmp_path / "datasets/org/name/data/train #1.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    async with client_of(LocalHub(tmp_path)) as client:
        told = (await client.get("/viewer/parquet", params={"dataset": "org/name"})).json()["parquet_files"]
        assert told[0]["size"] == path.stat().st_size
        assert told[0]["url"] == "http://hub.test/datasets/org/name/resolve/main/data/train%20%231.parquet"
        assert (await client.get(told[0]["url"])).content == path.read_bytes()
    put("a.jsonl", "{}\n")
    path.unlink()
    assert (await get(tmp_path, "parquet", dataset="org/name")).json()["parquet_files"] == []


async def test_a_changed_file_gives_changed_rows(tmp_path: Path, put: Put) -> None:
    put("a.jsonl", '{"a": 1}\n')
    hub = LocalHub(tmp_path, rescan=60)
    async with client_of(hub) as client:
        first = (await client.get("/viewer/rows", params=TRAIN)).json()
        put("a.jsonl", '{"a": 2}\n{"a": 3}\n')
        second = (await client.get("/viewer/rows", params=TRAIN)).json()
    assert [one["row"]["a"] for one in first["rows"]] == [1]
    assert [one["row"]["a"] for one in second["rows"]] == [2, 3]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inside, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), max_size=6))
def test_every_cell_fits_its_column(items: list[dict[str, object]]) -> None:
    columns = columns_of(items)
    for item in items:
        row = {name: cell(item.get(name), type_) for name, type_ in columns.items()}
        json.dumps(row, allow_nan=False).encode()
        for name, value in row.items():
            assert merge(columns[name], type_of(value)) == columns[name]


@given(VALUES, VALUES)
def test_merging_types_does_not_depend_on_order(a: object, b: object) -> None:
    def plain(value: object) -> str:
        return json.dumps(value, sort_keys=True)

    assert plain(merge(type_of(a), type_of(b))) == plain(merge(type_of(b), type_of(a)))


async def test_wide_hostile_rows_are_refused(tmp_path: Path, put: Put) -> None:
    put("a.jsonl", "".join(json.dumps({f"k{n}": 1}) + "\n" for n in range(10_001)))
    answer = await get(tmp_path, "rows", **TRAIN)
    assert answer.status_code == 500
    assert "more than 10,000 columns" in answer.json()["cause_message"]
    put("a.jsonl", "".join(json.dumps({"map": {f"k{n}": 1}}) + "\n" for n in range(1500)))
    told = (await get(tmp_path, "rows", **TRAIN, length=1)).json()
    assert told["features"][0]["type"] == {"_type": "Json"}
    assert told["rows"][0]["row"] == {"map": {"k0": 1}}
