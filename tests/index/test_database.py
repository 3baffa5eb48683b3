"""Databases of the index: read by many at once, ended when a statement takes too long, open beyond their name."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from rlx.errors import TooMany
from rlx.index.database import Database, open_writer

LONG = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a b%.db"
    writer = open_writer(made, "CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1), (2);")
    writer.commit()
    writer.close()
    return made


def test_a_statement_past_its_deadline_is_ended_and_the_connection_serves_on(path: Path) -> None:
    hours = count(0.0, 3600.0)
    db = Database(path, connections=1, deadline=1.0, clock=lambda: next(hours))
    with pytest.raises(TooMany, match="took too long"):
        db.rows(LONG)
    assert db.rows("SELECT x FROM t ORDER BY x") == [(1,), (2,)]


def test_a_statement_within_its_deadline_is_answered(path: Path) -> None:
    db = Database(path, deadline=1.0, clock=lambda: 0.0)
    assert db.row(LONG) == (1_000_000,)


def test_an_error_that_is_no_deadline_keeps_its_name(path: Path) -> None:
    db = Database(path, deadline=1.0, clock=lambda: 0.0)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        db.rows("SELECT * FROM nowhere")


def test_many_threads_share_few_connections_and_outlive_the_name(path: Path) -> None:
    db = Database(path, connections=2)
    path.unlink()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: db.row("SELECT x + ? FROM t WHERE x = 1", (n,)), range(200)))
    assert found == [(n + 1,) for n in range(200)]


def test_nothing_can_be_written(path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        Database(path).rows("INSERT INTO t VALUES (3)")
