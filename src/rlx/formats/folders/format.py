"""Folders of tasks as a format: claims what Harbor does not, by what lies side by side."""

from collections.abc import Mapping

import anyio.to_thread

from rlx.formats.base import Claim
from rlx.formats.folders.discovery import are_main, places
from rlx.formats.folders.reader import FoldersReader
from rlx.formats.folders.summary import claimed
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.index.records import Reader


class Folders:
    """Meets `rlx.formats.base.IndexedFormat`."""

    name = "folders"

    def __init__(self) -> None:
        self.reader: Reader = FoldersReader()

    async def claim(self, repo: Repo) -> Claim | None:
        """Surer than rows where the folders are what the repository is about, less sure where they lie beside rows."""
        if repo.key.kind != "dataset":
            return None
        entries = (await repo.listing()).entries
        return await anyio.to_thread.run_sync(_claim, entries, repo.info.card)


def _claim(entries: Mapping[str, TreeEntry], card: Mapping[str, object]) -> Claim | None:
    found = places(entries)
    if not found:
        return None
    return Claim(0.4 if are_main(found, entries, card) else 0.2, claimed([place.root for place in found]))
