"""Folders for moments: gone at the end of their block, and where that was killed, once another process looks.

All are below one folder of this user, among the system's temporary ones. Whoever uses one holds a lock on it, which
the system lets go of with its process, so that a folder nobody holds is one that was left.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from rlx.errors import Forbidden


@contextmanager
def passing(prefix: str, *, parent: Path | None = None) -> Iterator[Path]:
    """An empty folder that is gone after the block. Raises `Forbidden`, `OSError`."""
    parent = parent or home()
    with _Held(parent) as gate:
        gate.lock(fcntl.LOCK_SH)  # between its making and its lock a folder looks like one that was left
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        held = _Held(folder)
        held.lock(fcntl.LOCK_EX)
    with closing(held):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path | None = None) -> int:
    """Remove what killed processes left. Returns how many folders; none while another process is at it."""
    parent = parent or home()
    removed = 0
    with _Held(parent) as gate:
        if not gate.lock(fcntl.LOCK_EX | fcntl.LOCK_NB):
            return 0
        left = [entry.path for entry in os.scandir(parent) if entry.is_dir(follow_symlinks=False)]
        for path in left:
            with suppress(FileNotFoundError), _Held(Path(path)) as held:
                if held.lock(fcntl.LOCK_EX | fcntl.LOCK_NB):
                    shutil.rmtree(path, ignore_errors=True)
                    removed += 1
    return removed


def home() -> Path:
    """Where they are. Raises `Forbidden` where that folder is somebody else's, who could change what is in it."""
    folder = Path(tempfile.gettempdir()) / f"rlx-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Forbidden(
            f"{folder} is not a folder of this user's alone.", hint="Remove it, or set TMPDIR to a folder of your own."
        )
    return folder


class _Held:
    """An open folder, with a lock or without one."""

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def lock(self, kind: int) -> bool:
        try:
            fcntl.flock(self._handle, kind)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self._handle)

    def __enter__(self) -> "_Held":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
