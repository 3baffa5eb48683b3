"""Control groups of version 2, over a folder that looks like theirs."""

from collections.abc import Sequence
from pathlib import Path

from rlx.sandboxes.local.cgroups import Tree, Wanted, make_groups, possible_groups

WANTED = Wanted(pids=64, memory=2**28, cpus=1.5)
FILES = ("cgroup.procs", "pids.max", "memory.max", "memory.swap.max", "cpu.max")


def tree(root: Path, own: str, *, handing_down: dict[str, str], files: Sequence[str] = FILES) -> Tree:
    """A process in the group `own`; which group hands what down; and the files that a kernel puts into a new one."""
    mount = root / "cgroup"
    (mount / own).mkdir(parents=True)
    (mount / "cgroup.controllers").write_text("cpu memory pids")
    for folder in (mount, *mount.rglob("*")):
        if folder.is_dir():
            name = str(folder.relative_to(mount))
            (folder / "cgroup.subtree_control").write_text(handing_down.get(name, ""))
    told = root / "told"
    told.write_text(f"1:name=systemd:/elsewhere\n0::/{own}\n")

    def make(folder: Path) -> None:
        folder.mkdir()
        for name in files:
            (folder / name).write_text("")

    return Tree(mount, told, make)


def test_every_limit_is_kept_in_a_group_beside_that_of_this_process(tmp_path: Path) -> None:
    here = tree(tmp_path, "unit/main", handing_down={"unit": "cpu memory pids io"})

    groups = make_groups("box", WANTED, tree=here)

    folder = here.mount / "unit" / "box"
    assert groups.limits == {"pids", "memory", "cpu"}
    assert groups.doors == [str(folder / "cgroup.procs")]
    assert possible_groups("box", tree=here) == [folder]
    assert [(folder / name).read_text() for name in FILES[1:]] == ["64", str(2**28), "0", "150000 100000"]


def test_a_group_without_processes_takes_those_of_sandboxes_itself(tmp_path: Path) -> None:
    here = tree(tmp_path, "unit", handing_down={"unit": "pids memory", "": "cpu"}, files=FILES[:4])

    groups = make_groups("box", Wanted(pids=8, memory=2**20, cpus=None), tree=here)

    assert [str(folder.relative_to(here.mount)) for folder in groups.folders] == ["unit/box"]
    assert groups.limits == {"pids", "memory"}


def test_where_nothing_is_handed_down_no_group_is_made_and_no_limit_promised(tmp_path: Path) -> None:
    here = tree(tmp_path, "unit/main", handing_down={})

    groups = make_groups("box", WANTED, tree=here)

    assert (groups.folders, groups.limits, groups.doors) == ((), frozenset(), [])
    assert not list(here.mount.rglob("box"))


def test_a_group_that_takes_no_process_is_given_up(tmp_path: Path) -> None:
    here = tree(tmp_path, "unit/main", handing_down={"unit": "pids"}, files=())

    groups = make_groups("box", WANTED, tree=here)

    assert groups.limits == frozenset()
    assert not (here.mount / "unit" / "box").exists()


def test_a_limit_that_the_kernel_does_not_take_is_not_promised(tmp_path: Path) -> None:
    here = tree(tmp_path, "unit/main", handing_down={"unit": "cpu memory pids"}, files=("cgroup.procs", "pids.max"))

    groups = make_groups("box", WANTED, tree=here)

    assert groups.limits == {"pids"}


def test_groups_go_once_they_are_empty(tmp_path: Path) -> None:
    here = tree(tmp_path, "unit/main", handing_down={"unit": "pids"}, files=("cgroup.procs", "pids.max"))
    groups = make_groups("box", WANTED, tree=here)

    assert not groups.remove()
    for path in groups.folders[0].iterdir():  # which a kernel does not count
        path.unlink()
    assert groups.remove()
