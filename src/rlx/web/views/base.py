"""What a way to show a file is given, and what it gives."""

from collections.abc import Callable
from dataclasses import dataclass

from rlx.ids import EnvKey
from rlx.model import Blob, NoTable, TablePage
from rlx.texts import Say
from rlx.web.links import Links


@dataclass(frozen=True, slots=True)
class Asked:
    """What the URL asks for."""

    key: EnvKey
    ref: str | None
    links: Links
    language: str
    start: int = 1
    """First line, row or member of the page, counted from 1."""
    view: str | None = None
    full: bool = False
    rows: TablePage | NoTable | None = None
    """The rows that are asked for, of a file too long for its text to be read as a table."""


class Unfit(Exception):
    """The file cannot be shown in this way after all; `note` tells the reader why, where they would wonder."""

    def __init__(self, note: Say | None = None) -> None:
        super().__init__(note.key if note else "")
        self.note = note


@dataclass(frozen=True, slots=True)
class FileView:
    """One way to show a file, drawn by `templates/views/<name>.html` from what `draw` gives, as `shown`."""

    name: str
    """Word for the URL."""
    label: Say
    fits: Callable[[Blob], bool]
    """Judged without reading the contents through."""
    draw: Callable[[Blob, Asked], object]
    """Raises `Unfit`."""


@dataclass(frozen=True, slots=True)
class Span:
    """A page of lines, rows or members."""

    first: int
    last: int
    total: int
    size: int
    """How many a page holds."""

    @property
    def previous(self) -> int | None:
        """First of the page before; None on the first page."""
        return max(1, self.first - self.size) if self.first > 1 else None

    @property
    def next(self) -> int | None:
        return self.last + 1 if self.last < self.total else None


def page_of(start: int, total: int, size: int) -> Span:
    """The page that begins at `start`, or at the last item when there are not that many."""
    first = min(start, max(total, 1))
    return Span(first, min(total, first + size - 1), total, size)


def suffix(path: str) -> str:
    """`csv` of `a/b.CSV`."""
    return path.rpartition("/")[2].lower().rpartition(".")[2]
