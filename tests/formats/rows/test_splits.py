"""A split is one table, whatever files it is made of."""

import io
import json
from collections.abc import Callable, Mapping

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlx.formats.rows.splits import SplitPage, SplitRows, find_splits
from rlx.hub.client import HubClient
from rlx.hub.repo import Repo
from rlx.texts import words
from tests.formats.rows.conftest import KEY, Hub

pytestmark = pytest.mark.anyio

type Make = Callable[[Mapping[str, bytes]], Hub]
ENOUGH = 60.0


def lines(first: int, count: int) -> bytes:
    return "".join(json.dumps({"n": n, "x": "y" * 200}) + "\n" for n in range(first, first + count)).encode()


def parquet(first: int, count: int) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"n": range(first, first + count)}), out)
    return out.getvalue()


async def opened(client: HubClient, name: str = "train") -> SplitRows:
    found = await find_splits(Repo(client, await client.info(KEY, token=False), False))
    return await found.open(next(split for split in found.layout.splits if split.name == name))


def numbers(page: SplitPage) -> list[object]:
    return [place.row.value["n"] for place in page.rows if isinstance(place.row.value, dict)]


async def test_rows_go_on_from_file_to_file(hub: Make) -> None:
    made = hub({f"data/train-{n:05}-of-00003.jsonl": lines(n * 1000, 1000) for n in range(3)})
    async with made.opened() as client:
        split = await opened(client)
        page = await split.page(1_995, 10, patience=ENOUGH)
        assert numbers(page) == list(range(1_995, 2_005))
        assert [(place.path[11:16], place.at) for place in page.rows[4:6]] == [("00001", 999), ("00002", 0)]
        assert page.known >= 2_005
        assert await split.count(patience=ENOUGH) == 3_000
        assert numbers(await split.page(2_999, 10)) == [2_999]
        past = await split.page(3_000, 10)
        assert (past.rows, past.count, past.known) == ((), 3_000, 3_000)


async def test_a_file_whose_end_is_unknown_hides_what_follows_till_it_is_known(hub: Make) -> None:
    made = hub({"train-a.jsonl": lines(0, 20_000), "train-b.jsonl": lines(20_000, 10)})
    async with made.opened() as client:
        split = await opened(client)
        page = await split.page(20_005, 5, patience=0.0)
        assert (page.rows, page.count) == ((), None)
        assert 0 < page.known < 20_000
        assert numbers(await split.page(20_005, 5, patience=ENOUGH)) == list(range(20_005, 20_010))


async def test_a_file_that_cannot_be_read_is_told_and_the_others_are_there(hub: Make) -> None:
    made = hub({"train-a.parquet": parquet(0, 10), "train-b.parquet": b"PAR1", "train-c.parquet": parquet(10, 10)})
    async with made.opened() as client:
        page = await (await opened(client)).page(5, 10)
        assert numbers(page) == list(range(5, 15))
        assert (page.columns, page.count) == (("n",), 20)
        assert [(path, words(why)) for path, why in page.refused] == [
            ("train-b.parquet", "It cannot be read as a parquet file.")
        ]


CARD = """---
configs:
- config_name: default
  data_files: {files}
  {option}
---
"""


@pytest.mark.parametrize(
    ("path", "option", "text", "rows"),
    [
        ("a.csv", "sep: ';'", "n;q\n1;a,b,c,d\n", [{"n": "1", "q": "a,b,c,d"}]),
        ("a.csv", "delimiter: '|'", "n|q\n1|a,b,c,d\n", [{"n": "1", "q": "a,b,c,d"}]),
        ("a.csv", "sep: '\\t'", "n\tq\n1\ta,b,c,d\n", [{"n": "1", "q": "a,b,c,d"}]),
        ("a.csv", "sep: [1]", "n,q\n1,a\n", [{"n": "1", "q": "a"}]),
        ("a.csv", "sep: '\\s+'", "n,q\n1,a\n", [{"n": "1", "q": "a"}]),
        ("a.json", "field: data", '{"version": 1, "data": [{"n": 1}], "notes": [{"n": 2}]}', [{"n": 1}]),
        ("a.json", "field: data", '{"data": {"n": [1, 2]}}', [{"n": 1}, {"n": 2}]),
        ("a.json", "field: data", '[{"n": 1}]', [{"n": 1}]),
    ],
)
async def test_what_a_card_says_of_a_file_is_followed(
    hub: Make, path: str, option: str, text: str, rows: list[object]
) -> None:
    made = hub({path: text.encode(), "README.md": CARD.format(files=path, option=option).encode()})
    async with made.opened() as client:
        page = await (await opened(client)).page(0, 10, patience=ENOUGH)
    assert [place.row.value for place in page.rows] == rows


async def test_a_field_that_is_not_there_is_told(hub: Make) -> None:
    card = CARD.format(files="a.json", option="field: data").encode()
    made = hub({"a.json": b'{"rows": [{"n": 1}]}', "README.md": card})
    async with made.opened() as client:
        page = await (await opened(client)).page(0, 10)
    assert [words(why) for _, why in page.refused] == [
        "It has no field data, under which the card says that its rows are."
    ]


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"train.json": {"name": "set", "version": 2, "tags": ["a"]}}, 0),
        ({"train.json": {"id": 1, "question": "What?", "answer": "x"}}, 1),
        ({"train-1.json": {"id": 1, "goal": "Go"}, "train-2.json": {"id": 2, "goal": "Run"}}, 2),
        ({"train-1.json": [{"id": 1, "goal": "Go"}], "train-2.json": {"name": "set", "version": 2}}, 1),
        ({"train-1.json": {"name": "set", "version": 2}, "train-2.json": [{"id": 1, "goal": "Go"}]}, 1),
    ],
)
async def test_an_object_of_settings_is_no_row(hub: Make, files: Mapping[str, object], count: int) -> None:
    made = hub({path: json.dumps(value).encode() for path, value in files.items()})
    async with made.opened() as client:
        page = await (await opened(client)).page(0, 10)
    assert (len(page.rows), page.count) == (count, count)
    assert all(words(why) == "It is one object of settings, and not a row." for _, why in page.refused)
    assert bool(page.refused) == (count < len(files))


async def test_rows_that_the_hub_converted_are_read_from_its_branch() -> None:
    data, main, branch = parquet(0, 3), "a" * 40, "b" * 40

    def answer(request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if path.endswith("/refs"):
            converts = [{"name": "parquet", "ref": "refs/convert/parquet", "targetCommit": branch}]
            return httpx2.Response(200, json={"branches": [], "converts": converts, "tags": []})
        if f"/tree/{main}" in path:
            return httpx2.Response(200, json=[{"type": "file", "path": "a.tar", "oid": "1", "size": 5}])
        if f"/tree/{branch}" in path:
            entry = {"type": "file", "path": "default/test/0000.parquet", "oid": "2", "size": len(data)}
            return httpx2.Response(200, json=[entry])
        if f"/resolve/{branch}/" in path:
            start, _, end = request.headers["range"].removeprefix("bytes=").partition("-")
            return httpx2.Response(206, content=data[int(start) : int(end) + 1])
        return httpx2.Response(200, json={"id": KEY.repo_id, "sha": main})

    client = HubClient("http://hub.test", transport=httpx2.MockTransport(answer))
    assert numbers(await (await opened(client, "test")).page(1, 5)) == [1, 2]
    await client.aclose()


async def test_a_recorded_rollout_is_one_row_whatever_its_file_holds(hub: Make) -> None:
    turns = [{"role": "user", "content": "Go"}, {"role": "assistant", "content": "Done"}]
    contents = {
        "a.traj": {"trajectory": [{"action": "ls"}, {"action": "cat"}], "info": {}},
        "b.traj.json": turns,
        "c.trajectory.json": {"only": [{"n": 1}, {"n": 2}]},
    }
    made = hub({name: json.dumps(value).encode() for name, value in contents.items()} | {"d.traj": b'{"cut": '})
    async with made.opened() as client:
        split = await opened(client)
        page = await split.page(0, 10)
        assert [place.path for place in page.rows] == ["a.traj", "b.traj.json", "c.trajectory.json", "d.traj"]
        values = [place.row.value for place in page.rows]
        assert values == [contents["a.traj"], {"messages": turns}, contents["c.trajectory.json"], None]
        assert page.rows[3].row.broken is not None
        assert (page.count, page.known, await split.count()) == (4, 4, 4)
        assert [place.path for place in (await split.page(2, 1)).rows] == ["c.trajectory.json"]
        assert (await split.page(9, 5)).rows == ()


async def test_recorded_rollouts_beside_lists_of_such_are_counted_with_them(hub: Make) -> None:
    listed = json.dumps([{"conversations": [], "n": at} for at in range(3)]).encode()
    made = hub({"a.traces.json": listed, "b.trajectory.json": b'{"steps": []}'})
    async with made.opened() as client:
        page = await (await opened(client)).page(0, 10)
        assert [place.path for place in page.rows] == ["a.traces.json"] * 3 + ["b.trajectory.json"]
        assert page.count == 4
