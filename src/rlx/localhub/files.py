"""Files of a repository folder as the Hub would hold them: what is there, its hashes, its bytes.

Hostile folders are expected: links that lead out, control folders, names that are not UTF-8, files that change or
vanish while they are read.
"""

import hashlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from typing import NamedTuple

logger = logging.getLogger(__name__)

CONTROL = frozenset({".git", ".hg", ".svn", ".cache"})
"""Folders of tools that keep a repository; they are no part of it."""
LFS_SUFFIXES = (".parquet", ".bin", ".tar", ".zip")
"""Files that the Hub would keep in LFS: their ETag is a SHA-256, and their git blob is a pointer."""
_RACY_NS = 20_000_000
_SKEW_NS = 60_000_000_000
"""File systems stamp times in ticks, by a clock of their own: a file hashed less than a tick after its stamp, or
shortly before it, may change again under the same stamp."""
_CHUNK = 1024 * 1024


class Stamp(NamedTuple):
    """What tells a changed file from an unchanged one without reading it."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class File:
    path: str
    """Relative to the repository, with slashes."""
    stamp: Stamp
    oid: str
    """Git blob SHA-1: of the contents, or of the pointer when it is an LFS file."""
    sha256: str | None
    """Of the contents; set for LFS files alone."""
    racy: bool = False
    """Hashed so soon after it was written that the hash has to be taken again."""
    object: str | None = None
    """SHA-256 under which its bytes are kept, where that is not at its path."""

    @property
    def size(self) -> int:
        return self.stamp.size

    @property
    def etag(self) -> str:
        return self.sha256 or self.oid


class Changed(Exception):
    """The file on disk is no longer the one that was scanned."""


def scan(folder: str) -> dict[str, Stamp]:
    """Every file under `folder` by relative path. Raises `FileNotFoundError` when the folder is gone.

    Left out: control folders, names that are not UTF-8, linked folders, links that lead out of the repository, and
    anything that is no regular file.
    """
    found: dict[str, Stamp] = {}
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(f"{folder}/{prefix}") as entries:
                for entry in entries:
                    if not entry.name.isascii() and not _is_utf8(entry.name):
                        continue
                    path = prefix + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in CONTROL:
                            pending.append(f"{path}/")
                    elif (stamp := _stamp(entry, folder)) is not None:
                        found[path] = stamp
        except FileNotFoundError:
            if not prefix:
                raise
        except OSError as error:
            logger.warning("A folder cannot be read and is left out: %s (%s)", prefix, error.strerror)
    return found


def _is_utf8(name: str) -> bool:
    return not any(0xDC80 <= ord(char) <= 0xDCFF for char in name)


def _stamp(entry: "os.DirEntry[str]", folder: str) -> Stamp | None:
    try:
        if entry.is_symlink() and not _leads_inside(entry.path, folder):
            return None
        if not entry.is_file() or (entry.name in CONTROL):
            return None
        return stamp_of(entry.stat())
    except OSError:
        return None


def _leads_inside(link: str, folder: str) -> bool:
    target, top = os.path.realpath(link), os.path.realpath(folder)
    if not target.startswith(top + os.sep):
        return False
    return CONTROL.isdisjoint(target[len(top) :].split(os.sep))


def open_file(path: str, file: File) -> FileIO:
    """Open `file` at absolute `path`. Raises `Changed` unless it is still the file that was scanned."""
    try:
        source = FileIO(path)
    except OSError as error:
        raise Changed(file.path) from error
    if stamp_of(os.fstat(source.fileno())) != file.stamp:
        source.close()
        raise Changed(file.path)
    return source


def verify(path: str, file: File) -> None:
    """Raise `Changed` unless `file` is still the one that was scanned."""
    try:
        seen = os.stat(path)
    except OSError as error:
        raise Changed(file.path) from error
    if stamp_of(seen) != file.stamp:
        raise Changed(file.path)


def stamp_of(seen: os.stat_result) -> Stamp:
    return Stamp(seen.st_size, seen.st_mtime_ns, seen.st_ino)


def read_file(path: str, file: File, start: int = 0, length: int | None = None) -> bytes:
    """Bytes of `file`. Raises `Changed` unless they are those that were scanned."""
    with open_file(path, file) as source:
        if start:
            source.seek(start)
        wanted = file.size - start if length is None else length
        data = source.read(wanted)
    if len(data) != wanted:
        raise Changed(file.path)
    return data


def hash_files(folder: str, stamps: Mapping[str, Stamp], known: Mapping[str, File]) -> Iterator[File]:
    """`stamps` as hashed files, taking from `known` what is unchanged. Unreadable files are left out."""
    for path, stamp in stamps.items():
        old = known.get(path)
        if old is not None and old.stamp == stamp and not old.racy:
            yield old
            continue
        try:
            yield _hash(folder, path)
        except OSError as error:
            logger.warning("A file cannot be read and is left out: %s (%s)", path, error.strerror)


def _hash(folder: str, path: str) -> File:
    lfs = path.endswith(LFS_SUFFIXES)
    with FileIO(f"{folder}/{path}") as source:
        seen = os.fstat(source.fileno())
        head = b"" if lfs else b"blob %d\0" % seen.st_size
        digest = hashlib.sha256() if lfs else hashlib.sha1(head, usedforsecurity=False)
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    stamp = stamp_of(seen)
    racy = -_SKEW_NS < time.time_ns() - stamp.mtime_ns < _RACY_NS
    name = digest.hexdigest()
    return File(path, stamp, pointer_oid(name, stamp.size), name, racy) if lfs else File(path, stamp, name, None, racy)


def lfs_pointer(sha256: str, size: int) -> bytes:
    """The text git keeps in place of an LFS file."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()


def pointer_oid(sha256: str, size: int) -> str:
    pointer = lfs_pointer(sha256, size)
    return hashlib.sha1(b"blob %d\0%b" % (len(pointer), pointer), usedforsecurity=False).hexdigest()
