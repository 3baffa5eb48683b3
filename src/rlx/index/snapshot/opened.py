"""A finished snapshot, opened: environments and tasks as pages ask for them."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from secrets import choice

from rlx.errors import TooMany
from rlx.ids import EnvKey, parse_key
from rlx.index.database import Database
from rlx.index.health import NOTHING, HealthColumn, of_tasks
from rlx.index.snapshot.environments import Environments, FacetCounts
from rlx.index.snapshot.rows import SCHEMA, Counts
from rlx.index.snapshot.soundness import check_rows, check_tables, check_words
from rlx.index.snapshot.tasks import MOST, Tasks
from rlx.model import EnvCard, EnvPage, EnvQuery, Relative, TaskHits, TaskSearch
from rlx.store.health import Book
from rlx.store.instance import Instance

CONNECTIONS = 8
DEADLINE = 2.0
"""Seconds of one statement."""


class Snapshot:
    """Read by any thread. It closes when nobody holds it any more, so it may be replaced while it is read.

    Raises `ValueError` or `sqlite3.DatabaseError` for a file that is no snapshot of this schema. Searches raise
    `TooMany` past the deadline.
    """

    def __init__(self, path: Path, *, most: int = MOST) -> None:
        """`most` is how many tasks a search finds at most."""
        db = Database(path, connections=CONNECTIONS, deadline=DEADLINE)
        try:
            meta = {key: json.loads(value) for key, value in db.rows("SELECT key, value FROM meta")}
            if meta["schema"] != SCHEMA:
                raise ValueError(f"schema {meta['schema']!r}, not {SCHEMA}")
            self.built_at = datetime.fromisoformat(meta["built_at"]).astimezone(UTC)
            self.hub = str(meta["hub"])
            self.counts = Counts(meta["environments"], meta["datasets"], meta["spaces"], meta["tasks"])
            self._environments = Environments(db)
            self._tasks = Tasks(db, self._environments.keys, most)
            self._laid: tuple[Book, HealthColumn | None] = NOTHING, None
        except (KeyError, TypeError, TooMany) as error:
            raise ValueError(f"not a snapshot: {type(error).__name__}") from error

    def environments(self, query: EnvQuery, instance: Instance, book: Book = NOTHING) -> EnvPage:
        return self._environments.page(query, instance, book)

    def counted(self, query: EnvQuery, instance: Instance, book: Book = NOTHING) -> FacetCounts:
        """How often the values of environments' facets occur over what the other filters leave."""
        return self._environments.counted(query, instance, book)

    def card(self, key: EnvKey, instance: Instance, book: Book = NOTHING) -> EnvCard | None:
        return None if instance.hides(key) else self._environments.card(key, book)

    def rank(self, key: EnvKey, instance: Instance) -> tuple[int, int] | None:
        """Its place by trend among those of its kind, from 1, and how many those are. None when it is not listed."""
        return self._environments.rank(key, instance)

    def tasks(self, search: TaskSearch, instance: Instance, book: Book = NOTHING) -> TaskHits:
        place = None if search.environment is None else self._environments.place(search.environment)
        return self._tasks.search(search, place, self._environments.hidden(instance), self._health(book))

    def _health(self, book: Book) -> HealthColumn | None:
        """Of all tasks; None where nothing is known. Kept till that changes."""
        if self._laid[0] is not book:
            known: dict[int, str] = {}
            for place, health, revision in self._environments.known(book):
                known |= self._tasks.places(place, of_tasks(health, revision))
            self._laid = book, HealthColumn(known, self._tasks.count) if known else None
        return self._laid[1]

    def relatives(self, key: EnvKey, ref: str, instance: Instance) -> tuple[Relative, ...]:
        """Tasks with the same files as this one, then those that say nearly the same."""
        place = self._environments.place(key)
        hidden = self._environments.hidden(instance)
        return () if place is None or place in hidden else self._tasks.relatives(place, ref, hidden)

    def random(self, instance: Instance) -> tuple[EnvKey, str] | None:
        """Some task: each environment that has tasks is equally likely."""
        places = self._environments.with_tasks(instance)
        while places:
            place = choice(places)
            ref = self._tasks.random(place)
            if ref is not None:
                return parse_key(self._environments.keys[place]), ref
            places = [other for other in places if other != place]
        return None


def check(path: Path) -> Counts:
    """The counts of a snapshot that was looked through whole.

    Raises `ValueError` or `sqlite3.DatabaseError` for a file that is damaged, of another schema, or other than it says.
    """
    db = Database(path, connections=1)
    check_tables(db)
    counts = Snapshot(path).counts
    found = db.row("PRAGMA quick_check(1)")[0]
    if found != "ok":
        raise sqlite3.DatabaseError(str(found)[:200])
    kinds = db.row("SELECT count(*), sum(key LIKE 'space:%') FROM envs")
    spaces = int(kinds[1] or 0)
    told = Counts(kinds[0], kinds[0] - spaces, spaces, db.row("SELECT count(*) FROM tasks")[0])
    if told != counts:
        raise ValueError(f"it says {counts}, and holds {told}")
    check_rows(db)
    check_words(path)
    return counts
