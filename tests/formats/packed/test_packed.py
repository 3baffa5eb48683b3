"""Tasks in archives of a repository, and in rows, have the pages that their folders have."""

import base64
import bz2
import gzip
import importlib.util
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlx.errors import BadInput, Forbidden, NotFound
from rlx.formats.base import Environment
from rlx.model import Blob, Listing, Task, TaskQuery
from rlx.texts import words
from rlx.twins.jsonable import to_json
from tests.formats.packed.conftest import Opening
from tests.formats.packed.making import TASK, entry, tar, tar_of, zipped

pytestmark = pytest.mark.anyio

CARD = b"---\ntags: [harbor]\n---\n# A set\n"
OTHER = {
    **TASK,
    "instruction.md": b"# Sort\n\nSort the lines of `/app/in.txt`.\n",
    "environment/bug.patch": b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-RLX-CANARY-PACKED-PATCH\n+y\n",
    "environment/data/in.txt": b"b\na\n",
    "environment/dot.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "environment/inner.zip": zipped({"a.txt": b"x"}),
    "environment/rows.parquet": b"",
    "tests/fixtures/expected.json": b'{"x": "RLX-CANARY-PACKED-FIXTURE"}',
    "tests/test_it.py": b'def test_it() -> None:\n    assert open("/app/out.txt").read() == "RLX-CANARY-PACKED-TEST"\n',
    "notes.md": b"RLX-CANARY-PACKED-NOTES\n",
    "task.toml": b'[metadata]\ndifficulty = "hard"\nanswer = "RLX-CANARY-PACKED-TOML"\nkey_skill = "sort"\n',
}
SET = {"one": TASK, "two": OTHER}


def in_folders(tasks: Mapping[str, Mapping[str, bytes]], prefix: str = "") -> dict[str, bytes]:
    return {f"{prefix}{name}/{path}": data for name, files in tasks.items() for path, data in files.items()}


def parquet(columns: Mapping[str, Sequence[object]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), out)
    return out.getvalue()


PLAIN = in_folders(SET, "tasks/")
PACKED: dict[str, dict[str, bytes]] = {
    "tar": {"tasks.tar": tar(PLAIN)},
    "tar.gz": {"data/all.tar.gz": gzip.compress(tar(PLAIN), mtime=0)},
    "tar.bz2": {"all.tbz2": bz2.compress(tar(PLAIN))},
    "tar.xz": {"all.tar.xz": lzma.compress(tar(PLAIN))},
    "tar.zst": {"all.tar.zst": pa.Codec("zstd").compress(tar(PLAIN), asbytes=True)},
    "zip": {"all.zip": zipped(PLAIN)},
    "one each": {f"{name}.zip": zipped(in_folders({name: files}, "tasks/")) for name, files in SET.items()},
}


def told(task: Task) -> object:
    """A page, less its place in the set."""
    shown = to_json(task)
    assert isinstance(shown, dict)
    return {key: value for key, value in shown.items() if key not in {"ref", "previous", "next"}}


async def files_of(environment: Environment, ref: str) -> dict[str, object]:
    """Every folder and file as the viewer shows it."""
    found: dict[str, object] = {}
    folders = [""]
    while folders:
        listing = await environment.files(ref, folders.pop())
        assert isinstance(listing, Listing)
        found[f"{listing.path}/"] = to_json(listing)
        for item in listing.entries:
            if item.is_dir:
                folders.append(item.path)
                continue
            try:
                blob = await environment.files(ref, item.path)
                assert isinstance(blob, Blob)
                found[item.path] = (to_json(blob), blob.data)
            except Forbidden as error:
                found[item.path] = error.message.removeprefix(f"{ref}/")
    return found


async def pages(environment: Environment) -> dict[str, Any]:
    """Of each task its page and its files, as JSON."""
    found = {}
    for card in (await environment.tasks(TaskQuery(limit=100))).items:
        shown = {"page": told(await environment.task(card.ref)), "files": await files_of(environment, card.ref)}
        found[card.ref] = json.loads(json.dumps(shown, default=repr))
    return found


@pytest.mark.parametrize("kind", PACKED)
async def test_a_task_in_an_archive_has_the_page_and_files_that_its_folder_has(kind: str, opening: Opening) -> None:
    async with opening({"README.md": CARD, **PLAIN}) as folders:
        expected = await pages(folders)
        offered = [to_json(facet) for facet in (await folders.summary()).facets]
    async with opening({"README.md": CARD, **PACKED[kind]}) as packed:
        assert packed.format == "packed"
        found = await pages(packed)
        assert list(found) == ["tasks/one", "tasks/two"]
        assert found == expected
        assert [to_json(facet) for facet in (await packed.summary()).facets] == offered
        listing = await packed.files(None)
        assert isinstance(listing, Listing)
        assert {item.path for item in listing.entries} == {
            path.partition("/")[0] for path in ["README.md", *PACKED[kind]]
        }
        with pytest.raises(NotFound):
            await packed.files(None, ".packed.json")
        assert (await packed.tasks(TaskQuery(text="sort"))).total == 1


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("kind", ["bytes", "base64", "numbers", "zip"])
async def test_a_task_in_a_row_has_the_page_and_files_that_its_folder_has(
    kind: str, wrapped: bool, opening: Opening
) -> None:
    async with opening({"README.md": CARD, **PLAIN}) as folders:
        expected = list((await pages(folders)).values())
    archives = [in_folders({name: files}) if wrapped else files for name, files in SET.items()]
    blobs = [cell(kind, files) for files in archives]
    rows = parquet({"path": list(SET), "task_binary": blobs})
    async with opening({"README.md": CARD, "data/tasks.parquet": rows}) as packed:
        assert packed.format == "rows"
        found = list((await pages(packed)).values())
    assert "RLX-CANARY" not in json.dumps(found)
    assert [item["files"] for item in found] == [item["files"] for item in expected]
    for row, folder in zip(found, expected, strict=True):
        page, same = row["page"], folder["page"]
        for part in ("title", "brief", "glance", "run_options", "problem"):
            assert page[part] == same[part]
        assert page["sections"][: len(same["sections"])] == same["sections"]
        assert "row.json" not in json.dumps(page["sections"]), "no file that cannot be opened is listed"
        assert [item for item in page["withheld"] if "task_binary" not in item["where"]] == same["withheld"]
        assert {key: page["facets"].get(key) for key in ("difficulty", "graded")} == {
            key: same["facets"].get(key) for key in ("difficulty", "graded")
        }


def cell(kind: str, files: Mapping[str, bytes]) -> object:
    data = zipped(files) if kind == "zip" else gzip.compress(tar(files), mtime=0)
    if kind == "base64":
        return base64.b64encode(data).decode()
    return list(data) if kind == "numbers" else data


async def test_a_corrupt_archive_in_a_row_leaves_the_others_alone(opening: Opening) -> None:
    blobs = [
        tar(TASK),
        b"no archive",
        tar_of(entry("a", tarfile.SYMTYPE, "/etc")),
        None,
        tar({"a": b""}),
        tar(OTHER)[:2000],
    ]
    rows = parquet({"path": [f"task-{at}" for at in range(len(blobs))], "task_binary": blobs})
    async with opening({"README.md": CARD, "tasks.parquet": rows}) as packed:
        cards = (await packed.tasks(TaskQuery())).items
        problems = [words(card.problem) if card.problem else "" for card in cards]
        assert [card.title for card in cards] == ["Count", *(f"task-{at}" for at in range(1, 6))]
        for problem, said in zip(
            problems, ("", "neither", "holds a link", "no archive in this row", "no task.toml", "cut off"), strict=True
        ):
            assert said in problem
            assert bool(said) == bool(problem)
        page = json.dumps(to_json(await packed.task("train/2")))
        assert "It holds a link, which could lead out of it" in page
        with pytest.raises(BadInput, match="holds a link"):
            await packed.materialize("train/2", Path("/nowhere"))


async def test_a_title_that_all_rows_share_gives_way_to_their_names(opening: Opening) -> None:
    rows = parquet({"task_id": ["set/one", "set/two"], "archive": [tar(TASK), tar({**TASK, "environment/x": b""})]})
    async with opening({"tasks.parquet": rows}) as packed:
        assert [card.title for card in (await packed.tasks(TaskQuery())).items] == ["one", "two"]


async def test_columns_of_other_archives_are_no_tasks(opening: Opening) -> None:
    rows = parquet({"prompt": ["What is it?"], "archive": [tar({"data.txt": b"x"})]})
    async with opening({"a.parquet": rows}) as packed:
        assert "Harbor" not in (await packed.summary()).support.label


async def test_a_task_at_the_top_of_its_archive_is_called_by_the_archive(opening: Opening) -> None:
    files = {"packs/one.zip": zipped(TASK), "packs/two.tar.gz": gzip.compress(tar(OTHER)), "README.md": CARD}
    async with opening(files) as packed:
        assert [card.ref for card in (await packed.tasks(TaskQuery())).items] == ["one", "two"]


async def test_archives_of_tasks_of_one_name_are_told_apart_by_their_paths(opening: Opening) -> None:
    inside = in_folders({"b": TASK}, "two/")
    files = {"a.zip": zipped(in_folders(SET)), "b.tar": tar(in_folders({"one": OTHER})), "c.zip": zipped(inside)}
    async with opening({**files, "d.zip": zipped(in_folders({"four": TASK}))}) as packed:
        refs = [card.ref for card in (await packed.tasks(TaskQuery())).items]
        assert refs == ["a.zip/one", "a.zip/two", "b.tar/one", "c.zip/two/b", "four"]
        assert (await packed.task("b.tar/one")).brief.startswith("Sort the lines")
        assert (await packed.task("a.zip/one")).brief == "Count to three."


async def test_what_cannot_be_opened_is_told_and_the_rest_is_read(opening: Opening) -> None:
    broken = tar({**in_folders(SET), "one/x": b""})
    linked = tar_of(entry("three/task.toml"), entry("three/tests/test.sh"), entry("three/x", tarfile.SYMTYPE, "/etc"))
    files = {
        "a.tar": tar(in_folders(SET)),
        "b.tar": broken[: len(broken) // 3 * 2],
        "c.zip": zipped({"../evil": b""}),
        "d.tar": linked,
        "e.zip": b"no archive",
    }
    async with opening({"README.md": CARD, **files}) as packed:
        assert [card.ref for card in (await packed.tasks(TaskQuery())).items] == ["one", "two"]
        shown = json.dumps(to_json(await packed.summary()))
        for said in ("b.tar", "cut off", "c.zip", "outside itself", "d.tar: three", "holds a link", "e.zip", "neither"):
            assert said in shown


async def test_folders_of_tasks_come_before_archives_of_tasks(opening: Opening) -> None:
    async with opening({**in_folders({"here": TASK}), "there.zip": zipped(in_folders(SET))}) as environment:
        assert environment.format == "harbor"
        assert [card.ref for card in (await environment.tasks(TaskQuery())).items] == ["here"]


@pytest.mark.parametrize(
    "files",
    [
        {"data.zip/2025/one.csv": b"a,b\n1,2\n"},
        {"images.tar": tar({"one.txt": b"x"})},
        {"tasks.zip": b"no archive"},
        {".cache/tasks.zip": zipped(PLAIN)},
    ],
    ids=lambda files: next(iter(files)),
)
async def test_a_name_alone_makes_no_archive_of_tasks(files: dict[str, bytes], opening: Opening) -> None:
    async with opening(files) as environment:
        assert environment.format != "packed"


@pytest.mark.parametrize("kind", ["tar.gz", "zip", "row"])
async def test_a_packed_task_becomes_a_folder_that_harbor_accepts(
    kind: str, opening: Opening, tmp_path: Path, harbor: None
) -> None:
    row = {"tasks.parquet": parquet({"path": ["two"], "task_binary": [tar(in_folders({"two": OTHER}))]})}
    async with opening({"README.md": CARD, **(row if kind == "row" else PACKED[kind])}) as packed:
        folder = await packed.materialize("train/0" if kind == "row" else "tasks/two", tmp_path / "out")
    found = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert found == OTHER
    assert os.access(folder / "tests/test.sh", os.X_OK)
    assert os.access(folder / "solution/solve.sh", os.X_OK)
    told = subprocess.run(
        [sys.executable, "-c", _ASK, str(folder)],
        env={**os.environ, "HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    assert "Sort the lines" in told.stdout


_ASK = """
import sys
from pathlib import Path
from harbor.models.task.task import Task
print(Task(Path(sys.argv[1])).instruction)
"""


@pytest.fixture
def harbor() -> None:
    """Skips without harbor; under RLX_REQUIRE_TOOLS=1, as in CI, fails instead."""
    if importlib.util.find_spec("harbor") is None:
        if os.environ.get("RLX_REQUIRE_TOOLS") == "1":
            pytest.fail("harbor is not installed, and RLX_REQUIRE_TOOLS=1 asks for it.", pytrace=False)
        pytest.skip("harbor is not installed")
