"""Task folders as archives."""

import os
import tarfile
from pathlib import Path

from rlx.publish import packing
from rlx.publish.folder import contents
from tests.publish.hubs import environment


def test_the_same_folders_make_the_same_bytes_whenever_they_are_packed(tmp_path: Path) -> None:
    folder = environment(tmp_path)
    (folder / "tasks/first/tests/test.sh").chmod(0o755)
    made = []
    for name in ("one", "two"):
        into = tmp_path / name
        into.mkdir()
        packed = packing.pack(contents(folder).files, ["tasks/second", "tasks/first"], into)
        made.append({path: place.read_bytes() for path, place in packed.items()})
        for file in contents(folder).files:
            os.utime(file.place, (1, 1))
    assert made[0] == made[1]
    with tarfile.open(tmp_path / "one/tasks-0000.tar.gz") as archive:
        members = {member.name: member for member in archive}
        assert {name.rpartition("/")[0].split("/")[1] for name in members} == {"first", "second"}
        assert {members[f"tasks/{name}/tests/test.sh"].mode for name in ("first", "second")} == {0o755, 0o644}
        assert all(member.isreg() and (member.uid, member.mtime) == (0, 0) for member in members.values())


def test_many_tasks_make_several_archives(tmp_path: Path) -> None:
    folder = environment(tmp_path, *(f"t{number}" for number in range(packing.TASKS_EACH + 1)))
    into = tmp_path / "out"
    into.mkdir()
    tasks = [f"tasks/t{number}" for number in range(packing.TASKS_EACH + 1)]
    assert list(packing.pack(contents(folder).files, tasks, into)) == ["tasks-0000.tar.gz", "tasks-0001.tar.gz"]
