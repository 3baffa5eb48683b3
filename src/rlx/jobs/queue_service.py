"""Rollouts as the web app and the command line use them: seen by a viewer, changed by their owner, run by workers."""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rlx.errors import Forbidden, Upstream
from rlx.jobs.queue import Queue
from rlx.jobs.queue_recovery import Recovered, recover
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.settings import Settings
from rlx.store.instance import InstanceFile
from rlx.store.rollouts.files import RolloutFiles, utc_now
from rlx.store.rollouts.index import Index
from rlx.store.rollouts.schema import open_engine, sqlite_url
from rlx.store.rollouts.views import Views
from rlx.store.storage import open_storage


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Every call blocks. What viewers see is `views`; what workers do is `queue`."""

    views: Views
    queue: Queue
    files: RolloutFiles
    index: Index

    def start(self, rollout: Rollout, viewer: Viewer) -> Rollout:
        """Let a viewer's rollout wait for a worker. Raises `Forbidden`, `TooMany`, `BadInput`."""
        return self.queue.enqueue(rollout.model_copy(update={"owner": owner_of(viewer)}))

    def stop(self, id: str, viewer: Viewer | None) -> Rollout:
        """Raises `NotFound`, `Forbidden`."""
        self.views.own(id, viewer)
        return self.queue.stop(id)

    def set_visibility(self, id: str, visibility: str, viewer: Viewer | None) -> Rollout:
        """Raises `NotFound`, `Forbidden`, `BadInput`."""
        self.views.own(id, viewer)
        return self.queue.set_visibility(id, visibility)

    def delete(self, id: str, viewer: Viewer | None) -> None:
        """Raises `NotFound`, `Forbidden`, and `BadInput` for one that has not ended."""
        self.views.own(id, viewer)
        self.queue.delete(id)

    def recover(self, *, gone: Collection[str] = ()) -> Recovered:
        """See `rlx.jobs.queue_recovery.recover`."""
        return recover(self.queue, gone=gone)

    def close(self) -> None:
        self.index.close()


def owner_of(viewer: Viewer) -> str | None:
    """Who is written down as the owner: a name, or None for whoever runs this machine. Raises `Forbidden`."""
    if viewer.kind == "local":
        return None
    if viewer.kind == "anonymous" or viewer.name is None:
        raise Forbidden("Whoever starts a rollout has to be known.", hint="Sign in first.")
    return viewer.name


def open_rollouts(
    settings: Settings, instance: InstanceFile, *, clock: Callable[[], datetime] = utc_now, anew: bool = False
) -> Rollouts:
    """The rollouts of a store; `anew` with an empty index. Raises `BadInput`, `Upstream`."""
    folder = rollouts_folder(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Upstream(f"No rollouts can be kept in {settings.cache_dir}: {error.strerror}.") from error
    files = RolloutFiles(folder / "live", open_storage(settings.store), clock=clock)
    index = Index(open_engine(settings.database_url or sqlite_url(folder / "index.db")))
    index.create(anew=anew)
    queue = Queue(index, files, instance, clock=clock)
    return Rollouts(Views(index, files, instance), queue, files, index)


def rollouts_folder(settings: Settings) -> Path:
    """Where rollouts of a store are on local disk: those of another store are kept apart."""
    name = hashlib.sha256(str(settings.store.absolute()).encode()).hexdigest()[:12]
    return settings.cache_dir / "rollouts" / name
