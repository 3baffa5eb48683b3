"""Rows of the dataset viewer, for files that are not read here: of the commit that is shown, or not at all."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rlx.errors import Upstream
from rlx.formats.rows.layout import Split
from rlx.formats.rows.opening import PATIENCE, Rows
from rlx.formats.rows.sources.base import Row, Unreadable
from rlx.hub.repo import Repo
from rlx.hub.rows import PAGE, ViewerClient, ViewerPage, ViewerRow
from rlx.texts import say

_KEPT: Final = 4
"""Pages of a table that are remembered, so that its rows can be looked at one by one."""
_MEDIA: Final = frozenset({"Image", "Audio", "Video", "Pdf"})
_DEEP: Final = 20
_LONG: Final = 200
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class ViewerSource:
    """The viewer, asked about `repo` with the token that `repo` is read with."""

    client: ViewerClient
    repo: Repo

    async def splits(self) -> tuple[Split, ...]:
        """Raises `Unreadable` where the viewer knows another commit, and what it refuses with."""
        told = await self.client.splits(self.repo.key, token=self.repo.token)
        await self.check(told.revision)
        named = [names for names in told.splits if all(name.isprintable() and len(name) <= _LONG for name in names)]
        return tuple(Split(config, split, "viewer", ()) for config, split in named)

    def table(self, config: str, split: str) -> "ViewerTable":
        return ViewerTable(self, config, split)

    async def check(self, revision: str | None) -> None:
        """Raises `Unreadable` unless an answer about `revision` is about the commit of `repo`."""
        theirs = revision
        if theirs is None:  # a viewer that does not say has the newest
            theirs = (await self.repo.client.info(self.repo.key, token=self.repo.token)).sha or ""
        if theirs != self.repo.sha:
            told = "".join(char for char in theirs[:7] if char.isalnum()) or "?"
            raise Unreadable(say("row_sources.viewer_other", theirs=told, ours=self.repo.sha[:7]))


def viewer_of(repo: Repo) -> ViewerSource | None:
    viewer = repo.client.viewer
    return None if viewer is None or repo.key.kind != "dataset" else ViewerSource(viewer, repo)


@dataclass(slots=True)
class ViewerTable:
    """One split. `page` is that of a `RowFile`; nothing that a cell points to is ever fetched."""

    source: ViewerSource
    config: str
    split: str
    _pages: OrderedDict[int, ViewerPage] = field(default_factory=OrderedDict, repr=False)
    _total: int | None = None

    @property
    def path(self) -> str:
        """What stands where a file's path would."""
        return f"{self.config}/{self.split}"

    async def page(
        self, offset: int, limit: int, *, columns: Sequence[str] | None = None, patience: float = PATIENCE
    ) -> Rows:
        """Rows from `offset`, from 0; the last one past the end. Raises `Unreadable`, and as `ViewerClient`."""
        if self._total is None:
            await self._page(0)
        total = self._total or 0
        start = max(0, min(offset, total - 1))
        stop = min(start + limit, total)
        rows: list[Row] = []
        told = await self._page(start // PAGE)
        for number in range(start // PAGE, -(-stop // PAGE)):
            told = await self._page(number)
            known = {row.number: row for row in told.rows}
            for at in range(max(start, number * PAGE), min(stop, (number + 1) * PAGE)):
                found = known.get(at)
                missing = Row(None, broken=say("row_sources.viewer_missing"))
                rows.append(missing if found is None else _row(found, told.features))
        trouble = say("row_sources.viewer_partial", n=total) if told.partial else None
        count = None if told.partial else total
        return Rows(start, tuple(rows), tuple(told.features), "lines", "", count, total, 1.0, trouble)

    async def _page(self, number: int) -> ViewerPage:
        if number not in self._pages:
            source = self.source
            told = await source.client.rows(
                source.repo.key, self.config, self.split, token=source.repo.token, offset=number * PAGE
            )
            await source.check(told.revision)
            if self._total not in {None, told.total}:
                raise Upstream(f"The dataset viewer's length of {self.path} changed while it was read.")
            self._total = told.total
            self._pages[number] = told
            if len(self._pages) > _KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(number)
        return self._pages[number]


def _row(found: ViewerRow, features: Mapping[str, object]) -> Row:
    media = [name for name in found.cells if _is_media(features.get(name))]
    cells = {name: _bare(value) if name in media else value for name, value in found.cells.items()}
    cut = [name for name in found.truncated if name in cells]
    for name in cut:
        if not _is_plain(cells[name], features.get(name)):
            cells[name] = None  # what is cut out of a record may be the beginning of its answer
    if cut:
        return Row(cells, note=say("row_sources.viewer_cut", names=_listed(cut)))
    held = [name for name in media if found.cells[name] is not None]
    return Row(cells, note=say("row_sources.viewer_media", names=_listed(held)) if held else None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name[:60] for name in names[:_NAMED])


def _is_plain(value: object, type_: object) -> bool:
    """Whether a cut cell is the beginning of a text that is no JSON."""
    is_text = isinstance(type_, Mapping) and type_.get("dtype") in {"string", "large_string"}
    return is_text and isinstance(value, str) and not value.lstrip().startswith(("{", "[", '"'))


def _is_media(type_: object, depth: int = 0) -> bool:
    if depth > _DEEP:
        return True
    if isinstance(type_, Mapping):
        return type_.get("_type") in _MEDIA or any(_is_media(inner, depth + 1) for inner in type_.values())
    return isinstance(type_, list) and any(_is_media(inner, depth + 1) for inner in type_)


def _bare(value: object, depth: int = 0) -> object:
    """Without addresses, which are signed for whoever asked and soon lead nowhere."""
    if depth > _DEEP:
        return None
    if isinstance(value, Mapping):
        return {key: _bare(inner, depth + 1) for key, inner in value.items() if key != "src"}
    return [_bare(inner, depth + 1) for inner in value] if isinstance(value, list) else value
