"""The page of a row: what its processor makes of it, what is odd about it, and the row itself."""

from collections.abc import Iterator

from rlx.answers import name
from rlx.errors import BadInput
from rlx.formats.processors.base import Opened
from rlx.formats.rows.outcomes import measured_facets
from rlx.formats.rows.row_files import row_entries
from rlx.formats.rows.tables import OpenTable, RawRow, card_of
from rlx.index.records import TaskView
from rlx.model import FilesBlock, Note, Section, Task, Value
from rlx.texts import say


def row_task(table: OpenTable, row: RawRow, opened: Opened | BadInput | None) -> Task:
    """A task, less its place among the others."""
    if opened is None or isinstance(opened, BadInput):
        card, withheld = card_of(table, row), row.shown.withheld
        view = table.reading.view(row.shown)
        sections = (*_odd(row, opened), *_own(view, row), *_row(row))
    else:
        card, view, withheld = opened.card, opened.view, (*row.shown.withheld, *opened.withheld)
        sections = (*_odd(row, None), *view.sections, *_row(row, files=False))
    return Task(
        ref=row.shown.ref,
        title=card.title if card.title.strip() else name(row.shown.ref),
        brief=card.brief,
        sections=sections,
        glance=view.glance,
        withheld=withheld,
        run_options=view.run_options,
        support=view.support,
        facets={**card.facets, **measured_facets(card)},
        problem=card.problem,
    )


def _odd(row: RawRow, refused: BadInput | None) -> Iterator[Section]:
    notes = []
    if row.broken is not None:
        notes.append(Note(say("rows.broken_one_row"), "bad", None))
        notes.append(Note(row.broken, "bad"))
    if row.shown.note is not None:
        notes.append(Note(row.shown.note, "warn"))
    if refused is not None:
        notes.append(Note(say("rows.archive_refused"), "bad", name(refused.message)))
    if notes:
        yield Section("odd", say("rows.section.odd"), tuple(notes))


def _own(view: TaskView, row: RawRow) -> tuple[Section, ...]:
    return view.sections if row.broken is None else ()


def _row(row: RawRow, *, files: bool = True) -> Iterator[Section]:
    """The row as it is, and its media as files; the files of a row that was opened are those in it."""
    if row.broken is None:
        blocks = (Value(row.shown.json), *((FilesBlock(row_entries(row)),) if files else ()))
        yield Section("row", say("rows.section.row"), blocks, note=name(row.shown.path), collapsed=True)
