"""What a source of rows is: a table in a pinned file, read anywhere with bounded memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rlx.texts import Say

MAX_ROW = 2 * 1024 * 1024
"""Bytes of one row that is read; a longer one is told as such."""
MAX_PART = 32 * 1024 * 1024
"""Bytes that are read for one part, which then holds fewer rows than were asked for."""


class Unreadable(Exception):
    """A file whose rows cannot be had; `reason` tells why, `quiet` that a reader would not wonder."""

    def __init__(self, reason: Say, *, quiet: bool = False) -> None:
        super().__init__(reason.key)
        self.reason = reason
        self.quiet = quiet


@dataclass(frozen=True, slots=True)
class Row:
    """One row, not masked yet. `broken` tells why there is no value; `note` what is odd about the value."""

    value: object
    line: int | None = None
    """On which line of the text it begins, from 1, where that is known."""
    broken: Say | None = None
    note: Say | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """How much of a table is known: `rows` of it can be read, and they are all when `is_all`."""

    rows: int
    is_all: bool
    share: float = 1.0
    """Of the file that was looked through, 0 to 1."""


class Source(Protocol):
    """A table. Methods run in a worker thread; `rows` and `advance` raise `Unreadable` and what reading bytes raises.

    Another thread may advance what this source knows at the same time.
    """

    @property
    def shape(self) -> str:
        """How the file holds its rows: parquet, lines, delimited, list, map, columns, inside or object."""
        ...

    @property
    def within(self) -> str:
        """The name in the document under which the rows stand, for the shape `inside`."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the file's order; where rows name them themselves, those of the first rows."""
        ...

    @property
    def known(self) -> Known: ...

    @property
    def count(self) -> int | None:
        """Rows in all; None while that is unknown."""
        ...

    @property
    def trouble(self) -> Say | None:
        """Why what follows the known rows will never be known."""
        ...

    def rows(self, offset: int, limit: int, columns: Sequence[str] | None = None) -> tuple[Row, ...]:
        """Rows from `offset` among the known ones; fewer than `limit` at their end, and where they are very long.

        `columns` leaves the others unread where the format allows it.
        """
        ...

    def advance(self) -> None:
        """Get to know more, by a piece that takes well under a second of reading. Does nothing when all is known."""
        ...
