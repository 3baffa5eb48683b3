"""What a file of rows is once it is opened, whatever it is written in."""

import io
import json
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from rlx.localhub.viewer.features import Type

MAX_WHOLE = 128 * 1024 * 1024
"""Bytes, unpacked, of a file that has to be read whole."""


class Unreadable(Exception):
    """A data file is not what its name says; the message says what is wrong with it."""


class TooBig(Unreadable):
    """A data file is too big to be shown."""


type Opener = Callable[[], BinaryIO]
type Row = dict[str, object]


class Table(Protocol):
    @property
    def rows(self) -> int: ...

    @property
    def weight(self) -> int:
        """Bytes it keeps in memory, roughly."""
        ...

    @property
    def columns(self) -> Mapping[str, Type]: ...

    @property
    def declared(self) -> Mapping[str, object] | None:
        """Features as the file itself declares them, in the viewer's notation."""
        ...

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        """Rows `start` to `stop`, which are in bounds, as JSON-like values."""
        ...

    def scan(self, opener: Opener) -> Iterator[Row]:
        """All rows in their order, each read once."""
        ...


@dataclass(frozen=True, slots=True)
class ListTable:
    """Rows in memory."""

    items: list[Row]
    columns: dict[str, Type]
    weight: int
    declared: Mapping[str, object] | None = None

    @property
    def rows(self) -> int:
        return len(self.items)

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        return self.items[start:stop]

    def scan(self, opener: Opener) -> Iterator[Row]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class LineTable:
    """JSON Lines: where each line begins, so that any row is one seek away."""

    offsets: "array[int]"
    columns: dict[str, Type]
    unpacked: bytes | None
    """The lines themselves when the file is compressed."""
    declared: None = None

    @property
    def rows(self) -> int:
        return len(self.offsets)

    @property
    def weight(self) -> int:
        return 8 * len(self.offsets) + len(self.unpacked or b"")

    def read(self, opener: Opener, start: int, stop: int) -> list[Row]:
        return list(self._lines(opener, start, stop))

    def scan(self, opener: Opener) -> Iterator[Row]:
        return self._lines(opener, 0, self.rows)

    def _lines(self, opener: Opener, start: int, stop: int) -> Iterator[Row]:
        with opener() if self.unpacked is None else io.BytesIO(self.unpacked) as source:
            for number in range(start, stop):
                source.seek(self.offsets[number])
                yield as_row(json.loads(source.readline()))


def as_row(value: object) -> Row:
    """A JSON value as a row; one that is no object becomes the column `text`."""
    return value if isinstance(value, dict) else {"text": value}
