"""A folder of files for each rollout, which are the truth: live on local disk, finished in the store.

    runs/<id>/rollout.json       the record, replaced whole
    runs/<id>/events.jsonl       what happened, appended to by one process
    runs/<id>/trajectory.json    ATIF
    runs/<id>/verifier/<name>    what the verifier wrote
    runs/<id>/artifacts/<name>   what the agent made

The store may be a bucket mount, which uploads a file when it is closed and locks nothing: what is live is copied
there whole, at intervals and at the end, the record last. Nothing here asks who may see or change anything. Every call
blocks.
"""

import logging
import os
import secrets
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from pydantic import ValidationError

from rlx.errors import NotFound, TooLarge
from rlx.rollout import Rollout, is_id
from rlx.store.rollouts.bounds import Bounds
from rlx.store.rollouts.events import EventLog, EventPage, last_number, read_events
from rlx.store.rollouts.names import EVENTS, FOLDERS, RECORD, ROOT, TRAJECTORY, check_id, file_name, shown_name
from rlx.store.rollouts.states import check_follows, is_later
from rlx.store.rollouts.writing import replacing, sync_folder
from rlx.store.storage import Storage, Stored

_log = logging.getLogger(__name__)

MIRRORED: Final = ".mirrored"
"""Says in a live folder that the store has all of it."""
KEEP_LIVE: Final = 3600.0
"""Seconds that a finished rollout stays on local disk."""
_CHUNK: Final = 1024 * 1024
_STRIPES: Final = 16
"""Locks, of which each rollout has one: two copies of its record to the store may not overtake each other."""
_READ: Final = 4 * 1024 * 1024
"""Bytes of a record that are read at most."""

type Source = bytes | Path


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class KeptFile:
    name: str
    """As it is kept; `path` is what it was called."""
    path: str
    size: int


class RolloutFiles:
    """The folders of all rollouts of one store, as one machine sees them."""

    def __init__(
        self,
        live: Path,
        store: Storage,
        *,
        clock: Callable[[], datetime] = utc_now,
        bounds: Bounds | None = None,
    ) -> None:
        self._live = live
        self._fetched = live.with_name(f"{live.name}-fetched")
        self._store = store
        self._clock = clock
        self._bounds = bounds or Bounds()
        self._sent: dict[str, dict[str, str]] = {}
        self._sending = [threading.Lock() for _ in range(_STRIPES)]

    # The record

    def write(self, rollout: Rollout, *, durable: bool = True) -> None:
        """Put a record in place of the last. Raises `WrongState`, `TooLarge`, `OSError`.

        Not `durable`, it is on the disk with the next one that is.
        """
        folder = self._folder(rollout.id)
        data = rollout.model_dump_json(indent=1).encode()
        if len(data) > self._bounds.record_bytes:
            raise TooLarge(f"The record of rollout {rollout.id} has {len(data):,} bytes.")
        check_follows(self.live(rollout.id), rollout)
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            sync_folder(folder.parent)
        with replacing(folder / RECORD, durable=durable) as file:
            file.write(data)

    def live(self, id: str) -> Rollout | None:
        """The record on this machine's disk."""
        try:
            data = _read_bounded(self._folder(id) / RECORD)
        except FileNotFoundError:
            return None
        return self._parsed(id, data, "local disk")

    def stored(self, id: str) -> Rollout | None:
        """The record in the store. Raises `OSError`."""
        try:
            data = self._store.read(f"{ROOT}/{check_id(id)}/{RECORD}", limit=_READ)
        except FileNotFoundError:
            return None
        except ValueError:  # past the limit
            return None
        return self._parsed(id, data, "the store")

    def read(self, id: str) -> Rollout:
        """The latest record there is, here or in the store. Raises `NotFound`, `OSError`."""
        live = self.live(id)
        if live is not None and live.ended:
            return live
        stored = self.stored(id)
        if live is None or (stored is not None and not is_later(live, stored)):
            live = stored
        if live is None:
            raise NotFound(f"There is no rollout {id}.")
        return live

    def live_ids(self) -> list[str]:
        """Rollouts with a folder on this machine, the oldest first."""
        try:
            return sorted(name for name in os.listdir(self._live) if is_id(name))
        except FileNotFoundError:
            return []

    def ids(self) -> list[str]:
        """All rollouts, here and in the store, the oldest first. Raises `OSError`."""
        return sorted({*self.live_ids(), *(name for name in self._store.folders(ROOT) if is_id(name))})

    # Events and other files

    def log(self, id: str) -> EventLog:
        """Become the writer of a rollout's events. Raises `OSError`."""
        self._folder(id).mkdir(parents=True, exist_ok=True)
        return EventLog(self._folder(id) / EVENTS, clock=self._clock, bounds=self._bounds)

    def events(self, id: str, *, after: int = 0, limit: int = 500) -> EventPage:
        """Events later than `after`, of the copy that is here or else of the store's. Raises `OSError`."""
        path = self._find(id, EVENTS)
        return EventPage(()) if path is None else read_events(path, after=after, limit=limit)

    def last_event(self, id: str) -> int:
        """The number of the newest event, of the copy that `events` reads; 0 when there is none. Raises `OSError`."""
        path = self._find(id, EVENTS)
        return 0 if path is None else last_number(path)

    def put(self, id: str, path: str, source: Source) -> str | None:
        """Keep a file as `trajectory.json`, `verifier/PATH` or `artifacts/PATH`.

        Returns the name it is kept by, or None when it is no regular file or past the bounds and so not kept. A path to
        a file is not followed where it is a link. Raises `BadInput` for a name that cannot be, and `OSError`.
        """
        name = file_name(path)
        folder = self._folder(id)
        most = self._bounds.trajectory_bytes if name == TRAJECTORY else self._room(id, name)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            if len(source) > most:
                return None
            with replacing(folder / name) as file:
                file.write(source)
            return name
        opened = _open_regular(source)
        if opened is None:
            return None
        try:
            with opened, replacing(folder / name) as file:
                _copy_bounded(opened, file, most)
        except _PastBound:
            return None
        return name

    def listing(self, id: str) -> list[KeptFile]:
        """The files of a rollout beside its record and events. Raises `OSError`."""
        found: dict[str, int] = {}
        if self.live(id) is not None:
            found = {name: size for name, size, _ in self._live_files(id)}
        else:
            found = {name: stored.size for name, stored in self._stored_files(id)}
        return [KeptFile(name, shown_name(name), size) for name, size in sorted(found.items()) if name not in _OWN]

    def open(self, id: str, name: str) -> Path:
        """A path on local disk to read a listed file from. Raises `NotFound`, `OSError`."""
        folder, _, rest = name.rpartition("/")
        known = name == TRAJECTORY or (folder in FOLDERS and rest and not rest.startswith("."))
        path = self._find(id, name) if known else None
        if path is None:
            raise NotFound(f"Rollout {id} has no file {name[:120]!r}.")
        return path

    # The store

    def mirror(self, id: str) -> bool:
        """Copy what changed to the store, the record last. False when the store has a later record than this machine,
        whose files are then not copied. Raises `OSError` when the store cannot be written.
        """
        with self._sending[hash(id) % _STRIPES]:
            record = self.live(id)
            if record is None:
                return False
            stored = self.stored(id)
            if stored is not None and not is_later(record, stored):
                return False
            sent = self._sent.setdefault(id, {})
            for name, _, tag in self._live_files(id):
                if name != RECORD and sent.get(name) != tag:
                    self._send(id, name)
                    sent[name] = tag
            # From what was read, not from the disk, where a later record may promise more than was copied.
            self._store.write(f"{ROOT}/{id}/{RECORD}", record.model_dump_json(indent=1).encode())
            if record.ended:
                self._sent.pop(id, None)
                (self._folder(id) / MIRRORED).write_text(record.updated_at.isoformat())
            return True

    def try_mirror(self, id: str) -> bool:
        """`mirror`, but for a store in trouble, which is logged and done without till the next time."""
        try:
            return self.mirror(id)
        except OSError as error:
            _log.warning("rollout %s cannot be copied to the store: %s", id, error.strerror or type(error).__name__)
            return False

    def is_mirrored(self, id: str, record: Rollout) -> bool:
        """The store has all of an ended rollout that this machine has."""
        try:
            return (self._folder(id) / MIRRORED).read_text() == record.updated_at.isoformat()
        except FileNotFoundError:
            return False

    def adopt(self, id: str) -> None:
        """Bring a rollout that ran elsewhere to this machine, to go on with it. Raises `OSError`."""
        live, stored = self.live(id), self.stored(id)
        if stored is None or (live is not None and is_later(live, stored)):
            return
        self.drop_live(id)
        folder = self._folder(id)
        for name, found in self._stored_files(id):
            self._store.fetch(f"{ROOT}/{id}/{name}", folder / name, size=found.size)

    def drop_live(self, id: str) -> None:
        """Remove the copy on this machine."""
        self._sent.pop(id, None)
        _remove_folder(self._folder(id), first=RECORD)
        _remove_folder(self._fetched / id, first=RECORD)

    def delete(self, id: str) -> None:
        """Remove a rollout everywhere, its record first: one that is partly removed is none. Raises `OSError`."""
        folder = f"{ROOT}/{check_id(id)}"
        self._store.delete(f"{folder}/{RECORD}")
        self.drop_live(id)
        self._store.delete_folder(folder)

    def tidy(self) -> None:
        """Remove what was fetched, and live copies of what the store has, once nobody will follow it; and what killed
        processes left half-written."""
        oldest = self._clock().timestamp() - KEEP_LIVE
        for id in self.live_ids():
            record = self.live(id)
            for path in [*self._folder(id).glob(".*"), *self._folder(id).glob("*/.*")]:
                if path.name != MIRRORED and _age_of(path) < oldest:
                    path.unlink(missing_ok=True)
            if record is not None and record.ended and record.updated_at.timestamp() < oldest:
                if self.is_mirrored(id, record):
                    self.drop_live(id)
            elif record is None and _age_of(self._folder(id)) < oldest:
                self.drop_live(id)
        for folder in self._fetched.glob("*"):
            if _age_of(folder) < oldest:
                shutil.rmtree(folder, ignore_errors=True)

    def _folder(self, id: str) -> Path:
        return self._live / check_id(id)

    def _parsed(self, id: str, data: bytes, where: str) -> Rollout | None:
        try:
            rollout = Rollout.model_validate_json(data)
        except ValidationError as error:
            _log.warning("the record of rollout %s on %s is damaged: %s", id, where, error.error_count())
            return None
        return rollout if rollout.id == id else None

    def _live_files(self, id: str) -> Iterator[tuple[str, int, str]]:
        """Name, size and tag of each finished file."""
        folder = self._folder(id)
        for path in [*folder.glob("*"), *(path for part in FOLDERS for path in folder.glob(f"{part}/*"))]:
            if path.name.startswith("."):
                continue
            try:
                found = path.lstat()
            except FileNotFoundError:
                continue
            if stat.S_ISREG(found.st_mode):
                tag = f"{found.st_ino}.{found.st_mtime_ns}.{found.st_size}"
                yield path.relative_to(folder).as_posix(), found.st_size, tag

    def _stored_files(self, id: str) -> Iterator[tuple[str, Stored]]:
        """Files in the store, the record last."""
        at = f"{ROOT}/{check_id(id)}"
        for part in FOLDERS:
            yield from ((f"{part}/{found.name}", found) for found in self._store.list(f"{at}/{part}"))
        top = [(found.name, found) for found in self._store.list(at) if found.name in {RECORD, EVENTS, TRAJECTORY}]
        yield from sorted(top, key=lambda pair: pair[0] == RECORD)

    def _find(self, id: str, name: str) -> Path | None:
        """A path to a file: the live one, or a copy of the store's where that is later or this machine has none."""
        live = self.live(id)
        if live is not None and (live.ended or (stored := self.stored(id)) is None or is_later(live, stored)):
            path = self._folder(id) / name
            return path if path.is_file() else None
        folder, _, rest = f"{ROOT}/{id}/{name}".rpartition("/")
        found = next((stored for stored in self._store.list(folder) if stored.name == rest), None)
        if found is None:
            return None
        tag = "".join(mark for mark in found.tag if mark.isalnum())[:40]
        copy = self._fetched / id / f"{name.replace('/', '+2F')}@{tag}-{found.size}"
        if not copy.is_file():
            temporary = copy.with_name(f".{secrets.token_hex(8)}")
            try:
                self._store.fetch(f"{folder}/{rest}", temporary, size=found.size)
            except ValueError as error:  # another took its place meanwhile
                raise OSError(f"{name} of rollout {id} changed while it was read") from error
            temporary.replace(copy)
        return copy

    def _room(self, id: str, name: str) -> int:
        """Bytes that a file of this name may have."""
        others = [size for other, size, _ in self._live_files(id) if "/" in other and other != name]
        if len(others) >= self._bounds.files:
            return -1
        return min(self._bounds.file_bytes, self._bounds.files_bytes - sum(others))

    def _send(self, id: str, name: str) -> None:
        path = self._folder(id) / name
        if name == EVENTS:  # it grows meanwhile: what is copied ends where it ended when the copy began
            snapshot = path.with_name(f".{name}.{secrets.token_hex(4)}")
            try:
                with path.open("rb") as source, snapshot.open("wb") as target:
                    left = os.fstat(source.fileno()).st_size
                    while left > 0 and (chunk := source.read(min(left, _CHUNK))):
                        target.write(chunk)
                        left -= len(chunk)
                self._store.put(f"{ROOT}/{id}/{name}", snapshot)
            finally:
                snapshot.unlink(missing_ok=True)
        else:
            self._store.put(f"{ROOT}/{id}/{name}", path)


_OWN: Final = frozenset({RECORD, EVENTS})


class _PastBound(Exception):
    """A file is larger than it may be."""


def _open_regular(path: Path) -> BinaryIO | None:
    """A file that is no link, pipe or device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")


def _copy_bounded(source: BinaryIO, target: BinaryIO, most: int) -> None:
    left = most
    while chunk := source.read(_CHUNK):
        left -= len(chunk)
        if left < 0:
            raise _PastBound
        target.write(chunk)
    if most < 0:
        raise _PastBound


def _read_bounded(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_READ)


def _age_of(path: Path) -> float:
    """When a path last changed; now-ish for one that is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _remove_folder(folder: Path, *, first: str) -> None:
    with suppress(FileNotFoundError):
        (folder / first).unlink()
    shutil.rmtree(folder, ignore_errors=True)
