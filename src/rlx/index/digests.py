"""What tells a changed task from an unchanged one between revisions, without its files."""

import hashlib
from collections.abc import Iterable, Sequence

from rlx.hub.tree import Tree
from rlx.index.records import TaskPlan


def digests(plans: Sequence[TaskPlan], tree: Tree) -> list[str]:
    """Of each task git's own id of its folder, which a listing and a walk tell alike; else one of its files' ids.

    Empty where not even those are all known. The first letter says which it is: only equal ones can be compared.
    """
    top = _top(tree)
    return [
        _of_folder(tree.folders.get(plan.root, "") if plan.root else top) or _of_files(plan, whole=tree.is_whole)
        for plan in plans
    ]


def comparable(old: str, new: str) -> bool:
    """Whether two digests tell if a task changed."""
    return bool(old and new) and old[0] == new[0]


def _of_folder(oid: str) -> str:
    return f"t{oid}" if oid else ""


def _of_files(plan: TaskPlan, *, whole: bool) -> str:
    if not whole:
        return ""
    skip = len(plan.root)
    return "f" + _hashed(f"{entry.path[skip:]}\0{entry.oid or entry.size}" for entry in plan.files)


def _top(tree: Tree) -> str:
    """In the place of the id of the top folder, which no listing tells: of what lies in it."""
    inside = {path: oid for path, oid in tree.folders.items() if path and "/" not in path}
    inside |= {path: entry.oid for path, entry in tree.files.items() if "/" not in path}
    if "" in tree.unlisted or not all(inside.values()):
        return ""
    return _hashed(f"{path}\0{oid}" for path, oid in sorted(inside.items()))


def _hashed(lines: Iterable[str]) -> str:
    text = "".join(f"{line}\n" for line in lines)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
