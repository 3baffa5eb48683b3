"""Packed tasks as a format: claims a repository by what the names inside its archives tell."""

from typing import Final

import anyio.to_thread

from rlx.formats.base import Claim
from rlx.formats.harbor.discovery import are_harbor, task_roots
from rlx.formats.kinds import bare_tags
from rlx.formats.packed.archive import peek
from rlx.formats.packed.reader import PackedReader
from rlx.formats.packed.view import archives_of, octets_of
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.index.records import Reader
from rlx.texts import say

_LOOKED_INTO: Final = 4
"""Archives that are looked into for a claim, those called by the word task first."""


class Packed:
    """Meets `rlx.formats.base.IndexedFormat`."""

    name = "packed"

    def __init__(self) -> None:
        self.reader: Reader = PackedReader()

    async def claim(self, repo: Repo) -> Claim | None:
        """Tasks in archives, where none lies in the repository itself; less sure of those without other parts."""
        if repo.key.kind != "dataset":
            return None
        listing = await repo.listing()
        found = archives_of(listing.files) if listing.is_whole else []
        if not found or task_roots(listing.files):
            return None
        for entry in sorted(found, key=_likely)[:_LOOKED_INTO]:
            paths = frozenset(await anyio.to_thread.run_sync(peek, octets_of(repo, entry)))
            roots = task_roots(sorted(paths))
            if roots:
                sure = 0.8 if are_harbor(roots, paths) or "harbor" in bare_tags(repo.info.tags) else 0.4
                return Claim(sure, say("packed.claim", n=len(found), path=entry.path, first=roots[0] or entry.path))
        return None


def _likely(entry: TreeEntry) -> tuple[bool, str]:
    return "task" not in entry.path.lower(), entry.path
