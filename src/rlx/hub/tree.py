"""What is known of the files of a repository: all of them, or those that a walk came across."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rlx.hub.info import FolderEntry, TreeEntry


@dataclass(frozen=True, slots=True)
class Marks:
    """How a folder that is a task is told by the names in it. The formats say them."""

    names: tuple[str, ...] = ()
    """Files of which a task's folder holds one."""
    parts: tuple[str, ...] = ()
    """What else a task holds, the commonest first, a folder's name with a slash at its end. A marked folder without
    any may stand around tasks."""
    depth: int = 0
    """Folders down to which tasks are searched."""


def together(marks: Iterable[Marks]) -> Marks:
    """What any of them marks."""
    known = list(marks)
    return Marks(
        tuple(dict.fromkeys(name for item in known for name in item.names)),
        tuple(dict.fromkeys(part for item in known for part in item.parts)),
        max((item.depth for item in known), default=0),
    )


@dataclass(frozen=True, slots=True)
class Tree:
    """Known files and folders by path, sorted."""

    files: Mapping[str, TreeEntry]
    folders: Mapping[str, str]
    """Each with its git tree id, which changes with anything below it; empty where that was not told."""
    unlisted: frozenset[str] = frozenset()
    """Folders that may hold more than is known; the top is the empty path. None when the listing is whole."""
    unsearched: int = 0
    """Folders that would have been searched for tasks, had a walk not reached its bounds."""

    @property
    def is_whole(self) -> bool:
        return not self.unlisted

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        """The files and, with a slash at the end of its path, each folder that holds more than is known."""
        if self.is_whole:
            return self.files
        folders = (FolderEntry(path, self.folders[path]) for path in self.unlisted if path)
        return as_entries([*self.files.values(), *folders])


@dataclass(frozen=True, slots=True)
class Folder:
    """What lies directly in a folder."""

    path: str
    folders: tuple[str, ...]
    files: tuple[TreeEntry, ...]
    is_whole: bool = True
    """False: it holds more than is listed here."""


@dataclass(slots=True)
class Listed:
    """Entries of a recursive listing as they come; what they tell when it is given up half-way."""

    files: dict[str, TreeEntry] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    _last: str = ""
    _in_order: bool = True

    def add(self, entry: TreeEntry | FolderEntry) -> None:
        if isinstance(entry, FolderEntry):
            self.folders[entry.path] = entry.oid
            return
        self._in_order = self._in_order and entry.path > self._last
        self._last = entry.path
        self.files[entry.path] = entry

    def is_past(self, folder: str) -> bool:
        """Whether all files below `folder` have come: those of git come in the order of their paths."""
        return self._in_order and self._last > f"{folder}/" and not self._last.startswith(f"{folder}/")

    def tree(self) -> Tree:
        """When nothing is to come."""
        return Tree(dict(sorted(self.files.items())), self.folders)


def as_entries(found: Iterable[TreeEntry | FolderEntry]) -> dict[str, TreeEntry]:
    """By path, sorted; a folder's path has a slash at its end."""
    entries = {
        entry.path: entry
        for entry in (
            TreeEntry(f"{item.path}/", 0, item.oid) if isinstance(item, FolderEntry) else item for item in found
        )
    }
    return dict(sorted(entries.items()))


def below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def folder_children(tree: Mapping[str, object], folder: str) -> tuple[list[str], list[str]]:
    """Paths of the folders and of the files directly in `folder`. `tree` is in path order."""
    prefix = f"{folder}/" if folder else ""
    paths = list(tree)
    folders: list[str] = []
    files: list[str] = []
    place = bisect_left(paths, prefix)
    while place < len(paths) and paths[place].startswith(prefix):
        head, slash, _ = paths[place][len(prefix) :].partition("/")
        if slash:
            folders.append(prefix + head)
            place = bisect_left(paths, f"{prefix}{head}0", place)  # "0" is the character after "/"
        else:
            files.append(paths[place])
            place += 1
    return folders, files
