"""The splits of a repository: found once, their files read one after another as one table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from rlx.answers import file_verdict
from rlx.errors import NotFound, TooLarge, Upstream, UserError
from rlx.formats.rows.kinds import is_single
from rlx.formats.rows.layout import Layout, Split, layout
from rlx.formats.rows.opening import PATIENCE, RowFile, Rows
from rlx.formats.rows.sources.base import MAX_PART, Row, Unreadable
from rlx.formats.rows.viewer_rows import ViewerTable, viewer_of
from rlx.hub.parallel import each
from rlx.hub.repo import Repo
from rlx.texts import Say, say

_AT_ONCE = 8
_VIEWED: Final = frozenset({"arrow", "txt", "tar", "lance", "xml", "h5", "hdf5", "orc", "avro"})
"""Suffixes of files that hold rows for the dataset viewer, and not here."""
_TASKS: Final = frozenset(
    {"instruction", "instructions", "prompt", "question", "problem", "problem_statement", "task", "query", "input"}
    | {"messages", "conversation", "conversations", "text", "content", "steps", "trajectory", "samples"}
    | {"responses_create_params"}
)
"""Names of which an object that stands alone in its file has one, where it is a row and not settings."""
_FAR = 2**60
"""A row that no file has: who asks for it waits for the end."""


@dataclass(frozen=True, slots=True)
class Found:
    """The splits of a repository, and where their files are: in itself, or in the branch the Hub converted it to.

    Splits of the format `viewer` have none: their rows are the dataset viewer's.
    """

    layout: Layout
    repo: Repo
    origin: Repo | None = None
    """The repository itself, where the files are those of its branch."""
    note: Say | None = None
    """Why there are no splits, where the dataset viewer was asked for them."""

    async def open(self, split: Split) -> "SplitRows":
        """Raises `NotFound` when a file is not there any more, and what listing raises.

        Of files that are withheld no row is read, here or from the viewer.
        """
        held = tuple((path, why) for path in split.paths or (f"{split.config}/{split.name}",) if (why := _held(path)))
        viewer = viewer_of(self.origin or self.repo)
        table = viewer.table(split.config, split.name) if viewer is not None and not held else None
        files = []
        for path in split.paths:
            if _held(path) is not None:
                continue
            entry = await self.repo.entry(path)
            if entry is None:
                raise NotFound(f"No file {path[:200]!r} in {self.repo.key}.")
            options = {**split.options, "single": True} if is_single(path) else split.options
            files.append(RowFile(self.repo, entry, options))
        singles = {number: 1 for number, file in enumerate(files) if "single" in file.options}
        return SplitRows(tuple(files), table, held, singles)


def _held(path: str) -> Say | None:
    """Why a file is withheld, judged by its path."""
    verdict = file_verdict(path, task_root=None)
    return verdict.reason if verdict.kind == "withhold" else None


async def find_splits(repo: Repo) -> Found:
    """Which tables a repository has. One too big to list is judged by the files that are known of it.

    Where neither it nor the branch the Hub converted it to has any, the dataset viewer is asked, if it may have some.
    """
    listing = await repo.listing()
    found = layout(repo.info.card, list(listing.files))
    if found.splits:
        return Found(found, repo)
    sha = await repo.client.converted(repo.key, token=repo.token)
    if sha is not None:
        branch = Repo(repo.client, replace(repo.info, sha=sha), repo.token, max_files=repo.max_files)
        try:
            paths = list(await branch.tree())
        except TooLarge:  # rows in so many pieces are left to the dataset viewer
            paths = []
        converted = layout(repo.info.card, (), paths)
        if converted.splits:
            return Found(converted, branch, repo)
    if sha is None and not repo.info.card.get("configs") and not may_be_viewed(listing.files):
        return Found(found, repo)
    return await _viewed(found, repo)


async def _viewed(found: Layout, repo: Repo) -> Found:
    viewer = viewer_of(repo)
    if viewer is None:
        return Found(found, repo)
    try:
        return Found(replace(found, splits=await viewer.splits()), repo)
    except Unreadable as error:
        return Found(found, repo, note=error.reason)
    except UserError as error:
        return Found(found, repo, note=say("row_sources.viewer_failed", why=error.message))


def may_be_viewed(paths: Iterable[str]) -> bool:
    """Whether most files are of a kind that is rows for the dataset viewer alone; notes among others are texts too."""
    names = [path.rpartition("/")[2].lower() for path in paths if not path.startswith(".")]
    endings = [name.rpartition(".")[2] for name in names if not name.startswith(("readme", "license"))]
    viewed = [ending for ending in endings if ending in _VIEWED]
    most = len(viewed) * 2
    return bool(viewed) and (most > len(endings) or (most == len(endings) and set(viewed) != {"txt"}))


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
    """Why the rest of some file will never be known, or whose rows these are instead."""


@dataclass(slots=True)
class SplitRows:
    """Files in their order. What is known of their lengths is remembered here."""

    files: tuple[RowFile, ...]
    viewer: ViewerTable | None = None
    """Whose rows are told where there are no files, or none of them can be read."""
    held: tuple[tuple[str, Say], ...] = ()
    """Files that are withheld, and why."""
    _counts: dict[int, int] = field(default_factory=dict)
    _refused: dict[int, Say] = field(default_factory=dict)
    _trouble: Say | None = None

    async def page(
        self, offset: int, limit: int, *, columns: Sequence[str] | None = None, patience: float = PATIENCE
    ) -> SplitPage:
        """Rows from `offset`, from 0: at most `limit`, none past the end of what is known. Raises as `RowFile.page`,
        but for files that cannot be read, which are told in the answer."""
        page = await self._page(offset, limit, columns, patience)
        if self.held:
            return replace(page, refused=(*self.held, *page.refused))
        if self.viewer is None or len(page.refused) < len(self.files):
            return page
        return await self._viewed(self.viewer, page, limit)

    async def _page(self, offset: int, limit: int, columns: Sequence[str] | None, patience: float) -> SplitPage:
        if self.files and all("single" in file.options for file in self.files):
            return await self._singles(offset, limit)
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
                        found += _places(file.path, page)
            if number not in self._counts:  # where it ends is not known, so neither is where the next begins
                break
            before += self._counts[number]
        refused = tuple((self.files[number].entry.path, why) for number, why in sorted(self._refused.items()))
        total = self._length()
        reach = total if total is not None else max(before, known)
        return SplitPage(offset, tuple(found), names, total, reach, refused, self._trouble)

    async def _singles(self, offset: int, limit: int) -> SplitPage:
        """Rows that are a file each, read side by side."""
        pages: dict[int, Rows] = {}

        async def read(number: int) -> None:
            pages[number] = await self.files[number].page(0, 1)

        sizes = accumulate(file.entry.size for file in self.files[offset : offset + limit])
        near = sum(1 for at, size in enumerate(sizes) if at == 0 or size <= MAX_PART)
        await each(range(offset, offset + near), read, at_once=_AT_ONCE)
        found = [place for number in sorted(pages) for place in _places(self.files[number].path, pages[number])]
        names = tuple(dict.fromkeys(name for number in sorted(pages) for name in pages[number].columns))
        return SplitPage(offset, tuple(found), names, len(self.files), len(self.files), ())

    async def count(self, *, patience: float = PATIENCE) -> int | None:
        """Rows in all, as far as that can be known now; files are looked at side by side."""

        async def look(number: int) -> None:
            await self._from(number, self.files[number], _FAR, 1, None, patience)

        unknown = [number for number in range(len(self.files)) if number not in self._counts]
        await each(unknown, look, at_once=_AT_ONCE)
        if self.viewer is not None and len(self._refused) == len(self.files):
            return (await self.page(0, 1)).count
        return self._length()

    async def _from(
        self, number: int, file: RowFile, start: int, limit: int, columns: Sequence[str] | None, patience: float
    ) -> Rows | None:
        """Rows of one file, whose length is learnt; None where it cannot be read."""
        try:
            page = await file.page(start, limit, columns=columns, patience=patience)
            if page.shape == "object" and number not in self._counts and not await self._is_row(number, page):
                raise Unreadable(say("row_sources.settings"))
        except Unreadable as error:
            self._refused[number], self._counts[number] = error.reason, 0
            return None
        if page.trouble is not None:
            self._trouble = page.trouble
            self._counts[number] = page.known
        elif page.count is not None:
            self._counts[number] = page.count
        return page

    async def _viewed(self, viewer: ViewerTable, page: SplitPage, limit: int) -> SplitPage:
        """The dataset viewer's rows in place of a page that has none; that page where it has none either."""
        try:
            found = await viewer.page(page.offset, limit)
        except Unreadable as error:
            self.viewer = viewer if not self.files else None
            return replace(page, refused=(*page.refused, (viewer.path, error.reason)))
        except UserError as error:
            if not self.files:
                raise
            if not isinstance(error, Upstream):  # it will not have them the next time either
                self.viewer = None
            return page
        places = _places(viewer.path, found) if found.offset == page.offset else []
        trouble = found.trouble or (say("row_sources.viewer_instead") if self.files else None)
        return SplitPage(page.offset, tuple(places), found.columns, found.count, found.known, page.refused, trouble)

    async def _is_row(self, number: int, page: Rows) -> bool:
        """Whether what stands alone in its file is a row: it is named like one, or its neighbour is alike."""
        value = page.rows[0].value if page.rows else None
        names = {str(name).lower() for name in value} if isinstance(value, Mapping) else set[str]()
        if not names or names & _TASKS:
            return True
        near = [self.files[place] for place in (number - 1, number + 1) if 0 <= place < len(self.files)]
        for file in near:
            try:
                others = {name.lower() for name in (await file.page(0, 1, patience=0.0)).columns}
            except Unreadable:
                continue
            if 2 * len(names & others) >= len(names | others):
                return True
        return False

    def _length(self) -> int | None:
        return sum(self._counts.values()) if len(self._counts) == len(self.files) else None


def _places(path: str, page: Rows) -> list[Place]:
    return [Place(path, row, number, page.shape, page.within) for number, row in enumerate(page.rows, page.offset)]
