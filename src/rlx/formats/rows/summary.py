"""The page of an environment of rows: what each processor says of its tables, and how they were found."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rlx.answers import Shown, name
from rlx.formats import card as env_card
from rlx.formats.processors.base import Correctable
from rlx.formats.rows.outcomes import outcome_sections
from rlx.formats.rows.row_index import RowIndex
from rlx.formats.rows.tables import OpenTable
from rlx.hub.repo import Repo
from rlx.ids import encode_ref
from rlx.index.records import Counts, SummaryView
from rlx.model import (
    Block,
    Link,
    Links,
    Note,
    Progress,
    Role,
    Section,
    Subset,
    Summary,
    TaskQuery,
    Text,
)
from rlx.texts import say

_BESIDE: Final = 20
"""Files of rows in no split that are named."""


def rows_summary(
    repo: Repo,
    ids: Sequence[str],
    opened: Sequence[OpenTable],
    chosen: Sequence[OpenTable],
    index: RowIndex,
    readme: Shown | None,
    beside: Sequence[str],
    *,
    looking: bool,
) -> Summary:
    """`ids` are all splits there are, `opened` those looked into, `chosen` those that are asked about.

    `beside` are files of rows that are in no split.
    """
    by_processor: dict[str, list[OpenTable]] = {}
    for table in chosen:
        by_processor.setdefault(table.processor.name, []).append(table)
    views = [_view(tables, index) for tables in by_processor.values()]
    page = index.tasks.page(TaskQuery(limit=0))
    known = {table.id: table for table in opened}
    total = sum(table.length for table in chosen)
    none = _none(chosen) if not total else None
    return Summary(
        key=repo.key,
        title=env_card.title(repo.info, readme or ""),
        brief=env_card.brief(repo.info, readme or ""),
        format="rows",
        support=views[0].support,
        revision=repo.sha,
        tasks=None if none is not None else total,
        why=none,
        how=tuple(_how(chosen, index, total, len(ids) - len(opened))),
        sections=(*_sections([view.sections for view in views], chosen), *_beside(repo, beside)),
        facets=page.facets,
        tiles=None,
        subsets=tuple(
            Subset(id_, name(id_), known[id_].length if id_ in known else None) for id_ in ids if len(ids) > 1
        ),
        withheld=tuple(dict.fromkeys(held for table in chosen for held in index.withheld.get(table.id, ()))),
        readme=readme,
        progress=_progress(chosen, index, looking),
        unit="rollouts" if set(by_processor) <= set(index.outcomes) else "tasks",
        roles=tuple(_roles(chosen[0])),
    )


def _view(tables: Sequence[OpenTable], index: RowIndex) -> SummaryView:
    """What one processor says of its tables."""
    reading, word = tables[0].reading, tables[0].processor.name
    facts = index.facts.get(word) or reading.facts(())
    is_all = len(index.facts) == 1
    page = index.tasks.page(TaskQuery(filters={} if is_all else {"split": tuple(t.id for t in tables)}, limit=0))
    view = reading.summary(facts, Counts(page.total, {facet.key: facet.values for facet in page.facets}))
    came = index.outcomes.get(word)
    if came is None:
        return view
    own = [section for section in view.sections if section.id != "overview"]
    return replace(view, sections=(*outcome_sections(came), *own))


def _sections(groups: Sequence[Sequence[Section]], tables: Sequence[OpenTable]) -> Iterator[Section]:
    """Of several processors, each under ids of its own; tables whose files are refused are told first."""
    notes: list[Block] = [
        Note(say("rows.refused", path=path, why=why), "warn") for table in tables for path, why in table.refused[:5]
    ]
    notes += [Note(table.trouble, "warn") for table in tables if table.trouble is not None]
    if notes:
        yield Section("odd", say("rows.section.odd"), tuple(notes))
    seen: set[str] = set()
    for sections in groups:
        for section in sections:
            number = sum(id_ == section.id or id_.startswith(f"{section.id}-") for id_ in seen)
            told = replace(section, id=f"{section.id}-{number + 1}") if number else section
            seen.add(told.id)
            yield told


def _beside(repo: Repo, paths: Sequence[str]) -> Iterator[Section]:
    if paths:
        links = [Link(name(path), f"{repo.key.page}/files/{encode_ref(path)}") for path in paths[:_BESIDE]]
        note = say("rows.beside_more", n=len(paths) - _BESIDE) if len(paths) > _BESIDE else None
        yield Section("beside", say("rows.section.beside"), (Links(tuple(links)),), note)


def _how(tables: Sequence[OpenTable], index: RowIndex, total: int, unopened: int) -> Iterator[Text]:
    for table in tables[:6]:
        files = len(table.table.paths)
        if files:
            yield say("rows.how.table", id=table.id, n=files, first=table.table.paths[0])
        else:
            yield say("row_sources.viewer_how", id=table.id)
    told = dict.fromkeys((table.processor.name, table.match.evidence) for table in tables)
    for word, evidence in told:
        yield say(
            "rows.how.processor", name=word, evidence=evidence if not isinstance(evidence, Shown) else str(evidence)
        )
    if unopened > 0:
        yield say("rows.how.unopened", n=unopened)
    if not index.is_whole:
        yield say("rows.searched", n=index.rows, total=total)


def _none(tables: Sequence[OpenTable]) -> Text | None:
    """Why there is no row at all, where files of rows are there."""
    refused = [why for table in tables for _, why in table.refused]
    return say("rows.all_refused", n=len(refused), why=refused[0]) if refused else None


def _progress(tables: Sequence[OpenTable], index: RowIndex, looking: bool) -> Progress | None:
    if not looking:
        return None
    total = sum(table.length for table in tables)
    return Progress("reading", min(index.rows, total), total, total, unit="tasks")


def _roles(table: OpenTable) -> Iterator[Role]:
    reading = table.reading
    if isinstance(reading, Correctable):
        for role, columns in reading.offered.items():
            now = reading.roles.get(role)
            yield Role(role, None if now is None else name(now), tuple(name(column) for column in columns))
