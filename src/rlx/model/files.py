"""Files of a repository or a task, as a reader may see them."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from rlx.answers import Shown, ShownJson, Withheld
from rlx.texts import Say


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    """Relative to the task or, for `ref=None`, to the repository."""
    size: int
    is_dir: bool = False
    withheld: Say | None = None
    """The reason when its contents are never shown."""


@dataclass(frozen=True, slots=True)
class Listing:
    path: str
    """The folder; empty at the top."""
    entries: tuple[FileEntry, ...]
    total: int | None
    """None: more than could be listed."""
    truncated: bool = False
    """There are more entries after these."""
    offset: int = 0
    """How many come before these."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table. `broken` tells why it has no value, `note` what is odd about it."""

    number: int
    """From 1."""
    value: ShownJson | None
    line: int | None = None
    """On which line of the file's text it begins."""
    broken: Say | None = None
    note: Say | None = None


@dataclass(frozen=True, slots=True)
class TablePage:
    """Rows of a table, answers replaced."""

    columns: tuple[str, ...]
    """Named by the file, or by its first rows."""
    rows: tuple[TableRow, ...]
    total: int | None
    """None while it is unknown; `known` rows can be read, and `share` of the file was looked through."""
    known: int
    share: float
    notes: tuple[Say, ...] = ()
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class NoTable:
    """Why a file is no table after all; `quiet`: a reader would not have taken it for one."""

    reason: Say
    quiet: bool = False


class TableFile(Protocol):
    """A file whose rows can be read anywhere."""

    async def page(self, start: int, limit: int) -> TablePage | NoTable:
        """Rows from number `start` on, from 1; the last known one when there are not that many. Raises `Upstream`."""
        ...


type Form = Literal["file", "rows", "members"]


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that may be shown. Exactly one of `text` and `data` is set; `withheld` names what was masked in it."""

    path: str
    size: int
    text: Shown | None
    data: bytes | None = field(default=None, repr=False)
    media_type: str = "application/octet-stream"
    encoding_note: Say | None = None
    """Set when the bytes were not UTF-8."""
    masked: tuple[int, ...] = ()
    """1-based numbers of lines on which something was withheld."""
    withheld: tuple[Withheld, ...] = ()
    truncated: bool = False
    """Only the head is here; `size` is the whole."""
    form: Form = "file"
    """What `held` is when it is not the file's own text: a table's rows, or the names and sizes an archive holds."""
    inside: Shown | None = None
    """What was found inside a file whose bytes may be served, which are in `data`; else it is in `text`."""
    note: Say | None = None
    """What a reader should know of it: why it is not looked into, how many of its rows are here."""
    table: TableFile | None = field(default=None, repr=False, compare=False, metadata={"told": False})
    """The rows of a file too long for its text to be read as a table."""

    @property
    def held(self) -> Shown | None:
        """Rows or members as JSON Lines, of a container that was looked into."""
        return None if self.form == "file" else self.text if self.inside is None else self.inside
