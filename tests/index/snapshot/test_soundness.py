"""A snapshot whose rows nobody can use is refused, though its file and its counts are right."""

import sqlite3
from pathlib import Path

import pytest

from rlx.index.snapshot.opened import check
from rlx.index.snapshot.write import write_snapshot
from tests.index.snapshot.stores import content

DAMAGE = (
    "UPDATE envs SET card = '{' WHERE ord = 1",
    "UPDATE envs SET card = '[]' WHERE ord = 1",
    "UPDATE envs SET card = (SELECT card FROM envs WHERE ord = 0) WHERE ord = 1",
    "UPDATE envs SET card = replace(hex(zeroblob(50000)), '00', '[') WHERE ord = 1",
    "UPDATE envs SET key = '../../etc' WHERE ord = 1",
    "UPDATE envs SET kind = 'other'",
    "UPDATE envs SET ord = 7 WHERE ord = 1",
    "UPDATE env_facets SET ords = 'x'",
    "UPDATE env_facets SET ords = '99999999999'",
    "UPDATE env_facets SET ords = '-1'",
    "UPDATE envs SET tasks = 'many' WHERE ord = 1",
    "UPDATE tasks SET env = 9 WHERE id = 0",
    "UPDATE tasks SET combo = 9 WHERE id = 0",
    "UPDATE tasks SET id = 9 WHERE id = 1",
    "UPDATE tasks SET title = x'ff00' WHERE id = 0",
    "UPDATE tasks SET title = CAST(x'fffe' AS TEXT) WHERE id = 0",
    "UPDATE combos SET facets = '[1, 2]'",
    "UPDATE combos SET id = 9",
    "UPDATE columns SET data = x'00000000' WHERE name = 'combo'",
    "UPDATE columns SET data = '[]' WHERE name = 'facet_tokens'",
    "INSERT INTO alike VALUES (0, 9, 0.5)",
    "INSERT INTO same VALUES (9, 0)",
    "UPDATE tasks_fts_data SET block = randomblob(length(block)) WHERE id > 10",
    "DELETE FROM tasks_fts_data WHERE id > 10",
    "UPDATE envs_fts_data SET block = randomblob(length(block)) WHERE id > 10",
    "DROP INDEX tasks_of_env",
    "DROP TABLE tasks_fts",
    "ALTER TABLE tasks RENAME TO others; CREATE VIEW tasks AS SELECT * FROM others",
)


def test_a_snapshot_as_it_is_written_is_sound(tmp_path: Path) -> None:
    assert write_snapshot(tmp_path / "a b%?.db", content(["one", "two"])) == check(tmp_path / "a b%?.db")


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_row_that_nobody_can_use_is_found(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "catalog.db"
    write_snapshot(path, content(["one", "two"]))
    with sqlite3.connect(path) as db:
        db.executescript(damage)
    db.close()
    with pytest.raises((ValueError, sqlite3.DatabaseError)):
        check(path)
