"""Rows as a format: every dataset whose files are tables, read by the processor that knows its rows."""

from rlx.formats.base import Claim
from rlx.formats.processors.registry import processors
from rlx.formats.rows.environment import RowsEnvironment, open_rows, reader_version
from rlx.formats.rows.splits import find_splits
from rlx.hub.repo import Repo
from rlx.model import Viewer
from rlx.texts import say


class Rows:
    """Meets `rlx.formats.base.Format`."""

    name = "rows"

    @property
    def reader_version(self) -> int:
        return reader_version(processors())

    async def claim(self, repo: Repo) -> Claim | None:
        """By its tables alone; a format that finds tasks in folders is surer."""
        if repo.key.kind != "dataset":
            return None
        splits = (await find_splits(repo)).layout.splits
        if not splits:
            return None
        files = sum(len(split.paths) for split in splits)
        if not files:
            return Claim(0.3, say("row_sources.viewer_claim", n=len(splits), first=splits[0].name))
        return Claim(0.3, say("rows.claim", n=len(splits), files=files, first=splits[0].paths[0]))

    async def open(self, repo: Repo, viewer: Viewer) -> RowsEnvironment:
        return await open_rows(repo, processors())
