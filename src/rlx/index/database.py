"""How databases of the index are opened: written once without a journal, then read immutable."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote
from weakref import finalize

CONNECTIONS = 3
"""Of one database: a page is answered while two long searches run."""


def open_writer(path: Path, schema: str, *, page_size: int = 4096) -> sqlite3.Connection:
    """A new database. No journal: a half-written file is thrown away, never repaired."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute(f"PRAGMA page_size = {page_size}")
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.executescript(schema)
    return db


class Database:
    """A finished database, read by any thread through a few connections of which each runs one statement at a time.

    All are opened at once, so that a database that is open outlives its name. `immutable` lets SQLite skip locks and
    change checks, which a bucket mount does not have. Raises `sqlite3.DatabaseError` when it is used and is none.
    """

    def __init__(self, path: Path) -> None:
        uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        opened = [sqlite3.connect(uri, uri=True, check_same_thread=False) for _ in range(CONNECTIONS)]
        finalize(self, _close, opened)
        for connection in opened:
            connection.execute("PRAGMA query_only = 1")
            self._idle.put(connection)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Every row, as tuples."""
        connection = self._idle.get()
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            self._idle.put(connection)

    def row(self, sql: str, values: Sequence[object] = ()) -> Any:
        """The first row, or None."""
        return next(iter(self.rows(sql, values)), None)


def _close(connections: Sequence[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()
