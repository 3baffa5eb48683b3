"""The tables of the index and the queue, and the database they are in: SQLite on local disk, or PostgreSQL."""

import sqlite3
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from rlx.errors import BadInput

VERSION: Final = 1
DELETING: Final = "deleting"
"""The status of a row whose rollout somebody deletes: its files go, and then it does. No record has it."""
WRITES: Final = "rlx_writes"
"""Execution option of a connection that will write: SQLite has one writer, and who reads first may not become it."""

tables = sa.MetaData()

meta = sa.Table(
    "rlx_meta",
    tables,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.String(200), nullable=False),
)

rollouts = sa.Table(
    "rollouts",
    tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("env", sa.String, nullable=False),
    sa.Column("ref", sa.String, nullable=False),
    sa.Column("agent", sa.String, nullable=False),
    sa.Column("model", sa.String),
    sa.Column("sandbox", sa.String),
    sa.Column("runner", sa.String, nullable=False),
    sa.Column("status", sa.String(12), nullable=False),
    sa.Column("graded", sa.Boolean, nullable=False),
    sa.Column("reward", sa.Double),
    sa.Column("cost", sa.Double),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("owner", sa.String),
    sa.Column("visibility", sa.String(8), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
    sa.Column("finished_at", sa.Double),
    sa.Column("stop", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index("rollouts_env", "env", "ref"),
    sa.Index("rollouts_status", "status", "created_at"),
    sa.Index("rollouts_owner", "owner", "created_at"),
    sa.Index("rollouts_created", "created_at"),
)
"""A row a rollout; times are seconds since 1970. `stop`: somebody asked it to end."""

records = sa.Table(
    "records",
    tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("record", sa.Text, nullable=False),
)
"""`rollout.json` of each rollout, apart: lists and counts go through many rows and want them small."""

leases = sa.Table(
    "leases",
    tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("worker", sa.String(200), nullable=False),
    sa.Column("token", sa.String(32), nullable=False),
    sa.Column("sandbox", sa.String),
    sa.Column("since", sa.Double, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Index("leases_until", "until"),
    sa.Index("leases_worker", "worker"),
)
"""Who runs a rollout, and until when without another sign of life."""

spending = sa.Table(
    "spending",
    tables,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("owner", sa.String),
    sa.Column("dollars", sa.Double, nullable=False),
    sa.Column("ended_at", sa.Double),
    sa.Index("spending_ended", "ended_at"),
)
"""What rollouts for which somebody pays cost, or may cost: see `spending.py`. Deleting a rollout leaves its row."""


def open_engine(url: str) -> sa.Engine:
    """The database at a URL of SQLite or PostgreSQL. Nothing is asked of it yet. Raises `BadInput`, without the URL,
    which may hold a password."""
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise BadInput("RLX_DATABASE_URL is no URL of a database.", hint=_EXAMPLE) from error
    kind = parsed.drivername.partition("+")[0]
    if kind in {"postgresql", "postgres"}:
        return _postgres(parsed)
    if kind == "sqlite" and parsed.database not in {None, "", ":memory:"}:
        return _sqlite(parsed)
    raise BadInput(f"RLX_DATABASE_URL names a database of kind {kind[:40]!r}.", hint=_EXAMPLE)


_EXAMPLE: Final = "For example postgresql://user:password@host/name. Without it SQLite on local disk is used."


def sqlite_url(path: Path) -> str:
    return sa.URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url.set(drivername="sqlite+pysqlite"), connect_args={"timeout": 60.0, "check_same_thread": False}
    )

    @sa.event.listens_for(engine, "connect")
    def connected(connection: sqlite3.Connection, record: object) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver's guess
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=OFF"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgres(url: sa.URL) -> sa.Engine:
    limits: dict[str, Any] = {
        "connect_timeout": 10,
        # A process that was stopped in the middle holds nobody up for longer.
        "options": "-c lock_timeout=30s -c statement_timeout=60s -c idle_in_transaction_session_timeout=60s",
    }
    try:
        return sa.create_engine(
            url.set(drivername="postgresql+psycopg"), connect_args=limits, pool_pre_ping=True, pool_size=8
        )
    except ModuleNotFoundError as error:
        raise BadInput(
            "PostgreSQL needs a driver that is not installed.", hint="pip install 'rl-explorer[postgres]'"
        ) from error
