"""What is published from one place and read in many: files by name in a directory, a bucket mount or a bucket.

A name is `folder/file`. A file appears whole under its name or not at all, whoever looks and whenever a writer dies;
nothing is appended to, locked or read while it is written. Every call blocks, and fails with `OSError`; a file that is
not what it should be is a `ValueError`.
"""

import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_PART = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9_.+@-]{0,250}")
_ABANDONED = 3600.0
"""Seconds after which a temporary file is taken for one of a killed process."""
BUCKETS = "hf://buckets/"


@dataclass(frozen=True, slots=True)
class Stored:
    """A file of a folder."""

    name: str
    """Without its folder."""
    size: int
    tag: str
    """Changes whenever the file does."""


class Storage(Protocol):
    """One place. Names pass `check_name` first."""

    def read(self, name: str, *, limit: int) -> bytes:
        """Raises `FileNotFoundError`, and `ValueError` past `limit` bytes."""
        ...

    def fetch(self, name: str, target: Path, *, size: int) -> None:
        """Copy a file of exactly `size` bytes to a path on local disk. Raises `FileNotFoundError`, `ValueError`."""
        ...

    def put(self, name: str, source: Path) -> None:
        """Publish a copy of a finished file, in place of one of that name."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Publish a small file."""
        ...

    def list(self, folder: str) -> "list[Stored]":
        """Finished files in a folder, by name; none when there is no such folder. An empty name is the top."""
        ...

    def folders(self, folder: str) -> Sequence[str]:
        """Names of the folders in a folder, in order; none when there is no such folder."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file; nothing when it is gone already."""
        ...

    def delete_folder(self, folder: str) -> None:
        """Remove a folder with all in it, in no order; nothing when it is gone already."""
        ...

    def sweep(self, folder: str) -> None:
        """Remove what killed processes left half-written."""
        ...


def check_name(name: str) -> str:
    """Return a name that leads nowhere else. Raises `ValueError`."""
    if not name or not all(_PART.fullmatch(part) for part in name.split("/")):
        raise ValueError(f"{name[:120]!r} is no name of a stored file")
    return name


def open_storage(place: str | Path) -> Storage:
    """The storage at a directory, or at `hf://buckets/<org>/<name>[/prefix]`, with the token of the environment.

    Raises `ValueError` for an address that is neither.
    """
    text = str(place)
    if text.startswith(BUCKETS):
        from rlx.hub.bucket import open_bucket  # imported late: a directory needs none of it

        return open_bucket(text.removeprefix(BUCKETS))
    if "://" in text:
        raise ValueError(f"{text!r} is no directory and no {BUCKETS}<org>/<name>")
    return DirectoryStorage(Path(text).expanduser())


class DirectoryStorage:
    """A directory, which may be a bucket mount: a mount uploads a file when it is closed, and locks nothing."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __str__(self) -> str:
        return str(self._root)

    def read(self, name: str, *, limit: int) -> bytes:
        with self._path(name).open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ValueError(f"{name} has more than {limit:,} bytes")
        return data

    def fetch(self, name: str, target: Path, *, size: int) -> None:
        source = self._path(name)
        found = source.stat().st_size
        if found != size:
            raise ValueError(f"{name} has {found:,} bytes, not {size:,}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    def put(self, name: str, source: Path) -> None:
        with self._writing(name) as temporary:
            shutil.copyfile(source, temporary)

    def write(self, name: str, data: bytes) -> None:
        with self._writing(name) as temporary:
            temporary.write_bytes(data)

    def list(self, folder: str) -> "list[Stored]":
        found = [
            Stored(path.name, stat.st_size, f"{stat.st_mtime_ns}.{stat.st_size}")
            for path in self._files(folder)
            if not path.name.startswith(".") and (stat := _stat(path)) is not None
        ]
        return sorted(found, key=lambda stored: stored.name)

    def folders(self, folder: str) -> Sequence[str]:
        at = self._path(folder) if folder else self._root
        if not at.is_dir():
            return []
        return sorted(path.name for path in at.iterdir() if _PART.fullmatch(path.name) and path.is_dir())

    def delete(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def delete_folder(self, folder: str) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self._path(folder))

    def sweep(self, folder: str) -> None:
        for path in self._files(folder):
            stat = _stat(path)
            if path.name.startswith(".") and stat is not None and time.time() - stat.st_mtime > _ABANDONED:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._root / check_name(name)

    def _files(self, folder: str) -> Iterator[Path]:
        at = self._path(folder) if folder else self._root
        if at.is_dir():
            yield from (path for path in at.iterdir() if path.is_file())

    def _writing(self, name: str) -> "_Writing":
        return _Writing(self._path(name))


class _Writing:
    """A temporary path beside a final one, which it becomes when the block ends well."""

    def __init__(self, final: Path) -> None:
        self._final = final
        self._temporary = final.with_name(f".{final.name}.{secrets.token_hex(4)}")

    def __enter__(self) -> Path:
        self._final.parent.mkdir(parents=True, exist_ok=True)
        return self._temporary

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            os.replace(self._temporary, self._final)
        else:
            self._temporary.unlink(missing_ok=True)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
