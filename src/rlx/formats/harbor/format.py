"""Harbor as a format: claims a repository by the `task.toml` files in it, never by a tag alone."""

from rlx.formats.base import Claim
from rlx.formats.harbor.discovery import task_roots
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
        """Surer with a tag or a `test.sh`; other things are called `task.toml` too."""
        if repo.key.kind != "dataset":
            return None
        tree = await repo.tree()
        roots = task_roots(tree)
        if not roots:
            return None
        if roots == ("",):
            return Claim(1.0, say("harbor.claim.root"))
        return Claim(1.0, say("harbor.claim.folders", n=len(roots), first=roots[0]))
