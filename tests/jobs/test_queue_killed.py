"""A process that deals with rollouts is killed at any moment: what is found afterwards is true."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("kind", "stride"), [("sqlite", 9), ("postgresql", 12)])
def test_killed_at_any_moment_it_leaves_true_states_and_loses_nothing(
    kind: str, stride: int, new_database: Callable[[str], str], memory_path: Path
) -> None:
    url = "" if kind == "sqlite" else new_database(kind)
    command = [sys.executable, "-W", "error", "-m", "tests.jobs.dying", url, str(memory_path), str(stride), "8"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["wrong"] == {}
    assert told["dealings"] > 100
    assert told["deaths"] > 25
