"""Whether a snapshot holds what its readers rely on, row by row: a sound file can still hold what nobody can use."""

import json
import sqlite3
from array import array
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

from rlx.errors import BadInput
from rlx.index.codec import env_card_in
from rlx.index.database import Database
from rlx.index.snapshot.rows import TASK_FACETS
from rlx.model import KINDS

INDEXES = frozenset({("index", "tasks_of_env"), ("index", "same_class")})
"""Made after the tables are filled."""
_CHUNK = 10_000
"""Tasks that are looked at together."""


def check_tables(db: Database) -> None:
    """Raises `ValueError` for other tables than a snapshot has: before any is read, since a view may have no end."""
    found = {(kind, name) for kind, name in db.rows("SELECT type, name FROM sqlite_schema")}
    if found != _schema() | INDEXES:
        raise ValueError("its tables are not those of a snapshot")


def check_rows(db: Database) -> None:
    """Raises `ValueError` or `sqlite3.DatabaseError` for the first row that readers would stumble over."""
    try:
        envs = db.row("SELECT count(*) FROM envs")[0]
        tasks = db.row("SELECT count(*) FROM tasks")[0]
        _check_envs(db, envs)
        _check_tasks(db, envs, tasks)
        _check_relatives(db, tasks)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError, BadInput) as error:
        raise ValueError(f"a row is none: {type(error).__name__}") from error


def _check_envs(db: Database, size: int) -> None:
    rows = db.rows("SELECT ord, key, kind, tasks, card, typeof(haystack) FROM envs ORDER BY ord")
    for place, (ord_, key, kind, tasks, raw, haystack) in enumerate(rows):
        card = env_card_in(json.loads(raw))
        own = (place, str(card.key), card.kind, card.tasks, "text")
        _need((ord_, key, kind, tasks, haystack) == own and kind in KINDS, f"environment {place}")
        _need(tasks is None or _is_count(tasks), f"the tasks of environment {place}")
        for count in (card.downloads, card.likes):
            _need(count is None or isinstance(count, int | float), f"the counts of environment {place}")
    for key, value, raw in db.rows("SELECT key, value, ords FROM env_facets"):
        ords = [int(text) for text in raw.split(",")]
        fits = all(one < other for one, other in pairwise([-1, *ords, size]))
        _need(isinstance(key, str) and isinstance(value, str) and fits, "a facet of environments")


def _check_tasks(db: Database, envs: int, size: int) -> None:
    combos = db.rows("SELECT id, facets FROM combos ORDER BY id")
    for place, (id_, raw) in enumerate(combos):
        values = json.loads(raw)
        fits = len(values) == len(TASK_FACETS) and all(isinstance(value, str) for own in values for value in own)
        _need(id_ == place and fits, "a combination of facets")
    columns = dict(db.rows("SELECT name, data FROM columns"))
    combo_of = array("I", columns["combo"])
    _need(len(combo_of) == size, "the column of combinations")
    for numbers in (tokens := json.loads(columns["facet_tokens"])).values():
        _need(all(map(_is_count, numbers.values())), "the tokens of facets")
    _need(set(tokens) == set(TASK_FACETS), "the tokens of facets")
    sql = "SELECT id, env, ref, title, brief, combo FROM tasks WHERE id >= ? AND id < ? ORDER BY id"
    seen = 0
    for first in range(0, size, _CHUNK):
        for id_, env, ref, title, brief, combo in db.rows(sql, (first, first + _CHUNK)):
            told = all(isinstance(text, str) for text in (ref, title, brief))
            fits = _is_count(env) and env < envs and combo == combo_of[seen] and combo < len(combos)
            _need(id_ == seen and told and fits, f"task {seen}")
            seen += 1
    _need(seen == size, "the numbers of tasks")


def _check_relatives(db: Database, size: int) -> None:
    sql = "SELECT 1 FROM same WHERE id < 0 OR id >= ? LIMIT 1"
    _need(db.row(sql, (size,)) is None, "a task that is the same as others")
    sql = (
        "SELECT 1 FROM alike WHERE min(id, other) < 0 OR max(id, other) >= ? OR typeof(id) <> 'integer' "
        "OR typeof(other) <> 'integer' OR typeof(score) <> 'real' LIMIT 1"
    )
    _need(db.row(sql, (size,)) is None, "a task that is like others")


def check_words(path: Path) -> None:
    """Read the search indexes whole. Raises `sqlite3.DatabaseError` for a damaged one, which no other check reads."""
    db = sqlite3.connect("file::memory:", uri=True)
    try:
        db.execute("ATTACH ? AS snapshot", (f"file:{quote(str(path))}?mode=ro&immutable=1",))
        for name in ("envs_fts", "tasks_fts"):
            db.execute(f"CREATE VIRTUAL TABLE temp.of_{name} USING fts5vocab(snapshot, {name}, row)")
            db.execute(f"SELECT sum(doc) FROM of_{name}").fetchone()  # noqa: S608  our own names
    finally:
        db.close()


def _schema() -> set[tuple[str, str]]:
    """Every table that `schema.sql` makes, and those that its search indexes make for themselves."""
    empty = sqlite3.connect(":memory:")
    try:
        empty.executescript(files(__package__).joinpath("schema.sql").read_text("utf-8"))
        return set(empty.execute("SELECT type, name FROM sqlite_schema"))
    finally:
        empty.close()


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be right")
