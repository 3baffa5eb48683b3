"""Tables in text that is walked through once: what JSON Lines, delimited text and long JSON documents share."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from rlx.formats.rows.sources.base import MAX_ROW, Known, Row
from rlx.formats.rows.sources.marks import Marks, Text, texts
from rlx.formats.rows.sources.octets import Octets
from rlx.formats.rows.sources.scanning import Scanner
from rlx.texts import Say, say


class Reading(Protocol):
    """How the text of one row is read."""

    @property
    def shape(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def scanner(self) -> Scanner: ...

    @property
    def skipped(self) -> int:
        """Rows of the text before the first one of the table."""
        ...

    @property
    def note(self) -> Say | None:
        """What is told on the first row of the whole table."""
        ...

    def row(self, text: bytes, line: int) -> Row: ...


class TextSource:
    """Meets `Source`. `marks` is shared with all who read the same contents."""

    within = ""

    def __init__(self, octets: Octets, marks: Marks, reading: Reading) -> None:
        self._octets = octets
        self._marks = marks
        self._reading = reading

    @property
    def shape(self) -> str:
        return self._reading.shape

    @property
    def columns(self) -> tuple[str, ...]:
        return self._reading.columns

    @property
    def known(self) -> Known:
        known = self._marks.known(self._octets.size)
        return Known(max(0, known.rows - self._reading.skipped), known.is_all, known.share)

    @property
    def count(self) -> int | None:
        known = self.known
        return known.rows if known.is_all else None

    @property
    def trouble(self) -> Say | None:
        return self._marks.walked.trouble

    def rows(self, offset: int, limit: int, columns: Sequence[str] | None = None) -> tuple[Row, ...]:
        skipped, scanner = self._reading.skipped, self._reading.scanner
        found = texts(self._marks, self._octets, scanner, offset + skipped, limit, MAX_ROW)
        rows = [self._row(text) for text in found]
        if offset == 0 and rows and self._reading.note is not None:
            rows[0] = replace(rows[0], note=self._reading.note)
        return tuple(rows)

    def _row(self, text: Text) -> Row:
        if text.data is None:
            return Row(None, text.line, broken=say("rows.long_row", megabytes=MAX_ROW // 2**20))
        return self._reading.row(text.data, text.line)

    def advance(self) -> None:
        self._marks.advance(self._octets, self._reading.scanner)

    def save(self, path: Path) -> None:
        """Keep what is known, all of it, unless it was kept before."""
        if not self._marks.is_saved:
            self._marks.save(path)


class ListSource:
    """Meets `Source`: rows of a file that was small enough to be read whole."""

    trouble = None

    def __init__(self, shape: str, within: str, columns: tuple[str, ...], rows: tuple[Row, ...]) -> None:
        self.shape = shape
        self.within = within
        self.columns = columns
        self._rows = rows

    @property
    def known(self) -> Known:
        return Known(len(self._rows), is_all=True)

    @property
    def count(self) -> int:
        return len(self._rows)

    def rows(self, offset: int, limit: int, columns: Sequence[str] | None = None) -> tuple[Row, ...]:
        return self._rows[offset : offset + limit]

    def advance(self) -> None:
        return None
