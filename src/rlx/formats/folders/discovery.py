"""Where the tasks of a repository are that has no `task.toml`: folders of one make, side by side.

One folder with a prompt and a test may be anything. Two of the same make that most of their neighbours are like are
tasks; so is a repository whose top holds the settings of a Terminal-Bench task.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rlx.answers import keys
from rlx.errors import BadInput
from rlx.formats.folders.parts import SETTINGS, Parts, is_prompt, read_parts
from rlx.formats.harbor.discovery import SETTINGS as HARBOR
from rlx.formats.rows.layout import is_table
from rlx.hub.info import TreeEntry
from rlx.hub.tree import Marks
from rlx.ids import check_ref

MAX_DEPTH: Final = 8
"""Folders between the repository's root and a task."""
LEAST: Final = 2
"""Folders of one make at one depth."""
SHARE: Final = 0.6
"""Part of the folders beside a task that must be tasks too."""
MARKS: Final = Marks((SETTINGS[0],), ("run-tests.sh", "solution.sh", "tests/", "docker-compose.yaml"), MAX_DEPTH)
"""Of a repository too big to list only Terminal-Bench's are found: other makes are told by their neighbours."""

_INNER = keys.names("solution solutions tests test fixtures answers expected nodemodules vendor environment pycache")
"""Folders in which no tasks are: they are parts of one, or somebody else's."""
_NO_TASK = _INNER | keys.names("docs doc scripts src lib assets images utils tools templates results outputs docker")
"""Folders that are no tasks and do not count among a task's neighbours."""


@dataclass(frozen=True, slots=True)
class Place:
    """A task folder in a listing."""

    root: str
    """Repository path; empty when the repository is the task."""
    parts: Parts
    files: tuple[TreeEntry, ...]
    """All that are known below the root, in the listing's order."""


def places(tree: Mapping[str, TreeEntry]) -> tuple[Place, ...]:
    """The tasks of a listing, sorted by root. None lies in another, in one of Harbor's, or around one."""
    is_whole = not any(path.endswith("/") for path in tree)
    harbor = {path.rpartition("/")[0] for path in tree if path.rpartition("/")[2] == HARBOR}
    around = {up for root in harbor for up in (root, *_above(root))}
    marked = {root for path in tree if (root := _root(path)) is not None}
    files = _below(tree, {root for root in marked - around if harbor.isdisjoint(_above(root))})
    found: dict[str, Parts] = {}
    for root, inside in files.items():
        skip = len(root) + 1 if root else 0
        parts = read_parts([path[skip:] for path in inside])
        if parts is not None and (is_whole or parts.rule == "settings") and _is_addressable(root):
            found[root] = parts
    roots = _outermost(_accepted(found, tree), found)
    return tuple(Place(root, found[root], tuple(tree[path] for path in files[root])) for root in sorted(roots))


def are_main(found: Iterable[Place], tree: Mapping[str, TreeEntry], card: Mapping[str, object]) -> bool:
    """Whether the folders are what the repository is about, rather than a few beside its rows."""
    roots = {place.root for place in found}
    tables = [path for path in tree if is_table(path) and roots.isdisjoint(_above(path))]
    rows = [path for path in tables if not path.lower().endswith(".json")]
    if not rows:
        return not (card.get("configs") and tables)
    inside = sum(entry.size for place in found for entry in place.files)
    return not card.get("configs") and len(roots) >= 3 * len(rows) and inside >= sum(tree[path].size for path in rows)


def _root(path: str) -> str | None:
    """The folder that a path marks as worth a look, or None."""
    folder, _, file = path.rpartition("/")
    root, file = (folder[: -len("/.docs")], f".docs/{file}") if folder.endswith("/.docs") else (folder, file)
    if not is_prompt(file) or (not root and file not in SETTINGS) or root.count("/") >= MAX_DEPTH:
        return None
    parts = root.split("/") if root else []
    names = [keys.flat(part) for part in parts]
    if any(part.startswith(".") or not part for part in parts) or not _INNER.isdisjoint(names):
        return None
    return None if names and names[-1] in _NO_TASK else root


def _below(tree: Mapping[str, TreeEntry], roots: set[str]) -> dict[str, list[str]]:
    """Paths of the listing by the roots around them."""
    found: dict[str, list[str]] = {root: [] for root in roots}
    for path in tree:
        for up in _above(path.rstrip("/")):
            if up in found:
                found[up].append(path)
    return found


def _accepted(found: Mapping[str, Parts], tree: Mapping[str, TreeEntry]) -> set[str]:
    """Roots that enough of their neighbours are like, of a make that occurs more than once at their depth."""
    inner: defaultdict[str, set[str]] = defaultdict(set)
    parents = {root.rpartition("/")[0] for root in found if root}
    for path in tree:
        folder = path.rstrip("/") if path.endswith("/") else path.rpartition("/")[0]
        while folder:
            parent = folder.rpartition("/")[0]
            if parent in parents:
                inner[parent].add(folder)
            folder = parent
    tasks = Counter(root.rpartition("/")[0] for root in found if root)
    full = {up for up, n in tasks.items() if n >= SHARE * sum(map(_is_neighbour, inner[up]))}
    likely = {root for root in found if root and root.rpartition("/")[0] in full}
    makes = Counter((found[root].make, root.count("/")) for root in likely)
    kept = {root for root in likely if makes[found[root].make, root.count("/")] >= LEAST}
    return kept | ({""} if "" in found and found[""].rule == "settings" else set())


def _outermost(roots: set[str], found: Mapping[str, Parts]) -> set[str]:
    """Without tasks inside tasks; a README around several tasks tells of them and is none."""
    around = Counter(up for root in roots for up in _above(root) if up in roots)
    tasks = {root for root in roots if not (found[root].rule == "readme" and around[root] >= LEAST)}
    return {root for root in tasks if not any(up in tasks for up in _above(root))}


def _is_neighbour(folder: str) -> bool:
    name = folder.rpartition("/")[2]
    return not name.startswith((".", "_")) and keys.flat(name) not in _NO_TASK


def _is_addressable(root: str) -> bool:
    """Whether a page could be asked for: names with control characters cannot."""
    try:
        return check_ref(root or ".") is not None
    except BadInput:
        return False


def _above(path: str) -> Iterator[str]:
    """The folders around a path, nearest first, ending with the top."""
    while path:
        path = path.rpartition("/")[0]
        yield path
