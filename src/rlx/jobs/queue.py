"""The queue of rollouts: who may start one, who runs which, and for how long without a sign of life.

A lease is a row. Whoever holds it is the only one to write the rollout's files; whoever wants to change a rollout that
nobody holds locks its row for as long as that takes. Every change is written in one order: lock the row, write the
record, append the event, change the row. Killed at any point of it, what is on the disk is true, and `recover` (see
`queue_recovery.py`) brings the rest after it. Every call blocks, and may raise `Upstream` or `OSError`.
"""

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from rlx.errors import BadInput, Forbidden, TooMany
from rlx.jobs.queue_held import Held
from rlx.rollout import Failure, Rollout
from rlx.store.instance import Instance, InstanceFile
from rlx.store.rollouts.files import RolloutFiles, utc_now
from rlx.store.rollouts.index import Index, Row, rollout_of
from rlx.store.rollouts.names import check_id
from rlx.store.rollouts.query import ACTIVE, Audience, is_active
from rlx.store.rollouts.schema import DELETING, leases, rollouts
from rlx.store.rollouts.spending import barred, check_money

LEASE_SECONDS: Final = 90.0
"""How long a rollout outlives the last sign of life of its worker. Clocks of machines may differ by half of it."""
MAX_QUEUED: Final = 10_000
"""Rollouts that wait or run, of whoever runs this machine, to whom the visitors' limits do not apply."""
_LOOKED_AT: Final = 50
"""Waiting rollouts of one owner that are looked at before a worker is told that there is none for it."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker can run."""

    runners: Collection[str]
    agents: Collection[str]
    sandboxes: Mapping[str | None, int] = field(default_factory=dict)
    """How many rollouts in each kind of sandbox it runs at once. None: those that need none."""


class Queue:
    """The queue of one store. Any number of processes may have one."""

    def __init__(
        self,
        index: Index,
        files: RolloutFiles,
        instance: InstanceFile,
        *,
        clock: Callable[[], datetime] = utc_now,
        seconds: float = LEASE_SECONDS,
    ) -> None:
        self.index = index
        self.files = files
        self.clock = clock
        self._instance = instance
        self._seconds = seconds

    def settings(self) -> Instance:
        return self._instance.current()

    def enqueue(self, rollout: Rollout) -> Rollout:
        """Let a new rollout wait for a worker; it is on the disk when this returns.

        Raises `Forbidden` where rollouts or its agent are switched off, `TooMany` past the limits, `BadInput`.
        """
        if rollout.status != "queued" or rollout.attempt != 1:
            raise BadInput("A new rollout is one that is queued for its first attempt.")
        settings = self.settings()
        if not settings.rollouts_enabled:
            raise Forbidden("Rollouts are switched off on this instance.")
        if settings.agents and rollout.agent not in settings.agents:
            raise Forbidden(
                f"The agent {rollout.agent!r} may not be run on this instance.",
                hint=f"These may: {', '.join(settings.agents)}.",
            )
        is_new = False
        try:
            with self.index.writing(gate=True) as connection:
                self._check_room(connection, rollout.owner, settings)
                check_money(connection, rollout, settings, self.clock())
                is_new = self.index.add(connection, rollout)
                if not is_new:
                    raise BadInput(f"There is a rollout {rollout.id} already.")
                self.files.write(rollout)
                self.note_status(rollout)
        except BaseException:
            if is_new:
                self.files.drop_live(rollout.id)  # who is told of an error has no rollout
            raise
        self.mirror(rollout.id)
        return rollout

    def lease(self, worker: str, offer: Offer) -> Held | None:
        """The next rollout for a worker, or None when none waits that it can run.

        Whoever runs the fewest comes first, then whoever waits the longest. `worker` is a name that no other has.
        """
        settings = self.settings()
        if not settings.rollouts_enabled or not self._is_any_waiting():
            return None
        now = self.clock()
        token = secrets.token_hex(8)
        with self.index.writing(gate=True) as connection:
            row = self._next(connection, worker, offer, settings)
            if row is None:
                return None
            before = rollout_of(row)
            changes = {"status": "starting", "started_at": now, "updated_at": now}
            rollout = before.model_copy(update=changes)
            connection.execute(
                leases.insert().values(
                    id=rollout.id,
                    worker=worker,
                    token=token,
                    sandbox=rollout.sandbox,
                    since=now.timestamp(),
                    until=now.timestamp() + self._seconds,
                )
            )
            self.files.adopt(rollout.id)
            if self.files.live(rollout.id) is None:  # another machine's, not in the store yet: the row has it all
                self.files.write(before)
            log = self.files.log(rollout.id)
            try:
                # The first that its holder writes brings them to the disk; undone, it waits for another worker.
                self.files.write(rollout, durable=False)
                log.append("status", {"status": rollout.status}, batched=True)
                self.index.put(connection, rollout)
            except BaseException:
                log.close()
                raise
        return Held(self, rollout, log, worker=worker, token=token, seconds=self._seconds)

    def stop(self, id: str) -> Rollout:
        """End a rollout: at once when it waits, else its worker is told at its next sign of life.

        The caller has checked that whoever asks may. Asking again, or after the end, changes nothing. Raises
        `NotFound`.
        """
        with self.index.writing(gate=True) as connection:
            row = self.index.locked(connection, check_id(id))
            if row is None or row["status"] == DELETING:
                return self.index.find(id, Audience(None))  # raises
            rollout = rollout_of(row)
            if rollout.ended:
                return rollout
            if rollout.status != "queued":
                connection.execute(rollouts.update().where(rollouts.c.id == id).values(stop=True))
                return rollout
            rollout = cancelled(rollout, self.clock())
            self.change(connection, rollout)
        self.mirror(id)
        return rollout

    def set_visibility(self, id: str, visibility: str) -> Rollout:
        """Let others see a rollout, or not; takes effect at once. The caller has checked that whoever asks may."""
        if visibility not in {"private", "public"}:
            raise BadInput(f"{visibility[:40]!r} is no visibility.", hint="private or public.")
        with self.index.writing() as connection:
            row = self.index.locked(connection, check_id(id))
            if row is None or row["status"] == DELETING:
                return self.index.find(id, Audience(None))  # raises
            rollout = rollout_of(row).model_copy(update={"visibility": visibility, "updated_at": self.clock()})
            if connection.scalar(sa.select(leases.c.id).where(leases.c.id == id)) is None:
                self.files.adopt(id)
                self.files.write(rollout)
                self.index.put(connection, rollout)
            else:  # its holder brings it to the files at the next sign of life
                self.index.put_record(connection, rollout)
                shown = rollouts.update().where(rollouts.c.id == id)
                connection.execute(shown.values(visibility=visibility))
        if rollout.ended:
            self.mirror(id)
        return rollout

    def delete(self, id: str) -> None:
        """Remove a rollout that has ended, with all its files. The caller has checked that whoever asks may."""
        with self.index.writing() as connection:
            row = self.index.locked(connection, check_id(id))
            if row is not None and row["status"] in ACTIVE:
                raise BadInput(f"Rollout {id} is {row['status']}.", hint="Stop it first.")
            self.index.mark_deleted(connection, id)
        self.remove(id)

    def remove(self, id: str) -> None:
        """Remove what is marked as deleted."""
        self.files.delete(id)
        with self.index.writing() as connection:
            self.index.remove(connection, id)

    def active(self) -> dict[str, int]:
        """How many rollouts there are in each state that is no end."""
        count = sa.func.count()
        query = sa.select(rollouts.c.status, count).where(is_active())
        with self.index.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query.group_by(rollouts.c.status))}

    def change(self, connection: sa.Connection, rollout: Rollout) -> None:
        """Write the record, the event and the row of a rollout that nobody holds and whose row is locked."""
        self.files.adopt(rollout.id)
        self.files.write(rollout)
        self.note_status(rollout)
        self.index.put(connection, rollout)
        if rollout.ended or rollout.status == "queued":
            connection.execute(leases.delete().where(leases.c.id == rollout.id))

    def note_status(self, rollout: Rollout) -> None:
        """Append the state of a rollout that nobody holds to its events."""
        log = self.files.log(rollout.id)
        try:
            if rollout.failure is not None:
                log.append("error", {"text": rollout.failure.message, "kind": rollout.failure.kind})
            log.append("status", {"status": rollout.status})
        finally:
            log.close()

    def mirror(self, id: str) -> bool:
        """Copy a rollout to the store. False when that cannot be now; `recover` does it later."""
        return self.files.try_mirror(id)

    def _check_room(self, connection: sa.Connection, owner: str | None, settings: Instance) -> None:
        active = sa.select(sa.func.count()).where(is_active())
        in_all = connection.scalar(active) or 0
        if owner is None:
            if in_all >= MAX_QUEUED:
                raise TooMany(f"{in_all:,} rollouts wait or run already.", retry_after=60)
            return
        own = connection.scalar(active.where(rollouts.c.owner == owner)) or 0
        if own >= settings.max_per_visitor:
            raise TooMany(
                f"You have {own} rollouts that wait or run, and may have {settings.max_per_visitor}.",
                hint="Wait for one to end, or stop one.",
                retry_after=60,
            )
        if in_all >= settings.max_active:
            raise TooMany(
                f"{in_all} rollouts wait or run here, and no more than {settings.max_active} may.",
                hint="Try again in a few minutes.",
                retry_after=60,
            )

    def _is_any_waiting(self) -> bool:
        """Looked at without a lock, which workers that find nothing would take all day."""
        waiting = sa.select(rollouts.c.id).where(rollouts.c.status == "queued").limit(1)
        with self.index.reading() as connection:
            return connection.scalar(waiting) is not None

    def _next(self, connection: sa.Connection, worker: str, offer: Offer, settings: Instance) -> Row | None:
        """The row of the rollout to run next, locked."""
        held = sa.select(rollouts.c.owner, sa.func.count()).join(leases, leases.c.id == rollouts.c.id)
        running: dict[str | None, int] = _counts(connection, held.group_by(rollouts.c.owner))
        if sum(running.values()) >= settings.max_active:
            return None
        agents = set(offer.agents) & set(settings.agents) if settings.agents else set(offer.agents)
        fits = self._kinds_with_room(connection, worker, offer)
        waiting = sa.and_(
            rollouts.c.status == "queued",
            rollouts.c.runner.in_(sorted(offer.runners)),
            rollouts.c.agent.in_(sorted(agents)),
            sa.or_(
                rollouts.c.sandbox.in_(sorted(kind for kind in fits if kind is not None)),
                rollouts.c.sandbox.is_(None) if None in fits else sa.false(),
            ),
            rollouts.c.id.not_in(sorted(settings.stop_requests)) if settings.stop_requests else sa.true(),
        )
        if settings.limits_money:
            waiting = sa.and_(waiting, sa.not_(barred(connection, settings, self.clock())))
        full = [owner for owner, count in running.items() if owner is not None and count >= settings.max_per_visitor]
        if full:
            waiting = sa.and_(waiting, sa.or_(rollouts.c.owner.is_(None), rollouts.c.owner.not_in(full)))
        # Only the first few of each owner matter, whoever has how many.
        place = sa.func.row_number().over(
            partition_by=rollouts.c.owner, order_by=(rollouts.c.created_at, rollouts.c.id)
        )
        queue = sa.select(rollouts.c.id, rollouts.c.owner, rollouts.c.created_at, place.label("place")).where(waiting)
        first = queue.subquery()
        rows = connection.execute(sa.select(first).where(first.c.place <= _LOOKED_AT)).all()
        for row in sorted(rows, key=lambda row: (running.get(row.owner, 0), row.created_at, row.id)):
            found = self.index.locked(connection, row.id, wait=False)
            if found is not None and found["status"] == "queued":
                return found
        return None

    def _kinds_with_room(self, connection: sa.Connection, worker: str, offer: Offer) -> set[str | None]:
        query = sa.select(leases.c.sandbox, sa.func.count()).where(leases.c.worker == worker)
        busy = _counts(connection, query.group_by(leases.c.sandbox))
        return {kind for kind, most in offer.sandboxes.items() if busy.get(kind, 0) < most}


def _counts(connection: sa.Connection, query: "sa.Select[Any]") -> dict[str | None, int]:
    return {row[0]: row[1] for row in connection.execute(query)}


def cancelled(rollout: Rollout, now: datetime, message: str = "It was stopped before it began.") -> Rollout:
    """The record of a rollout that somebody stopped."""
    failure = Failure(cause="person", kind="cancelled", message=message)
    changes = {"status": "cancelled", "failure": failure, "finished_at": now, "updated_at": now, "graded": False}
    return rollout.model_copy(update=changes)
