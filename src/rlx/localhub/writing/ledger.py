"""What was written to a local hub: commits, branches, pull requests and discussions, in one SQLite file.

One process writes; every change is one transaction, so that one killed at any moment leaves the state before it or
after it.
"""

import fcntl
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from rlx.errors import BadInput
from rlx.localhub.writing.objects import Objects, Stored

MAIN = "refs/heads/main"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a commit."""

    object: Stored
    lfs: bool


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    parent: str | None
    title: str
    message: str
    author: str
    made_ms: int


type Changes = Mapping[str, Entry | None]
"""Paths to what is there now; None: nothing any more."""


class Ledger:
    """`folder` holds `ledger.v1.db` and the objects. Raises `BadInput` where another process writes there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lockfile = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lockfile, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lockfile.close()
            raise BadInput(f"Another local hub writes to {folder}.", hint="End it, or choose another state.") from error
        self.objects = Objects(folder)
        self.lock = threading.RLock()
        """Held from the look at a head until the change that rests on it."""
        self._db = sqlite3.connect(folder / "ledger.v1.db", check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript((files(__package__) / "ledger.sql").read_text())
        self._repos: dict[str, dict[str, object] | None] = {
            key: None if meta is None else json.loads(meta)
            for key, meta in self._db.execute("SELECT key, meta FROM repos")
        }

    def close(self) -> None:
        with self.lock:
            self._db.close()
            self._lockfile.close()

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone."""
        with self.lock:
            if self._db.in_transaction:  # part of a greater change
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with self.lock:
            return self._db.execute(sql, values).fetchall()

    # Repositories

    def knows(self, key: str) -> bool:
        """Whether `key` was written to, or deleted."""
        return key in self._repos

    def meta(self, key: str) -> Mapping[str, object] | None:
        """What replaces the word of `hub.json`; None of a repository that is not here."""
        return self._repos.get(key)

    def keys(self, kind: str) -> list[str]:
        """Repositories of a kind that are kept here, and were not deleted."""
        return [key for key, meta in list(self._repos.items()) if meta is not None and key.startswith(f"{kind}/")]

    def set_repo(self, key: str, meta: Mapping[str, object], *, made_ms: int | None = None) -> None:
        """Note a repository, new with `made_ms`, or its metadata."""
        text = json.dumps(dict(meta))
        with self.change() as db:
            if made_ms is None:
                db.execute("UPDATE repos SET meta = ? WHERE key = ?", (text, key))
            else:
                db.execute("INSERT OR REPLACE INTO repos VALUES (?, ?, ?)", (key, made_ms, text))
        self._repos[key] = dict(meta)

    def delete_repo(self, key: str) -> None:
        """Forget a repository; one of the served folder is hidden from now on."""
        with self.change() as db:
            for table in ("uploads", "commits", "changes", "refs", "discussions", "events"):
                db.execute(f"DELETE FROM {table} WHERE repo = ?", (key,))  # noqa: S608  names above
            db.execute("INSERT OR REPLACE INTO repos VALUES (?, 0, NULL)", (key,))
        self._repos[key] = None

    def created_ms(self, key: str) -> int:
        return next((int(str(made)) for (made,) in self.rows("SELECT created_ms FROM repos WHERE key = ?", key)), 0)

    # Objects

    def note(self, objects: Sequence[Stored]) -> None:
        with self.change() as db:
            rows = [(each.sha256, each.size, each.blob) for each in objects]
            db.executemany("INSERT OR IGNORE INTO objects VALUES (?, ?, ?)", rows)

    def object(self, sha256: str) -> Stored | None:
        found = self.rows("SELECT sha256, size, blob FROM objects WHERE sha256 = ?", sha256)
        return _stored(*found[0]) if found else None

    def held(self, key: str, sha256: str) -> Stored | None:
        """An object that was uploaded for this repository: another's is nobody's to name."""
        found = self.rows(
            "SELECT sha256, size, blob FROM objects WHERE sha256 = ? AND"
            " (EXISTS (SELECT 1 FROM uploads u WHERE u.repo = ? AND u.sha256 = objects.sha256)"
            " OR EXISTS (SELECT 1 FROM changes c WHERE c.repo = ? AND c.sha256 = objects.sha256))",
            sha256,
            key,
            key,
        )
        return _stored(*found[0]) if found else None

    def hold(self, key: str, stored: Stored) -> None:
        with self.change() as db:
            self.note([stored])
            db.execute("INSERT OR IGNORE INTO uploads VALUES (?, ?)", (key, stored.sha256))

    # Commits

    def add_commit(self, key: str, commit: Commit, changes: Changes) -> None:
        with self.change() as db:
            db.execute(
                "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, commit.id, commit.parent, commit.title, commit.message, commit.author, commit.made_ms),
            )
            db.executemany(
                "INSERT INTO changes VALUES (?, ?, ?, ?, ?)",
                [
                    (key, commit.id, path, entry and entry.object.sha256, int(bool(entry and entry.lfs)))
                    for path, entry in changes.items()
                ],
            )

    def log(self, key: str, id: str) -> list[Commit]:
        """The commit and those before it, newest first; empty when there is no such commit."""
        rows = self.rows("SELECT id, parent, title, message, author, made_ms FROM commits WHERE repo = ?", key)
        known = {row[0]: row for row in rows}
        found: list[Commit] = []
        at: object = id
        while at in known:
            name, parent, title, message, author, made = known[at]
            found.append(
                Commit(
                    str(name),
                    None if parent is None else str(parent),
                    str(title),
                    str(message),
                    str(author),
                    int(str(made)),
                )
            )
            at = parent
        return found

    def files(self, key: str, id: str) -> dict[str, Entry]:
        """The files of a commit."""
        found: dict[str, Entry] = {}
        for commit in reversed(self.log(key, id)):
            for path, sha256, size, blob, lfs in self.rows(
                "SELECT path, c.sha256, size, blob, lfs FROM changes c LEFT JOIN objects o ON o.sha256 = c.sha256"
                " WHERE repo = ? AND id = ?",
                key,
                commit.id,
            ):
                if sha256 is None:
                    found.pop(str(path), None)
                else:
                    found[str(path)] = Entry(_stored(sha256, size, blob), bool(lfs))
        return found

    # Branches

    def refs(self, key: str) -> dict[str, str]:
        """Full names (`refs/heads/main`, `refs/tags/v1`, `refs/pr/1`) to commits."""
        rows = self.rows("SELECT name, id FROM refs WHERE repo = ? ORDER BY name", key)
        return {str(name): str(id) for name, id in rows}

    def set_ref(self, key: str, name: str, id: str | None) -> None:
        """Move or make a branch; None removes it."""
        with self.change() as db:
            if id is None:
                db.execute("DELETE FROM refs WHERE repo = ? AND name = ?", (key, name))
            else:
                db.execute("INSERT OR REPLACE INTO refs VALUES (?, ?, ?)", (key, name, id))


def _stored(sha256: object, size: object, blob: object) -> Stored:
    return Stored(str(sha256), int(str(size)), str(blob))
