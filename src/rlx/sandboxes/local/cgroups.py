"""Control groups for sandboxes, where this process may make some: version 2 delegated to it, or version 1's.

Of version 1 processes and processor time are limited; its memory controller is left to whoever manages the machine.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LIMITS = frozenset(("pids", "memory", "cpu"))
PERIOD = 100_000
"""Microseconds."""

type Limit = Literal["pids", "memory", "cpu"]


@dataclass(frozen=True, slots=True)
class Tree:
    """Where control groups are, and which this process is in."""

    mount: Path = Path("/sys/fs/cgroup")
    told: Path = Path("/proc/self/cgroup")
    make: Callable[[Path], None] = os.mkdir
    """Makes a folder, which the kernel fills with files."""


HOST = Tree()


@dataclass(frozen=True, slots=True)
class Wanted:
    pids: int
    memory: int
    """Bytes."""
    cpus: float | None


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of one sandbox."""

    folders: Sequence[Path]
    limits: frozenset[Limit]
    """Which of the limits they keep."""

    @property
    def doors(self) -> list[str]:
        """Files to which the first process of a sandbox writes itself."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def remove(self) -> bool:
        """Whether all of them are gone."""
        remove_groups(self.folders)
        return not any(folder.exists() for folder in self.folders)


def make_groups(name: str, wanted: Wanted, *, tree: Tree = HOST) -> Groups:
    """As far as they can be had here; nothing is left of those that cannot."""
    folders: list[Path] = []
    limits: set[Limit] = set()
    for controllers, own in _own_groups(tree):
        folder = own / name
        kept = _make(tree, folder, controllers, wanted)
        if kept:
            folders.append(folder)
            limits |= kept
        else:
            remove_groups([folder])
    return Groups(tuple(folders), frozenset(limits))


def possible_groups(name: str, *, tree: Tree = HOST) -> list[Path]:
    """Those that `make_groups` would try to make."""
    return [own / name for _, own in _own_groups(tree)]


def remove_groups(folders: Sequence[Path]) -> None:
    """Those that are there and empty."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _own_groups(tree: Tree) -> list[tuple[frozenset[str], Path]]:
    """Where this process may make groups: what each may limit, and its folder."""
    found = []
    with suppress(OSError):
        for line in tree.told.read_text().splitlines():
            _, names, path = line.split(":", 2)
            if not names and (tree.mount / "cgroup.controllers").exists():
                found += _delegated(tree.mount, tree.mount / path.lstrip("/"))
            for name in {"pids", "cpu"} & set(names.split(",")):
                mounted = next((tree.mount / each for each in (names, name) if (tree.mount / each).is_dir()), None)
                if mounted is not None:
                    found.append((frozenset((name,)), mounted / path.lstrip("/")))
    return found


def _delegated(mount: Path, own: Path) -> list[tuple[frozenset[str], Path]]:
    """In version 2 a group with processes hands no limits down; then those of sandboxes stand beside it."""
    for folder in (own, own.parent) if own != mount else (own,):
        handed_down = LIMITS & set((folder / "cgroup.subtree_control").read_text().split())
        if handed_down:
            return [(handed_down, folder)]
    return []


def _make(tree: Tree, folder: Path, controllers: frozenset[str], wanted: Wanted) -> set[Limit]:
    kept: set[Limit] = set()
    try:
        tree.make(folder)
        if not os.access(folder / "cgroup.procs", os.W_OK):
            return kept
    except OSError:
        return kept
    quota = None if wanted.cpus is None else max(1000, int(wanted.cpus * PERIOD))
    if "pids" in controllers and _write(folder / "pids.max", str(wanted.pids)):
        kept.add("pids")
    if "memory" in controllers and _write(folder / "memory.max", str(wanted.memory)):
        _write(folder / "memory.swap.max", "0")
        kept.add("memory")
    files = {"cpu.max": f"{quota} {PERIOD}", "cpu.cfs_quota_us": str(quota)}
    if "cpu" in controllers and quota is not None and any(_write(folder / name, text) for name, text in files.items()):
        kept.add("cpu")
    return kept


def _write(path: Path, text: str) -> bool:
    try:
        with path.open("r+") as file:
            file.write(text)
    except OSError:
        return False
    return True
