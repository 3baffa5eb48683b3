"""A flat list of files as the folders it spans."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rlx.model import FileEntry

_MAX_DEPTH = 16
"""Folders deeper than this are one name, so that hostile paths cannot nest a page without end."""


@dataclass(slots=True)
class Node:
    """A folder or file by its last name; `entry` is None for a folder that only its files tell of."""

    name: str
    path: str
    entry: FileEntry | None = None
    children: "dict[str, Node]" = field(default_factory=dict)

    @property
    def is_dir(self) -> bool:
        return bool(self.children) or (self.entry is not None and self.entry.is_dir)

    @property
    def nodes(self) -> "list[Node]":
        """Folders first, each kind by name."""
        return sorted(self.children.values(), key=lambda node: (not node.is_dir, node.name))


def tree(entries: Iterable[FileEntry], folder: str = "") -> list[Node]:
    """The top of the tree below `folder`."""
    root = Node("", folder)
    start = f"{folder}/" if folder else ""
    for entry in entries:
        node = root
        inner = entry.path.removeprefix(start).strip("/")
        names = inner.split("/", _MAX_DEPTH)
        for depth, name in enumerate(names):
            path = start + "/".join(names[: depth + 1])
            node = node.children.setdefault(name, Node(name, path))
        node.entry = entry
    return root.nodes
