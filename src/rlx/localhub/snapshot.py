"""One revision of a repository: its files, folders and commit id. Immutable; what is derived is computed once."""

import bisect
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from rlx.localhub.cards import EMPTY, Card
from rlx.localhub.files import File, lfs_pointer

_LAST_MS = 253_402_300_799_000
"""End of the year 9999: file times can lie beyond what a date can say."""


def iso(millis: int) -> str:
    """A time as the Hub writes it."""
    moment = datetime.fromtimestamp(millis / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class CommitInfo:
    id: str
    title: str
    message: str
    author: str
    made_ms: int


class Snapshot:
    """The files of a repository at one commit.

    `sha` is that of `made`; without one it hashes the sorted pairs of path and git blob id.
    """

    def __init__(self, files: Iterable[File], made: CommitInfo | None = None, *, created_ms: int | None = None) -> None:
        self.files: dict[str, File] = {file.path: file for file in sorted(files, key=lambda file: file.path)}
        listed = "".join(f"{path}\0{file.oid}\n" for path, file in self.files.items())
        self.tree = hashlib.sha1(listed.encode(), usedforsecurity=False).hexdigest()
        self.sha = made.id if made else self.tree
        times = [file.stamp.mtime_ns // 1_000_000 for file in self.files.values()] or [0]
        self.modified_ms = min(max(*times, 0), _LAST_MS) if made is None else made.made_ms
        self.created_ms = min(max(min(times), 0), _LAST_MS) if created_ms is None else created_ms
        self._title = made.title if made else "Update files"
        self.card: Card = EMPTY

    @cached_property
    def size(self) -> int:
        return sum(file.size for file in self.files.values())

    @cached_property
    def folders(self) -> dict[str, tuple[str, ...]]:
        """Folder path to the sorted paths of what is directly in it. The top is the empty path."""
        children: dict[str, set[str]] = {"": set()}
        for path in self.files:
            child = path
            while True:
                parent, slash, _ = child.rpartition("/")
                known = children.setdefault(parent, set())
                if child in known:
                    break
                known.add(child)
                if not slash:
                    break
                child = parent
        return {folder: tuple(sorted(inside)) for folder, inside in children.items()}

    @cached_property
    def folder_oids(self) -> dict[str, str]:
        """A tree id for each folder, which changes when anything below it does."""
        oids: dict[str, str] = {}
        for folder in sorted(self.folders, key=lambda path: path.count("/") if path else -1, reverse=True):
            inside = "".join(
                f"{path}\0{self.files[path].oid if path in self.files else oids[path]}\n"
                for path in self.folders[folder]
            )
            oids[folder] = hashlib.sha1(inside.encode(), usedforsecurity=False).hexdigest()
        return oids

    @cached_property
    def _everything(self) -> list[str]:
        return sorted([*self.files, *filter(None, self.folders)])

    def below(self, folder: str, *, recursive: bool, after: str = "") -> tuple[list[str], int]:
        """Sorted paths in `folder` (all levels when `recursive`), and the position of the first one past `after`."""
        if recursive:
            low = bisect.bisect_left(self._everything, f"{folder}/") if folder else 0
            # "0" is the character after "/": everything below the folder sorts before it.
            high = bisect.bisect_left(self._everything, f"{folder}0") if folder else len(self._everything)
            paths = self._everything[low:high]
        else:
            paths = list(self.folders[folder])
        return paths, bisect.bisect_right(paths, after)

    @property
    def commit(self) -> dict[str, str]:
        """The commit as tree entries name it."""
        return {"id": self.sha, "title": self._title, "date": iso(self.modified_ms)}

    def entry(self, path: str, *, expand: bool = False) -> dict[str, object] | None:
        """A tree entry of a file or folder; None when there is no such path."""
        file = self.files.get(path)
        told: dict[str, object]
        if file is not None:
            told = {"type": "file", "oid": file.oid, "size": file.size, "path": path}
            if file.sha256 is not None:
                told["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": pointer_size(file)}
        elif path and path in self.folders:
            told = {"type": "directory", "oid": self.folder_oids[path], "size": 0, "path": path}
        else:
            return None
        if expand:
            told["lastCommit"] = self.commit
        return told

    def siblings(self, *, blobs: bool) -> list[dict[str, object]]:
        """The files as repository info lists them."""
        return [_sibling(file) if blobs else {"rfilename": file.path} for file in self.files.values()]


def pointer_size(file: File) -> int:
    return len(lfs_pointer(file.sha256 or "", file.size))


def _sibling(file: File) -> dict[str, object]:
    told: dict[str, object] = {"rfilename": file.path, "blobId": file.oid, "size": file.size}
    if file.sha256 is not None:
        told["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": pointer_size(file)}
    return told
