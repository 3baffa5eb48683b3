"""Where the tasks of a repository are: every folder that holds a `task.toml`, wherever it lies.

Harbor's own discovery looks one level below a path it is given. Here any layout counts: `tasks/<task>`,
`tasks/<group>/../<task>`, `<task>` at the root, `<benchmark>/tasks/<task>`, a repository that is one task, any mix.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from rlx.errors import BadInput
from rlx.hub.info import TreeEntry
from rlx.hub.tree import Marks
from rlx.ids import ROOT_REF, check_ref

SETTINGS = "task.toml"
MAX_DEPTH = 8
"""Folders between the repository's root and a task."""

_PARTS = ("instruction.md", "environment/", "tests/", "solution/", "steps/")
"""What makes a folder with a `task.toml` a task rather than settings shared by the folders below it."""
MARKS = Marks((SETTINGS,), _PARTS, MAX_DEPTH)
_TELLING = ("instruction.md", "tests/test.sh", "tests/test.bat", "environment/Dockerfile")


@dataclass(frozen=True, slots=True)
class Place:
    """A task folder in a listing."""

    ref: str
    root: str
    """Repository path; empty when the repository is the task."""
    group: str
    """Folders between the dataset's common root and the task; empty when there are none."""
    files: tuple[TreeEntry, ...]
    """What is known below the root, in the listing's order: files, and folders that hold more than is known."""

    @property
    def name(self) -> str:
        return self.root.rpartition("/")[2]

    def relative(self, path: str) -> str:
        """A repository path as the task knows it."""
        return path[len(self.root) + 1 :] if self.root else path

    def absolute(self, path: str) -> str:
        """A task-relative path as the repository knows it."""
        return f"{self.root}/{path}" if self.root else path


def task_roots(paths: Iterable[str]) -> tuple[str, ...]:
    """Folders that are tasks, sorted. A task inside a task (a fixture of its environment or tests) is not one."""
    known = list(paths)
    roots = {root for path in known if (root := _root(path)) is not None and _addressable(root)}
    if not roots:
        return ()
    tasks = roots - _hollow(roots, known)
    return tuple(sorted(root for root in tasks if not any(up in tasks for up in _above(root))))


def are_harbor(roots: Iterable[str], paths: Collection[str]) -> bool:
    """Whether a task among `roots` has a part that only Harbor's have: other tools keep a `task.toml` too."""
    return any((f"{root}/{part}" if root else part) in paths for root in roots for part in _TELLING)


def places(tree: Mapping[str, TreeEntry]) -> tuple[Place, ...]:
    """The tasks of a listing, each with its files and its group."""
    roots = task_roots(tree)
    files: dict[str, list[TreeEntry]] = {root: [] for root in roots}
    for path, entry in tree.items():
        owner = next((up for up in _above(path.rstrip("/")) if up in files), None)
        if owner is not None:
            files[owner].append(entry)
    common = common_root(roots)
    return tuple(Place(root or ROOT_REF, root, group_of(root, common), tuple(files[root])) for root in roots)


def common_root(roots: Iterable[str]) -> str:
    """The deepest folder that holds every task."""
    parents = [root.rpartition("/")[0] for root in roots]
    if not parents or "" in parents:
        return ""
    return os.path.commonpath(parents)


def group_of(root: str, common: str) -> str:
    """The folders between `common` and the task; a trailing `tasks`, which says nothing, is left off."""
    inner = root.rpartition("/")[0].removeprefix(common).strip("/")
    return "" if inner == "tasks" else inner.removesuffix("/tasks")


def _root(path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    if name != SETTINGS or folder.count("/") >= MAX_DEPTH:
        return None
    return None if any(part.startswith(".") or not part for part in folder.split("/") if folder) else folder


def _addressable(root: str) -> bool:
    """Whether a page could be asked for: names with control characters cannot."""
    try:
        return check_ref(root) is not None
    except BadInput:
        return False


def _above(path: str) -> Iterable[str]:
    """The folders around a path, nearest first, ending with the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _hollow(roots: set[str], paths: list[str]) -> set[str]:
    """Roots around other roots that have no part of a task: settings shared by the folders below."""
    hollow = {up for root in roots for up in _above(root) if up in roots}
    for path in paths if hollow else ():
        for up in _above(path):
            if up in hollow and path[len(up) :].lstrip("/").startswith(_PARTS):
                hollow.discard(up)
    return hollow
