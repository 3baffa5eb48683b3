"""Harbor's own verdict, asked of a process of its own."""

import importlib.util
import os
import sys
from pathlib import Path
from subprocess import run

import pytest

from rlx.formats.harbor.verdict import Question, verdicts
from rlx.formats.harbor.verdict_worker import lay_out

pytestmark = pytest.mark.anyio

TASK = ("task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh")


@pytest.fixture
def harbor() -> None:
    """Skips without harbor; under RLX_REQUIRE_TOOLS=1, as in CI, fails instead."""
    if importlib.util.find_spec("harbor") is None:
        if os.environ.get("RLX_REQUIRE_TOOLS") == "1":
            pytest.fail("harbor is not installed, and RLX_REQUIRE_TOOLS=1 asks for it.", pytrace=False)
        pytest.skip("harbor is not installed")


def question(ref: str, toml: bytes, paths: tuple[str, ...] = TASK, **contents: bytes) -> Question:
    files = {"task.toml": toml, **{path.replace("__", "."): data for path, data in contents.items()}}
    return Question(ref, paths, files)


@pytest.mark.run_extra
@pytest.mark.usefixtures("harbor")
async def test_harbor_says_which_tasks_it_loads_and_why_not() -> None:
    asked = {
        "good": question("good", b'version = "1.0"\n'),
        "syntax": question("syntax", b"a = {{ b }}"),
        "name": question("name", b'[task]\nname = "no-org"'),
        "authors": question("authors", b'[task]\nname = "o/n"\nauthors = ["Ada"]'),
        "no-test": question("no-test", b"", ("task.toml", "instruction.md", "environment/Dockerfile")),
        "no-instruction": question("no-instruction", b"", ("task.toml", "environment/x", "tests/test.sh")),
        "nothing": question("nothing", b"", ("task.toml", "instruction.md", "tests/test.sh")),
        "latin-1": question("latin-1", b"", instruction__md="gr\xf6\xdfe".encode("latin-1")),
        "deep": question("deep", b"x = " + b"[" * 20_000),
        "escape": question("escape", b"", (*TASK, "../../outside/Dockerfile", "/etc/test.sh")),
    }
    found = await verdicts(list(asked.values()))
    assert found.keys() == asked.keys()
    assert {ref for ref, verdict in found.items() if verdict.loads} == {"good", "escape"}
    assert found["good"].harbor.count(".") == 2
    why = {ref: verdict.why or "" for ref, verdict in found.items()}
    assert why["syntax"].startswith("TOMLDecodeError: Invalid initial character")
    assert "'org/name' format" in why["name"]
    assert why["authors"].startswith("ValidationError: task.authors.0: ")
    assert why["no-test"].endswith("does not contain tests/test.sh.")
    assert why["no-instruction"] == "FileNotFoundError: The task folder is missing instruction.md."
    assert "nothing says what it runs in" in why["nothing"]
    assert why["latin-1"].startswith("UnicodeDecodeError")
    assert why["deep"].startswith(("RecursionError", "TOMLDecodeError"))


@pytest.mark.run_extra
@pytest.mark.usefixtures("harbor")
async def test_a_verdict_never_quotes_a_value() -> None:
    found = await verdicts(
        [question("x", b"[verifier.env]\nEXPECTED = 987654321\n[agent]\ntimeout_sec = 'ZEBRA-SECRET'")]
    )
    why = found["x"].why or ""
    assert "verifier.env.EXPECTED" in why
    assert "987654321" not in why
    assert "ZEBRA" not in why


@pytest.mark.run_extra
@pytest.mark.usefixtures("harbor")
async def test_many_tasks_are_judged_by_one_process() -> None:
    found = await verdicts([question(str(n), b'version = "1.0"') for n in range(40)])
    assert len(found) == 40
    assert all(verdict.loads for verdict in found.values())


async def test_no_tasks_need_no_process() -> None:
    assert await verdicts([]) == {}


def test_a_skeleton_never_leaves_its_folder(tmp_path: Path) -> None:
    root = tmp_path / "a" / "task"
    root.parent.mkdir()
    hostile = {
        "../out": "",
        "/abs": "",
        "ok/../../out": "",
        "x\0y": "",
        "n" * 300: "",
        "ok/file": "text",
        "ok/file/sub": "",
    }
    lay_out(root, {"files": hostile})
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "a/task/ok/file"
    ]


def test_reading_harbor_tasks_imports_no_heavy_package() -> None:
    code = "import rlx.formats.harbor.format, sys; print({'harbor', 'pydantic', 'litellm'} & set(sys.modules))"
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
