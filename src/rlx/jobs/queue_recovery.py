"""Brings every rollout into a true state after processes died: what the files say, and who still lives, decides.

A rollout whose worker is gone waits again when its agent had not begun, and is interrupted when it had; one that had
ended has ended; one that somebody stopped is cancelled. Any number of processes may recover at once, and while others
work: a row that is locked is left to whoever has it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from rlx.errors import NotFound
from rlx.jobs.queue import Queue, cancelled
from rlx.rollout import ENDED, Failure, Rollout
from rlx.store.rollouts.index import rollout_of
from rlx.store.rollouts.query import ACTIVE, is_active
from rlx.store.rollouts.schema import DELETING, leases, rollouts
from rlx.store.rollouts.states import is_later

ATTEMPTS: Final = 3
"""Workers that a rollout may be given to before it is taken for the reason that they die."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """Ids of what was changed."""

    found: tuple[str, ...] = ()
    """That the index did not know of."""
    settled: tuple[Rollout, ...] = ()
    """Records that were brought into a true state, as they are now."""
    mirrored: tuple[str, ...] = ()
    """That the store lacked."""


def recover(queue: Queue, *, gone: Collection[str] = ()) -> Recovered:
    """To be called when a process starts, and every half minute. `gone` names workers that are known to be dead, whose
    leases end at once. Raises `Upstream`, `OSError`."""
    for id in _deleted(queue):
        queue.remove(id)
    found = _index_unknown(queue)
    settled = [rollout for id in _suspects(queue, gone) if (rollout := _settle(queue, id, gone)) is not None]
    mirrored = tuple(id for id in queue.files.live_ids() if _mirror_ended(queue, id))
    queue.files.tidy()
    return Recovered(tuple(found), tuple(settled), mirrored)


def _deleted(queue: Queue) -> list[str]:
    """Rollouts whose removal was begun."""
    with queue.index.reading() as connection:
        return list(connection.scalars(sa.select(rollouts.c.id).where(rollouts.c.status == DELETING)))


def _index_unknown(queue: Queue) -> list[str]:
    """Give rows to rollouts that were written down when their process was killed."""
    here = queue.files.live_ids()
    with queue.index.reading() as connection:
        known = set(connection.scalars(sa.select(rollouts.c.id).where(rollouts.c.id.in_(here))))
    found: list[str] = []
    for id in here:
        record = queue.files.live(id) if id not in known else None
        if record is not None:
            with queue.index.writing() as connection:
                if queue.index.add(connection, record):
                    found.append(id)
    return found


def _suspects(queue: Queue, gone: Collection[str]) -> list[str]:
    """Rollouts that may not be what their rows say."""
    stops = queue.settings().stop_requests
    query = (
        sa.select(rollouts.c.id, rollouts.c.status, rollouts.c.stop, leases.c.worker, leases.c.until)
        .join(leases, leases.c.id == rollouts.c.id, isouter=True)
        .where(is_active())
        .order_by(rollouts.c.id)
    )
    with queue.index.reading() as connection:
        rows = connection.execute(query).all()
    here = set(queue.files.live_ids())
    now = queue.clock().timestamp()

    def is_suspect(row: Any) -> bool:
        if row.worker is not None:
            return bool(row.until <= now) or row.worker in gone
        if row.status != "queued" or row.stop or row.id in stops:
            return True
        live = queue.files.live(row.id) if row.id in here else None
        return live is not None and live.status != "queued"

    return [row.id for row in rows if is_suspect(row)]


def _settle(queue: Queue, id: str, gone: Collection[str]) -> Rollout | None:
    """Bring one rollout into a true state; None when somebody else has, or does."""
    now = queue.clock()
    with queue.index.writing() as connection:
        row = queue.index.locked(connection, id, wait=False)
        if row is None or row["status"] not in ACTIVE:
            return None
        lease = connection.execute(sa.select(leases).where(leases.c.id == id)).mappings().first()
        if lease is not None and lease["until"] > now.timestamp() and lease["worker"] not in gone:
            return None
        record = _record(queue, id, rollout_of(row))
        if record.ended:
            after = record
        elif row["stop"] or id in queue.settings().stop_requests:
            message = "It was stopped, and the worker that ran it is gone." if record.begun else _STOPPED
            after = cancelled(record, now, message)
        elif record.begun or record.attempt >= ATTEMPTS:
            after = _interrupted(record).model_copy(update={"finished_at": now, "updated_at": now})
        elif record.status == "queued":
            after = record
        else:
            again = {"status": "queued", "stage": None, "phases": (), "started_at": None, "updated_at": now}
            after = record.model_copy(update={**again, "attempt": record.attempt + 1})
        after = after.model_copy(update={"visibility": row["visibility"]})
        queue.change(connection, after)
    if after.ended:
        queue.mirror(id)
    return after


_STOPPED: Final = "It was stopped before it began."


def _record(queue: Queue, id: str, indexed: Rollout) -> Rollout:
    """The latest of what is on a disk and what the row has, which is a copy of what is on another machine's."""
    try:
        found = queue.files.read(id)
    except NotFound:
        return indexed
    return found if is_later(found, indexed) else indexed


def _interrupted(record: Rollout) -> Rollout:
    if record.begun:
        text = f"The worker that ran it died during the stage {record.stage or 'agent'!r}. Nothing graded it."
    else:
        text = f"{record.attempt} workers died before its agent began. It is not tried again."
    failure = Failure(cause="worker", kind="interrupted", message=text)
    return record.model_copy(update={"status": "interrupted", "graded": False, "failure": failure})


def _mirror_ended(queue: Queue, id: str) -> bool:
    """Bring the store, and the row, after a finished record that changed last: who may see it, say."""
    record = queue.files.live(id)
    if record is None or not record.ended or queue.files.is_mirrored(id, record):
        return False
    with queue.index.writing() as connection:
        row = queue.index.locked(connection, id, wait=False)
        if row is None or row["status"] not in ENDED:
            return False
        if is_later(record, rollout_of(row)):
            queue.index.put(connection, record)
    return queue.mirror(id)
