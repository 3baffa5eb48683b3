"""Follows the pointer of a store: a new snapshot is copied to local disk, verified, opened and swapped in.

Whoever asks takes the `Snapshot` that is current then and keeps it to the end of the request; the old one closes when
its last user lets go of it. A bad snapshot changes nothing: it is told in the log once and left alone for a while.
"""

import hashlib
import logging
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import anyio
import anyio.to_thread

from rlx.index.snapshot.opened import Snapshot, check
from rlx.index.snapshot.pointer import FOLDER, MAX_POINTER, POINTER, Pointer, digest, pointer_in
from rlx.index.snapshot.rows import Counts
from rlx.store.storage import Storage

KEPT = 3
"""Local copies kept."""
REJECTED_FOR = 600.0
"""Seconds for which a bad snapshot is left alone."""
_REMEMBERED = 64
_ABANDONED = 3600.0
"""Seconds after which a half-made copy is taken for one of a killed process."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """What is in use here, and how the last look at the store went."""

    db: str | None
    """Name in the store; None when no snapshot is in use."""
    built_at: datetime | None
    """When its listing was made."""
    counts: Counts | None
    since: datetime | None
    """When it was taken into use here."""
    checked: datetime | None
    """When the pointer was last looked at."""
    error: str | None
    """What kept the last look from using what the pointer names; None when all is well."""

    def age(self, now: datetime) -> float | None:
        """Seconds since the listing behind the snapshot in use was made."""
        return None if self.built_at is None else (now - self.built_at).total_seconds()


@dataclass(frozen=True, slots=True)
class _Use:
    """The snapshot in use."""

    snapshot: Snapshot
    pointer: Pointer
    mark: str
    since: datetime


class Follower:
    """One for the process. `check` once before serving, then `run` in the background."""

    def __init__(
        self,
        storage: Storage,
        folder: Path,
        *,
        every: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`folder` is on local disk; several processes may share it. `every` is in seconds."""
        self._storage = storage
        self._folder = folder
        self._every = every
        self._clock = clock
        self._now = now
        self._use: _Use | None = None
        self._checked: datetime | None = None
        self._error: str | None = None
        self._rejected: dict[str, float] = {}
        self._lock = anyio.Lock()

    @property
    def current(self) -> Snapshot | None:
        return None if self._use is None else self._use.snapshot

    @property
    def status(self) -> FollowStatus:
        use = self._use
        if use is None:
            return FollowStatus(None, None, None, None, self._checked, self._error)
        pointer = use.pointer
        return FollowStatus(pointer.db, pointer.built_at, pointer.counts, use.since, self._checked, self._error)

    async def run(self) -> None:
        """Look again and again, each process at moments of its own. Ends only when cancelled."""
        jitter = Random(secrets.token_bytes(8))  # noqa: S311  spreads processes out, hides nothing
        while True:
            await anyio.sleep(self._every * jitter.uniform(0.9, 1.1))
            await self.check()

    async def check(self) -> bool:
        """One look at the pointer; True when another snapshot is in use afterwards. Never raises for a bad store."""
        async with self._lock:
            swapped = False
            try:
                data = await anyio.to_thread.run_sync(self._read_pointer)
            except FileNotFoundError:
                self._error = None if self._use is None else "the pointer is gone"
            except (OSError, ValueError) as error:
                self._trouble(f"the pointer cannot be read: {error}")
            else:
                swapped = await self._consider(data)
            self._checked = self._now()
            return swapped

    def _read_pointer(self) -> bytes:
        return self._storage.read(f"{FOLDER}/{POINTER}", limit=MAX_POINTER)

    async def _consider(self, data: bytes) -> bool:
        mark = hashlib.sha256(data).hexdigest()
        if self._use is not None and mark == self._use.mark:
            self._error = None
            return False
        if self._clock() < self._rejected.get(mark, -1.0):
            return False
        try:
            pointer = pointer_in(data)
            snapshot = await anyio.to_thread.run_sync(self._open, pointer)
        except OSError as error:  # not there yet, or this disk is full: it may do at the next look
            self._trouble(f"the snapshot cannot be copied: {error}")
            return False
        except Exception as error:  # whatever a damaged file does to its reader, the old one stays in use
            self._reject(mark, f"the snapshot is not used: {error or type(error).__name__}")
            return False
        self._use = _Use(snapshot, pointer, mark, self._now())
        self._error = None
        _log.info("catalog %s is in use, %s environments", pointer.db, pointer.counts.environments)
        await anyio.to_thread.run_sync(self._prune, self._local(pointer).name)
        return True

    def _open(self, pointer: Pointer) -> Snapshot:
        """The snapshot from a verified local copy. Raises `OSError`, `ValueError`, `sqlite3.Error`."""
        local = self._local(pointer)
        if not local.exists() or digest(local) != (pointer.size, pointer.sha256):
            self._copy(pointer, local)
        if check(local) != pointer.counts:
            raise ValueError("its counts are not those of the pointer")
        snapshot = Snapshot(local)
        if snapshot.built_at != pointer.built_at:
            raise ValueError("its date is not that of the pointer")
        return snapshot

    def _copy(self, pointer: Pointer, local: Path) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = local.with_name(f".{local.name}.{secrets.token_hex(4)}")
        try:
            self._storage.fetch(f"{FOLDER}/{pointer.db}", temporary, size=pointer.size)
            if digest(temporary) != (pointer.size, pointer.sha256):
                raise ValueError("its bytes are not those that were published")
            os.replace(temporary, local)
        finally:
            temporary.unlink(missing_ok=True)

    def _local(self, pointer: Pointer) -> Path:
        return self._folder / f"{pointer.db.removesuffix('.db')}.{pointer.sha256[:12]}.db"

    def _reject(self, mark: str, reason: str) -> None:
        if mark not in self._rejected:
            _log.warning("%s", reason)
        self._error = reason
        self._rejected[mark] = self._clock() + REJECTED_FOR
        while len(self._rejected) > _REMEMBERED:
            self._rejected.pop(next(iter(self._rejected)))

    def _trouble(self, reason: str) -> None:
        if reason != self._error:
            _log.warning("%s", reason)
        self._error = reason

    def _prune(self, current: str) -> None:
        """Keep the newest copies. One that is open outlives its name."""
        found = sorted(self._folder.glob("catalog-*.db"), key=lambda path: path.name, reverse=True)
        for path in [path for path in found if path.name != current][KEPT - 1 :]:
            path.unlink(missing_ok=True)
        for path in self._folder.glob(".catalog-*.db.*"):
            try:
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()
            except FileNotFoundError:
                continue  # another process was quicker
