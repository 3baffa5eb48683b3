"""Harbor as a format: claims a repository by the `task.toml` files in it, never by a tag alone."""

import anyio.to_thread

from rlx.formats.base import Claim
from rlx.formats.harbor.discovery import are_harbor, task_roots
from rlx.formats.harbor.reader import HarborReader
from rlx.hub.repo import Repo
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
        tree = (await repo.listing()).entries
        roots = await anyio.to_thread.run_sync(task_roots, tree)
        if not roots:
            return None
        sure = 1.0 if are_harbor(roots, tree) else 0.6
        if roots == ("",):
            return Claim(sure, say("harbor.claim.root"))
        return Claim(sure, say("harbor.claim.folders", n=len(roots), first=roots[0]))
