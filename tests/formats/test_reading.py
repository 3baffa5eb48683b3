"""Files of a repository as a reader sees them: containers looked into and masked, large ones by their head."""

import io
import json
import zipfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlx.errors import Forbidden, NotFound, TooLarge
from rlx.formats.base import Environment
from rlx.formats.ranges import BLOCK, BUDGET, RangeFile
from rlx.formats.reading import MAX_ROWS, TEXT_HEAD, FileWithheld
from rlx.formats.recent import Recent
from rlx.formats.repo_files import RepoFiles
from rlx.hub.client import HubClient
from rlx.hub.info import read_info
from rlx.hub.repo import FOLDER_ENTRIES, MAX_TEXT, Repo
from rlx.ids import EnvKey
from rlx.model import ANONYMOUS, Blob, Listing
from rlx.services import create_services
from rlx.settings import Settings
from rlx.texts import words

pytestmark = pytest.mark.anyio

KEY = EnvKey("dataset", "acme", "files")
CANARY = "RLX-CANARY-READING-0001"


@asynccontextmanager
async def opened(folder: Path, files: Mapping[str, bytes]) -> AsyncIterator[Environment]:
    for path, data in files.items():
        file = folder / "hub/datasets/acme/files" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    settings = Settings(hub=str(folder / "hub"), store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings) as services:
        yield await services.library.open(KEY, ANONYMOUS, wait=None)


async def read(environment: Environment, path: str, ref: str | None = None) -> Blob:
    found = await environment.files(ref, path)
    assert isinstance(found, Blob)
    return found


def parquet(rows: list[dict[str, object]], **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return out.getvalue()


def zipped(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


TASK = {"tasks/one/task.toml": b'version = "1.0"\n', "tasks/one/instruction.md": b"Do it.\n"}


async def test_rows_of_a_parquet_file_are_masked_like_those_of_a_text_file(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {
            "question": f"{n}?",
            "answer": CANARY,
            "info": json.dumps({"solution": CANARY}),
            "extra": {"ground_truth": CANARY, "price": Decimal("1.50")},
            "blob": b"\0\1\2",
        }
        for n in range(3)
    ]
    async with opened(tmp_path, {"data/train.parquet": parquet(rows)}) as environment:
        blob = await read(environment, "data/train.parquet")
        assert blob.data is None
        assert blob.form == "rows"
        assert blob.held == blob.text
        found = [json.loads(line) for line in (blob.text or "").splitlines()]
        assert [row["question"] for row in found] == ["0?", "1?", "2?"]
        assert found[0]["extra"]["price"] == "1.50"
        assert found[0]["blob"] == "‹3 bytes›"
        assert CANARY not in (blob.text or "")
        assert blob.masked == (1, 2, 3)
        assert {item.where.rpartition(" ")[2] for item in blob.withheld} >= {"answer", "extra.ground_truth"}


async def test_maps_are_records_whose_keys_are_looked_at(tmp_path: Path) -> None:
    column = pa.array([[("answer", CANARY), ("level", "easy")]], type=pa.map_(pa.string(), pa.string()))
    nested = pa.array([[{"inner": [("solution", CANARY)]}]], type=pa.list_(pa.struct([("inner", column.type)])))
    out = io.BytesIO()
    pq.write_table(pa.table({"m": column, "n": nested}), out)
    async with opened(tmp_path, {"data/x.parquet": out.getvalue()}) as environment:
        text = (await read(environment, "data/x.parquet")).text or ""
        assert CANARY not in text
        assert json.loads(text)["m"]["level"] == "easy"


async def test_only_the_first_rows_of_a_long_parquet_file_are_read_and_it_says_so(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"n": n} for n in range(MAX_ROWS + 500)]
    large: list[dict[str, object]] = [{"text": f"{n} " + "ab" * 50_000} for n in range(200)]
    files = {
        "data/long.parquet": parquet(rows, row_group_size=400),
        "data/large.parquet": parquet(large, compression="none", use_dictionary=False, row_group_size=50),
    }
    assert len(files["data/large.parquet"]) > MAX_TEXT
    async with opened(tmp_path, files) as environment:
        blob = await read(environment, "data/long.parquet")
        assert (blob.text or "").count("\n") == MAX_ROWS
        assert blob.note is not None
        assert words(blob.note) == "Here are the first 1,000 of 1,500 rows."
        ranged = await read(environment, "data/large.parquet")
        assert json.loads((ranged.text or "").split("\n")[3])["text"].startswith("3 ")


async def test_archives_tell_names_and_sizes_and_their_bytes_stay_out(tmp_path: Path) -> None:
    files = {"packed/tasks.zip": zipped(**{"one/solution/solve.sh": CANARY}), "packed/bad.zip": b"PK\0\0junk"}
    async with opened(tmp_path, files) as environment:
        blob = await read(environment, "packed/tasks.zip")
        assert blob.data is None
        assert blob.form == "members"
        assert json.loads(blob.text or "") == {"path": "one/solution/solve.sh", "size": len(CANARY)}
        with pytest.raises(FileWithheld, match="cannot be checked") as refused:
            await environment.files(None, "packed/bad.zip")
        assert refused.value.hint == "It cannot be read as the archive that its name says it is."


async def test_containers_of_the_agents_world_are_looked_into_and_served(tmp_path: Path) -> None:
    data = {"environment/app.zip": zipped(a="b"), "environment/rows.parquet": parquet([{"n": 1}])}
    bad = {"environment/bad.tar": b"\0junk" * 200}
    async with opened(tmp_path, TASK | {f"tasks/one/{path}": value for path, value in (data | bad).items()}) as made:
        for path, value in data.items():
            blob = await read(made, path, "tasks/one")
            assert blob.data == value
            assert blob.text is None
            assert blob.held
        broken = await read(made, "environment/bad.tar", "tasks/one")
        assert broken.data == bad["environment/bad.tar"]
        assert broken.held is None
        assert broken.note is not None


@pytest.mark.parametrize("path", ["tests/data.parquet", "tests/expected.zip", "solution/all.tar", "gold.parquet"])
async def test_containers_that_are_withheld_by_their_place_or_name_are_not_opened(tmp_path: Path, path: str) -> None:
    value = parquet([{"x": CANARY}]) if path.endswith(".parquet") else zipped(**{CANARY: "x"})
    async with opened(tmp_path, TASK | {f"tasks/one/{path}": value, path.rpartition("/")[2]: b""}) as environment:
        with pytest.raises(Forbidden) as refused:
            await environment.files("tasks/one", path)
        assert CANARY not in refused.value.message + (refused.value.hint or "")


async def test_a_text_too_large_to_be_read_whole_is_shown_by_its_first_lines(tmp_path: Path) -> None:
    line = b"line of a log, all alike\n"
    async with opened(tmp_path, {"huge.txt": line * (MAX_TEXT // len(line) + 10)}) as environment:
        blob = await read(environment, "huge.txt")
        assert blob.truncated
        assert TEXT_HEAD - len(line) <= len(blob.text or "") <= TEXT_HEAD
        assert (blob.text or "").endswith("alike\n")


async def test_a_pointer_in_place_of_a_file_and_an_empty_container_are_text(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 5\n"
    async with opened(tmp_path, {"data/a.parquet": pointer, "data/b.zip": b""}) as environment:
        assert (await read(environment, "data/a.parquet")).text == pointer.decode()
        assert (await read(environment, "data/b.zip")).text == ""


async def test_a_folder_of_very_many_files_is_listed_in_parts(tmp_path: Path) -> None:
    files = {f"many/{n:04}.txt": b"x" for n in range(1005)} | {"many/folder/x.txt": b""}
    async with opened(tmp_path, files) as environment:
        first, second = await environment.files(None, "many"), await environment.files(None, "many", offset=1000)
        assert isinstance(first, Listing)
        assert isinstance(second, Listing)
        assert (len(first.entries), first.total, first.truncated, first.offset) == (1000, 1006, True, 0)
        assert first.entries[0].path == "many/folder"
        assert [entry.path for entry in second.entries] == [f"many/{n:04}.txt" for n in range(999, 1005)]
        assert (second.truncated, second.offset) == (False, 1000)
        with pytest.raises(NotFound):
            await environment.files(None, "few")


async def test_a_folder_of_more_than_can_be_listed_has_no_total() -> None:
    entries = [{"type": "file", "path": f"f{n:05}", "oid": "", "size": 1} for n in range(FOLDER_ENTRIES + 1)]
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=entries))
    client = HubClient("http://hub.test", transport=transport)
    info = read_info("dataset", {"id": "org/name", "sha": "a" * 40})
    found = await RepoFiles(Repo(client, info, False, is_big=True)).open("", FOLDER_ENTRIES - 5)
    await client.aclose()
    assert isinstance(found, Listing)
    assert (len(found.entries), found.total, found.truncated) == (5, None, False)


def test_a_ranged_file_reads_whole_blocks_once_and_within_its_budget() -> None:
    data = bytes(range(256)) * (BLOCK // 128)
    asked: list[tuple[int, int]] = []

    def fetch(start: int, end: int) -> bytes:
        asked.append((start, end))
        return data[start:end]

    file = io.BufferedReader(RangeFile(len(data), fetch))
    file.seek(-10, io.SEEK_END)
    assert file.read() == data[-10:]
    file.seek(5)
    assert file.read(BLOCK) == data[5 : BLOCK + 5]
    assert file.read(3) == data[BLOCK + 5 : BLOCK + 8]
    assert len(asked) == len(set(asked)) == 2
    endless = io.BufferedReader(RangeFile(BUDGET * 2, lambda start, end: bytes(end - start)))
    with pytest.raises(TooLarge):
        endless.read()
    with pytest.raises(EOFError):
        RangeFile(100, lambda start, end: b"").read(1)


def test_the_files_shown_last_are_kept_within_a_limit() -> None:
    kept = Recent(10_000)
    blobs = [Blob(str(n), 3000, None, bytes(3000)) for n in range(3)]
    for blob in blobs:
        kept.keep((blob.path,), blob)
    kept.keep(("large",), Blob("large", 20_000, None, bytes(20_000)))
    assert [kept.get((str(n),)) is blobs[n] for n in range(3)] == [False, True, True]
    assert kept.get(("large",)) is None
