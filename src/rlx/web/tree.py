"""Files as the folders they span: a flat list as a tree, and the way down to one file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rlx.model import FileEntry, Listing

_MAX_DEPTH = 16
"""Folders deeper than this are one name, so that hostile paths cannot nest a page without end."""
SIDE_ENTRIES = 200
"""Entries of one folder beside a file; the folder's own page has the rest."""
SIDE_DEPTH = 4
"""Folders that are open beside a file, so that a narrow column still holds names."""


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


@dataclass(frozen=True, slots=True)
class Branch:
    """A folder with the entries that are shown of it; one of them may be open."""

    path: str
    entries: tuple[FileEntry, ...]
    left_off: int | None
    """None: not known how many."""
    inner: "Branch | None" = None
    """The next folder on the way down."""


def branch(listing: Listing, inner: Branch | None = None, here: str | None = None) -> Branch:
    """A folder as it stands beside a file; the entry `here` is among those shown."""
    shown = listing.entries[:SIDE_ENTRIES]
    if here is not None and len(shown) != listing.total and here not in {entry.path for entry in shown}:
        shown = (*shown, FileEntry(here, 0, is_dir=inner is not None))
    left_off = None if listing.total is None else listing.total - len(shown)
    return Branch(listing.path, shown, left_off, inner)


def way_down(listings: Mapping[str, Listing], path: str) -> Branch | None:
    """The folders above the file at `path`, each within the one before; None when not even the first was listed."""
    found: Branch | None = None
    for folder in reversed(folders_above(path)):
        listing = listings.get(folder)
        found = branch(listing, found, found.path if found is not None else path) if listing is not None else None
    return found


def folders_above(path: str) -> list[str]:
    """The innermost `SIDE_DEPTH` folders above a file, the outermost first: "", `a` and `a/b` for `a/b/c`."""
    parts = path.split("/")[:-1]
    folders = ["", *("/".join(parts[: depth + 1]) for depth in range(len(parts)))]
    return folders[-SIDE_DEPTH:]
