"""The splits of a repository: found once, their files read one after another as one table."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rlx.errors import NotFound, TooLarge
from rlx.formats.rows.layout import Layout, Split, layout
from rlx.formats.rows.opening import PATIENCE, RowFile, Rows
from rlx.formats.rows.sources.base import Row, Unreadable
from rlx.hub.parallel import each
from rlx.hub.repo import Repo
from rlx.texts import Say

_AT_ONCE = 8
_FAR = 2**60
"""A row that no file has: who asks for it waits for the end."""


@dataclass(frozen=True, slots=True)
class Found:
    """The splits of a repository, and where their files are: in itself, or in the branch the Hub converted it to."""

    layout: Layout
    repo: Repo

    async def open(self, split: Split) -> "SplitRows":
        """Raises `NotFound` when a file is not there any more, and what listing raises."""
        files = []
        for path in split.paths:
            entry = await self.repo.entry(path)
            if entry is None:
                raise NotFound(f"No file {path[:200]!r} in {self.repo.key}.")
            files.append(RowFile(self.repo, entry))
        return SplitRows(tuple(files))


async def find_splits(repo: Repo) -> Found:
    """Which tables a repository has. One too big to list is judged by the files that are known of it."""
    listing = await repo.listing()
    found = layout(repo.info.card, list(listing.files))
    if found.splits:
        return Found(found, repo)
    sha = await repo.client.converted(repo.key, token=repo.token)
    if sha is None:
        return Found(found, repo)
    branch = Repo(repo.client, replace(repo.info, sha=sha), repo.token, max_files=repo.max_files)
    try:
        paths = list(await branch.tree())
    except TooLarge:  # rows in so many pieces are left to the dataset viewer
        return Found(found, repo)
    return Found(layout(repo.info.card, (), paths), branch)


@dataclass(frozen=True, slots=True)
class Place:
    """One row of a split: in which file it is, and where."""

    path: str
    row: Row
    at: int
    """Its number in the file, from 0."""
    shape: str
    within: str


@dataclass(frozen=True, slots=True)
class SplitPage:
    """Rows of a split from `offset` on, not masked yet."""

    offset: int
    rows: tuple[Place, ...]
    columns: tuple[str, ...]
    """Those of the file that holds the first row."""
    count: int | None
    """Rows in all; None while a file's are unknown."""
    known: int
    """Rows that can be read: up to the end of what is known without a gap."""
    refused: tuple[tuple[str, Say], ...]
    """Files none of whose rows can be had, and why: they count as empty."""
    trouble: Say | None = None
    """Why the rest of some file will never be known."""


@dataclass(slots=True)
class SplitRows:
    """Files in their order. What is known of their lengths is remembered here."""

    files: tuple[RowFile, ...]
    _counts: dict[int, int] = field(default_factory=dict)
    _refused: dict[int, Say] = field(default_factory=dict)
    _trouble: Say | None = None

    async def page(
        self, offset: int, limit: int, *, columns: Sequence[str] | None = None, patience: float = PATIENCE
    ) -> SplitPage:
        """Rows from `offset`, from 0: at most `limit`, none past the end of what is known. Raises as `RowFile.page`,
        but for files that cannot be read, which are told in the answer."""
        found: list[Place] = []
        names: tuple[str, ...] = ()
        before = known = 0
        for number, file in enumerate(self.files):
            start, wanted = max(0, offset + len(found) - before), limit - len(found)
            if start < self._counts.get(number, start + 1):
                if wanted <= 0:
                    break
                page = await self._from(number, file, start, wanted, columns, patience)
                if page is not None:
                    names, known = names or page.columns, before + page.known
                    if page.offset == start:
                        found += _places(file, page)
            if number not in self._counts:  # where it ends is not known, so neither is where the next begins
                break
            before += self._counts[number]
        refused = tuple((self.files[number].entry.path, why) for number, why in sorted(self._refused.items()))
        total = self._length()
        reach = total if total is not None else max(before, known)
        return SplitPage(offset, tuple(found), names, total, reach, refused, self._trouble)

    async def count(self, *, patience: float = PATIENCE) -> int | None:
        """Rows in all, as far as that can be known now; files are looked at side by side."""

        async def look(number: int) -> None:
            await self._from(number, self.files[number], _FAR, 1, None, patience)

        unknown = [number for number in range(len(self.files)) if number not in self._counts]
        await each(unknown, look, at_once=_AT_ONCE)
        return self._length()

    async def _from(
        self, number: int, file: RowFile, start: int, limit: int, columns: Sequence[str] | None, patience: float
    ) -> Rows | None:
        """Rows of one file, whose length is learnt; None where it cannot be read."""
        try:
            page = await file.page(start, limit, columns=columns, patience=patience)
        except Unreadable as error:
            self._refused[number], self._counts[number] = error.reason, 0
            return None
        if page.trouble is not None:
            self._trouble = page.trouble
            self._counts[number] = page.known
        elif page.count is not None:
            self._counts[number] = page.count
        return page

    def _length(self) -> int | None:
        return sum(self._counts.values()) if len(self._counts) == len(self.files) else None


def _places(file: RowFile, page: Rows) -> list[Place]:
    path = file.entry.path
    return [Place(path, row, number, page.shape, page.within) for number, row in enumerate(page.rows, page.offset)]
