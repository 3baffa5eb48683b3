"""Folders for moments, and what is left of them by who was killed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rlx.errors import Forbidden
from rlx.store.passing import home, passing, sweep

KILLED = """
import os, pathlib, signal, sys
from rlx.store.passing import passing
with passing("left-", parent=pathlib.Path(sys.argv[1])) as folder:
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_is_there_for_its_block_alone_and_is_nobody_elses(tmp_path: Path) -> None:
    with passing("one-", parent=tmp_path) as folder:
        (folder / "file").write_text("x")
        assert folder.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_stays(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert [path.name.startswith("left-") for path in tmp_path.iterdir()] == [True]
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    with passing("used-", parent=tmp_path) as used:
        (tmp_path / "link").symlink_to(outside)
        assert sweep(tmp_path) == 1
        assert {path.name for path in tmp_path.iterdir()} == {used.name, "link"}
    assert (outside / "file").read_text() == "kept"


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = home()
    assert made.parent == tmp_path
    made.chmod(0o777)
    with pytest.raises(Forbidden, match="alone"):
        home()
    made.rmdir()
    made.symlink_to(tmp_path)
    with pytest.raises(Forbidden):
        home()
