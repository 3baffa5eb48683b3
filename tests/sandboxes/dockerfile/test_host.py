"""The facts that plans are made from are those of the machine and the folder."""

import os
from pathlib import Path

import pytest

from rlx.sandboxes.dockerfile import Entry
from rlx.sandboxes.dockerfile.host import read_context, this_host


def program(folder: Path, name: str, answer: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)


def test_tools_on_the_path_are_known_with_the_version_they_tell(tmp_path: Path) -> None:
    program(tmp_path, "node", "echo v20.1.2")
    program(tmp_path, "go", '[ "$*" = version ] && echo go version go1.22.4 linux/amd64')
    program(tmp_path, "uv", "exit 1")
    program(tmp_path, "python3", "exit 1")
    (tmp_path / "cargo").write_text("no program")
    found = this_host(str(tmp_path))
    assert found.tools == {"node": "20.1.2", "go": "1.22.4", "uv": "", "python3": ""}
    assert found.platform.startswith("linux/")
    assert found.system


def test_a_folder_is_told_with_modes_links_and_contents(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o750)
    (tmp_path / "d" / ".x").write_text("x")
    (tmp_path / "run").write_text("x")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "in").symlink_to("d")
    found = read_context(tmp_path)
    assert set(found) == {"d", "d/.x", "run", "out", "in"}
    assert (found["d"].kind, found["d"].mode) == ("folder", 0o750)
    assert (found["run"].mode, found["run"].size) == (0o755, 1)
    assert found["run"].digest == found["d/.x"].digest != ""
    assert found["out"] == Entry("link", 0o777, target="/etc/passwd")
    assert (found["in"].kind, found["in"].target) == ("link", "d")


def test_pipes_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_context(tmp_path) == {}


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_context(tmp_path / "none")
