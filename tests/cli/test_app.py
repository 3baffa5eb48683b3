"""The command tree: quick help, exit codes, errors told once."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rlx import __version__
from rlx.cli.app import BRANCHES, load
from tests.cli.conftest import Rlx

HEAVY = (
    "fastapi",
    "pyarrow",
    "huggingface_hub",
    "httpx2",
    "harbor",
    "openenv",
    "rich",
    "uvicorn",
    "rlx.model",
)


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["env", "--help"], ["serve", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    loaded = python(
        f"import sys; from rlx.cli.app import run; run({arguments!r}); "
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert loaded.splitlines()[-1] == "LOADED []"


def test_the_version_is_printed(rlx: Rlx) -> None:
    assert rlx("--version").out == f"rlx {__version__}\n"


def test_every_branch_is_in_the_help_with_the_words_it_uses_itself(rlx: Rlx) -> None:
    text = rlx("--help").out
    for branch in BRANCHES:
        assert branch.name in text
        assert branch.help in text
        assert branch.help.rstrip(".").lower()[:12] in str(load(branch).help).lower()


@pytest.mark.parametrize("arguments", [(), ("env",), ("task",), ("hub",)], ids=" ".join)
def test_a_command_that_is_not_finished_is_answered_with_the_help(rlx: Rlx, arguments: Sequence[str]) -> None:
    result = rlx(*arguments)
    assert result.code == 2
    assert "Commands:" in result.out + result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("env", "ls", "--limit", "many"),
        ("env", "ls", "--format", "xml"),
        ("env", "ls", "--demo", "--hub", "https://hub.example"),
        ("env", "ls", "--demo", "--columns", "colour"),
        ("env", "ls", "--demo", "--filter", "colour=red"),
        ("env", "ls", "--demo", "--filter", "kind"),
        ("env", "ls", "--hub", "/nowhere/at/all"),
        ("env", "show", "no-slash", "--demo"),
        ("env", "show", "rl-explorer/nothing", "--demo"),
        ("task", "show", "rl-explorer/first-steps", "tasks/none", "--demo"),
        ("task", "show", "rl-explorer/first-steps", "../../etc/passwd", "--demo"),
        ("task", "show", "rl-explorer/first-steps", "nul\0", "--demo"),
        ("task", "show", "rl-explorer/first-steps", "x" * 4096, "--demo"),
        ("serve", "--demo", "--host", "192.0.2.1"),
        ("hub", "serve", "/nowhere/at/all"),
        ("doctor", "--answers", "x.json"),
    ],
    ids=" ".join,
)
def test_bad_input_is_told_on_stderr_and_exits_2(rlx: Rlx, arguments: Sequence[str]) -> None:
    result = rlx(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert "Error: " in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("arguments", [("env", "show", "rl-explorer/nothing", "--demo"), ("env", "ls", "--limit", "x")])
def test_an_error_is_an_envelope_when_json_is_asked_for(rlx: Rlx, arguments: Sequence[str]) -> None:
    result = rlx(*arguments, "--format", "json")
    error = json.loads(result.err)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["code"] in {"not_found", "bad_input"}
    assert result.code == 2


def test_a_hub_that_is_away_exits_3(rlx: Rlx) -> None:
    result = rlx("env", "show", "org/name", "--hub", "http://127.0.0.1:9")
    assert result.code == 3
    assert "could not be reached" in result.err


def test_revealing_what_is_on_a_hub_exits_4(rlx: Rlx) -> None:
    for command in ("show", "files"):
        result = rlx("task", command, "org/name", "x", "--reveal", "--hub", "http://127.0.0.1:9")
        assert result.code == 4
        assert "folder of your own" in result.err


@pytest.mark.parametrize("form", ["human", "json"])
def test_a_choice_that_is_none_is_told_in_plain_words(rlx: Rlx, form: str) -> None:
    result = rlx("env", "ls", "--demo", "--sort", "bogus", "--format", form)
    assert "'bogus' is not one of" in result.err
    assert "Value error" not in result.err


def test_a_setting_that_cannot_be_is_named(rlx: Rlx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLX_INDEX_JOBS", "several")
    result = rlx("env", "ls", "--demo")
    assert result.code == 2
    assert "RLX_INDEX_JOBS" in result.err


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    code = (
        "import os, sys; from rlx.cli.app import run; read, write = os.pipe(); os.close(read); os.dup2(write, 1); "
        "sys.exit(run(['--help']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
