"""A rollout in the hands of the worker that runs it."""

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa

from rlx.rollout import Event, EventKind, Failure, Rollout
from rlx.store.rollouts.events import SYNCED, EventLog
from rlx.store.rollouts.files import Source
from rlx.store.rollouts.index import Row
from rlx.store.rollouts.schema import leases
from rlx.store.rollouts.states import LeaseLost

if TYPE_CHECKING:
    from rlx.jobs.queue import Queue

_log = logging.getLogger(__name__)

MIRROR_EVERY: Final = 20.0
"""Seconds between two copies to the store of a rollout that runs; more where the copy is large."""
_BYTES_A_SECOND: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Said:
    """An event that happened."""

    kind: EventKind
    data: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Changed:
    """Fields of the record that changed."""

    fields: Mapping[str, Any]


type Entry = Said | Changed


class Held:
    """What a worker may do with a rollout while its lease lasts. May be used by several threads.

    Every change raises `LeaseLost` once the rollout is another's; the worker then ends what it runs, and calls `close`.
    """

    def __init__(
        self, queue: "Queue", rollout: Rollout, log: EventLog, *, worker: str, token: str, seconds: float
    ) -> None:
        self._queue = queue
        self._rollout = rollout
        self._log = log
        self._worker = worker
        self._token = token
        self._seconds = seconds
        self._lock = threading.RLock()
        self._mirrored = queue.clock().timestamp()

    @property
    def rollout(self) -> Rollout:
        """The record as it was last written."""
        return self._rollout

    def emit(self, kind: EventKind, data: Mapping[str, Any] | None = None) -> Event | None:
        """Append an event. None when it is not kept; never raises for a full disk."""
        return self._log.append(kind, data)

    def keep(self, path: str, source: Source) -> bool:
        """Keep a file as `trajectory.json`, `verifier/PATH` or `artifacts/PATH`; whatever is not kept is noted.

        Raises `BadInput` for a name that cannot be, `OSError`, `LeaseLost`.
        """
        with self._lock:
            with self._queue.index.writing() as connection:
                self._mine(connection)
            if self._queue.files.put(self._rollout.id, path, source) is not None:
                return True
        self.emit(
            "note", {"text": f"{path[:200]} is not kept: no regular file, or past the limits.", "kind": "file-cut"}
        )
        return False

    def update(self, **changes: Any) -> Rollout:
        """Write the record with some fields changed. A new status is an event too, and one that is an end gives the
        lease back and copies all to the store.

        Raises `WrongState` for a status that cannot follow, `ValueError` for fields that cannot be, `OSError`; and
        `Upstream` when the database failed, after which the same may be tried again: an end that is on the disk stays.
        """
        return self.write([Changed(changes)])

    def write(self, entries: Sequence[Entry]) -> Rollout:
        """Write down what happened, in its order, and bring it to the disk once. The record is written no more often
        than its status changes. Raises what `update` does."""
        with self._lock:
            for group in _by_status(entries):
                changes: dict[str, Any] | None = None
                for entry in group:
                    if isinstance(entry, Changed):
                        changes = {**(changes or {}), **entry.fields}
                    else:
                        self._log.append(entry.kind, entry.data, at=entry.at, batched=entry.kind in SYNCED)
                if changes is not None:
                    self._change(changes)
            after = self._rollout
            if after.ended or after.status == "queued":
                self.close()
                self._queue.mirror(after.id)
            elif any(isinstance(entry, Changed) or entry.kind in SYNCED for entry in entries):
                self._log.flush()
        return after

    def _change(self, changes: Mapping[str, Any]) -> None:
        with self._queue.index.writing() as connection:
            row = self._mine(connection)
            before, now = self._rollout, self._queue.clock()
            values = {**before.model_dump(), **changes, "visibility": row["visibility"], "updated_at": now}
            after = Rollout.model_validate(values)
            if after.ended and after.finished_at is None:
                after = after.model_copy(update={"finished_at": now})
            written = self._queue.files.live(before.id) if after.ended else None
            if written is not None and written.ended:
                after = written  # by us, before the database failed: only the rest is to be done
            else:
                self._queue.files.write(after)
            if after.status != before.status:
                self._log.append("status", {"status": after.status}, batched=not after.ended)
            self._queue.index.put(connection, after)
            if after.ended or (after.status == "queued" and before.status != "queued"):
                connection.execute(leases.delete().where(leases.c.id == after.id))
        self._rollout = after

    def beat(self) -> bool:
        """Give a sign of life. True when the rollout is to be stopped."""
        with self._lock:
            now = self._queue.clock()
            with self._queue.index.writing() as connection:
                row = self._mine(connection)
                until = now.timestamp() + self._seconds
                connection.execute(leases.update().where(leases.c.id == self._rollout.id).values(until=until))
            if row["visibility"] != self._rollout.visibility:
                self.update()
        self._log.flush()
        every = max(MIRROR_EVERY, self._log.size / _BYTES_A_SECOND)
        if abs(now.timestamp() - self._mirrored) >= every:
            self._mirrored = now.timestamp()
            self._queue.mirror(self._rollout.id)
        return bool(row["stop"]) or self._rollout.id in self._queue.settings().stop_requests

    def release(self) -> Rollout:
        """Give the rollout back, because the worker ends: it waits again, or is interrupted if its agent had begun."""
        if not self._rollout.begun:
            return self.update(status="queued", stage=None, started_at=None, phases=())
        stage = self._rollout.stage or "agent"
        message = f"The worker was ended during the stage {stage!r}. Nothing graded what the agent had done."
        failure = Failure(cause="worker", kind="interrupted", message=message)
        return self.update(status="interrupted", graded=False, failure=failure)

    def close(self) -> None:
        """Write no more events. Part of every end; by itself it is for whoever lost the lease."""
        self._log.close()

    def _mine(self, connection: sa.Connection) -> Row:
        """The row, locked. Raises `LeaseLost`."""
        row = self._queue.index.locked(connection, self._rollout.id)
        query = sa.select(leases.c.token).where(leases.c.id == self._rollout.id)
        if row is None or connection.scalar(query) != self._token:
            raise LeaseLost(f"Rollout {self._rollout.id} is not held by {self._worker} any more.")
        return row


def _by_status(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Entries in their order, none after a change of the status in one list with it."""
    group: list[Entry] = []
    for entry in entries:
        group.append(entry)
        if isinstance(entry, Changed) and "status" in entry.fields:
            yield group
            group = []
    if group:
        yield group
