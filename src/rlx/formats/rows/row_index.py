"""The index of an environment of rows: its first rows, looked at within a budget, to search, filter and count them."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio.lowlevel
import anyio.to_thread

from rlx.answers import Shown, ShownJson, Withheld, name, record
from rlx.formats.facets import metadata_facets
from rlx.formats.harbor.facets import ORDERED
from rlx.formats.processors.base import RowCard
from rlx.formats.rows.outcomes import Outcomes, measured_facets, outcomes_of, task_labels
from rlx.formats.rows.tables import OpenTable, RawRow, card_of
from rlx.hub.repo import Repo
from rlx.index.facets import NATURAL
from rlx.index.records import Finished
from rlx.index.tasks import Extra, Header, TaskIndex, write_index
from rlx.model import TaskCard

FIRST_ROWS: Final = 400
LEAST_ROWS: Final = 40
FIRST_SECONDS: Final = 4.0
"""Rows that are looked at before the environment opens: of all tables, of each at least, and for how long."""
MAX_ROWS: Final = 20_000
"""Rows of all tables that are looked at."""
MAX_SECONDS: Final = 180.0
MAX_BYTES: Final = 128 * 1024 * 1024
"""For how long, and how much of what they hold, as JSON."""
_CHUNK: Final = 200
_EASY: Final = 0.5
"""Seconds that a chunk may take; the next one is shorter where it takes more."""
MEASURED: Final = ("reward", "turns", "tokens")
"""Of rollouts, what lists are sorted by."""
_HELD: Final = 200
"""Withheld columns of a table that are named."""
FACETS: Final = (
    *("difficulty", "category", "split", "outcome", "reward", "model", "agent", "task", "turns", "tokens"),
    *("language", "length", "timeout", "graded", "runs", "setup", "sandbox", "network", "base", "tools", "tags"),
)
"""In the order they are offered, before those of columns of the set's own."""


@dataclass(frozen=True, slots=True)
class RowIndex:
    tasks: TaskIndex
    rows: int
    facts: Mapping[str, ShownJson]
    """By processor, what it noted of its rows."""
    outcomes: Mapping[str, Outcomes]
    """By processor, what came of its rows where they are rollouts."""
    called: Mapping[str, Shown]
    """By ref, the task a rollout is one of several attempts at: the value of its facet `task`."""
    withheld: Mapping[str, tuple[Withheld, ...]]
    """By table, what is withheld of its rows: each column once."""
    is_whole: bool
    """Every row of every table is in it."""


async def build_index(
    repo: Repo, tables: Sequence[OpenTable], path: Path, *, rows: int, seconds: float, everything: bool
) -> RowIndex:
    """Look at the first `rows` of each table, or of all together, and write what lists need to the new file `path`.

    `everything` tells that these are all tables there are. Raises what reading the Hub raises.
    """
    budget = _Budget(time.monotonic() + seconds)
    cards: list[TaskCard] = []
    extras: list[Extra] = []
    by_processor: dict[str, list[tuple[str, RowCard]]] = {}
    by_table: list[list[tuple[str, RowCard]]] = []
    whole = everything
    for table, quota in zip(tables, quotas([table.length for table in tables], rows), strict=True):
        seen = await _look(table, quota, budget, cards, extras)
        by_processor.setdefault(table.processor.name, []).extend(seen)
        by_table.append(seen)
        whole = whole and table.count is not None and len(seen) == table.count
    known = {table.processor.name: table.reading for table in reversed(tables)}
    facts: dict[str, ShownJson] = {}
    outcomes: dict[str, Outcomes] = {}
    for word, rows_seen in by_processor.items():
        facts[word] = await anyio.to_thread.run_sync(known[word].facts, [card for _, card in rows_seen])
        came = await anyio.to_thread.run_sync(outcomes_of, rows_seen)
        if came is not None:
            outcomes[word] = came
    header = Header(
        key=str(repo.key),
        sha=repo.sha,
        format="rows",
        reader_version=0,
        built_at=datetime.now(UTC),
        tasks=len(cards),
        title=name(""),
        brief=name(""),
        readme=None,
        facts=record({}).value,
        facet_order=(),
        ordered={},
        tile=None,
        subsets=False,
        withheld=(),
    )
    called = {ref: label for came in outcomes.values() for ref, label in task_labels(came).items()}
    finished = await anyio.to_thread.run_sync(_finished, [_of_task(card, called) for card in cards])
    seen_all = [card for rows_seen in by_table for _, card in rows_seen]
    measured = {key: tuple(card.numbers.get(key) for card in seen_all) for key in MEASURED}
    finished = replace(finished, numbers=measured)
    header = replace(header, facet_order=finished.facet_order, ordered=finished.ordered)
    index = await anyio.to_thread.run_sync(_written, path, header, finished, extras)
    held = {table: tuple(found) for table, found in budget.held.items()}
    return RowIndex(index, len(cards), facts, outcomes, called, held, whole)


def _written(path: Path, header: Header, finished: Finished, extras: Sequence[Extra]) -> TaskIndex:
    try:
        write_index(path, header, finished, extras)
        return TaskIndex(path)
    finally:
        path.unlink(missing_ok=True)  # an open database outlives its name


def quotas(lengths: Sequence[int], budget: int) -> list[int]:
    """How many rows of each table are looked at: the same of each, and what short ones leave over goes to the rest."""
    shares = dict.fromkeys(range(len(lengths)), 0)
    left = budget
    for still, place in zip(range(len(lengths), 0, -1), sorted(shares, key=lambda place: lengths[place]), strict=True):
        shares[place] = min(lengths[place], left // still)
        left -= shares[place]
    return [shares[place] for place in range(len(lengths))]


@dataclass(slots=True)
class _Budget:
    until: float
    chunk: int = 20
    """Rows of the next chunk: more while they are looked at quickly, fewer while they are not."""
    left: int = MAX_BYTES
    held: dict[str, dict[Withheld, None]] = field(default_factory=dict)


async def _look(
    table: OpenTable, quota: int, budget: _Budget, cards: list[TaskCard], extras: list[Extra]
) -> list[tuple[str, RowCard]]:
    seen: list[tuple[str, RowCard]] = []
    held = budget.held.setdefault(table.id, {})
    while len(seen) < quota and budget.left > 0:
        if seen and time.monotonic() > budget.until:
            break
        start = time.monotonic()
        rows = await table.raw(len(seen), min(budget.chunk, quota - len(seen)), all_columns=False)
        if not rows:
            break
        for card, task, size in await anyio.to_thread.run_sync(_cards, table, rows):
            budget.left -= size
            seen.append((task.ref, card))
            cards.append(task)
            extras.append(Extra(card.search, ""))
        for row in rows:
            held.update(dict.fromkeys(row.shown.withheld[: max(0, _HELD - len(held))]))
        took = time.monotonic() - start
        budget.chunk = max(1, budget.chunk // 4) if took > _EASY else min(_CHUNK, budget.chunk * 2)
        await anyio.lowlevel.checkpoint()
    return seen


def _cards(table: OpenTable, rows: Sequence[RawRow]) -> list[tuple[RowCard, TaskCard, int]]:
    found = []
    for row in rows:
        card = card_of(table, row)
        facets = {**card.facets, **measured_facets(card), "split": (name(table.id),)}
        title = card.title if card.title.strip() else name(row.shown.ref)
        task = TaskCard(row.shown.ref, title, card.brief, facets, card.problem)
        found.append((card, task, len(json.dumps(row.shown.json.value))))
    return found


def _of_task(card: TaskCard, called: Mapping[str, Shown]) -> TaskCard:
    return replace(card, facets={**card.facets, "task": (called[card.ref],)}) if card.ref in called else card


def _finished(cards: Sequence[TaskCard]) -> Finished:
    """Facets that tell rows apart are kept; of the others lists hold nothing."""
    own = [_own(card) for card in cards]
    chosen = metadata_facets(own)
    splits = {str(value) for card in cards for value in card.facets.get("split", ())}
    offered = {*FACETS, *(f"meta:{key}" for key in chosen)} - (set() if len(splits) > 1 else {"split"})
    kept = [replace(card, facets={key: of for key, of in card.facets.items() if key in offered}) for card in cards]
    order = tuple(
        key for key in (*FACETS, *(f"meta:{key}" for key in chosen)) if any(key in card.facets for card in kept)
    )
    return Finished(
        cards=tuple(kept),
        settings={},
        header=record({}).value,
        facet_order=order,
        ordered={key: of for key, of in {**ORDERED, **NATURAL}.items() if key in order},
    )


def _own(card: TaskCard) -> dict[str, tuple[Shown, ...]]:
    return {key.removeprefix("meta:"): of for key, of in card.facets.items() if key.startswith("meta:")}
