"""Writes a snapshot: one pass over environments, one over tasks, each into its table and its search index."""

import json
import sqlite3
from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.resources import files
from itertools import batched, count, zip_longest
from pathlib import Path

from rlx.ids import EnvKey
from rlx.index.codec import env_card_out
from rlx.index.database import open_writer
from rlx.index.folding import fold
from rlx.index.snapshot.rows import SCHEMA, TASK_FACETS, Content, Counts, Likeness, TaskRow
from rlx.index.snapshot.words import env_token, facet_token, title_tokens, tokens
from rlx.model import EnvCard

MAX_TITLE = 200
MAX_BRIEF = 300
"""Characters of a task's title and brief that the catalog keeps."""
_BATCH = 1000
_AHEAD = 4
_IN_MEMORY = 512 * 1024 * 1024
"""Bytes of the search index that are gathered before they are written: a merge of parts costs more than the parts."""

_OWN = TASK_FACETS[:-1]

type Combo = tuple[tuple[str, ...], ...]
"""The values of each of `TASK_FACETS`."""
type _Placed = tuple[int, EnvCard, TaskRow]
"""The environment's place, its card, and a task of it."""


def write_snapshot(path: Path, content: Content) -> Counts:
    """Write a complete snapshot to a new file. Raises `OSError` or `sqlite3.OperationalError` when the disk is full."""
    db = open_writer(path, files(__package__).joinpath("schema.sql").read_text("utf-8"), page_size=8192)
    try:
        _write_envs(db, content.envs)
        tasks = _Tasks(db)
        tasks.write(by_popularity(content))
        tasks.relate(content.alike)
        spaces = sum(card.key.kind == "space" for card in content.envs)
        counts = Counts(len(content.envs), len(content.envs) - spaces, spaces, tasks.count)
        meta = {
            "schema": SCHEMA,
            "built_at": content.built_at.isoformat(),
            "hub": content.hub,
            "environments": counts.environments,
            "datasets": counts.datasets,
            "spaces": counts.spaces,
            "tasks": counts.tasks,
        }
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(value)) for key, value in meta.items()])
        db.commit()
    finally:
        db.close()
    return counts


def by_popularity(content: Content) -> Iterator[_Placed]:
    """Tasks in order of popularity: the first of every environment, the most popular first, then the second, and on.

    So an environment of very many tasks does not fill the first pages of every search.
    """
    rows = [
        [(place, card, row) for row in content.tasks[card.key]]
        for place, card in enumerate(content.envs)
        if card.key in content.tasks
    ]
    for layer in zip_longest(*rows):
        yield from (item for item in layer if item is not None)


def task_facets(card: EnvCard, row: TaskRow) -> Combo:
    """What a task is filtered by, in the order of `TASK_FACETS`: its own facets, and its environment's framework."""
    return (*(row.facets.get(key, ()) for key in _OWN), card.facets.get("framework", ()))


def haystack(card: EnvCard) -> str:
    """What the words of a search for environments must stand in."""
    return fold(f"{card.key.repo_id} {card.title} {card.brief} {' '.join(card.tags)}")


def _write_envs(db: sqlite3.Connection, envs: Iterable[EnvCard]) -> None:
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, card in enumerate(envs):
        modified = None if card.modified is None else card.modified.timestamp()
        told = json.dumps(env_card_out(card), ensure_ascii=False)
        row = (place, str(card.key), card.kind, card.key.repo_id.lower(), card.tasks, modified)
        db.execute(
            "INSERT INTO envs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, card.downloads, card.likes, haystack(card), told),
        )
        for key, values in card.facets.items():
            for value in dict.fromkeys(values):
                places[key, value].append(place)
    rows = [(key, value, ",".join(map(str, ords))) for (key, value), ords in places.items()]
    db.executemany("INSERT INTO env_facets VALUES (?, ?, ?)", rows)


class _Tasks:
    """The tasks of one snapshot, and both search indexes, which are written while what comes next is made."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.count = 0
        self._places: dict[tuple[EnvKey, str], int] = {}
        self._combos: dict[Combo, int] = {}
        self._marks: list[str] = []
        """By combo: its facet tokens, and the words of its category."""
        self._numbers: dict[str, dict[str, int]] = {key: {} for key in TASK_FACETS}
        self._values = count()
        self._column = array("I")
        self._digests: dict[str, list[int]] = defaultdict(list)

    def write(self, placed: Iterable[_Placed]) -> None:
        self._db.execute("INSERT INTO tasks_fts (tasks_fts, rank) VALUES ('hashsize', ?)", (_IN_MEMORY,))
        rows: list[tuple[int, int, str, str, str, int]] = []
        with ThreadPoolExecutor(1) as writer:
            waiting: deque[Future[None]] = deque([writer.submit(self._search_for_envs)])
            for batch in batched(self._rows(placed, rows), _BATCH):
                if len(waiting) == _AHEAD:
                    waiting.popleft().result()
                waiting.append(writer.submit(self._search_for, len(rows) - len(batch), batch))
            for item in waiting:
                item.result()
        self._db.executemany("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?)", rows)
        combos = [(id_, json.dumps(combo)) for combo, id_ in self._combos.items()]
        self._db.executemany("INSERT INTO combos VALUES (?, ?)", combos)
        self._db.execute("INSERT INTO columns VALUES ('combo', ?)", (self._column.tobytes(),))
        self._db.execute("INSERT INTO columns VALUES ('facet_tokens', ?)", (json.dumps(self._numbers).encode(),))
        self._db.execute("CREATE INDEX tasks_of_env ON tasks (env, ref)")

    def relate(self, alike: Iterable[Likeness]) -> None:
        """Note identical tasks, and those that say nearly the same."""
        classes = enumerate(ids for ids in self._digests.values() if len(ids) > 1)
        self._db.executemany(
            "INSERT INTO same VALUES (?, ?)", ((id_, class_) for class_, ids in classes for id_ in ids)
        )
        self._db.execute("CREATE INDEX same_class ON same (class)")
        pairs = (
            (self._places.get((item.key, item.ref)), self._places.get((item.other_key, item.other_ref)), item.score)
            for item in alike
        )
        known = ((id_, other, score) for id_, other, score in pairs if id_ is not None and other is not None)
        self._db.executemany("INSERT OR IGNORE INTO alike VALUES (?, ?, ?)", known)

    def _rows(self, placed: Iterable[_Placed], rows: list[tuple[int, int, str, str, str, int]]) -> Iterator[str]:
        """The tokens of each task; its columns are added to `rows`."""
        for place, card, row in placed:
            if (card.key, row.ref) in self._places:
                continue
            id_ = self._places[card.key, row.ref] = self.count
            self.count += 1
            combo = self._combo(task_facets(card, row))
            self._column.append(combo)
            if row.digest:
                self._digests[row.digest].append(id_)
            title, brief = row.title[:MAX_TITLE], row.brief[:MAX_BRIEF]
            folder, _, called_so = row.ref.rpartition("/")
            called = tokens(f"{title} {called_so}")
            found = called | tokens(f"{folder} {brief} {row.words}")
            words = " ".join((*found, title_tokens(called), env_token(place), self._marks[combo]))
            rows.append((id_, place, row.ref, title, brief, combo))
            yield words

    def _search_for_envs(self) -> None:
        self._db.execute("INSERT INTO envs_fts (envs_fts) VALUES ('rebuild')")

    def _search_for(self, first: int, batch: Sequence[str]) -> None:
        """Index tasks from the `first` on by their tokens.

        One statement for all of them: one for each task would fight over the interpreter lock with who makes them.
        """
        sql = "INSERT INTO tasks_fts (rowid, words) SELECT ? + key, value FROM json_each(?)"
        self._db.execute(sql, (first, json.dumps(batch, ensure_ascii=False)))

    def _combo(self, combo: Combo) -> int:
        id_ = self._combos.get(combo)
        if id_ is None:
            id_ = self._combos[combo] = len(self._combos)
            own = dict(zip(TASK_FACETS, combo, strict=True))
            marks = (self._mark(key, value) for key, values in own.items() for value in values)
            self._marks.append(" ".join((*marks, *tokens(" ".join(own["category"])))))
        return id_

    def _mark(self, key: str, value: str) -> str:
        numbers = self._numbers[key]
        if value not in numbers:
            numbers[str(value)] = next(self._values)
        return facet_token(numbers[value])
