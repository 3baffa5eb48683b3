"""The commands on the page of packed tasks unpack them: each is run here, but for the download and Harbor itself."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rlx.formats.base import Environment
from rlx.formats.packed.run_there import of_archives
from rlx.model import Code
from tests.formats.packed.conftest import Opening
from tests.formats.packed.making import TASK, tar, zipped
from tests.formats.packed.test_packed import CARD, PACKED, SET, in_folders, parquet

pytestmark = pytest.mark.anyio

TWICE = {"a b's.zip": zipped(in_folders(SET)), "x/b.tar": tar(in_folders({"one": TASK}))}
MANY = {f"{number}.zip": zipped(in_folders({f"t{number}": TASK})) for number in range(7)}


async def commands(environment: Environment) -> list[str]:
    """Of the environment's page: shell commands, a script that one reads being part of it."""
    (section,) = [item for item in (await environment.summary()).sections if item.id == "run-there"]
    (code,) = [block for block in section.blocks if isinstance(block, Code)]
    return code.text.split("\n")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (PACKED["tar"], in_folders(SET, "unpacked/tasks/")),
        (PACKED["tar.gz"], in_folders(SET, "unpacked/tasks/")),
        (PACKED["one each"], in_folders(SET, "unpacked/tasks/")),
        ({"a.zip": zipped(TASK)}, in_folders({"a": TASK}, "unpacked/")),
        (
            TWICE,
            {**in_folders(SET, "unpacked/a b's.zip/"), **in_folders({"one": TASK}, "unpacked/x/b.tar/")},
        ),
        (MANY, in_folders({f"t{number}": TASK for number in range(7)}, "unpacked/")),
        (
            {"data/t.parquet": parquet({"path": ["a", "b"], "task_binary": [None, tar(TASK)]})},
            in_folders({"00001": TASK}, "tasks/"),
        ),
        (
            {
                "t.parquet": parquet(
                    {"path": ["one", "two"], "tar": [zipped(in_folders({key: of})) for key, of in SET.items()]}
                )
            },
            in_folders(SET, "tasks/"),
        ),
    ],
    ids=["tar", "tar.gz", "two zips", "at the top", "twice the same name", "many", "rows", "rows in folders"],
)
async def test_the_commands_lay_the_tasks_out_as_harbor_reads_them(
    files: Mapping[str, bytes],
    expected: Mapping[str, bytes],
    opening: Opening,
    tmp_path: Path,
    require_tool: Callable[[str], str],
) -> None:
    for tool in ("sh", "tar", "unzip", "find"):
        require_tool(tool)
    async with opening({"README.md": CARD, **files}) as environment:
        download, *lines, runs = await commands(environment)
    assert download.startswith("hf download acme/set-0 ")
    folder = tmp_path / "here" / "set-0"
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    run = [line for line in lines if not line.startswith("harbor ")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e"],
        input="\n".join(run),
        cwd=folder.parent,
        env={**os.environ, "PATH": path},
        text=True,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    found = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert {path: data for path, data in found.items() if path not in files} == expected
    for line in [*lines, runs]:
        if line.startswith("harbor run --path "):
            told = subprocess.run(
                ["sh", "-c", line.replace("harbor run --path", "printf %s")], capture_output=True, text=True, check=True
            )
            assert list((folder.parent / told.stdout.removesuffix("-aoracle")).glob("*/task.toml"))


@pytest.mark.parametrize("wrapped", [False, True])
async def test_the_commands_of_a_row_unpack_that_row_alone(
    wrapped: bool, opening: Opening, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("sh")
    other = {**TASK, "environment/other.txt": b"2"}
    archives = [tar(in_folders({"inner": of}) if wrapped else of) for of in (TASK, other)]
    data = parquet({"path": ["set/it's one", "set/two"], "task_binary": archives})
    async with opening({"README.md": CARD, "data/t.parquet": data}) as environment:
        pages = [await environment.task(f"train/{at}") for at in range(2)]
    folder = tmp_path / "here" / "set-0"
    (folder / "data").mkdir(parents=True)
    (folder / "data/t.parquet").write_bytes(data)
    for page in pages:
        (code,) = [
            block
            for section in page.sections
            if section.id == "run-there"
            for block in section.blocks
            if isinstance(block, Code)
        ]
        _, *lines, runs = code.text.split("\n")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path}
        subprocess.run(["sh", "-e"], input="\n".join(lines), cwd=folder.parent, env=env, text=True, check=True)
        told = subprocess.run(
            ["sh", "-c", runs.replace("harbor run --path", "printf %s")], capture_output=True, text=True, check=True
        )
        root = folder.parent / told.stdout.removesuffix("-aoracle")
        assert (root / "inner/task.toml" if wrapped else root / "task.toml").is_file()
    inner = "inner/" if wrapped else ""
    found = {str(file.relative_to(folder / "tasks")) for file in folder.rglob("tasks/**/*") if file.is_file()}
    assert found == {f"it's one/{inner}{name}" for name in TASK} | {f"two/{inner}{name}" for name in other}


def test_what_takes_more_than_a_few_commands_is_given_none() -> None:
    told = {"key": "acme/set", "sha": "0" * 40, "parents": ["a"], "unpack": [[f"{n}.zip", f"{n}"] for n in range(9)]}
    assert of_archives(told) is None
    assert of_archives({**told, "unpack": [["a.zip", ""]], "parents": list("abcd")}) is None
    assert of_archives({}) is None
