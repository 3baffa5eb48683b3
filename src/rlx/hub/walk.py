"""Finds the tasks of a repository that is too big to list: level by level, asking which folders hold a task's files.

A folder that is a task is not listed, and nothing below it is searched; every other one is, down to a depth and within
a number of listings.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import aclosing

from rlx.errors import TooLarge
from rlx.hub.client import PATHS_A_CALL, HubClient, Token
from rlx.hub.info import FolderEntry, TreeEntry
from rlx.hub.parallel import each
from rlx.hub.tree import Listed, Marks, Tree, below
from rlx.ids import EnvKey

MAX_LISTED = 4000
"""Folders that one walk lists. More are no layout of tasks."""
AT_ONCE = 16
"""Calls at a time: a visitor's own still find a connection."""


class Walk:
    """One walk over one revision. `run` may be called again when it failed, and goes on where it was."""

    def __init__(
        self,
        client: HubClient,
        key: EnvKey,
        sha: str,
        *,
        token: Token,
        marks: Marks,
        max_files: int,
        given: Listed,
        max_listed: int = MAX_LISTED,
    ) -> None:
        """`given` is what a recursive listing told before it was given up; it is used up here."""
        self._client = client
        self._key = key
        self._sha = sha
        self._token = token
        self._marks = marks
        self._room = max_files
        self._left = max_listed
        self._files = given.files
        self._folders = given.folders
        for path in {up for file in self._files for up in _above(file)} - self._folders.keys():
            self._folders[path] = ""
        self._inner: dict[str, set[str]] = {}
        for path in self._folders:
            self._inner.setdefault(path.rpartition("/")[0], set()).add(path)
        self._listed = {path for path in self._folders if given.is_past(path)}
        self._asked: set[str] = set()
        self._unsearched = 0

    async def run(self, on_found: Callable[[int], None]) -> Tree:
        """What was found; `on_found` is told how much now and then. Raises what calls to the Hub raise."""
        self._on_found = on_found
        self._unsearched = 0
        await self._list([""])
        level = [""]
        for depth in range(self._marks.depth + 1):
            tasks = await self._tasks(level)
            inside = [folder for folder in level if folder not in tasks]
            if not inside or depth == self._marks.depth:
                break
            await self._list(inside)
            level = [child for folder in inside for child in sorted(self._inner.get(folder, ())) if _is_open(child)]
        unlisted = frozenset(self._folders.keys() - self._listed)
        whole = "" in self._listed
        return Tree(
            dict(sorted(self._files.items())),
            dict(self._folders) if whole else {"": "", **self._folders},
            unlisted if whole else unlisted | {""},
            self._unsearched,
        )

    async def _tasks(self, level: Sequence[str]) -> Collection[str]:
        """The folders of a level that are tasks: marked, and with some other part of one."""
        await self._look(below(folder, name) for folder in level if folder not in self._listed for name in self._names)
        marked = [folder for folder in level if any(below(folder, name) in self._files for name in self._names)]
        bare = marked
        for part in self._marks.parts:
            name = part.rstrip("/")
            await self._look(below(folder, name) for folder in bare if folder not in self._listed)
            bare = [folder for folder in bare if not self._has(below(folder, name), is_folder=part.endswith("/"))]
        return frozenset(marked) - frozenset(bare)

    @property
    def _names(self) -> Sequence[str]:
        return self._marks.names

    def _has(self, path: str, *, is_folder: bool) -> bool:
        return path in self._folders or (not is_folder and path in self._files)

    async def _look(self, paths: Iterable[str]) -> None:
        """Ask which of `paths` are there. What was asked before is not asked again."""
        wanted = [path for path in paths if path not in self._asked]
        calls = [wanted[start : start + PATHS_A_CALL] for start in range(0, len(wanted), PATHS_A_CALL)]

        async def ask(call: Sequence[str]) -> None:
            for entry in await self._client.paths_info(self._key, self._sha, call, token=self._token):
                self._add(entry)
            self._asked.update(call)
            self._tell()

        await each(calls, ask, at_once=self._at_once)

    async def _list(self, folders: Sequence[str]) -> None:
        """List those that are not, as many as the bounds leave."""
        wanted = [folder for folder in folders if folder not in self._listed]
        self._unsearched += max(0, len(wanted) - self._left)

        async def ask(folder: str) -> None:
            tree = self._client.tree(
                self._key,
                self._sha,
                token=self._token,
                folder=folder,
                recursive=False,
                limit=self._room // 2,  # one folder of very many files leaves room for the others
            )
            try:
                async with aclosing(tree) as entries:
                    async for entry in entries:
                        self._room = max(0, self._room - 1)
                        self._add(entry)
            except TooLarge:
                self._unsearched += 1
            else:
                self._listed.add(folder)
            self._left -= 1
            self._tell()

        await each(wanted[: self._left], ask, at_once=self._at_once)

    def _add(self, entry: TreeEntry | FolderEntry) -> None:
        if isinstance(entry, TreeEntry):
            self._files[entry.path] = entry
        elif entry.oid or entry.path not in self._folders:
            self._folders[entry.path] = entry.oid
            self._inner.setdefault(entry.path.rpartition("/")[0], set()).add(entry.path)

    def _tell(self) -> None:
        self._on_found(len(self._files) + len(self._folders))

    @property
    def _at_once(self) -> int:
        return min(AT_ONCE, self._client.connections)


def _is_open(folder: str) -> bool:
    """Whether tasks may lie in it: not in what tools keep for themselves."""
    return not folder.rpartition("/")[2].startswith(".")


def _above(path: str) -> Iterable[str]:
    """The folders around a path, nearest first, without the root."""
    while path := path.rpartition("/")[0]:
        yield path
