"""Hashes kept on disk between runs, so that a start over many files reads none that did not change."""

import json
import logging
import sqlite3
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from rlx.localhub.files import File, Stamp

logger = logging.getLogger(__name__)

_SCHEMA = "CREATE TABLE IF NOT EXISTS repos (folder TEXT PRIMARY KEY, files TEXT NOT NULL) WITHOUT ROWID"


class HashStore:
    """One SQLite file `hashes.v1.db` in `cache_dir`; without one nothing is kept. Trouble with it costs only time."""

    def __init__(self, cache_dir: Path | None) -> None:
        self._path = None if cache_dir is None else cache_dir / "hashes.v1.db"
        self._rows: dict[str, str] | None = None
        self._unsaved: dict[str, str] = {}
        self._lock = threading.Lock()

    def load(self, folder: str) -> dict[str, File]:
        """What was known of a repository, by path."""
        if self._path is None:
            return {}
        with self._lock:
            if self._rows is None:
                self._rows = self._read(self._path)
            text = self._rows.pop(folder, None)
        if text is None:
            return {}
        try:
            return {
                path: File(path, Stamp(size, mtime_ns, inode), oid, sha256)
                for path, size, mtime_ns, inode, oid, sha256 in json.loads(text)
            }
        except (ValueError, TypeError):
            return {}

    def keep(self, folder: str, files: Iterable[File]) -> None:
        """Remember a repository's files; they are on disk after `flush`."""
        if self._path is not None:
            rows = [[file.path, *file.stamp, file.oid, file.sha256] for file in files if not file.racy]
            with self._lock:
                self._unsaved[folder] = json.dumps(rows, separators=(",", ":"))

    def flush(self) -> None:
        with self._lock:
            if self._path is None or not self._unsaved:
                return
            rows, self._unsaved = list(self._unsaved.items()), {}
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with closing(sqlite3.connect(self._path, timeout=5)) as database, database:
                    database.execute(_SCHEMA)
                    database.executemany("INSERT OR REPLACE INTO repos VALUES (?, ?)", rows)
            except (OSError, sqlite3.Error) as error:
                logger.warning("Hashes could not be kept in %s: %s", self._path, error)

    @staticmethod
    def _read(path: Path) -> dict[str, str]:
        if not path.exists():
            return {}
        try:
            with closing(sqlite3.connect(path, timeout=5)) as database:
                return dict(database.execute("SELECT folder, files FROM repos"))
        except sqlite3.Error as error:
            logger.warning("Kept hashes are unreadable and start anew: %s", error)
            path.unlink(missing_ok=True)
            return {}
