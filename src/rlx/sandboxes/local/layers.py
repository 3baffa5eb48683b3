"""Layers of file systems by their content's key, shared by every worker of a machine.

A layer is a folder with one folder a tree (`root`, `usr`). It is made under another name and renamed when it is whole,
so that a killed process leaves no half one. Who uses one holds a shared lock on it, who makes one an exclusive lock on
what is being made; what nobody holds may be swept or pruned.
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_KEY = re.compile(r"[a-z0-9][a-z0-9-]{3,127}")
_TEMPORARY = "tmp."
LOCK, FACTS = "lock", "layer.json"
ENTRY = 1024
"""Bytes that anything with a name counts at least, or empty files were free."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One that is held: it stays until `release`."""

    key: str
    path: Path
    _lock: int

    def release(self) -> None:
        os.close(self._lock)


@dataclass(frozen=True, slots=True)
class Kept:
    key: str
    bytes: int
    used: float
    """When it was last held, in seconds since the epoch."""


class LayerStore:
    """Layers below one folder of a local disk. Every call blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def hold(self, key: str) -> Layer | None:
        """The layer, kept from being pruned; None when there is none. Raises `ValueError` for what is no key."""
        path = self.folder / _checked(key)
        lock = _lock(path / LOCK, fcntl.LOCK_SH)
        if lock is None:
            return None
        os.utime(lock)
        return Layer(key, path, lock)

    @contextmanager
    def making(self, key: str) -> Iterator[Path]:
        """An empty folder to fill; it is the layer when the block ends well, and gone when not.

        Where another worker was faster its layer stays.
        """
        final = self.folder / _checked(key)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
        temporary.mkdir(mode=0o755)
        lock = os.open(temporary / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield temporary
            size = measure(temporary)
            (temporary / FACTS).write_text(json.dumps({"bytes": size}))
            with suppress(OSError):  # it is there already
                temporary.rename(final)
        finally:
            os.close(lock)
            remove(temporary)

    def size(self, key: str) -> int | None:
        """Bytes of a layer, of which this is no use; None when there is none."""
        try:
            return int(json.loads((self.folder / _checked(key) / FACTS).read_text())["bytes"])
        except (OSError, ValueError):
            return None

    def kept(self) -> list[Kept]:
        """What there is, the longest unused first."""
        found = []
        for path in self._finished():
            with suppress(OSError, ValueError):
                size = int(json.loads((path / FACTS).read_text())["bytes"])
                found.append(Kept(path.name, size, (path / LOCK).stat().st_mtime))
        return sorted(found, key=lambda kept: kept.used)

    def prune(self, limit: int) -> list[str]:
        """Remove the longest unused layers that nobody holds until the rest is within `limit` bytes. Returns keys."""
        kept = self.kept()
        total = sum(layer.bytes for layer in kept)
        gone = []
        for layer in kept:
            if total <= limit:
                break
            if self._drop(self.folder / layer.key):
                gone.append(layer.key)
                total -= layer.bytes
        return gone

    def sweep(self) -> int:
        """Remove what killed processes left half-made. Returns how many."""
        count = 0
        if self.folder.is_dir():
            for path in self.folder.iterdir():
                if path.name.startswith(_TEMPORARY) and _is_free(path / LOCK):
                    remove(path)
                    count += 1
        return count

    def _finished(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [path for path in self.folder.iterdir() if _KEY.fullmatch(path.name)]

    def _drop(self, path: Path) -> bool:
        lock = _lock(path / LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is None:
            return False
        gone = self.folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
        try:
            path.rename(gone)
        finally:
            os.close(lock)
        remove(gone)
        return True


def measure(folder: Path) -> int:
    """Bytes on disk of everything below, names included, as far as it can be read while it may change."""
    total = 0
    waiting = [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as items:
            for item in items:
                with suppress(OSError):
                    total += item.stat(follow_symlinks=False).st_blocks * 512 + ENTRY
                    if item.is_dir(follow_symlinks=False):
                        waiting.append(item.path)
    return total


def remove(folder: Path) -> None:
    """A folder with all in it, whatever modes were given to what it holds; nothing when it is gone."""
    for last in (False, False, True):  # a process that is just dying may still write to it
        try:
            shutil.rmtree(folder)
        except PermissionError:
            for here, names, _ in os.walk(folder):
                for name in names:
                    with suppress(OSError):
                        _open_up(os.path.join(here, name))
        except OSError:
            if last:
                raise
        if not folder.exists():
            return
    shutil.rmtree(folder)


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key[:140]!r} is no key of a layer")
    return key


def _lock(path: Path, how: int) -> int | None:
    """A descriptor that holds the lock of what is now at `path`; None when it is not there, or held by others."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            fcntl.flock(descriptor, how)
            if path.stat().st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass
        os.close(descriptor)  # pruned in between, and perhaps made again


def _is_free(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        # Of one that is being made, or removed, just now: its maker has a minute to lock it.
        with suppress(FileNotFoundError):
            return time.time() - path.parent.stat().st_mtime > 60
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _open_up(path: str) -> None:
    if not os.path.islink(path):
        os.chmod(path, 0o700)
