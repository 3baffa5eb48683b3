"""The task index of one environment at one revision: lists, searches, filters and counts its tasks."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from importlib.resources import files
from math import inf
from pathlib import Path
from secrets import randbelow
from typing import NamedTuple

from rlx.answers import Shown, ShownJson, Withheld
from rlx.answers.stored import stored, stored_json
from rlx.index.bits import bits, intersect, sift
from rlx.index.codec import card_in, facets_out, text_out, withheld_in, withheld_out
from rlx.index.database import Database, open_writer
from rlx.index.facets import FACET_VALUES, facet, facet_label
from rlx.index.filters import spelled, unknown
from rlx.index.folding import fold
from rlx.index.records import Counts, Finished
from rlx.model import Facet, FacetValue, Overlay, Page, TaskCard, TaskQuery

SCHEMA = 4
FOUND = 32
"""Searches whose results are kept."""


@dataclass(frozen=True, slots=True)
class Header:
    """What an index says of itself."""

    key: str
    sha: str
    format: str
    reader_version: int
    built_at: datetime
    tasks: int
    title: Shown
    brief: Shown
    readme: Shown | None
    facts: ShownJson
    """The format's own: manifests, notes."""
    facet_order: tuple[str, ...]
    ordered: Mapping[str, tuple[str, ...]]
    tile: str | None
    subsets: bool
    withheld: tuple[Withheld, ...]
    reviewed: bool = False
    walked: bool = False
    """The repository was too big to list: of its tasks' files those are known that were looked for."""
    pending: int = 0
    """Tasks that are named and not read yet."""
    unsearched: int = 0
    """Folders that may hold more tasks, past the bounds of the walk."""
    shared: tuple[str, ...] = ()
    """Files of the repository that the format wants beside those of tasks; told while tasks are pending."""


class Extra(NamedTuple):
    """What an index keeps of a task beside its card."""

    search: str
    digest: str
    """Changes with any file of the task. Its first letter says how it was made; empty: not known."""


def write_index(path: Path, header: Header, finished: Finished, extras: Sequence[Extra]) -> None:
    """Write a complete index; `extras` come in the order of `finished.cards`."""
    db = open_writer(path, files(__package__).joinpath("schema.sql").read_text("utf-8"))
    meta = {
        "schema": SCHEMA,
        "key": header.key,
        "sha": header.sha,
        "format": header.format,
        "reader_version": header.reader_version,
        "built_at": header.built_at.isoformat(),
        "tasks": header.tasks,
        "title": header.title,
        "brief": header.brief,
        "readme": header.readme,
        "facts": header.facts.value,
        "facet_order": list(header.facet_order),
        "ordered": {key: list(values) for key, values in header.ordered.items()},
        "tile": header.tile,
        "subsets": header.subsets,
        "withheld": withheld_out(header.withheld),
        "reviewed": header.reviewed,
        "walked": header.walked,
        "pending": header.pending,
        "unsearched": header.unsearched,
        "shared": list(header.shared),
    }
    db.executemany("INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(value)) for key, value in meta.items()])
    for ord_, (card, extra) in enumerate(zip(finished.cards, extras, strict=True)):
        db.execute(
            "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                ord_,
                card.ref,
                card.title,
                card.brief,
                json.dumps(facets_out(card.facets)),
                None if card.problem is None else json.dumps(text_out(card.problem)),
                extra.digest,
                fold(f"{card.ref} {card.title} {card.brief} {extra.search}"),
            ),
        )
        pairs = {(key, str(value), ord_) for key, values in card.facets.items() for value in values}
        db.executemany("INSERT INTO facets VALUES (?, ?, ?)", sorted(pairs))
    for key, numbers in finished.numbers.items():
        known = [(key, ord_, number) for ord_, number in enumerate(numbers) if number is not None]
        db.executemany("INSERT INTO numbers VALUES (?, ?, ?)", known)
    db.commit()
    db.close()


def add_reviews(path: Path, reviews: Mapping[str, ShownJson]) -> None:
    """Add second opinions, by ref, to a private copy of an index."""
    db = sqlite3.connect(path)
    rows = [(json.dumps(review.value), ref) for ref, review in reviews.items()]
    db.executemany("INSERT OR REPLACE INTO reviews SELECT ord, ? FROM tasks WHERE ref = ?", rows)
    db.execute("UPDATE meta SET value = 'true' WHERE key = 'reviewed'")
    db.commit()
    db.close()


class _Known(NamedTuple):
    """A value of a facet."""

    rank: int
    """Its place in the facet's natural order, if it has one."""
    lower: str
    value: Shown
    bits: int
    """The places of the tasks that have it."""


class TaskIndex:
    """Reads an index. Raises `sqlite3.DatabaseError` or `ValueError` for a file that is not one of this schema."""

    def __init__(self, path: Path) -> None:
        self._db = Database(path)
        self._orders: dict[str, Sequence[int]] = {}
        self._found = lru_cache(FOUND)(self._search)
        meta = {key: json.loads(value) for key, value in self._db.rows("SELECT key, value FROM meta")}
        if meta.get("schema") != SCHEMA:
            raise ValueError(f"Index schema {meta.get('schema')!r}, not {SCHEMA}.")
        self.header = Header(
            key=meta["key"],
            sha=meta["sha"],
            format=meta["format"],
            reader_version=meta["reader_version"],
            built_at=datetime.fromisoformat(meta["built_at"]).astimezone(UTC),
            tasks=meta["tasks"],
            title=stored(meta["title"]),
            brief=stored(meta["brief"]),
            readme=None if meta["readme"] is None else stored(meta["readme"]),
            facts=stored_json(meta["facts"]),
            facet_order=tuple(meta["facet_order"]),
            ordered={key: tuple(values) for key, values in meta["ordered"].items()},
            tile=meta["tile"],
            subsets=meta["subsets"],
            withheld=withheld_in(meta["withheld"]),
            reviewed=meta["reviewed"],
            walked=meta["walked"],
            pending=meta["pending"],
            unsearched=meta["unsearched"],
            shared=tuple(meta["shared"]),
        )

    def page(self, query: TaskQuery) -> Page[TaskCard]:
        """One page of the tasks that `query` leaves. Unknown facets and values select nothing and are told."""
        laid = self._laid(query.overlay)
        offered = {**laid, **self._offered}
        query = replace(query, filters=spelled(query.filters, offered))
        text = self._matching(query.text)
        chosen = {
            key: _any(laid[key] if key in laid else self._bits.get(key, {}), values)
            for key, values in query.filters.items()
            if values
        }
        if query.subset is not None:
            chosen["group"] = _any(self._bits.get("group", {}), (query.subset,)) & chosen.get("group", self._all)
        mask = intersect(text, chosen.values())
        total, end = mask.bit_count(), query.offset + query.limit
        order = self._order(query.sort)
        whole = total == self.header.tasks
        picked = order[query.offset : end] if whole else sift(order, mask, self.header.tasks, query.offset, end)
        return Page(
            items=tuple(_marked(self.card(ord_), query.overlay) for ord_ in picked),
            total=total,
            offset=query.offset,
            limit=query.limit,
            facets=(*_laid_facets(laid, text, chosen, query.filters), *self._facets(text, chosen, query.filters)),
            unknown=unknown(query.filters, offered),
        )

    @cached_property
    def counts(self) -> Counts:
        """Over all tasks."""
        facets = {key: tuple(FacetValue(value, -n) for _, n, _, value in values) for key, values in self._every.items()}
        return Counts(self.header.tasks, facets)

    def find(self, ref: str) -> int | None:
        """The place of `ref` in listing order."""
        row = self._db.row("SELECT ord FROM tasks WHERE ref = ?", (ref,))
        return None if row is None else int(row[0])

    def ending(self, name: str) -> str | None:
        """The one ref whose last folder is `name`, when there is exactly one."""
        rows = self._db.rows("SELECT ref FROM tasks WHERE substr(ref, ?) = ? LIMIT 2", (-len(name) - 1, f"/{name}"))
        return str(rows[0][0]) if len(rows) == 1 else None

    def ref(self, ord_: int) -> str | None:
        row = self._db.row("SELECT ref FROM tasks WHERE ord = ?", (ord_,))
        return None if row is None else str(row[0])

    def review(self, ord_: int) -> ShownJson | None:
        row = self._db.row("SELECT value FROM reviews WHERE ord = ?", (ord_,))
        return None if row is None else stored_json(json.loads(row[0]))

    def random(self) -> str | None:
        return self.ref(randbelow(self.header.tasks)) if self.header.tasks else None

    def digests(self) -> dict[str, str]:
        """Every task's digest by ref, in listing order."""
        return dict(self._db.rows("SELECT ref, digest FROM tasks ORDER BY ord"))

    def rows(self, limit: int) -> Iterator[tuple[TaskCard, str, str]]:
        """The first `limit` tasks in listing order: the card, the digest, and all the text that is searched here."""
        sql = "SELECT ref, title, brief, facets, problem, digest, search FROM tasks ORDER BY ord LIMIT ?"
        for ref, title, brief, facets, problem, digest, search in self._db.rows(sql, (limit,)):
            told = None if problem is None else json.loads(problem)
            yield card_in(ref, title, brief, json.loads(facets), told), str(digest), str(search)

    def refs(self) -> Iterator[str]:
        for (ref,) in self._db.rows("SELECT ref FROM tasks ORDER BY ord"):
            yield ref

    @cached_property
    def _all(self) -> int:
        return (1 << self.header.tasks) - 1

    @cached_property
    def _bits(self) -> dict[str, dict[str, int]]:
        """Each facet value as a bit set over task places: counting is an `and` and a population count."""
        found: dict[str, dict[str, int]] = {}
        rows = self._db.rows("SELECT key, value, group_concat(ord) FROM facets GROUP BY key, value")
        for key, value, ords in rows:
            found.setdefault(key, {})[value] = bits(map(int, str(ords).split(",")), self.header.tasks)
        return found

    @cached_property
    def _offered(self) -> dict[str, Collection[str]]:
        """The values of each facet, in the order they are offered."""
        return {key: self._bits.get(key, {}) for key in dict.fromkeys((*self.header.facet_order, *self._bits))}

    def _order(self, sort: str) -> Sequence[int]:
        """Every place as `sort` wants them; kept, since a list is paged through."""
        if sort not in self._orders:
            self._orders[sort] = self._sorted(sort)
        return self._orders[sort]

    def _sorted(self, sort: str) -> Sequence[int]:
        if sort == "order":
            return range(self.header.tasks)
        if sort == "title":
            return [row[0] for row in self._db.rows("SELECT ord FROM tasks ORDER BY title COLLATE NOCASE, ord")]
        ranks = self._ranks(sort.removeprefix("-"))
        sign = -1 if sort.startswith("-") else 1
        told = sorted(ranks, key=lambda ord_: (sign * ranks[ord_], ord_))
        return [*told, *(ord_ for ord_ in range(self.header.tasks) if ord_ not in ranks)]

    def _ranks(self, key: str) -> dict[int, float]:
        """Each task's number under `key`, else the first place of its values in the facet's natural order."""
        numbers = self._db.rows("SELECT ord, value FROM numbers WHERE key = ?", (key,))
        if numbers:
            return dict(numbers)
        places = {value: place for place, value in enumerate(self.header.ordered.get(key, ()))}
        found = self._db.rows("SELECT ord, value FROM facets WHERE key = ?", (key,))
        ranks: dict[int, float] = {}
        for ord_, value in found:
            if value in places:
                ranks[ord_] = min(places[value], ranks.get(ord_, inf))
        return ranks

    def _matching(self, text: str) -> int:
        """The tasks that hold every word; kept for the texts asked for last, whose results are paged through."""
        words = fold(text).split()
        if not words:
            return self._all
        return self._found(tuple(words))

    def _search(self, words: tuple[str, ...]) -> int:
        where = " AND ".join("instr(search, ?)" for _ in words)
        rows = self._db.rows(f"SELECT ord FROM tasks WHERE {where}", words)  # noqa: S608  only `?` varies
        return bits((row[0] for row in rows), self.header.tasks)

    def _laid(self, overlay: Overlay | None) -> dict[str, dict[str, int]]:
        """The places of the tasks that have each value of an overlay."""
        if overlay is None:
            return {}
        found: dict[str, int] = {}
        for ref, value in overlay.values.items():
            place = self.find(ref)
            if place is not None:
                found[value] = found.get(value, 0) | 1 << place
        rest = self._all
        for own in found.values():
            rest &= ~own
        return {overlay.key: {**found, overlay.rest: rest}}

    def _facets(self, text: int, chosen: Mapping[str, int], selected: Mapping[str, Sequence[str]]) -> Iterator[Facet]:
        for key in self.header.facet_order:
            others = intersect(text, (mask for other, mask in chosen.items() if other != key))
            picked = selected.get(key, ())
            values = (
                self._every[key] if others == self._all and key in self._every else self._values(key, others, picked)
            )
            shown = [*values[:FACET_VALUES], *(item for item in values[FACET_VALUES:] if item[3] in picked)]
            if shown:
                told = tuple(FacetValue(value, -n, value in picked) for _, n, _, value in shown)
                yield Facet(key, facet_label(key), told, key in self.header.ordered, len(values) - len(shown))

    def _values(self, key: str, mask: int, selected: Sequence[str]) -> list[tuple[int, int, str, Shown]]:
        """Values that occur under `mask`, and the selected ones; in their natural order, else commonest first.

        Each with what it is sorted by: its rank, its count below 0, and its lower case.
        """
        return sorted(
            (item.rank, -n, item.lower, item.value)
            for item in self._known.get(key, ())
            if (n := (item.bits & mask).bit_count()) or item.value in selected
        )

    @cached_property
    def _every(self) -> dict[str, list[tuple[int, int, str, Shown]]]:
        """The values of each facet over all tasks."""
        return {key: self._values(key, self._all, ()) for key in self._bits}

    @cached_property
    def _known(self) -> dict[str, list[_Known]]:
        """Each facet's values with what they are sorted by."""
        known = {}
        for key, values in self._bits.items():
            order = {value: place for place, value in enumerate(self.header.ordered.get(key, ()))}
            known[key] = [
                _Known(order.get(value, len(order)), value.lower(), stored(value), bits)
                for value, bits in values.items()
            ]
        return known

    def card(self, ord_: int) -> TaskCard:
        ref, title, brief, facets, problem = self._db.row(
            "SELECT ref, title, brief, facets, problem FROM tasks WHERE ord = ?", (ord_,)
        )
        return card_in(ref, title, brief, json.loads(facets), None if problem is None else json.loads(problem))


def _any(sets: Mapping[str, int], values: Sequence[str]) -> int:
    mask = 0
    for value in values:
        mask |= sets.get(value, 0)
    return mask


def _laid_facets(
    laid: Mapping[str, Mapping[str, int]], text: int, chosen: Mapping[str, int], selected: Mapping[str, Sequence[str]]
) -> Iterator[Facet]:
    for key, sets in laid.items():
        others = intersect(text, (mask for other, mask in chosen.items() if other != key))
        told = facet(key, {value: (own & others).bit_count() for value, own in sets.items()}, selected.get(key, ()))
        if told is not None:
            yield told


def _marked(card: TaskCard, overlay: Overlay | None) -> TaskCard:
    value = overlay.values.get(card.ref) if overlay is not None else None
    if overlay is None or value is None:
        return card
    return replace(card, facets={**card.facets, overlay.key: (stored(value),)})
