"""Hashes and cards kept on disk between runs, so that a start over many files reads none that did not change."""

import json
import logging
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rlx.localhub.cards import EMPTY, Card
from rlx.localhub.files import File, Stamp

logger = logging.getLogger(__name__)

_SCHEMA = "CREATE TABLE IF NOT EXISTS repos (folder TEXT PRIMARY KEY, files TEXT NOT NULL) WITHOUT ROWID"


@dataclass(frozen=True, slots=True)
class Known:
    """A repository as it was last seen. The card is that of the README among the files."""

    files: Mapping[str, File]
    card: Card


UNKNOWN = Known({}, EMPTY)


class HashStore:
    """One SQLite file `hashes.v1.db` in `cache_dir`; without one nothing is kept. Trouble with it costs only time."""

    def __init__(self, cache_dir: Path | None) -> None:
        self._path = None if cache_dir is None else cache_dir / "hashes.v1.db"
        self._rows: dict[str, str] | None = None
        self._unsaved: dict[str, str] = {}
        self._lock = threading.Lock()

    def load(self, folder: str) -> Known:
        """What was known of a repository."""
        if self._path is None:
            return UNKNOWN
        with self._lock:
            if self._rows is None:
                self._rows = self._read(self._path)
            text = self._rows.pop(folder, None)
        if text is None:
            return UNKNOWN
        try:
            told = json.loads(text)
            files = [
                File(path, Stamp(size, mtime_ns, inode), oid, sha256)
                for path, size, mtime_ns, inode, oid, sha256 in told["files"]
            ]
            return Known({file.path: file for file in files}, Card(told["card"], told["description"]))
        except (ValueError, TypeError, KeyError):
            return UNKNOWN

    def keep(self, folder: str, known: Known) -> None:
        """Remember a repository; it is on disk after `flush`."""
        if self._path is not None:
            files = [[file.path, *file.stamp, file.oid, file.sha256] for file in known.files.values() if not file.racy]
            told = {"files": files, "card": known.card.data, "description": known.card.description}
            with self._lock:
                self._unsaved[folder] = json.dumps(told, separators=(",", ":"))

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
