"""Harbor tasks packed in rows: a folder of each in one cell, as a tar or zip file."""

import base64
import binascii
import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from threading import BoundedSemaphore, Lock
from typing import Any, Final

from rlx.answers import Policy, ShownJson, name, record
from rlx.answers.shown import MARK
from rlx.errors import BadInput
from rlx.formats.harbor.finish import SHARED
from rlx.formats.harbor.summary import summary_view
from rlx.formats.harbor.support import dataset_support
from rlx.formats.packed.budget import TASK, RefusedArchive
from rlx.formats.packed.run_there import Cells, Named, of_row, of_rows
from rlx.formats.packed.streams import kind_of
from rlx.formats.packed.task import Around, PackedTask, folder_name, open_task
from rlx.formats.packed.unpack import SETTINGS, unpack
from rlx.formats.processors.base import Match, Roles, RowCard, ShownRow, Table
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Note, Row, Section
from rlx.texts import say

BLOBS: Final = ("task_binary", "task_tar", "tar", "archive", "task_archive", "files_tar", "bundle")
IDS: Final = ("path", "task_id", "id", "name")
_HEAD: Final = 512
"""Bytes by which an archive is told."""
_KEPT: Final = 48 * 1024 * 1024
"""Bytes of opened tasks that are remembered."""
_opening = BoundedSemaphore(2)
"""Each archive may take `TASK.total` bytes while it is opened."""


class HarborPacked:
    """Meets `rlx.formats.processors.base.Processor`."""

    name = "harbor-packed"
    framework = "harbor"
    version = 2

    def match(self, table: Table) -> Match | None:
        """A column that is called as one of archives and holds some; one of them, opened, must hold a task."""
        tagged = "harbor" in table.tags
        for column in _columns(table):
            found = [row for row in table.sample if kind_of(_bytes(row.get(column), _HEAD)) is not None]
            if found and ((tagged and column.startswith("task_")) or any(_opens(row[column]) for row in found)):
                return Match(0.97 if tagged else 0.8, say("packed.match", column=name(column)))
        return None

    def reading(self, table: Table, roles: Roles) -> "PackedRows":
        if roles:
            raise BadInput("The columns of packed tasks have the roles that their format gives them.")
        column = next(
            (
                column
                for column in _columns(table)
                if any(kind_of(_bytes(row.get(column), _HEAD)) is not None for row in table.sample)
            ),
            BLOBS[0],
        )
        return PackedRows(column, table)


class PackedRows:
    """Meets `rlx.formats.processors.base.Reading` and `Unpacking`."""

    columns: Sequence[str] | None = None

    def __init__(self, column: str, table: Table) -> None:
        self._column = column
        self._evidence = say("packed.match", column=name(column))
        self.policy = Policy("harbor-packed", apart=frozenset({column, *_columns(table)}))
        self._cells = _cells(column, table)
        self._runs = (of_rows(self._cells),) if self._cells is not None else ()
        self._named = next((column for column in IDS if _tells_apart(column, table.sample)), "")
        self._around = _shared([(row.get(column), _called(row)) for row in table.sample])

    def opened(self, row: ShownRow, value: Mapping[str, object]) -> PackedTask:
        """Raises `RefusedArchive`."""
        called = _called(value)
        told = value.get(self._named)
        runs = self._runs
        if (
            self._cells is not None
            and isinstance(told, str)
            and folder_name(told)
            and row.value.get(self._named) != MARK
        ):
            runs = (of_row(self._cells, row.path, Named(self._named, told, folder_name(told))),)
        return _opened(value.get(self._column), called, replace(self._around, sections=runs))

    def card(self, row: ShownRow) -> RowCard:
        """Of a row whose archive is refused: its name."""
        return RowCard(name(_called(row.value)), name(""))

    def view(self, row: ShownRow) -> TaskView:
        """Likewise."""
        called = _called(row.value)
        glance = (Row(say("rows.role.id"), name(called), code=True),) if called else ()
        return TaskView((), glance, (), dataset_support(self._evidence))

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        return record({"rows": len(cards), "odd": sum(card.problem is not None for card in cards)}).value

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        told: Any = facts.value
        header = {"tasks": counts.tasks, "first": "", "root": False, "groups": 0, "spread": {}, "manifests": []}
        view = summary_view(record({**header, "problems": {"unparsed": [], "missing": []}}).value, counts)
        odd = told.get("odd", 0) if isinstance(told, dict) else 0
        notes = (Section("problems", say("harbor.section.problems"), (Note(say("packed.odd", n=odd), "warn"),)),)
        sections = (*view.sections, *(notes if odd else ()), *self._runs)
        return SummaryView(sections, (self._evidence,), dataset_support(self._evidence))


class _Kept:
    """Opened tasks, the least recently asked for go first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._tasks: OrderedDict[tuple[object, ...], PackedTask] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[object, ...]) -> PackedTask | None:
        with self._lock:
            if key in self._tasks:
                self._tasks.move_to_end(key)
            return self._tasks.get(key)

    def keep(self, key: tuple[object, ...], task: PackedTask) -> None:
        with self._lock:
            if key in self._tasks or task.size > self._limit:
                return
            self._tasks[key] = task
            self._held += task.size
            while self._held > self._limit:
                self._held -= self._tasks.popitem(last=False)[1].size


_kept = _Kept(_KEPT)


def _opened(value: object, called: str, around: Around) -> PackedTask:
    data = _bytes(value)
    if not data:
        raise RefusedArchive(say("packed.no_blob"))
    key = (hashlib.blake2b(data, digest_size=16).digest(), called, around)
    task = _kept.get(key)
    if task is None:
        with _opening:
            task = open_task(data, called, around)
        _kept.keep(key, task)
    return task


def _shared(rows: Sequence[tuple[object, str]]) -> Around:
    """What the first rows share."""
    tasks = []
    for value, called in rows:
        try:
            tasks.append(_opened(value, called, Around()))
        except RefusedArchive:  # told where the row is shown
            continue
    titles = Counter(str(task.title) for task in tasks)
    briefs = Counter(text for task in tasks for text in {str(text) for text in task.briefs})
    limit = max(1.0, len(tasks) * SHARED)
    return Around(
        frozenset(text for text, n in titles.items() if n > 1),
        frozenset(text for text, n in briefs.items() if n > limit),
    )


def _tells_apart(column: str, sample: Sequence[Mapping[str, object]]) -> bool:
    """Whether each row is called otherwise there."""
    values = [value for row in sample if isinstance(value := row.get(column), str)]
    return 0 < len(values) == len(sample) == len(set(values))


def _cells(column: str, table: Table) -> Cells | None:
    """What running them elsewhere takes: bytes in parquet files, each with a task at its top or in one folder."""
    cells = [_bytes(row[column]) for row in table.sample if isinstance(row.get(column), bytes)]
    if not cells or not all(path.endswith(".parquet") for path in table.paths):
        return None
    try:
        roots = {path.count("/") for path in unpack(cells[0]) if path.rpartition("/")[2] == SETTINGS}
    except RefusedArchive:
        return None
    kinds = {kind_of(cell[:_HEAD]) == "zip" for cell in cells}
    if min(roots, default=2) > 1 or len(kinds) > 1:
        return None
    return Cells(table.key, table.sha, table.paths, column, wrapped=min(roots) == 1, zipped=kinds.pop())


def _columns(table: Table) -> Iterator[str]:
    """Those that are called as columns of archives are."""
    yield from (column for column in BLOBS if column in table.columns)


def _opens(value: object) -> bool:
    try:
        _opened(value, "", Around())
    except RefusedArchive:
        return False
    return True


def _called(row: Mapping[str, Any]) -> str:
    told = (row.get(column) for column in IDS)
    return next((called for value in told if value != MARK and (called := folder_name(value))), "")


def _bytes(value: object, head: int | None = None) -> bytes:
    """The bytes in a cell, or the first `head`: as they are, as base64, as a list of numbers, in an object of `bytes`.

    Empty for what is none of these. Raises `RefusedArchive` where all of it is asked for and it is too large or broken.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes")
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value[:head])
    if isinstance(value, str):
        return _base64(value, head)
    if isinstance(value, list | tuple) and value:
        if len(value) > TASK.packed and head is None:
            raise RefusedArchive(say("packed.large", megabytes=TASK.packed // 2**20))
        part = value[:head]
        if all(type(item) is int and 0 <= item < 256 for item in part):
            return bytes(part)
    return b""


def _base64(text: str, head: int | None) -> bytes:
    if head is None and len(text) > TASK.packed * 3 // 2:
        raise RefusedArchive(say("packed.large", megabytes=TASK.packed // 2**20))
    part = text if head is None else text[: 2 * head]
    packed = "".join(part.split())
    try:
        return base64.b64decode(packed[: len(packed) // 4 * 4] if head else packed, validate=True)[:head]
    except (ValueError, binascii.Error) as error:
        if head is None:
            raise RefusedArchive(say("packed.no_base64")) from error
        return b""
