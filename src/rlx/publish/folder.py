"""A folder to publish: the files that are sent, and those that are left out, each with the reason."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from rlx.errors import BadInput

_TOOLS: Final = frozenset(
    {
        *(".git", ".hg", ".svn", ".cache", ".venv", "venv", "node_modules", "__pycache__", ".mypy_cache"),
        *(".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".idea", ".vscode", ".ipynb_checkpoints"),
    }
)
_LITTER: Final = ("*.pyc", "*.pyo", ".ds_store", "thumbs.db", "*.swp", "*.egg-info")
_SECRETS: Final = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    *(".netrc", ".npmrc", ".pypirc", ".git-credentials", "credentials.json", ".htpasswd"),
)
_HARMLESS: Final = (".env.example", ".env.sample", ".env.template", ".env.dist")
_KEY: Final = re.compile(
    rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----|\bhf_[A-Za-z0-9]{30,}|\bsk-[A-Za-z0-9_-]{40,}|\bAKIA[A-Z0-9]{16}\b"
    rb"|\bgh[pousr]_[A-Za-z0-9]{36,}"
)
_LOOKED_AT: Final = 1024 * 1024
"""Bytes of a file that are searched for keys."""
MAX_FILES: Final = 200_000
_CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalFile:
    path: str
    """With slashes, below the folder."""
    place: Path
    size: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Contents:
    files: Sequence[LocalFile]
    """Sorted by path."""
    left_out: Sequence[LeftOut]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def contents(folder: Path, include: Sequence[str] = ()) -> Contents:
    """What of `folder` is sent. `include`: paths or patterns that are sent although they look like secrets.

    Links, control folders and caches are left out always. Raises `BadInput` for no folder, or too many files.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder.", hint="Give the folder of an environment.")
    files: list[LocalFile] = []
    left: list[LeftOut] = []
    for entry, path in _walk(folder, "", left):
        why = _reason(entry, path, include)
        if why is not None:
            left.append(LeftOut(path, why))
            continue
        files.append(LocalFile(path, Path(entry.path), entry.stat().st_size))
        if len(files) > MAX_FILES:
            raise BadInput(
                f"{folder} holds more than {MAX_FILES:,} files.", hint="Publish a folder below it, or --packed."
            )
    return Contents(sorted(files, key=lambda file: file.path), sorted(left, key=lambda one: one.path))


def _walk(folder: Path, prefix: str, left: list[LeftOut]) -> Iterator[tuple["os.DirEntry[str]", str]]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = f"{prefix}{entry.name}"
        if not entry.is_dir(follow_symlinks=False):
            yield entry, path
        elif entry.name.casefold() in _TOOLS or entry.name.endswith(".egg-info"):
            left.append(LeftOut(f"{path}/", "a folder that a tool keeps for itself"))
        else:
            yield from _walk(folder / entry.name, f"{path}/", left)


def _reason(entry: "os.DirEntry[str]", path: str, include: Sequence[str]) -> str | None:
    name = entry.name.casefold()
    if entry.is_symlink():
        return "a link"
    if not entry.is_file(follow_symlinks=False):
        return "no regular file"
    if any(0xD800 <= ord(char) <= 0xDFFF or ord(char) < 32 for char in path):
        return "its name is not plain text"
    if name in _TOOLS or any(fnmatchcase(name, pattern) for pattern in _LITTER):
        return "a file that a tool keeps for itself"
    if any(path == one or fnmatchcase(path, one) for one in include):
        return None
    if name not in _HARMLESS and any(fnmatchcase(name, pattern) for pattern in _SECRETS):
        return "its name is that of a secret"
    return "it holds what looks like a key" if _holds_key(Path(entry.path)) else None


def _holds_key(place: Path) -> bool:
    with place.open("rb") as source:
        return _KEY.search(source.read(_LOOKED_AT)) is not None


def blob_of(file: Path | bytes) -> str:
    """The git blob id of a file's bytes."""
    size = len(file) if isinstance(file, bytes) else file.stat().st_size
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for piece in _pieces(file):
        digest.update(piece)
    return digest.hexdigest()


def sha256_of(file: Path | bytes) -> str:
    digest = hashlib.sha256()
    for piece in _pieces(file):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(file: Path | bytes) -> Iterator[bytes]:
    if isinstance(file, bytes):
        yield file
        return
    with file.open("rb") as source:
        while piece := source.read(_CHUNK):
            yield piece
