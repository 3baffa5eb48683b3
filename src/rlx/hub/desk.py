"""Where files too big to be read at once are dealt with: local disk, what is known of them, and work that goes on."""

import logging
import secrets
import shutil
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Lock

import anyio
import anyio.abc

from rlx.errors import RlxError

_log = logging.getLogger(__name__)

_LEFT = 3600.0
"""Seconds after which a file that nobody removed is left over."""
KEPT = 64
"""Files of which something is remembered in memory."""
HEAVY = 4
"""Of those that hold much disk or memory."""
MAX_DRAWERS = 200
MAX_BYTES = 16 * 1024**3
"""Drawers that are kept on disk, and what they hold together; the least recently opened goes first."""


class Desk:
    """One for the process. `folder` is local disk; without a task group nothing goes on in the background."""

    def __init__(self, folder: Path, group: anyio.abc.TaskGroup | None = None, *, at_once: int = 2) -> None:
        self.folder = folder
        self._group = group
        self._slots = anyio.Semaphore(at_once)
        self._running: set[str] = set()
        self._kept: OrderedDict[str, object] = OrderedDict()
        self._heavy: set[str] = set()
        self._lock = Lock()

    def find(self, name: str) -> object | None:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def keep(self, name: str, value: object, *, heavy: bool = False) -> object:
        """What is remembered as `name`: `value`, or what somebody kept sooner. Of `heavy` things few are kept."""
        with self._lock:
            known = self._kept.setdefault(name, value)
            if heavy:
                self._heavy.add(name)
            many = [other for other in self._kept if other in self._heavy][:-HEAVY]
            for old in [*many, *list(self._kept)[:-KEPT]]:
                self._kept.pop(old, None)
                self._heavy.discard(old)
            return known

    def drawer(self, name: str) -> Path:
        """A folder for one file, which may be emptied when others need the room. From a worker thread."""
        path = self.folder / name
        is_new = not path.is_dir()
        path.mkdir(parents=True, exist_ok=True)
        path.touch()
        if is_new:
            self._make_room()
        return path

    def scratch(self, ending: str) -> Path:
        """A name for a file that its maker removes soon; what a killed process left goes in an hour."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{secrets.token_hex(8)}{ending}"

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Run `work` beside the requests, unless it runs already. Whether it runs."""
        if self._group is None:
            return False
        if name not in self._running:
            self._running.add(name)
            self._group.start_soon(self._run, name, work)
        return True

    async def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            async with self._slots:
                await work()
        except RlxError as error:
            _log.warning("reading ahead: %s", error.message)
        except Exception:  # its failure is its own: whoever asks for the file is told why it cannot be read
            _log.exception("reading ahead failed")
        finally:
            self._running.discard(name)

    def _make_room(self) -> None:
        with self._lock:
            found = list(self.folder.iterdir())
            for path in found:
                if path.is_file() and time.time() - _touched(path) > _LEFT:
                    path.unlink(missing_ok=True)
            drawers = sorted((path for path in found if path.is_dir()), key=_touched, reverse=True)
            held = 0.0
            for number, path in enumerate(drawers):
                held += sum(map(_size, _files(path)))
                if number and (number >= MAX_DRAWERS or held > MAX_BYTES):
                    shutil.rmtree(path, ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # another process made room
        return []


def _touched(path: Path) -> float:
    return _stat(path, "st_mtime")


def _size(path: Path) -> float:
    return _stat(path, "st_size")


def _stat(path: Path, name: str) -> float:
    try:
        return float(getattr(path.stat(), name))
    except OSError:  # somebody else made room
        return 0.0
