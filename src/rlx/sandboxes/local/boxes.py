"""Folders of sandboxes, one each, below one folder of a local disk; whoever runs a sandbox holds its lock."""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rlx.sandboxes.local.cgroups import remove_groups
from rlx.sandboxes.local.layers import remove

LOCK, GROUPS = "lock", "groups.json"
TREES = ("root", "usr")


@dataclass(frozen=True, slots=True)
class Box:
    name: str
    path: Path
    _lock: int

    @property
    def uppers(self) -> list[Path]:
        """Where what the sandbox writes is."""
        return [self.path / "up" / tree for tree in TREES]

    def note_groups(self, folders: Sequence[Path]) -> None:
        """Remember control groups, for whoever cleans up after a killed process."""
        (self.path / GROUPS).write_text(json.dumps([str(folder) for folder in folders]))

    def remove(self) -> None:
        """Blocks while the files go."""
        _remove(self.path)
        with suppress(OSError):
            os.close(self._lock)


def make_box(folder: Path) -> Box:
    """Nobody but this user can look into it: what sandboxes write may carry any mode."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = secrets.token_hex(8)
    path = folder / name
    path.mkdir(mode=0o700)
    lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    for part in ("up/root", "up/usr", "work/root", "work/usr", "merged", "l"):
        (path / part).mkdir(parents=True)
    for part in ("up/root", "up/usr"):
        (path / part).chmod(0o755)
    return Box(name, path, lock)


def reap(folder: Path) -> int:
    """Remove what killed processes left: folders and control groups of sandboxes that nobody holds. Returns how many.

    There are no mounts to remove: they were in a namespace that ended with its processes.
    """
    if not folder.is_dir():
        return 0
    return sum(_reap(path) for path in list(folder.iterdir()))


def _reap(path: Path) -> bool:
    try:
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # Just made, or almost gone: its maker has a minute.
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime < 60:
                return False
        remove(path)
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError, ValueError):
            remove_groups([Path(name) for name in json.loads((path / GROUPS).read_text())])
        _remove(path)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _remove(path: Path) -> None:
    """The lock last, so that whoever is killed meanwhile leaves what can be reaped."""
    with suppress(FileNotFoundError):
        for child in list(path.iterdir()):
            if child.is_dir() and not child.is_symlink():
                remove(child)
    remove(path)
