"""Environments of a snapshot: which a query leaves, in what order, and how the others would count.

Words are substrings of an environment's id, heading, brief and tags. Facets are bit sets over the listing's places,
so that each is counted over what the other filters leave. What operators set is applied here, per query.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

from rlx.ids import EnvKey
from rlx.index.bits import bits, intersect, sift
from rlx.index.codec import env_card_in
from rlx.index.database import Database
from rlx.index.facets import facet
from rlx.index.filters import spelled, unknown
from rlx.index.folding import fold
from rlx.index.health import KEY, NOTHING, UNPROVEN, of_environment, with_health
from rlx.model import KINDS, EnvCard, EnvPage, EnvQuery, Facet
from rlx.store.health import Book, EnvHealth
from rlx.store.instance import Instance

FACETS = ("tag", "framework", "health", "graded", "runs", "difficulty", "size", "licence")
"""In the order they are offered."""
CURATED = "openenv"
"""The kind of which the operators' own organisation comes first."""
_TRIGRAM = 3
"""Characters from which the search index finds a word; shorter ones are looked for in every text."""
_KEPT = 128
"""Searches whose results are kept, and cards."""
_ORDERS = {
    "updated": "modified DESC NULLS LAST",
    "tasks": "tasks DESC NULLS LAST",
    "name": "name",
    "downloads": "downloads DESC NULLS LAST",
    "likes": "likes DESC NULLS LAST",
}


type Sets = Mapping[str, Mapping[str, int]]
"""By facet key, the places that have each value."""
type FacetCounts = Mapping[str, Mapping[str, int]]
"""By facet key, how many have each value."""


def facets(counts: FacetCounts, query: EnvQuery) -> tuple[Facet, ...]:
    """Facets as they are offered."""
    found = (facet(key, counts.get(key, {}), query.filters.get(key, ())) for key in FACETS)
    return tuple(item for item in found if item is not None)


class Environments:
    """Raises `sqlite3.DatabaseError` or `ValueError` for a database that is none."""

    def __init__(self, db: Database) -> None:
        self._db = db
        rows = db.rows("SELECT ord, key, kind, tasks FROM envs ORDER BY ord")
        self.size = len(rows)
        self.keys = tuple(str(row[1]) for row in rows)
        self._kinds_of = tuple(str(row[2]) for row in rows)
        self._tasks = tuple(row[3] for row in rows)
        self._places = {key: place for place, key in enumerate(self.keys)}
        self._all = (1 << self.size) - 1
        self._kinds = {
            kind: bits((place for place, own in enumerate(self._kinds_of) if own == kind), self.size)
            for kind in set(self._kinds_of)
        }
        self._found = lru_cache(_KEPT)(self._search)
        self._card = lru_cache(_KEPT)(self._read_card)
        self._visible = lru_cache(4)(self._all_but)
        self._trending = lru_cache(4)(self._trending_order)
        self._laid: tuple[Book, Sets] | None = None

    def page(self, query: EnvQuery, instance: Instance, book: Book = NOTHING) -> EnvPage:
        """One page. Unknown facets and values select nothing and are told, an unknown collection is empty."""
        sets = self._with(book)
        query = replace(query, filters=spelled(query.filters, sets))
        visible = self._visible(instance.hidden)
        left, chosen = self._left(query, instance, sets)
        of_kind = left if query.kind is None else left & self._kinds.get(query.kind, 0)
        mask = intersect(of_kind, chosen.values())
        order = self._order(query.sort, instance)
        end = query.offset + query.limit
        unfiltered = intersect(left, chosen.values())
        kinds = ((kind, (self._kinds.get(kind, 0) & unfiltered).bit_count()) for kind in KINDS)
        return EnvPage(
            items=tuple(self._told(place, book) for place in sift(order, mask, self.size, query.offset, end)),
            total=mask.bit_count(),
            kinds=tuple((kind, n) for kind, n in kinds if n),
            facets=facets(_counted(of_kind, chosen, sets), query),
            environments=visible.bit_count(),
            tasks=self._tasks_of(visible),
            offset=query.offset,
            limit=query.limit,
            unknown=unknown(query.filters, sets),
        )

    def counted(self, query: EnvQuery, instance: Instance, book: Book = NOTHING) -> FacetCounts:
        """How often each facet's values occur over what the other filters leave."""
        sets = self._with(book)
        query = replace(query, filters=spelled(query.filters, sets))
        left, chosen = self._left(query, instance, sets)
        return _counted(left if query.kind is None else left & self._kinds.get(query.kind, 0), chosen, sets)

    def card(self, key: EnvKey, book: Book = NOTHING) -> EnvCard | None:
        place = self._places.get(str(key))
        return None if place is None else self._told(place, book)

    def known(self, book: Book) -> Iterator[tuple[int, EnvHealth, str | None]]:
        """Of environments whose health was looked at: their places, what is known, and the revision that is listed."""
        for key, health in book.items():
            place = self._places.get(key)
            if place is not None:
                yield place, health, self._card(place).revision

    def place(self, key: EnvKey) -> int | None:
        """Where it stands in the listing."""
        return self._places.get(str(key))

    def rank(self, key: EnvKey, instance: Instance) -> tuple[int, int] | None:
        """Its place by trend among those of its kind, from 1, and how many those are. None when it is not listed."""
        place = self._places.get(str(key))
        if place is None or instance.hides(key):
            return None
        mask = self._kinds[self._kinds_of[place]] & self._visible(instance.hidden)
        before = mask & ((1 << place) - 1)
        return before.bit_count() + 1, mask.bit_count()

    def hidden(self, instance: Instance) -> tuple[int, ...]:
        """The places of those that operators hid."""
        return tuple(sorted(self._places[key] for key in instance.hidden if key in self._places))

    def with_tasks(self, instance: Instance) -> Sequence[int]:
        """The places of those that have tasks."""
        hidden = set(self.hidden(instance))
        return [place for place, n in enumerate(self._tasks) if n and place not in hidden]

    def _search(self, words: tuple[str, ...]) -> int:
        if not words:
            return self._all
        long = " AND ".join(f'"{word.replace(chr(34), chr(34) * 2)}"' for word in words if len(word) >= _TRIGRAM)
        short = [word for word in words if len(word) < _TRIGRAM]
        where = ["ord IN (SELECT rowid FROM envs_fts WHERE envs_fts MATCH ?)"] if long else []
        where += ["instr(haystack, ?)" for _ in short]
        sql = f"SELECT ord FROM envs WHERE {' AND '.join(where)}"  # noqa: S608  only `?` varies
        return bits((row[0] for row in self._db.rows(sql, [long, *short] if long else short)), self.size)

    def _all_but(self, hidden: frozenset[str]) -> int:
        return self._all & ~bits((self._places[key] for key in hidden if key in self._places), self.size)

    def _members(self, collection: str, instance: Instance) -> int:
        found = next((item for item in instance.collections if item.id == collection), None)
        members = found.environments if found else ()
        return bits({self._places[key] for key in members if key in self._places}, self.size)

    def _order(self, sort: str, instance: Instance) -> Sequence[int]:
        if sort == "trending":
            return self._trending(instance.pinned, instance.curated)
        return self._sorted[sort] if sort in self._sorted else range(self.size)

    def _trending_order(self, pinned: tuple[str, ...], curated: str) -> Sequence[int]:
        """The listing's own order, with the curated organisation's first among the places of its kind; pinned first."""
        order = list(range(self.size))
        slots = [place for place in order if self._kinds_of[place] == CURATED]
        own = curated.lower()
        first = sorted(
            slots, key=lambda place: self.keys[place].removeprefix("space:").partition("/")[0].lower() != own
        )
        for slot, place in zip(slots, first, strict=True):
            order[slot] = place
        pins = dict.fromkeys(self._places[key] for key in pinned if key in self._places)
        return [*pins, *(place for place in order if place not in pins)]

    @cached_property
    def _sorted(self) -> dict[str, Sequence[int]]:
        return {
            sort: [row[0] for row in self._db.rows(f"SELECT ord FROM envs ORDER BY {by}, ord")]  # noqa: S608  our words
            for sort, by in _ORDERS.items()
        }

    @cached_property
    def _bits(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {key: {} for key in FACETS}
        for key, value, ords in self._db.rows("SELECT key, value, ords FROM env_facets"):
            found.setdefault(key, {})[value] = bits(map(int, str(ords).split(",")), self.size)
        return found

    def _with(self, book: Book) -> "Sets":
        """The sets of each facet's values, with health where any is known. Kept till that changes."""
        laid = self._laid
        if laid is None or laid[0] is not book:
            laid = self._laid = book, self._lay(book)
        return laid[1]

    def _lay(self, book: Book) -> "Sets":
        sets: dict[str, int] = {}
        for place, health, revision in self.known(book):
            value = of_environment(health, revision)
            if value is not None:
                sets[value] = sets.get(value, 0) | 1 << place
        if not sets:
            return self._bits
        told = 0
        for own in sets.values():
            told |= own
        sets[UNPROVEN] = bits((place for place, n in enumerate(self._tasks) if n), self.size) & ~told
        return {**self._bits, KEY: sets}

    def _told(self, place: int, book: Book) -> EnvCard:
        card = self._card(place)
        health = book.get(self.keys[place])
        value = None if health is None else of_environment(health, card.revision)
        return card if value is None else replace(card, facets=with_health(card.facets, value))

    def _left(self, query: EnvQuery, instance: Instance, sets: "Sets") -> tuple[int, dict[str, int]]:
        """What words and collection leave, whatever the kind, and what each facet's filter alone would."""
        left = self._visible(instance.hidden) & self._found(tuple(fold(query.text).split()))
        if query.collection is not None:
            left &= self._members(query.collection, instance)
        return left, {key: _any(sets.get(key, {}), values) for key, values in query.filters.items() if values}

    def _tasks_of(self, visible: int) -> int:
        if visible == self._all:
            return self._every_task
        return sum(self._tasks[place] or 0 for place in sift(range(self.size), visible, self.size, 0, self.size))

    @cached_property
    def _every_task(self) -> int:
        return sum(n or 0 for n in self._tasks)

    def _read_card(self, place: int) -> EnvCard:
        return env_card_in(json.loads(self._db.row("SELECT card FROM envs WHERE ord = ?", (place,))[0]))


def _any(sets: Mapping[str, int], values: Sequence[str]) -> int:
    mask = 0
    for value in values:
        mask |= sets.get(value, 0)
    return mask


def _counted(of_kind: int, chosen: Mapping[str, int], sets: Sets) -> FacetCounts:
    found = {}
    for key in FACETS:
        left = intersect(of_kind, (mask for other, mask in chosen.items() if other != key))
        found[key] = {value: (own & left).bit_count() for value, own in sets.get(key, {}).items()}
    return found
