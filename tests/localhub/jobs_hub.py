"""A local hub that runs jobs, to test with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rlx.localhub import LocalHub, LocalHubServer, serve
from rlx.localhub.jobs.book import Jobs
from rlx.localhub.jobs.routes import JobRoutes
from rlx.sandboxes.local.kind import Local

TOKEN = "hf_visitorRLXCANARY"
OTHER = "hf_otherRLXCANARY"


@contextmanager
def jobs_hub(root: Path, local: Local, *, most: int = 24, longest: float = 600.0) -> Iterator[LocalHubServer]:
    """Of two users, `me` and `other`. When it ends nothing of its jobs may be left."""
    routes = JobRoutes(Jobs(local, most, longest))
    with serve(LocalHub(root, users={TOKEN: "me", OTHER: "other"}, jobs=routes)) as server:
        yield server
    left = [path.name for path in (local.folder / "boxes").glob("*")]
    assert not left, f"the hub left {left}"
