"""Environments side by side: what is told of each, row by row, and the same as a Markdown table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rlx.answers import name
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.model import Facet, FacetValue, Summary, Text
from rlx.texts import DEFAULT, figures, say, words
from rlx.texts.values import facet_value
from rlx.twins.inline import line
from rlx.twins.parts import Addresses, join

FACETS = ("difficulty", "category", "graded", "network", "runs", "base", "timeout", "length", "language")
"""What tasks of an environment are told apart by, in the order of the rows; a facet that none has is no row."""
PARTS = 4
"""Values of one facet that a cell shows."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the environments. Without a summary `trouble` says why."""

    key: EnvKey
    summary: Summary | None = None
    info: RepoInfo | None = None
    trouble: str | None = None
    reading: bool = False
    """It is being read for the first time."""


@dataclass(frozen=True, slots=True)
class Cell:
    """At most one of its fields is told; none when nothing is known."""

    text: Text | None = None
    n: int | None = None
    moment: datetime | None = None
    parts: tuple[FacetValue, ...] = ()
    more: int = 0
    """Values of the facet that are left off."""
    of: int = 0
    """What the counts of the parts are shares of."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    id: str
    label: Text
    cells: tuple[Cell, ...]

    @property
    def same(self) -> bool:
        """Whether all that are known say the same."""
        return len(self.cells) > 1 and len(set(self.cells)) == 1


def compare_rows(sides: Sequence[Side]) -> tuple[CompareRow, ...]:
    """What can be told of any of them, in one order."""
    return tuple(row for row in _rows(sides) if any(cell != Cell() for cell in row.cells))


def comparison_markdown(
    sides: Sequence[Side], rows: Sequence[CompareRow], at: Addresses, language: str = DEFAULT
) -> str:
    """A table, one column an environment; then where each is found, or why it is not read."""
    head = ["", *(line(str(side.key), language) for side in sides)]
    body = [[line(row.label, language), *(_told(row, cell, language) for cell in row.cells)] for row in rows]
    table = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)] if sides else []
    found = [
        f"- {line(str(side.key), language)}: {line(side.trouble, language) if side.trouble else at.env(side.key)}"
        for side in sides
    ]
    return join([f"# {words(say('compare.title'), language)}", "\n".join(table), "\n".join(found)])


def _rows(sides: Sequence[Side]) -> Iterator[CompareRow]:
    read = [side.summary for side in sides]
    yield CompareRow(
        "brief", say("compare.brief"), tuple(Cell(item.brief or item.title) if item else Cell() for item in read)
    )
    kinds = {"dataset": say("compare.dataset"), "space": say("compare.server")}
    yield CompareRow("kind", say("compare.kind"), tuple(Cell(kinds[side.key.kind]) for side in sides))
    yield CompareRow(
        "framework", say("web.framework"), tuple(Cell(name(item.support.label)) if item else Cell() for item in read)
    )
    yield CompareRow("tasks", say("web.tab_tasks"), tuple(_tasks(item) for item in read))
    for key in FACETS:
        found = [_facet(item, key) for item in read]
        label = next((facet.label for facet in found if facet is not None), None)
        if label is not None:
            cells = (_shares(facet, item) for facet, item in zip(found, read, strict=True))
            yield CompareRow(key, label, tuple(cells))
    infos = [side.info for side in sides]
    yield CompareRow("licence", say("env.licence"), tuple(_licence(info) for info in infos))
    yield CompareRow(
        "updated", say("web.updated"), tuple(Cell(moment=info.modified) if info else Cell() for info in infos)
    )
    yield CompareRow(
        "downloads", say("web.downloads"), tuple(Cell(n=info.downloads) if info else Cell() for info in infos)
    )
    yield CompareRow("likes", say("web.likes"), tuple(Cell(n=info.likes) if info else Cell() for info in infos))


def _tasks(summary: Summary | None) -> Cell:
    if summary is None:
        return Cell()
    return Cell(n=summary.tasks) if summary.tasks is not None else Cell(summary.why)


def _facet(summary: Summary | None, key: str) -> Facet | None:
    return next((facet for facet in summary.facets if facet.key == key and facet.values), None) if summary else None


def _shares(facet: Facet | None, summary: Summary | None) -> Cell:
    if facet is None or summary is None:
        return Cell()
    more = max(0, len(facet.values) - PARTS) + facet.more
    return Cell(parts=facet.values[:PARTS], more=more, of=summary.tasks or 0)


def _licence(info: RepoInfo | None) -> Cell:
    tags = info.tags if info else ()
    return next((Cell(name(tag.removeprefix("license:"))) for tag in tags if tag.startswith("license:")), Cell())


def _told(row: CompareRow, cell: Cell, language: str) -> str:
    if cell.parts:
        told = [f"{line(facet_value(part.value, row.id), language)} {part.n:,}" for part in cell.parts]
        return ", ".join([*told, *([words(say("env.more_parts", n=cell.more), language)] if cell.more else [])])
    if cell.n is not None:
        return f"{cell.n:,}"
    if cell.moment is not None:
        return figures.date(cell.moment, language)
    return line(cell.text, language) if cell.text is not None else "–"
