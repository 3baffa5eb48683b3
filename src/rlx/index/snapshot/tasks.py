"""Tasks of every environment of a snapshot, by words and facets.

Order of a search: tasks that are called so (every word is a word of the title or of the name), then those in whose
title or name every word begins a word, then all others; within each by popularity, as the tasks are numbered. To rank
every hit by how often words occur is what a search index is slow at, so none is ranked: at most `MOST` tasks are found,
the first by popularity, and facets are counted over as many. Without words nothing is cut short: whole environments
are counted beforehand.
"""

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from secrets import randbelow

from rlx.answers.stored import stored
from rlx.ids import parse_key
from rlx.index.database import Database
from rlx.index.facets import facet
from rlx.index.snapshot.rows import TASK_FACETS
from rlx.index.snapshot.words import asked, env_token, facet_token, match, spans
from rlx.model import Facet, Relative, TaskCard, TaskHit, TaskHits, TaskSearch

MOST = 10_000
"""Tasks that a search finds at most."""
RELATIVES = 12
"""Tasks like another that are told."""
_KEPT = 64

type Combo = Sequence[Sequence[str]]
"""The values of each of `TASK_FACETS`."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A search whose environment was looked up."""

    wanted: tuple[str, ...]
    filters: Mapping[str, tuple[str, ...]]
    place: int | None
    hidden: tuple[int, ...]
    """Places of environments whose tasks are not there."""


class Tasks:
    """`keys` are the environments by place. Raises `sqlite3.DatabaseError` or `ValueError` for what is no snapshot."""

    def __init__(self, db: Database, keys: Sequence[str], most: int = MOST) -> None:
        self._db = db
        self._most = most
        self._keys = keys
        self._combos: list[Combo] = [json.loads(row[0]) for row in db.rows("SELECT facets FROM combos ORDER BY id")]
        columns = dict(db.rows("SELECT name, data FROM columns"))
        self._combo_of = array("I", columns["combo"])
        self._tokens: Mapping[str, Mapping[str, int]] = json.loads(columns["facet_tokens"])
        self.count = len(self._combo_of)
        self._ids = lru_cache(_KEPT)(self._read_ids)
        self._per_combo = lru_cache(8)(self._count_combos)

    def search(self, search: TaskSearch, place: int | None, hidden: tuple[int, ...]) -> TaskHits:
        """One page. `place` is the environment's that is asked for; tasks of the `hidden` are not there."""
        asked_for = _Question(
            asked(search.text), {key: values for key, values in search.filters.items() if values}, place, hidden
        )
        nowhere = search.environment is not None and (place is None or place in hidden)
        if nowhere or (search.text.strip() and not asked_for.wanted):
            selected = (facet(key, {}, asked_for.filters.get(key, ())) for key in TASK_FACETS)
            return TaskHits((), 0, False, tuple(filter(None, selected)), search.offset, search.limit)
        end = search.offset + search.limit
        if asked_for.wanted:
            n = len(self._found(asked_for))
            total, more = min(n, self._most), n > self._most
            ids: Sequence[int] = self._best(asked_for)[search.offset : end]
        else:
            total, more = sum(self._counted(asked_for, None).values()), False
            ids = self._listed(asked_for, search.offset, search.limit)
        return TaskHits(
            items=tuple(self._hit(row, asked_for.wanted) for row in self._rows(ids)),
            total=total,
            more=more,
            facets=tuple(self._facets(asked_for)),
            offset=search.offset,
            limit=search.limit,
        )

    def relatives(self, place: int, ref: str, hidden: tuple[int, ...]) -> tuple[Relative, ...]:
        """Tasks with the same files, then those that say nearly the same, the likest first."""
        row = self._db.row("SELECT id FROM tasks WHERE env = ? AND ref = ?", (place, ref))
        if row is None:
            return ()
        sql = "SELECT id FROM same WHERE class = (SELECT class FROM same WHERE id = ?) AND id <> ? ORDER BY id"
        same = self._db.rows(sql, (*row, *row))
        near = self._db.rows("SELECT other, score FROM alike WHERE id = ? ORDER BY score DESC, other", row)
        scores = {id_: 1.0 for (id_,) in same[:RELATIVES]}
        scores |= {id_: score for id_, score in near if id_ not in scores}
        found = [task for task in self._rows(list(scores)) if task[1] not in hidden]
        twins = {id_ for (id_,) in same}
        return tuple(Relative(self._hit(task, ()), scores[task[0]], task[0] in twins) for task in found[:RELATIVES])

    def random(self, place: int) -> str | None:
        """The ref of some task of the environment at `place`."""
        n = self._db.row("SELECT sum(n) FROM combo_counts WHERE env = ?", (place,))[0]
        sql = "SELECT ref FROM tasks WHERE env = ? ORDER BY ref LIMIT 1 OFFSET ?"
        return str(self._db.row(sql, (place, randbelow(n)))[0]) if n else None

    def _found(self, question: _Question, *, but: str | None = None) -> Sequence[int]:
        """The first `MOST` by popularity, and one more when there are more; `but` leaves off the filter of a facet."""
        return self._ids(self._match(question, match(question.wanted), but), self._most + 1)

    def _best(self, question: _Question) -> list[int]:
        """Best match first: each of three ways to match goes before the next."""
        whole = self._ids(self._match(question, match(question.wanted, called=True, whole=True)), self._most)
        begun = self._ids(self._match(question, match(question.wanted, called=True)), self._most)
        return list(dict.fromkeys((*whole, *begun, *self._found(question)[: self._most])))[: self._most]

    def _listed(self, question: _Question, offset: int, limit: int) -> Sequence[int]:
        """By popularity."""
        query = self._match(question, "")
        if query is None:
            return ()
        if query:
            sql = "SELECT rowid FROM tasks_fts WHERE tasks_fts MATCH ? ORDER BY rowid LIMIT ? OFFSET ?"
            return [row[0] for row in self._db.rows(sql, (query, limit, offset))]
        marks = ",".join("?" * len(question.hidden))
        sql = f"SELECT id FROM tasks WHERE env NOT IN ({marks}) ORDER BY id LIMIT ? OFFSET ?"  # noqa: S608
        return [row[0] for row in self._db.rows(sql, (*question.hidden, limit, offset))]

    def _facets(self, question: _Question) -> Iterator[Facet]:
        whole = self._counted(question, None)
        for number, key in enumerate(TASK_FACETS):
            counts: Counter[str] = Counter()
            left = self._counted(question, key) if key in question.filters else whole
            for combo, n in left.items():
                for value in self._combos[combo][number]:
                    counts[value] += n
            found = facet(key, counts, question.filters.get(key, ()))
            if found is not None:
                yield found

    def _counted(self, question: _Question, but: str | None) -> Mapping[int, int]:
        """How many tasks have each combination of facet values; `but` leaves off the filter of a facet."""
        if question.wanted:
            return Counter(map(self._combo_of.__getitem__, self._found(question, but=but)[: self._most]))
        filters = {key: set(values) for key, values in question.filters.items() if key != but}
        every = self._per_combo(question.place, question.hidden)
        return {combo: n for combo, n in every.items() if self._passes(combo, filters)} if filters else every

    def _passes(self, combo: int, filters: Mapping[str, set[str]]) -> bool:
        own = dict(zip(TASK_FACETS, self._combos[combo], strict=True))
        return all(not values.isdisjoint(own.get(key, ())) for key, values in filters.items())

    def _count_combos(self, place: int | None, hidden: tuple[int, ...]) -> Mapping[int, int]:
        if place is not None:
            return dict(self._db.rows("SELECT combo, n FROM combo_counts WHERE env = ?", (place,)))
        every = Counter(dict(self._db.rows("SELECT combo, sum(n) FROM combo_counts GROUP BY combo")))
        for one in hidden:
            every.subtract(self._per_combo(one, ()))
        return every

    def _read_ids(self, query: str | None, limit: int) -> Sequence[int]:
        """By popularity: the search index gives tasks in the order of their numbers, and stops at the limit."""
        if query is None:
            return ()
        rows = self._db.rows(
            "SELECT rowid FROM tasks_fts WHERE tasks_fts MATCH ? ORDER BY rowid LIMIT ?", (query, limit)
        )
        return array("I", (row[0] for row in rows))

    def _match(self, question: _Question, words: str, but: str | None = None) -> str | None:
        """The query of the search index: empty when everything is asked for, None when nothing can be found."""
        parts = [words] if words else []
        for key, values in question.filters.items():
            if key == but:
                continue
            known = [number for value in values if (number := self._tokens.get(key, {}).get(value)) is not None]
            if not known:
                return None
            parts.append(_either(facet_token(number) for number in known))
        if question.place is not None:
            parts.append(_either([env_token(question.place)]))
        query = " AND ".join(parts)
        return f"({query}) NOT {_either(map(env_token, question.hidden))}" if query and question.hidden else query

    def _rows(self, ids: Sequence[int]) -> list[tuple[int, int, str, str, str, int]]:
        marks = ",".join("?" * len(ids))
        sql = f"SELECT id, env, ref, title, brief, combo FROM tasks WHERE id IN ({marks})"  # noqa: S608
        rows = {row[0]: row for row in self._db.rows(sql, ids)}
        return [rows[id_] for id_ in ids]

    def _hit(self, row: tuple[int, int, str, str, str, int], wanted: tuple[str, ...]) -> TaskHit:
        _, env, ref, title, brief, combo = row
        pairs = zip(TASK_FACETS, self._combos[combo], strict=True)
        card = TaskCard(
            ref, stored(title), stored(brief), {key: tuple(map(stored, values)) for key, values in pairs if values}
        )
        return TaskHit(parse_key(self._keys[env]), card, spans(title, wanted), spans(brief, wanted))


def _either(tokens: Iterable[str]) -> str:
    return f"({' OR '.join(f'"{token}"' for token in tokens)})"
