"""How databases of the index are opened: written once without a journal, then read immutable."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote
from weakref import finalize

from rlx.errors import TooMany

CONNECTIONS = 3
"""Of one database: a page is answered while two long searches run."""
_STEPS = 20_000
"""Steps of SQLite's machine between two looks at the clock, a few milliseconds."""


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
    change checks, which a bucket mount does not have. With a `deadline`, in seconds, a statement that takes longer
    raises `TooMany`. Raises `sqlite3.DatabaseError` when it is used and is none.
    """

    def __init__(
        self,
        path: Path,
        *,
        connections: int = CONNECTIONS,
        deadline: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        uri = f"file:{quote(str(path))}?mode=ro&immutable=1"
        self._idle: SimpleQueue[_Connection] = SimpleQueue()
        opened = [_Connection(uri, deadline, clock) for _ in range(connections)]
        finalize(self, _close, opened)
        for connection in opened:
            self._idle.put(connection)

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """Every row, as tuples."""
        connection = self._idle.get()
        try:
            return connection.rows(sql, values)
        finally:
            self._idle.put(connection)

    def row(self, sql: str, values: Sequence[object] = ()) -> Any:
        """The first row, or None."""
        return next(iter(self.rows(sql, values)), None)


class _Connection:
    def __init__(self, uri: str, deadline: float | None, clock: Callable[[], float]) -> None:
        self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._db.execute("PRAGMA query_only = 1")
        self._deadline = deadline
        self._clock = clock
        self._end = 0.0
        if deadline is not None:
            self._db.set_progress_handler(self._is_late, _STEPS)

    def rows(self, sql: str, values: Sequence[object]) -> list[Any]:
        if self._deadline is None:
            return self._db.execute(sql, values).fetchall()
        self._end = self._clock() + self._deadline
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if not self._is_late():
                raise
            raise TooMany("The search took too long.", hint="Ask for fewer or longer words.", retry_after=5) from error

    def close(self) -> None:
        self._db.close()

    def _is_late(self) -> bool:
        return self._clock() > self._end


def _close(connections: Sequence[_Connection]) -> None:
    for connection in connections:
        connection.close()
