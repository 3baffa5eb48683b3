"""An unpacked Harbor task as the index would keep it and its page would show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from rlx.answers import Shown, Withheld, name
from rlx.errors import BadInput, NotFound
from rlx.formats.harbor.reader import HarborReader
from rlx.formats.packed.blobs import file_blob
from rlx.formats.packed.budget import RefusedArchive
from rlx.formats.packed.unpack import task_files, unpack
from rlx.formats.processors.base import RowCard
from rlx.formats.repo_files import packed_blob
from rlx.hub.info import TreeEntry
from rlx.ids import check_ref
from rlx.index.records import TaskRecord, TaskView
from rlx.index.saving import MAX_FILE
from rlx.model import Blob, FileEntry, Section
from rlx.texts import say

_READER: Final = HarborReader()
_NAMELESS: Final = "task"


@dataclass(frozen=True, slots=True)
class Around:
    """What the set of a task tells of it."""

    titles: frozenset[str] = frozenset()
    briefs: frozenset[str] = frozenset()
    """Shared by too many tasks for them to tell one from another."""
    sections: tuple[Section, ...] = ()
    """At the end of every page."""


class PackedTask:
    """Meets `rlx.formats.processors.base.Opened`."""

    def __init__(self, files: Mapping[str, bytes], called: str = "", around: Around | None = None) -> None:
        """`files` by their path in the task; `called` is its folder's name. Raises `RefusedArchive`."""
        self._files = files
        self._called = called
        self._around = around or Around()
        self.record = _read(files, called or _NAMELESS)

    @property
    def title(self) -> Shown:
        """Empty where nothing but its place tells it from others."""
        title = self.record.card.title
        if str(title) in self._around.titles or (not self._called and str(title) == _NAMELESS):
            return name(self._called)
        return title

    @property
    def briefs(self) -> Sequence[Shown]:
        """What may be said of it in one line, the best first."""
        return tuple(self._note("briefs", ()))

    @cached_property
    def card(self) -> RowCard:
        card = self.record.card
        told = {f"meta:{key}": tuple(map(name, dict.fromkeys(of))) for key, of in self._note("metadata", {}).items()}
        brief = next((text for text in self.briefs if str(text) not in self._around.briefs), card.brief)
        return RowCard(
            title=self.title,
            brief=brief,
            facets={**card.facets, **told},
            search=f"{self._called} {self.record.search}",
            problem=card.problem,
        )

    @cached_property
    def view(self) -> TaskView:
        view = _READER.task_view(self.record)
        return replace(view, sections=(*view.sections, *self._around.sections))

    @property
    def withheld(self) -> tuple[Withheld, ...]:
        return self.record.withheld

    @property
    def entries(self) -> tuple[FileEntry, ...]:
        return self.record.files

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, about."""
        return sum(len(path) + len(data) for path, data in self._files.items()) + sum(
            2 * len(text.text) for text in self.record.texts.values()
        )

    def file(self, path: str) -> Blob:
        if path not in self._files:
            raise NotFound(f"No file {path[:200]!r} in this task.")
        if path in self.record.texts:
            return packed_blob(FileEntry(path, len(self._files[path])), self.record.texts[path])
        return file_blob(path, self._files[path])

    def contents(self) -> Iterator[tuple[str, bytes]]:
        yield from self._files.items()

    def _note(self, key: str, default: Any) -> Any:
        return self.record.notes.get(key, default)


def open_task(data: bytes, called: str = "", around: Around | None = None) -> PackedTask:
    """The one task in an archive. Raises `RefusedArchive` with the reason."""
    return PackedTask(dict(sorted(task_files(unpack(data)).items())), called, around)


def folder_name(told: object) -> str:
    """The name of a task's folder out of what a row calls it; empty where that makes none."""
    text = str(told) if isinstance(told, str | int) else ""
    last = text.strip().rstrip("/").rpartition("/")[2]
    try:
        is_name = len(last) <= 200 and check_ref(last) == last
    except BadInput:
        is_name = False
    return last if is_name and not last.startswith(".") else ""


def _read(files: Mapping[str, bytes], root: str) -> TaskRecord:
    tree = {f"{root}/{path}": TreeEntry(f"{root}/{path}", len(data), "") for path, data in sorted(files.items())}
    plan = next((plan for plan in _READER.plan(tree) if plan.root == root), None)
    if plan is None:
        raise RefusedArchive(say("packed.no_task"))
    skip = len(root) + 1
    wanted = {path: files[path[skip:]] for path in plan.wanted}
    return _READER.read(plan, {path: data for path, data in wanted.items() if len(data) <= MAX_FILE})
