"""`rlx sandbox`: which kinds there are, whether they run here, and whether they keep their promises."""

import json
from pathlib import Path

import pytest

from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from tests.cli.conftest import Rlx


@pytest.fixture
def runs(rlx_here: Rlx, shared_cache: Path) -> bool:
    """Whether local sandboxes run here."""
    return Local(Settings(cache_dir=shared_cache)).can_run().__class__.__name__ == "Possible"


def test_kinds_are_listed_with_whether_they_run_and_why_not(rlx_here: Rlx, runs: bool) -> None:
    told = json.loads(rlx_here("sandbox", "ls", "--all", "--format", "json").out)
    assert [each["kind"] for each in told[:3]] == ["local", "docker", "hf"]
    assert "daytona" in {each["kind"] for each in told}
    assert all(each["runs"] or each["why"] for each in told)
    local = told[0]
    assert local["runs"] is runs
    assert bool(local["why"]) is not runs
    assert any("approximated" in text for text in local["notes"]) is runs


def test_promises_are_tried_and_told(rlx_here: Rlx, runs: bool) -> None:
    told = rlx_here("sandbox", "check", "local", "--only", "environment", "--format", "json")
    [found] = json.loads(told.out)
    assert found["promise"] == "environment and working folder are as told"
    assert (found["state"], told.code) == (("ok", 0) if runs else ("not here", 1))


def test_where_none_can_run_it_says_what_to_do(rlx_here: Rlx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # where no bubblewrap is; and the wheel is not part of the tests
    local, docker, _ = json.loads(rlx_here("sandbox", "ls", "--format", "json").out)
    assert "Install Docker Engine" in docker["why"]
    if not local["runs"]:
        assert "Install the Debian package bubblewrap" in local["why"]
        assert rlx_here("sandbox", "check").code == 1


def test_an_unknown_kind_or_promise_is_bad_input(rlx: Rlx) -> None:
    assert rlx("sandbox", "check", "nothing").code == 2
    assert rlx("sandbox", "check", "local", "--only", "no such words").code == 2


def test_agents_are_listed_with_what_their_layers_take(
    rlx: Rlx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLX_CACHE_DIR", str(tmp_path))
    found = {each["agent"]: each for each in json.loads(rlx("sandbox", "agents", "--format", "json").out)}
    assert {"mini-swe-agent", "opencode", "pi", "codex"} <= set(found)
    assert (found["pi"]["prepared"], found["pi"]["fetched_mb"]) == (False, 60)
    assert "rlx sandbox prepare --agent pi" in found["pi"]["why_not"]
    assert found["codex"]["disk_mb"] is None
    assert rlx("sandbox", "prepare", "--agent", "nobody").code == 2
