"""Harbor as a format: claims a repository by the `task.toml` files in it, never by a tag alone."""

from collections.abc import Mapping

import anyio.to_thread

from rlx.formats.base import Claim
from rlx.formats.harbor.discovery import are_harbor, task_roots
from rlx.formats.harbor.reader import HarborReader
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.hub.tree import Tree
from rlx.index.records import Reader
from rlx.texts import say


class Harbor:
    """Meets `rlx.formats.base.IndexedFormat`."""

    name = "harbor"

    def __init__(self) -> None:
        self.reader: Reader = HarborReader()

    async def claim(self, repo: Repo) -> Claim | None:
        """Every folder with a `task.toml` counts; less sure where none has another part of a task."""
        if repo.key.kind != "dataset":
            return None
        tree, roots = await anyio.to_thread.run_sync(_found, await repo.listing())
        if not roots:
            return None
        sure = 1.0 if are_harbor(roots, tree) else 0.6
        if roots == ("",):
            return Claim(sure, say("harbor.claim.root"))
        return Claim(sure, say("harbor.claim.folders", n=len(roots), first=roots[0]))


def _found(listing: Tree) -> tuple[Mapping[str, TreeEntry], tuple[str, ...]]:
    """What is known, and the tasks in it."""
    entries = listing.entries
    return entries, task_roots(entries)
