"""Where the tasks of several archives come to lie beside each other: their refs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rlx.formats.harbor.dataset import MANIFEST, REGISTRY
from rlx.formats.harbor.discovery import task_roots
from rlx.formats.packed.archive import stem
from rlx.formats.packed.budget import Member
from rlx.texts import Say


@dataclass(frozen=True, slots=True)
class Lying:
    """A member of an archive and where it comes to lie."""

    path: str
    archive: str
    member: Member


@dataclass(frozen=True, slots=True)
class Layout:
    files: Mapping[str, Lying]
    """By path, sorted."""
    places: Mapping[str, str]
    """By archive that holds tasks the folder below which it lies; empty for the top."""
    parents: tuple[str, ...]
    """Folders right above tasks."""
    refused: tuple[tuple[str, Say], ...]
    """Tasks that hold what cannot be had, and why."""


def lay_out(archives: Mapping[str, tuple[Member, ...]]) -> Layout:
    """Every task as its archive has it: `tasks/<task>`.

    One at the top of its archive is called by the archive's name. Archives that hold tasks of one name, or tasks inside
    each other's, are told apart by the archive's path before it.
    """
    roots = {path: task_roots(member.path for member in found) for path, found in archives.items()}
    shared: frozenset[str] = frozenset()
    while more := _clashing({path: _placed(path, of, path in shared) for path, of in roots.items()}) - shared:
        shared |= more  # where these come to lie then, others may already
    files: dict[str, Lying] = {}
    places: dict[str, str] = {}
    parents: set[str] = set()
    refused: list[tuple[str, Say]] = []
    for path, found in sorted(archives.items()):
        inside = roots[path]
        known = frozenset(inside)
        prefix = _prefix(path, inside, path in shared)
        if inside:
            places[path] = prefix
            parents |= {root.rpartition("/")[0] for root in _placed(path, inside, path in shared)}
        broken = {
            root: member.refused for member in found if member.refused for root in inside if _in(member.path, root)
        }
        refused += [(f"{path}: {root}" if root else path, why) for root, why in sorted(broken.items())]
        for member in found:
            root = _root(member.path, known)
            place = f"{prefix}/{member.path}" if prefix else member.path
            is_kept = root not in broken if root is not None else _is_manifest(member.path)
            if is_kept and member.refused is None:
                files.setdefault(place, Lying(place, path, member))
    return Layout(dict(sorted(files.items())), places, tuple(sorted(parents)), tuple(refused))


def _placed(archive: str, roots: Sequence[str], is_shared: bool) -> list[str]:
    """Where the tasks of an archive come to lie."""
    prefix = _prefix(archive, roots, is_shared)
    return [f"{prefix}/{root}".strip("/") for root in roots]


def _prefix(archive: str, roots: Sequence[str], is_shared: bool) -> str:
    if is_shared:
        return archive
    return (stem(archive) or archive) if "" in roots else ""


def _clashing(roots: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Archives that hold a task at, above or below the place of one of another archive."""
    owners: dict[str, set[str]] = {}
    for archive, found in roots.items():
        for root in found:
            owners.setdefault(root, set()).add(archive)
    clashing: set[str] = set()
    for root in owners:
        around = {archive for up in (root, *_above(root)) for archive in owners.get(up, ())}
        if len(around) > 1:
            clashing |= around
    return frozenset(clashing)


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _root(path: str, roots: frozenset[str]) -> str | None:
    """The task that holds the file at `path`."""
    if "" in roots:
        return ""
    return next((up for up in _above(path) if up in roots), None)


def _in(path: str, root: str) -> bool:
    return not root or path.startswith(f"{root}/")


def _is_manifest(path: str) -> bool:
    return path.rpartition("/")[2] in (MANIFEST, REGISTRY)
