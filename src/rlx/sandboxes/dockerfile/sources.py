"""Sources of COPY, ADD and bind mounts, looked up in a context or in the files of a finished stage. Pure."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlx.sandboxes.dockerfile.context import Entry, Tree, rooted
from rlx.sandboxes.dockerfile.patterns import Glob, Ignore, has_wildcards, split_wildcards
from rlx.sandboxes.dockerfile.refusals import Refused
from rlx.sandboxes.dockerfile.steps import Item


@dataclass(frozen=True, slots=True)
class Picked:
    items: tuple[Item, ...]
    folder: bool
    """A source is a folder, so that the destination is one."""
    direct: tuple[str, ...]
    """Names of files that are sources themselves, not parts of one."""
    empty: tuple[str, ...]
    """Patterns that match nothing, which COPY allows."""


def pick(tree: Tree, patterns: Sequence[str], *, parents: bool = False, exclude: Sequence[str] = ()) -> Picked:
    """What the patterns stand for. Raises `Refused` for a path without wildcards that is not there.

    Links in the way are followed inside the tree; links inside of copied folders stay links.
    """
    left_out = Ignore(exclude)
    items: dict[str, Item] = {}
    folder = parents
    direct: list[str] = []
    empty: list[str] = []
    for pattern in patterns:
        found = tuple(_with_parents(tree, pattern) if parents else _matched(tree, pattern))
        if not found:
            empty.append(pattern)
        for path in found:
            name = _take(tree, path, items, left_out, _pivot(pattern) if parents else None)
            if name is None:
                folder = True
            else:
                direct.append(name)
    return Picked(tuple(items.values()), folder, tuple(direct), tuple(empty))


def _matched(tree: Tree, pattern: str) -> Iterator[str]:
    path = rooted(pattern)
    above, wild = split_wildcards(path)
    if not wild:
        if tree.follow(path) is None:
            raise Refused("syntax", "copy.missing", path=pattern)
        yield path
        return
    top = tree.follow(above)
    if top is None:
        return
    glob = Glob(wild)
    done = ""
    for below in tree.walk(top):
        tree.budget.spend(1)
        name = below[len(top) + 1 :] if top else below
        # Only a class may stand for a slash.
        if (done and below.startswith(done)) or ("[" not in wild and name.count("/") != wild.count("/")):
            continue
        tree.budget.spend(len(name))
        if glob.matches(name):
            yield below
            entry = tree.get(below)
            done = f"{below}/" if entry and entry.kind == "folder" else ""


def _pivot(pattern: str) -> str:
    """With `--parents`, the folder from which on parents are kept: what stands before `/./`."""
    before, found, _ = pattern.partition("/./")
    return rooted(before) if found else ""


def _with_parents(tree: Tree, pattern: str) -> Iterator[str]:
    top = _pivot(pattern)
    below = rooted(pattern.partition("/./")[2] if "/./" in pattern else pattern)
    if not has_wildcards(below):
        if tree.get(posixpath.join(top, below)) is None:
            raise Refused("syntax", "copy.missing", path=pattern)
        yield posixpath.join(top, below)
        return
    rule = Ignore([f"/{below}"])
    for path in tree.walk(top):
        if rule.leaves_out(path[len(top) + 1 :] if top else path):
            yield path


def _take(tree: Tree, path: str, items: dict[str, Item], left_out: Ignore, pivot: str | None) -> str | None:
    """Adds a file and returns its name, or a folder's content. What has a name already is replaced, as on a disk."""
    where = path if pivot is not None else tree.follow(path)
    entry = None if where is None else tree.get(where)
    if where is None or entry is None:
        raise Refused("syntax", "copy.missing", path=path)
    if pivot is not None:
        name = path[len(pivot) + 1 :] if pivot else path
        _put(items, Item(where, name, entry), left_out)
        for below in tree.walk(where):
            _put(items, Item(below, name + below[len(where) :], _entry(tree, below)), left_out)
        return None
    if entry.kind != "folder":
        name = posixpath.basename(path)
        if left_out.leaves_out(name):
            raise Refused("unsupported", "copy.exclude", path=path)
        _put(items, Item(where, name, entry), left_out)
        return name
    items.setdefault("", Item(where, "", entry))
    for below in tree.walk(where):
        _put(items, Item(below, below[len(where) + 1 :] if where else below, _entry(tree, below)), left_out)
    return None


def _put(items: dict[str, Item], item: Item, left_out: Ignore) -> None:
    if left_out.leaves_out(item.name):
        return
    before = items.get(item.name)
    if before and (before.entry.kind == "folder") != (item.entry.kind == "folder"):
        raise Refused("unsupported", "copy.clash", path=item.name)
    items[item.name] = item


def _entry(tree: Tree, path: str) -> Entry:
    return tree.get(path) or Entry("folder", 0o755)
