"""How databases of the index are opened: written once without a journal, then read immutable."""

import sqlite3
from pathlib import Path
from urllib.parse import quote


def open_writer(path: Path, schema: str) -> sqlite3.Connection:
    """A new database. No journal: a half-written file is thrown away, never repaired."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.executescript(schema)
    return db


def open_readonly(path: Path) -> sqlite3.Connection:
    """A finished database. `immutable` lets SQLite skip locks and change checks, which a bucket mount does not have."""
    db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    db.execute("PRAGMA query_only = 1")
    return db
