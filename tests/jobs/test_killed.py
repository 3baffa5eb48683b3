"""An indexer that is killed at any moment: readers always have a snapshot that is whole, and the next run completes."""

import json
import os
import subprocess
import sys
from pathlib import Path

CRASH = Path(__file__).parents[2] / "bench" / "crash.py"


def test_killed_at_any_moment_it_leaves_a_whole_snapshot_and_the_next_run_completes() -> None:
    """Eight moments, and every fifth dealing with the store; `bench/crash.py` takes fifty, and all."""
    command = [sys.executable, str(CRASH), "--moments", "8", "--stride", "5", "--json"]
    done = subprocess.run(command, env=os.environ, capture_output=True, timeout=110, check=False)
    assert done.stdout, done.stderr.decode()
    figures = json.loads(done.stdout)
    assert figures["invalid"] == []
    assert figures["completed"]
    assert figures["killed"] == 8
    assert figures["steps"] > 2
    assert done.returncode == 0
