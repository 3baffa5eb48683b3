"""Tasks of every environment of a snapshot, by words and facets.

Order of a search: tasks that are called so (every word is a word of the title or of the name), then those in whose
title or name every word begins a word, then all others; within each by popularity, as the tasks are numbered. To rank
every hit by how often words occur is what a search index is slow at, so none is ranked: at most `MOST` tasks are found,
the first by popularity, and facets are counted over as many. Without words nothing is cut short: whole environments
are counted beforehand.
"""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from secrets import randbelow

from rlx.answers.stored import stored
from rlx.ids import parse_key
from rlx.index.bits import bits, intersect, sift
from rlx.index.database import Database
from rlx.index.facets import facet
from rlx.index.filters import spelled, unknown
from rlx.index.health import KEY, HealthColumn, with_health
from rlx.index.snapshot.columns import FacetColumn
from rlx.index.snapshot.rows import TASK_FACETS
from rlx.index.snapshot.words import asked, env_token, facet_token, match, spans
from rlx.model import Relative, TaskCard, TaskHit, TaskHits, TaskSearch

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
    health: HealthColumn | None = None


class Tasks:
    """`keys` are the environments by place. Raises `sqlite3.DatabaseError` or `ValueError` for what is no snapshot."""

    def __init__(self, db: Database, keys: Sequence[str], most: int = MOST) -> None:
        self._db = db
        self._most = most
        self._keys = keys
        self._combos: list[Combo] = [json.loads(row[0]) for row in db.rows("SELECT facets FROM combos ORDER BY id")]
        columns = dict(db.rows("SELECT name, data FROM columns"))
        combo_of = array("I", columns["combo"])
        self._tokens: Mapping[str, Mapping[str, int]] = json.loads(columns["facet_tokens"])
        self.count = len(combo_of)
        self._columns = {
            key: FacetColumn([combo[number] for combo in self._combos], combo_of)
            for number, key in enumerate(TASK_FACETS)
        }
        self._all = (1 << self.count) - 1
        self._values = {key: column.values for key, column in self._columns.items()}
        self._ids = lru_cache(_KEPT)(self._read_ids)
        self._of_env = lru_cache(_KEPT)(self._read_env)

    def search(
        self, search: TaskSearch, place: int | None, hidden: tuple[int, ...], health: HealthColumn | None = None
    ) -> TaskHits:
        """One page. `place` is the environment's that is asked for; tasks of the `hidden` are not there."""
        known = self._values if health is None else {**self._values, KEY: health.values}
        filters = spelled({key: values for key, values in search.filters.items() if values}, known)
        question = _Question(asked(search.text), filters, place, hidden, health)
        strange = unknown(filters, known)
        nowhere = search.environment is not None and (place is None or place in hidden)
        if nowhere or (search.text.strip() and not question.wanted):
            selected = (facet(key, {}, question.filters.get(key, ())) for key in self._columns_of(question))
            return TaskHits((), 0, False, tuple(filter(None, selected)), search.offset, search.limit, strange)
        end = search.offset + search.limit
        if question.wanted:
            found = self._found(question)
            total, more = min(len(found), self._most), len(found) > self._most
            ids: Sequence[int] = self._best(question, found, end)[search.offset :]
            counts = self._counts_of_words(question, found)
        else:
            mask = self._mask(question)
            total, more = mask.bit_count(), False
            ids = list(sift(range(self.count), mask, self.count, search.offset, end))
            counts = self._counts_of_all(question, mask)
        facets = (facet(key, counts[key], question.filters.get(key, ())) for key in self._columns_of(question))
        return TaskHits(
            items=tuple(self._hit(row, question.wanted, health) for row in self._rows(ids)),
            total=total,
            more=more,
            facets=tuple(filter(None, facets)),
            offset=search.offset,
            limit=search.limit,
            unknown=strange,
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

    def places(self, env: int, of: Mapping[str, str]) -> dict[int, str]:
        """What is told by ref of tasks of the environment at a place, by the place of the task."""
        found = {}
        for ref, value in of.items():
            row = self._db.row("SELECT id FROM tasks WHERE env = ? AND ref = ?", (env, ref))
            if row is not None:
                found[int(row[0])] = value
        return found

    def random(self, place: int) -> str | None:
        """The ref of some task of the environment at `place`."""
        n = self._db.row("SELECT count(*) FROM tasks WHERE env = ?", (place,))[0]
        sql = "SELECT ref FROM tasks WHERE env = ? ORDER BY ref LIMIT 1 OFFSET ?"
        return str(self._db.row(sql, (place, randbelow(n)))[0]) if n else None

    def _found(self, question: _Question, *, but: str | None = None) -> Sequence[int]:
        """The first `MOST` by popularity, and one more when there are more; `but` leaves off the filter of a facet.

        Filters are left to the search index only where the words alone find too many to sift.
        """
        words = match(question.wanted)
        if not question.filters.keys() - {but}:
            return self._ids(self._match(question, words, but), self._most + 1)
        found = self._found(replace(question, filters={}))
        if len(found) > self._most:
            return self._healthy(question, self._ids(self._match(question, words, but), self._most + 1), but)
        return _those_in(self._chosen(question, but), found)

    def _best(self, question: _Question, found: Sequence[int], end: int) -> Sequence[int]:
        """The first `end`, best match first: each of three ways to match goes before the next."""
        plain = replace(question, filters={})
        sifted = bool(question.filters) and len(self._found(plain)) <= self._most
        end = min(end, self._most)
        best: list[int] = []
        for whole in (True, False):
            words = match(question.wanted, called=True, whole=whole)
            if sifted:
                called: Sequence[int] = _those_in(
                    self._chosen(question, None), self._ids(self._match(plain, words), self._most)
                )
            else:
                reach = self._most if KEY in question.filters else end + len(best)  # health is sifted afterwards
                called = self._healthy(question, self._ids(self._match(question, words), reach))
            best = list(dict.fromkeys((*best, *called)))
            if len(best) >= end:
                return best[:end]
        return list(dict.fromkeys((*best, *found[: self._most])))[:end]

    def _counts_of_words(self, question: _Question, found: Sequence[int]) -> Mapping[str, Mapping[str, int]]:
        """By facet how many of the found tasks have each value: the work grows with them, not with the catalog."""
        counts = {}
        for key, column in self._columns_of(question).items():
            left = self._found(question, but=key) if key in question.filters else found
            counts[key] = column.counts_of(left[: self._most])
        return counts

    def _mask(self, question: _Question, *, but: str | None = None) -> int:
        """The tasks that a question without words asks for; `but` leaves off the filter of a facet."""
        scope = self._all if question.place is None else self._of_env(question.place)
        for place in question.hidden:
            scope &= ~self._of_env(place)
        return scope & self._chosen(question, but)

    def _chosen(self, question: _Question, but: str | None) -> int:
        """The tasks that pass the filters, less that of `but`."""
        columns = self._columns_of(question)
        chosen = (
            columns[key].any_of(values) if key in columns else 0
            for key, values in question.filters.items()
            if key != but
        )
        return intersect(self._all, chosen)

    def _counts_of_all(self, question: _Question, mask: int) -> Mapping[str, Mapping[str, int]]:
        counts = {}
        for key, column in self._columns_of(question).items():
            left = self._mask(question, but=key) if key in question.filters else mask
            counts[key] = column.counts_in(left)
        return counts

    def _columns_of(self, question: _Question) -> "Mapping[str, FacetColumn | HealthColumn]":
        return self._columns if question.health is None else {**self._columns, KEY: question.health}

    def _healthy(self, question: _Question, ids: Sequence[int], but: str | None = None) -> Sequence[int]:
        """Health is not in the search index: what that gave is sifted by it."""
        values = () if but == KEY else question.filters.get(KEY, ())
        return _those_in(question.health.any_of(values), ids) if question.health is not None and values else ids

    def _read_env(self, place: int) -> int:
        return bits((row[0] for row in self._db.rows("SELECT id FROM tasks WHERE env = ?", (place,))), self.count)

    def _read_ids(self, query: str | None, limit: int) -> Sequence[int]:
        """By popularity: the search index gives tasks in the order of their numbers, and stops at the limit."""
        if query is None:
            return ()
        rows = self._db.rows(
            "SELECT rowid FROM tasks_fts WHERE tasks_fts MATCH ? AND rowid < ? ORDER BY rowid LIMIT ?",
            (query, self.count, limit),
        )
        return array("I", (row[0] for row in rows))

    def _match(self, question: _Question, words: str, but: str | None = None) -> str | None:
        """The query of the search index; None when nothing can be found."""
        parts = [words]
        for key, values in question.filters.items():
            if key == but or (key == KEY and question.health is not None):
                continue
            known = [number for value in values if (number := self._tokens.get(key, {}).get(value)) is not None]
            if not known:
                return None
            parts.append(_either(facet_token(number) for number in known))
        if question.place is not None:
            parts.append(_either([env_token(question.place)]))
        query = " AND ".join(parts)
        return f"({query}) NOT {_either(map(env_token, question.hidden))}" if question.hidden else query

    def _rows(self, ids: Sequence[int]) -> list[tuple[int, int, str, str, str, int]]:
        marks = ",".join("?" * len(ids))
        sql = f"SELECT id, env, ref, title, brief, combo FROM tasks WHERE id IN ({marks})"  # noqa: S608
        rows = {row[0]: row for row in self._db.rows(sql, ids)}
        return [rows[id_] for id_ in ids if id_ in rows]

    def _hit(
        self, row: tuple[int, int, str, str, str, int], wanted: tuple[str, ...], health: HealthColumn | None = None
    ) -> TaskHit:
        id_, env, ref, title, brief, combo = row
        pairs = zip(TASK_FACETS, self._combos[combo], strict=True)
        facets = {key: tuple(map(stored, values)) for key, values in pairs if values}
        own = None if health is None else health.of(id_)
        card = TaskCard(ref, stored(title), stored(brief), with_health(facets, own))
        return TaskHit(parse_key(self._keys[env]), card, spans(title, wanted), spans(brief, wanted))


def _those_in(mask: int, ids: Sequence[int]) -> list[int]:
    flags = mask.to_bytes((mask.bit_length() + 7) // 8 + 1, "little")
    last = 8 * len(flags)
    return [id_ for id_ in ids if id_ < last and flags[id_ >> 3] >> (id_ & 7) & 1]


def _either(tokens: Iterable[str]) -> str:
    return f"({' OR '.join(f'"{token}"' for token in tokens)})"
