"""Publishes a snapshot: built and checked on local disk, copied, read back and compared, and only then pointed at.

Killed at any moment it leaves the old pointer with its database, or the new one with its own.
"""

import logging
import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from rlx.errors import Upstream
from rlx.index.snapshot.opened import check
from rlx.index.snapshot.pointer import (
    FOLDER,
    MAX_POINTER,
    POINTER,
    POINTERS,
    SNAPSHOTS,
    Pointer,
    digest,
    pointer_bytes,
    pointer_in,
    snapshot_named,
)
from rlx.index.snapshot.rows import Content
from rlx.index.snapshot.write import write_snapshot
from rlx.store.storage import Storage

KEPT = 5
"""Snapshots kept, beside whatever a pointer of any schema names."""

_log = logging.getLogger(__name__)


def publish(storage: Storage, content: Content, work: Path, *, now: datetime) -> Pointer:
    """Build a snapshot below `work`, publish it and prune. Raises `Upstream`; then the old pointer is in force."""
    try:
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="snapshot-", dir=work) as folder:
            pointer = _build(Path(folder) / "catalog.db", content, _free_name(storage, now))
            _store(storage, pointer, Path(folder))
        storage.write(f"{FOLDER}/{POINTER}", pointer_bytes(pointer))
    except (OSError, ValueError, sqlite3.Error) as error:
        raise Upstream(
            f"The snapshot could not be published: {error}.", hint="The one before it stays in use; run it again."
        ) from error
    prune(storage)
    return pointer


def current_pointer(storage: Storage) -> Pointer | None:
    """What is in use; None before the first. Raises `OSError`, and `ValueError` for a pointer that is none."""
    try:
        return pointer_in(storage.read(f"{FOLDER}/{POINTER}", limit=MAX_POINTER))
    except FileNotFoundError:
        return None


def prune(storage: Storage) -> None:
    """Keep the newest snapshots and all that a pointer names. A storage in trouble is logged; the next run tries."""
    try:
        names = [stored.name for stored in storage.list(FOLDER)]
        pointers = [name for name in names if POINTERS.fullmatch(name)]
        named = {snapshot_named(storage.read(f"{FOLDER}/{name}", limit=MAX_POINTER)) for name in pointers}
        if None in named:
            raise ValueError("a pointer cannot be read, so that nothing is known to be free")
        for name in _newest_first(names)[KEPT:]:
            if name not in named:
                storage.delete(f"{FOLDER}/{name}")
        storage.sweep(FOLDER)
    except (OSError, ValueError) as error:
        _log.warning("old snapshots stay: %s", error)


def _build(path: Path, content: Content, name: str) -> Pointer:
    counts = write_snapshot(path, content)
    if check(path) != counts:
        raise ValueError("it does not hold what was written into it")
    size, sha256 = digest(path)
    return Pointer(name, sha256, size, content.built_at, counts)


def _store(storage: Storage, pointer: Pointer, folder: Path) -> None:
    """Copy the database and read it back."""
    name = f"{FOLDER}/{pointer.db}"
    storage.put(name, folder / "catalog.db")
    back = folder / "back.db"
    storage.fetch(name, back, size=pointer.size)
    if digest(back) != (pointer.size, pointer.sha256):
        storage.delete(name)
        raise ValueError(f"{name} came back different from what was stored")


def _free_name(storage: Storage, now: datetime) -> str:
    taken = {stored.name for stored in storage.list(FOLDER)}
    stem = f"catalog-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    names = (f"{stem}-{n}.db" if n else f"{stem}.db" for n in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def _newest_first(names: list[str]) -> list[str]:
    """By the time in the name, then by its number."""

    def age(name: str) -> tuple[str, int]:
        stem, _, number = name.removesuffix(".db").removeprefix("catalog-").partition("-")
        return stem, int(number or 0)

    return sorted((name for name in names if SNAPSHOTS.fullmatch(name)), key=age, reverse=True)
