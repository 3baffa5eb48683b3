"""Makes the index of rollouts from their files, while others use it: a row that is later than its file stays."""

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from rlx.errors import NotFound
from rlx.rollout import ENDED, Rollout
from rlx.store.rollouts.files import RolloutFiles
from rlx.store.rollouts.index import Index, rollout_of
from rlx.store.rollouts.schema import DELETING, leases
from rlx.store.rollouts.states import is_later

type Tell = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Reindexed:
    read: int = 0
    """Records in the files."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    """Rows of finished rollouts whose files are gone."""
    damaged: tuple[str, ...] = ()
    """Ids of folders without a record that can be read. They are left as they are."""


def reindex(index: Index, files: RolloutFiles, tell: Tell = lambda done, total: None) -> Reindexed:
    """Running it again changes nothing. Raises `OSError` when the store cannot be read, `Upstream` for the database."""
    ids = files.ids()
    read = added = changed = 0
    damaged: list[str] = []
    for done, id in enumerate(ids):
        tell(done, len(ids))
        try:
            record = files.read(id)
        except NotFound:
            damaged.append(id)
            continue
        read += 1
        with index.writing() as connection:
            row = index.locked(connection, id)
            if row is None:
                index.put(connection, record)
                added += 1
            elif row["status"] != DELETING and _is_behind(rollout_of(row), record):
                index.put(connection, record)
                changed += 1
    known = set(ids) - set(damaged)
    removed = sum(_remove_gone(index, files, id) for id in index.ids() if id not in known)
    tell(len(ids), len(ids))
    return Reindexed(read, added, changed, removed, tuple(damaged))


def _is_behind(indexed: Rollout, record: Rollout) -> bool:
    return indexed != record and is_later(record, indexed)


def _remove_gone(index: Index, files: RolloutFiles, id: str) -> bool:
    """Remove a row whose rollout is nowhere. One that has not ended may have its files on another machine."""
    with index.writing() as connection:
        row = index.locked(connection, id, wait=False)
        held = connection.scalar(sa.select(leases.c.id).where(leases.c.id == id))
        if row is None or held is not None or row["status"] not in ENDED:
            return False
        try:
            files.read(id)
        except NotFound:
            index.remove(connection, id)
            return True
    return False
