"""Control groups for sandboxes, where this process may make some: version 2 delegated to it, or version 1's.

Of version 1 processes and processor time are limited; its memory controller is left to whoever manages the machine.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MOUNT = Path("/sys/fs/cgroup")
PERIOD = 100_000
"""Microseconds."""

type Limit = Literal["pids", "memory", "cpu"]


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


def make_groups(name: str, wanted: Wanted) -> Groups:
    """As far as they can be had here; nothing is left of those that cannot."""
    folders: list[Path] = []
    limits: set[Limit] = set()
    for controllers, own in _own_groups():
        folder = own / name
        kept = _make(folder, controllers, wanted)
        if kept:
            folders.append(folder)
            limits |= kept
        else:
            remove_groups([folder])
    return Groups(tuple(folders), frozenset(limits))


def possible_groups(name: str) -> list[Path]:
    """Those that `make_groups` would try to make."""
    return [own / name for _, own in _own_groups()]


def remove_groups(folders: Sequence[Path]) -> None:
    """Those that are there and empty."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _own_groups() -> list[tuple[frozenset[str], Path]]:
    """The groups that this process is in: what each may limit, and its folder."""
    found = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if not names and (MOUNT / "cgroup.controllers").exists():
                found.append((frozenset(("pids", "memory", "cpu")), MOUNT / path.lstrip("/")))
            for name in {"pids", "cpu"} & set(names.split(",")):
                mounted = next((MOUNT / each for each in (names, name) if (MOUNT / each).is_dir()), None)
                if mounted is not None:
                    found.append((frozenset((name,)), mounted / path.lstrip("/")))
    return found


def _make(folder: Path, controllers: frozenset[str], wanted: Wanted) -> set[Limit]:
    kept: set[Limit] = set()
    try:
        folder.mkdir()
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
