"""Tables and rows as processors get them, all that a reader would see of them, and what JSON may stand in a cell."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from rlx.answers.rows import table_row
from rlx.formats.processors.base import Processor, Reading, Roles, RowCard, ShownRow, Table
from rlx.hub.info import TreeEntry
from rlx.ids import EnvKey
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import FacetValue, Task
from rlx.twins.jsonable import to_json
from rlx.twins.tasks import task_markdown

KEY = EnvKey("dataset", "acme", "rows")
SHA = "0123456789abcdef0123456789abcdef01234567"
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def table_of(
    rows: Sequence[Mapping[str, object]],
    *,
    tags: Sequence[str] = (),
    paths: Sequence[str] = ("data/train.jsonl",),
    card: Mapping[str, object] | None = None,
    split: str = "train",
    config: str = "default",
) -> Table:
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    files = {path: TreeEntry(path, 100, "0" * 40) for path in paths}
    return Table(
        KEY, SHA, config, split, tuple(paths), frozenset(tags), card or {}, files, names, tuple(rows), (split,)
    )


@dataclass(frozen=True, slots=True)
class Read:
    """Rows that one processor read."""

    table: Table
    reading: Reading
    rows: tuple[ShownRow, ...]

    @property
    def cards(self) -> list[RowCard]:
        return [self.reading.card(row) for row in self.rows]

    def view(self, at: int = 0) -> TaskView:
        return self.reading.view(self.rows[at])

    def summary(self) -> SummaryView:
        cards = self.cards
        facets: dict[str, dict[str, FacetValue]] = {}
        for card in cards:
            for key, values in card.facets.items():
                for value in values:
                    known = facets.setdefault(key, {})
                    known[value] = FacetValue(value, known[value].n + 1 if value in known else 1)
        counts = Counts(len(cards), {key: tuple(values.values()) for key, values in facets.items()})
        return self.reading.summary(self.reading.facts(cards), counts)

    def page(self, at: int = 0, language: str = "en") -> str:
        """The Markdown of a row's page."""
        return task_markdown(self._task(at), KEY, language=language)

    def shown(self) -> str:
        """All that anybody is told of the rows, in every form."""
        told = [json.dumps(to_json(self.summary()), ensure_ascii=False)]
        for at, card in enumerate(self.cards):
            told += [self.page(at), json.dumps(to_json(self._task(at)), ensure_ascii=False), card.search]
        return "\n".join(told)

    def _task(self, at: int) -> Task:
        row, card, view = self.rows[at], self.cards[at], self.view(at)
        return Task(
            ref=row.ref,
            title=card.title,
            brief=card.brief,
            sections=view.sections,
            glance=view.glance,
            withheld=row.withheld,
            run_options=view.run_options,
            support=view.support,
            facets=card.facets,
            problem=card.problem,
        )


def read(processor: Processor, table: Table, roles: Roles | None = None) -> Read:
    """The sample of `table` as `processor` reads it."""
    reading = processor.reading(table, roles or {})
    path = table.paths[0] if table.paths else "rows.jsonl"
    rows = [shown_row(reading, row, at, path) for at, row in enumerate(table.sample)]
    return Read(table, reading, tuple(rows))


def shown_row(reading: Reading, row: Any, at: int = 0, path: str = "data/train.jsonl") -> ShownRow:
    masked = table_row(row, path=path, policy=reading.policy)
    value = masked.value.value
    told = value if isinstance(value, dict) else {"value": value}
    return ShownRow(f"train/{at}", told, masked.value, path, at, masked.withheld)
