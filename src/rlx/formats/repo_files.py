"""The files of a repository as a reader may see them: folders, masked texts, media; answers withheld."""

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from rlx.answers import Masked, Policy, file_verdict
from rlx.errors import NotFound
from rlx.formats.reading import read_file
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.hub.tree import Folder, folder_children
from rlx.model import Blob, FileEntry, Listing
from rlx.texts import Say

MAX_ENTRIES = 1000
"""Entries of one folder that are listed at a time; `Listing.total` tells how many there are."""


class RepoFiles:
    """Files below the repository; `roots` are the folders that are tasks, which have rules of their own.

    `policy_of` tells the policy of the rows of a file, where it is known what reads them.
    """

    def __init__(
        self,
        repo: Repo,
        roots: Iterable[str] = (),
        policy_of: Callable[[str], Awaitable[Policy | None]] | None = None,
    ) -> None:
        self._policy_of = policy_of
        self._repo = repo
        self._roots = frozenset(roots)

    async def open(self, path: str, offset: int = 0) -> Listing | Blob:
        """A file, or a folder's entries from `offset`.

        Raises `NotFound`, and `Forbidden` with the reason for a withheld file.
        """
        name = path.strip("/")
        found = await self._repo.look(name)
        if isinstance(found, TreeEntry) and name == path:
            return await self._file(found)
        if not isinstance(found, Folder):
            raise NotFound(f"No file or folder {path[:200]!r} in {self._repo.key}.")
        children: list[TreeEntry | str] = [*found.folders, *found.files]
        total = len(children) if found.is_whole else None
        return _part(name, [self._entry(child) for child in _slice(children, offset)], len(children), total, offset)

    def _entry(self, child: TreeEntry | str) -> FileEntry:
        if isinstance(child, TreeEntry):
            return FileEntry(child.path, child.size, withheld=self._reason(child.path))
        # A task's own folder is no file of its root, whose strays are withheld.
        return FileEntry(child, 0, is_dir=True, withheld=None if child in self._roots else self._reason(f"{child}/x"))

    def _reason(self, path: str) -> Say | None:
        root = self._root(path)
        verdict = file_verdict(_below(path, root), task_root=root)
        return verdict.reason if verdict.kind == "withhold" else None

    async def _file(self, entry: TreeEntry) -> Blob:
        root = self._root(entry.path)
        besides = None if self._policy_of is None else await self._policy_of(entry.path)
        return await read_file(self._repo, entry, _below(entry.path, root), root, besides)

    def _root(self, path: str) -> str | None:
        """The innermost task that holds `path`, or None."""
        parts = path.split("/")
        for depth in range(len(parts) - 1, -1, -1):
            root = "/".join(parts[:depth])
            if root in self._roots:
                return root
        return None


def folder_of(path: str, listed: Mapping[str, FileEntry], offset: int = 0) -> Listing:
    """The folder `path` of files that are already listed, in path order, from `offset`. Raises `NotFound`."""
    path = path.strip("/")
    folders, files = folder_children(listed, path)
    children = folders + files
    if path and not children:
        raise NotFound(f"No file or folder {path[:200]!r} in this task.")
    paths = list(listed)
    shown = [listed.get(child) or _listed_folder(child, paths, listed) for child in _slice(children, offset)]
    return _part(path, shown, len(children), len(children), offset)


def _listed_folder(path: str, paths: Sequence[str], listed: Mapping[str, FileEntry]) -> FileEntry:
    """A folder, withheld when every file in it is. `paths` are those of `listed`."""
    inside = paths[bisect_left(paths, f"{path}/") : bisect_left(paths, f"{path}0")]  # "0" is the character after "/"
    reasons = [listed[name].withheld for name in inside]
    return FileEntry(path, 0, is_dir=True, withheld=None if None in reasons else reasons[0])


def _slice[T](children: Sequence[T], offset: int) -> Sequence[T]:
    return children[offset : offset + MAX_ENTRIES]


def _part(path: str, entries: Iterable[FileEntry], listed: int, total: int | None, offset: int) -> Listing:
    shown = tuple(entries)
    return Listing(path, shown, total, listed > offset + len(shown), offset)


def packed_blob(entry: FileEntry, masked: Masked) -> Blob:
    """A file whose text an index already holds."""
    return Blob(
        entry.path, entry.size, masked.text, media_type="text/plain", masked=masked.masked, withheld=masked.withheld
    )


def relative_to(root: str, found: Listing | Blob) -> Listing | Blob:
    """The same, its paths counted from the task at `root`."""
    if not root:
        return found
    path = found.path[len(root) + 1 :]
    if isinstance(found, Blob):
        return replace(found, path=path)
    return replace(found, path=path, entries=tuple(replace(e, path=e.path[len(root) + 1 :]) for e in found.entries))


def _below(path: str, root: str | None) -> str:
    return path[len(root) + 1 :] if root else path
