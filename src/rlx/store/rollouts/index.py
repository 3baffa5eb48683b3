"""The index of all rollouts: what lists, counts and the queue read. Everything in it but leases is made from the files.

Whoever writes a record does so while its row is locked, and the row follows the file in the same transaction: killed in
between, the file is ahead, and recovery brings the row after it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from rlx.errors import BadInput, NotFound, Upstream
from rlx.rollout import Rollout
from rlx.store.rollouts.query import FACETS, PAGE, Audience, Facet, Filters, Sort, conditions, may_see, order
from rlx.store.rollouts.schema import DELETING, VERSION, WRITES, leases, meta, records, rollouts, spending, tables
from rlx.store.rollouts.spending import spending_row

_GATE: Final = 0x726C78
"""The number of the lock in PostgreSQL under which the queue is counted and changed."""
REFERENCES: Final[frozenset[str]] = frozenset({"oracle", "nop"})
"""Agents that say something of a task, not of a model; figures leave them out."""
_TOP: Final = 100


type Row = Mapping[str, Any]
"""Columns of `rollouts`, and `record`."""


@dataclass(frozen=True, slots=True)
class RolloutPage:
    rollouts: tuple[Rollout, ...]
    """Records as their owners see them."""
    total: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of the rollouts of a task or an environment that a viewer may see."""

    attempts: int = 0
    graded: int = 0
    mean: float | None = None
    """Of the rewards of those that are graded."""
    best: float | None = None


class Index:
    """One database. Calls block, and raise `Upstream` when it cannot be reached."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._is_postgres = engine.dialect.name == "postgresql"

    def create(self, *, anew: bool = False) -> None:
        """Make the tables where there are none, or `anew`. Raises `BadInput` for those of another version."""
        with self.writing(gate=True) as connection:
            if anew:
                tables.drop_all(connection)
            tables.create_all(connection)
            found = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "version"))
            if found is None:
                connection.execute(meta.insert().values(name="version", value=str(VERSION)))
            elif found != str(VERSION):
                raise BadInput(
                    f"The index of rollouts is of version {found[:20]}, and this program reads {VERSION}.",
                    hint="Stop every process over this store, then make it anew with `rlx store reindex --anew`.",
                )

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state."""
        with _told(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self, *, gate: bool = False) -> Iterator[sa.Connection]:
        """A transaction that writes. With `gate` it is the only one of those; SQLite has one writer at any time."""
        with _told(), self._engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            if gate and self._is_postgres:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_GATE)))
            yield connection

    # Rows

    def locked(self, connection: sa.Connection, id: str, *, wait: bool = True) -> "Row | None":
        """The row of a rollout and its record, which nobody else changes until the transaction ends; None when there is
        none, or, not waiting, when somebody else has it."""
        query = sa.select(rollouts).where(rollouts.c.id == id).with_for_update(skip_locked=not wait)
        row = connection.execute(query).mappings().first()
        if row is None:
            return None
        # Asked for once the row is locked: a join would give the record of before the wait.
        return {**row, "record": connection.scalar(sa.select(records.c.record).where(records.c.id == id))}

    def put(self, connection: sa.Connection, rollout: Rollout) -> None:
        """Make the row of a rollout say what its record does."""
        self._upsert(connection, rollouts, row_of(rollout))
        self._put_spending(connection, rollout)
        self.put_record(connection, rollout)

    def put_record(self, connection: sa.Connection, rollout: Rollout) -> None:
        """Keep the record beside its row."""
        self._upsert(connection, records, {"id": rollout.id, "record": rollout.model_dump_json()})

    def add(self, connection: sa.Connection, rollout: Rollout) -> bool:
        """Make a row where there is none."""
        insert = self._insert(rollouts).values(**row_of(rollout))
        added = insert.on_conflict_do_nothing(index_elements=["id"]).returning(rollouts.c.id)
        is_new = connection.scalar(added) is not None
        if is_new:
            self._put_spending(connection, rollout)
            self.put_record(connection, rollout)
        return is_new

    def _put_spending(self, connection: sa.Connection, rollout: Rollout) -> None:
        row = spending_row(rollout)
        if row is not None:
            self._upsert(connection, spending, row)

    def mark_deleted(self, connection: sa.Connection, id: str) -> None:
        """Show a rollout to nobody any more, till its row is removed too."""
        connection.execute(rollouts.update().where(rollouts.c.id == id).values(status=DELETING))

    def remove(self, connection: sa.Connection, id: str) -> None:
        connection.execute(leases.delete().where(leases.c.id == id))
        connection.execute(records.delete().where(records.c.id == id))
        connection.execute(rollouts.delete().where(rollouts.c.id == id))

    # Questions

    def find(self, id: str, audience: Audience) -> Rollout:
        """A record that the audience may see. Raises `NotFound`."""
        query = sa.select(records.c.record).join(rollouts, rollouts.c.id == records.c.id)
        query = query.where(rollouts.c.id == id, may_see(audience))
        with self.reading() as connection:
            record = connection.scalar(query)
        if record is None:
            raise NotFound(f"There is no rollout {id[:40]!r}, or not for you.")
        return Rollout.model_validate_json(record)

    def page(
        self, filters: Filters, audience: Audience, *, sort: Sort = "new", offset: int = 0, limit: int = 50
    ) -> RolloutPage:
        where = conditions(filters, audience)
        query = sa.select(rollouts.c.id).where(where).order_by(*order(sort))
        query = query.offset(max(offset, 0)).limit(min(max(limit, 0), PAGE))
        with self.reading() as connection:
            total = connection.scalar(sa.select(sa.func.count()).select_from(rollouts).where(where)) or 0
            ids = list(connection.scalars(query))
            found = dict(_records_of(connection, ids))
        return RolloutPage(tuple(found[id] for id in ids if id in found), total)

    def facets(
        self, filters: Filters, audience: Audience, keys: Sequence[Facet] = FACETS
    ) -> dict[Facet, list[tuple[str | None, int]]]:
        """How many there are of each value, the most first, each field counted without its own filter."""
        found: dict[Facet, list[tuple[str | None, int]]] = {}
        with self.reading() as connection:
            for key in keys:
                column, count = rollouts.c[key], sa.func.count()
                query = sa.select(column, count).where(conditions(filters, audience, without=key)).group_by(column)
                rows = connection.execute(query.order_by(count.desc(), column).limit(_TOP))
                found[key] = [(value, number) for value, number in rows]
        return found

    def figures(self, filters: Filters, audience: Audience, *, without: Collection[str] = REFERENCES) -> Figures:
        """Of all rollouts that meet the filters and whose agent is not among `without`."""
        rows = self._figures((), filters, audience, without)
        return next(iter(rows.values()), Figures())

    def figures_by_task(
        self, filters: Filters, audience: Audience, *, without: Collection[str] = REFERENCES
    ) -> dict[tuple[str, str], Figures]:
        """By environment and ref."""
        rows = self._figures((rollouts.c.env, rollouts.c.ref), filters, audience, without)
        return {(env, ref): figures for (env, ref), figures in rows.items()}

    def figures_by_environment(
        self, filters: Filters, audience: Audience, *, without: Collection[str] = REFERENCES
    ) -> dict[str, Figures]:
        rows = self._figures((rollouts.c.env,), filters, audience, without)
        return {env: figures for (env,), figures in rows.items()}

    def _figures(
        self, keys: Sequence[sa.Column[Any]], filters: Filters, audience: Audience, without: Collection[str]
    ) -> Mapping[tuple[Any, ...], Figures]:
        where = conditions(filters, audience)
        if without:
            where = sa.and_(where, rollouts.c.agent.not_in(sorted(without)))
        reward = sa.case((rollouts.c.graded, rollouts.c.reward))
        counts = (sa.func.count(), sa.func.count(reward), sa.func.avg(reward), sa.func.max(reward))
        with self.reading() as connection:
            rows = connection.execute(sa.select(*keys, *counts).where(where).group_by(*keys)).all()
        return {tuple(row[:-4]): Figures(*row[-4:]) for row in rows}

    def _insert(self, table: sa.Table) -> "sqlite.Insert | postgresql.Insert":
        return postgresql.insert(table) if self._is_postgres else sqlite.insert(table)

    def _upsert(self, connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> None:
        insert = self._insert(table).values(**values)
        changed = {name: insert.excluded[name] for name in values if name != "id"}
        connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=changed))

    def ids(self) -> list[str]:
        with self.reading() as connection:
            query = sa.select(rollouts.c.id).where(rollouts.c.status != DELETING).order_by(rollouts.c.id)
            return list(connection.scalars(query))


def row_of(rollout: Rollout) -> dict[str, Any]:
    """Columns of a record. Whether somebody asked it to stop is no part of it."""
    return {
        "id": rollout.id,
        "env": rollout.env,
        "ref": rollout.ref.replace("\0", "�"),  # which PostgreSQL keeps in no text
        "agent": rollout.agent,
        "model": rollout.model.id if rollout.model else None,
        "sandbox": rollout.sandbox,
        "runner": rollout.runner,
        "status": rollout.status,
        "graded": rollout.graded,
        "reward": rollout.reward,
        "cost": rollout.cost,
        "attempt": rollout.attempt,
        "owner": rollout.owner,
        "visibility": rollout.visibility,
        "created_at": rollout.created_at.timestamp(),
        "updated_at": rollout.updated_at.timestamp(),
        "finished_at": rollout.finished_at.timestamp() if rollout.finished_at else None,
    }


@contextmanager
def _told() -> Iterator[None]:
    """The database's errors as one of ours, without its words: they quote what was asked, and where it is."""
    try:
        yield
    except (DBAPIError, SQLAlchemyError) as error:
        cause = getattr(error, "orig", None) or error
        raise Upstream(
            f"The index of rollouts cannot be used: {type(cause).__name__}.",
            hint="Its operator can look at the database that RLX_DATABASE_URL names, or at RLX_CACHE_DIR's disk.",
            retry_after=10,
        ) from error


def _records_of(connection: sa.Connection, ids: Sequence[str]) -> Iterator[tuple[str, Rollout]]:
    for id, record in connection.execute(sa.select(records.c.id, records.c.record).where(records.c.id.in_(ids))):
        yield id, Rollout.model_validate_json(record)


def rollout_of(row: "Row") -> Rollout:
    """The record in a row."""
    return Rollout.model_validate_json(row["record"])
