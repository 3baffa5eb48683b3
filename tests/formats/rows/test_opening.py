"""Rows of files on a hub: anywhere, soon, within bounds, whatever the file is."""

import gzip
import io
import json
import lzma
from collections.abc import Callable, Mapping

import anyio
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlx.formats.rows.opening import RowFile
from rlx.formats.rows.shown import ShownTable, shown_page
from rlx.formats.rows.sources.base import Unreadable
from rlx.formats.rows.sources.marks import FIRST
from rlx.formats.rows.sources.octets import BLOCK, Held
from rlx.formats.rows.sources.parquet import read_footer
from rlx.formats.rows.sources.unpacking import Unpacked, Unpacking
from rlx.model import NoTable, TablePage
from rlx.texts import words
from tests.formats.rows.conftest import Hub

pytestmark = pytest.mark.anyio

type Make = Callable[[Mapping[str, bytes]], Hub]
CANARY = "RLX-CANARY-ROWS-0001"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
ENOUGH = 60.0
"""Seconds that are never waited for."""


def lines(count: int, size: int = 100) -> bytes:
    return "".join(json.dumps({"n": n, "text": "x" * size}) + "\n" for n in range(count)).encode()


def parquet(rows: int, **options: object) -> bytes:
    out = io.BytesIO()
    table = pa.table({"n": range(rows), "text": [f"{n} " + "x" * 50 for n in range(rows)], "b": [b"\0"] * rows})
    pq.write_table(table, out, **options)
    return out.getvalue()


SUFFIXES = {"gzip": "gz", "zstd": "zst", "bz2": "bz2", "xz": "xz"}


def compressed(data: bytes, kind: str) -> bytes:
    if kind == "xz":
        return lzma.compress(data) + bytes(8)
    sink = pa.BufferOutputStream()
    with pa.output_stream(sink, compression=kind) as out:
        out.write(data)
    return bytes(sink.getvalue().to_pybytes())


async def numbers(file: RowFile, offset: int, limit: int, patience: float = ENOUGH) -> list[object]:
    found = await file.page(offset, limit, patience=patience)
    return [row.value["n"] if isinstance(row.value, dict) else None for row in found.rows]


async def test_the_first_page_reads_the_beginning_alone_and_the_count_is_unknown(hub: Make) -> None:
    made = hub({"a.jsonl": lines(30_000)})
    async with made.opened() as client:
        found = await (await made.file(client, "a.jsonl")).page(0, 100, patience=0.0)
    assert [row.value for row in found.rows][99] == {"n": 99, "text": "x" * 100}
    assert (found.count, found.columns, found.shape) == (None, ("n", "text"), "lines")
    assert 100 <= found.known < 30_000
    assert 0 < found.share < 0.5
    assert made.counted.fetched <= FIRST + 5 * BLOCK


async def test_any_page_is_there_and_only_what_it_takes_is_read(hub: Make) -> None:
    made = hub({"a.jsonl": lines(30_000)})
    async with made.opened() as client:
        file = await made.file(client, "a.jsonl")
        assert await numbers(file, 29_990, 100) == list(range(29_990, 30_000))
        made.counted.ranges.clear()
        found = await file.page(12_345, 3)
        assert [row.line for row in found.rows] == [12_346, 12_347, 12_348]
        assert found.count == 30_000
        assert made.counted.fetched <= 2 * BLOCK
        made.counted.ranges.clear()
        assert await numbers(file, 12_350, 2) == [12_350, 12_351]
        assert made.counted.ranges == []
        assert await numbers(file, 10**9, 5) == [29_999]


async def test_what_is_not_reached_yet_is_told_so(hub: Make) -> None:
    made = hub({"a.jsonl": lines(30_000)})
    async with made.opened() as client:
        file = await made.file(client, "a.jsonl")
        found = await file.page(29_000, 10, patience=0.0)
        assert found.count is None
        assert found.offset == found.known - 1
        page = await ShownTable(file, "a.jsonl").page(1, 5)
    assert isinstance(page, TablePage)
    assert [row.number for row in page.rows] == [1, 2, 3, 4, 5]


async def test_the_rest_of_a_file_is_looked_through_in_the_background(hub: Make) -> None:
    made = hub({"a.jsonl": lines(100_000)})
    async with made.opened(background=True) as client:
        file = await made.file(client, "a.jsonl")
        assert (await file.page(0, 10, patience=0.0)).count is None
        with anyio.fail_after(ENOUGH):
            while (await file.page(0, 10, patience=0.0)).count is None:
                await anyio.lowlevel.checkpoint()


async def test_what_was_learnt_of_a_file_outlives_the_process(hub: Make) -> None:
    made = hub({"a.jsonl": lines(30_000)})
    async with made.opened() as client:
        await numbers(await made.file(client, "a.jsonl"), 29_999, 1)
    made.counted.ranges.clear()
    async with made.opened() as client:
        found = await (await made.file(client, "a.jsonl")).page(20_000, 1, patience=0.0)
    assert found.count == 30_000
    assert made.counted.fetched < 2 * 1024 * 1024
    (marks,) = (made.root / "desk").glob("*/marks")
    marks.write_bytes(marks.read_bytes()[:-8])
    async with made.opened() as client:
        assert await numbers(await made.file(client, "a.jsonl"), 20_000, 1) == [20_000]


async def test_rows_are_read_with_the_token_of_who_asks(hub: Make) -> None:
    made = hub({"a.jsonl": lines(30_000), "b.jsonl.gz": gzip.compress(lines(30_000)), "c.parquet": parquet(60_000)})
    async with made.opened() as client:
        for path in ("a.jsonl", "b.jsonl.gz", "c.parquet"):
            await numbers(await made.file(client, path, "hf_one"), 0, 10, 0.0)
            made.counted.tokens.clear()
            await numbers(await made.file(client, path, "hf_two"), 29_999, 10)
            assert made.counted.tokens <= {"Bearer hf_two"}


@pytest.mark.parametrize("kind", ["gzip", "zstd", "bz2", "xz"])
async def test_packed_rows_are_unpacked_as_far_as_they_are_read(hub: Make, kind: str) -> None:
    data = lines(20_000)
    half = len(data) // 2
    packed = b"".join(compressed(part, kind) for part in (data[:half], data[half:]))  # as `cat` puts files together
    path = f"a.jsonl.{SUFFIXES[kind]}"
    made = hub({path: packed})
    async with made.opened() as client:
        file = await made.file(client, path)
        assert await numbers(file, 0, 2) == [0, 1]
        assert await numbers(file, 19_999, 2) == [19_999]


async def test_a_page_of_parquet_reads_its_row_group_and_the_columns_asked_for(hub: Make) -> None:
    made = hub({"a.parquet": parquet(40_000, row_group_size=4_000, compression="none", use_dictionary=False)})
    async with made.opened() as client:
        file = await made.file(client, "a.parquet")
        found = await file.page(0, 1, columns=["n"])
        assert [row.value for row in found.rows] == [{"n": 0}]
        assert (found.count, found.columns) == (40_000, ("n", "text", "b"))
        assert made.counted.fetched < 4 * BLOCK
        assert await numbers(file, 39_998, 10) == [39_998, 39_999]
        assert await numbers(file, 3_995, 10) == list(range(3_995, 4_005))


async def test_a_row_group_of_very_many_rows_is_decoded_once(hub: Make) -> None:
    made = hub({"a.parquet": parquet(100_000)})
    async with made.opened() as client:
        file = await made.file(client, "a.parquet")
        assert await numbers(file, 50_000, 3) == [50_000, 50_001, 50_002]
        made.counted.ranges.clear()
        assert await numbers(file, 20, 2) == [20, 21]
        assert await numbers(file, 45_000, 2) == [45_000, 45_001]
        assert made.counted.ranges == []
        assert await numbers(file, 99_999, 10) == [99_999]
    kept = sorted((made.root / "desk").glob("*/*.arrow"))
    kept[3].write_bytes(b"damaged")
    made.counted.ranges.clear()
    async with made.opened() as client:
        file = await made.file(client, "a.parquet")
        assert await numbers(file, 99_000, 1) == [99_000]
        for place in range(0, 100_000, 4096):
            assert await numbers(file, place, 1) == [place]


async def test_without_a_desk_rows_are_read_all_the_same(hub: Make) -> None:
    made = hub({"a.parquet": parquet(50_000), "a.jsonl.gz": gzip.compress(lines(5_000))})
    async with made.opened(desk=False) as client:
        assert await numbers(await made.file(client, "a.parquet"), 49_999, 1) == [49_999]
        assert await numbers(await made.file(client, "a.jsonl.gz"), 4_999, 1) == [4_999]


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.jsonl", b"<PLACEHOLDER ROW>\n" * 5, "None of its first lines is a JSON record"),
        ("a.jsonl", b'1\n"two"\nnull\n', "none is a record"),
        ("a.jsonl", b"", "It is empty."),
        ("a.csv", b"\n \n", "It is empty."),
        ("a.csv", b"only,a,header\n", "a header and no rows"),
        (
            "a.jsonl",
            POINTER,
            "12,345 bytes",
        ),
        ("a.parquet", b"PAR1 this is no parquet PAR1", "cannot be read as a parquet file"),
        ("a.jsonl.gz", b"this is no gzip at all", "cannot be unpacked"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfd broken", "cannot be unpacked"),
        ("a.json", b"just text", "neither a list nor an object"),
        ("a.json", b"[" * 100_000, "not JSON"),
        ("a.txt", b"text", "not one of a file of rows"),
    ],
)
async def test_a_file_without_rows_says_why(hub: Make, path: str, data: bytes, reason: str) -> None:
    made = hub({path: data, "other": b""})
    async with made.opened() as client:
        file = await made.file(client, path)
        with pytest.raises(Unreadable) as refused:
            await file.page(0, 10, patience=ENOUGH)
        assert reason in words(refused.value.reason)
        shown = await ShownTable(file, path).page(1, 10)
    assert isinstance(shown, NoTable)


async def test_every_row_is_there_or_says_why_it_is_not_and_answers_are_withheld(hub: Make) -> None:
    rows = [
        {"id": 1, "question": "one?", "answer": CANARY, "info": json.dumps({"solution": CANARY})},
        {"id": "two", "question": None, "picture": "data:image/png;base64," + "iVBORw0KGgo" * 2_000},
    ]
    data = "\n".join([json.dumps(rows[0]), '{"answer": "' + CANARY, json.dumps(rows[1]), "[" * 5000, "7"])
    made = hub({"a.jsonl": data.encode()})
    async with made.opened() as client:
        page = await ShownTable(await made.file(client, "a.jsonl"), "a.jsonl").page(1, 100)
    assert isinstance(page, TablePage)
    assert CANARY not in repr(page)
    assert [row.broken is not None for row in page.rows] == [False, True, False, True, False]
    assert words(page.rows[1].broken or "") == "JSON that ends too soon"
    third = page.rows[2].value
    assert third is not None
    assert isinstance(third.value, dict)
    assert third.value["picture"] == "‹image/png, 16,500 bytes›"
    told = [words(note) for note in page.notes]
    assert told[0].startswith("2 rows of this page cannot be read")
    assert told[1] == "One column holds values of different kinds: id."
    assert {item.where for item in page.withheld} == {"a.jsonl: answer", "a.jsonl: info.solution"}


async def test_an_answer_stays_out_whatever_shape_a_document_has(hub: Make) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": CANARY}]
    files = {
        "turns.json": json.dumps(turns),
        "keyed.json": json.dumps({"solution": {"a": CANARY}, "x": {"answer": CANARY, "q": 1}, "y": {"q": 2}}),
        "inside.json": json.dumps({"solutions": [{"text": CANARY}, {"text": CANARY}], "n": 1}),
        "columns.json": json.dumps({"answer": [CANARY, CANARY], "q": [1, 2]}),
        "one.json": json.dumps({"answer": CANARY, "q": 1}),
        "semi.csv": f"q;answer\n1;{CANARY}\n",
        "preamble.csv": f"a file of questions,\nq,answer\n1,{CANARY}\n",
    }
    made = hub({path: text.encode() for path, text in files.items()})
    async with made.opened() as client:
        for path in files:
            page = shown_page(await (await made.file(client, path)).page(0, 100), path)
            assert page.rows, path
            assert page.withheld, path
            assert CANARY not in repr(page), path


async def test_a_stream_that_unpacks_to_too_much_or_is_broken_is_told() -> None:
    packed = Held(gzip.compress(bytes(8 * 1024 * 1024)))
    bomb = Unpacked(packed, Unpacking("gzip", None, limit=2 * 1024 * 1024))
    assert bomb.read(0, 10) == bytes(10)
    with pytest.raises(Unreadable, match="packed_large"):
        bomb.read(0, 5 * 1024 * 1024)
    broken = Unpacked(Held(gzip.compress(lines(5_000))[:-500]), Unpacking("gzip", None))
    with pytest.raises(Unreadable, match="packed_broken"):
        broken.read(0, 10**9)
    for data in (lzma.compress(lines(5_000))[:-500], b"no xz", lzma.compress(b"x") + b"no xz", b""):
        with pytest.raises(Unreadable, match="packed_broken"):
            Unpacked(Held(data), Unpacking("xz", None)).read(0, 10**9)
    greedy = lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 512 * 1024 * 1024}])
    with pytest.raises(Unreadable, match="packed_broken"):
        Unpacked(Held(greedy), Unpacking("xz", None)).read(0, 10)


async def test_what_is_odd_about_a_table_of_cells_is_told_on_its_rows(hub: Make) -> None:
    western = b"A file of questions,,\nq,answer,n\nna\xefve,caf\xe9,1\nplain,x,2\n"
    data = western + "이름,é,3\n".encode() + "이름\xff,é".encode() + b"\xff,4\nshort,x\n"
    made = hub({"a.csv": data})
    async with made.opened() as client:
        found = await (await made.file(client, "a.csv")).page(0, 10)
        later = await (await made.file(client, "a.csv")).page(1, 1)
        page = await ShownTable(await made.file(client, "a.csv"), "a.csv").page(1, 10)
    values = [row.value for row in found.rows]
    assert values[:3] == [
        {"q": "naïve", "answer": "café", "n": "1"},
        {"q": "plain", "answer": "x", "n": "2"},
        {"q": "이름", "answer": "é", "n": "3"},
    ]
    assert [row.note and row.note.key for row in found.rows] == [
        "row_sources.preamble",
        None,
        None,
        "row_sources.bad_utf8",
        "rows.ragged",
    ]
    assert words(found.rows[0].note or "") == "The line before the one that names the columns is left out."
    assert later.rows[0].note is None
    assert isinstance(page, TablePage)
    assert [words(note) for note in page.notes] == [
        "One row of this page has more or fewer cells than the header names."
    ]


async def test_a_table_that_is_not_utf8_is_read_as_what_it_is(hub: Make) -> None:
    made = hub({"a.csv": "q;größe\n„Füße“ – 5 €;1\nplain;2\n".encode("cp1252")})
    async with made.opened() as client:
        found = await (await made.file(client, "a.csv")).page(0, 10)
    assert [row.value for row in found.rows] == [{"q": "„Füße“ – 5 €", "größe": "1"}, {"q": "plain", "größe": "2"}]
    assert [row.note and row.note.key for row in found.rows] == ["row_sources.not_utf8", None]


async def test_one_object_is_text_and_not_a_table(hub: Make) -> None:
    files = {
        "one.json": {"a": 1, "b": {}},
        "inside.json": {"version": 1, "files": [{"path": "x"}]},
        "few.json": {"x": {"a": 1}, "y": {"a": 2}},
        "words.json": {"tags": ["a", "b"]},
        "mixed.json": [{"a": 1}, 2],
    }
    made = hub({path: json.dumps(value).encode() for path, value in files.items()})
    async with made.opened() as client:
        for path in files:
            found = await ShownTable(await made.file(client, path), path).page(1, 10)
            assert isinstance(found, NoTable), path
            assert found.quiet


async def test_the_same_bytes_under_two_names_are_read_as_each_name_says(hub: Make) -> None:
    packed = gzip.compress(lines(3))
    made = hub({"a.jsonl.gz": packed, "b.jsonl": packed})
    async with made.opened() as client:
        assert await numbers(await made.file(client, "a.jsonl.gz"), 0, 5) == [0, 1, 2]
        with pytest.raises(Unreadable):
            await (await made.file(client, "b.jsonl")).page(0, 5)


def test_a_footer_that_tells_of_more_than_there_is_is_not_read() -> None:
    asked: list[int] = []

    class Endless:
        size = 10**12

        def read(self, start: int, end: int) -> bytes:
            asked.append(end - start)
            return b"\xff\xff\xff\x7fPAR1"[-(end - start) :]

    with pytest.raises(Unreadable, match="parquet_broken"):
        read_footer(Endless())
    assert asked == [8]


async def test_nothing_is_read_ahead_while_little_is_left_of_the_hubs_rate_limit(hub: Make) -> None:
    made = hub({"a.jsonl": lines(100_000)})
    async with made.opened(background=True) as client:
        made.counted.headers = {
            "ratelimit": '"resolvers";r=1;t=300',
            "ratelimit-policy": '"fixed window";"resolvers";q=3000;w=300',
        }
        file = await made.file(client, "a.jsonl")
        known = (await file.page(0, 10, patience=0.0)).known
        await anyio.wait_all_tasks_blocked()
        assert (await file.page(0, 10, patience=0.0)).known == known
        assert await numbers(file, 99_999, 1) == [99_999]
