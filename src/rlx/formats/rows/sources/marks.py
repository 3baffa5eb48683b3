"""Where the rows of a text are: a mark about every 64 kB, made by one walk through the file and kept on local disk."""

import json
import os
import zlib
from array import array
from bisect import bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock, get_ident
from typing import Final

from rlx.formats.rows.sources.base import MAX_PART, Known
from rlx.formats.rows.sources.octets import Octets
from rlx.formats.rows.sources.scanning import Scanner
from rlx.texts import Say, say

STEP: Final = 64 * 1024
"""Bytes between two marks, at least."""
FIRST: Final = 256 * 1024
LATER: Final = 4 * 1024 * 1024
"""Bytes of a piece of the walk: the first one is short, so that the first page is there at once."""
LONGEST: Final = 16 * 1024 * 1024
"""Bytes of a row past which a file is not walked on: its rows cannot be told apart."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Walked:
    """How far the walk got, between two rows."""

    at: int
    rows: int = 0
    line: int = 1
    is_done: bool = False
    trouble: Say | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    at: int
    row: int
    line: int


class Marks:
    """What is known of one file's rows; shared by all who read it. `start` is where its first row may begin."""

    def __init__(self, start: int) -> None:
        self._places = array("q", [start])
        self._rows = array("q", [0])
        self._lines = array("q", [1])
        self._walk = Lock()
        self.walked = Walked(start)
        self.is_saved = False

    def known(self, size: int | None) -> Known:
        walked = self.walked
        share = 1.0 if walked.is_done else walked.at / size if size else 0.0
        return Known(walked.rows, walked.is_done and walked.trouble is None, share)

    def before(self, row: int) -> Spot:
        """The last mark at or before `row`."""
        place = bisect_right(self._rows, row) - 1
        return Spot(self._places[place], self._rows[place], self._lines[place])

    def after(self, row: int) -> int:
        """The first mark at or after `row`, or where the walk is: a place between two rows."""
        walked, place = self.walked, bisect_right(self._rows, row - 1)
        return self._places[place] if place < len(self._places) else walked.at

    def advance(self, octets: Octets, scanner: Scanner) -> None:
        """Walk on by one piece, unless somebody else does, who is then waited for."""
        seen = self.walked
        with self._walk:
            if self.walked is seen and not seen.is_done:
                self.walked = self._on(seen, octets, scanner)

    def _on(self, seen: Walked, octets: Octets, scanner: Scanner) -> Walked:
        length = FIRST if seen.rows == 0 and seen.at < FIRST else LATER
        while True:
            data = octets.read(seen.at, seen.at + length)
            is_last = len(data) < length
            spans, got = scanner.spans(data, is_last=is_last)
            if got or is_last:
                break
            if length >= LONGEST:
                return replace(seen, is_done=True, trouble=say("rows.endless", n=seen.rows, megabytes=LONGEST // 2**20))
            length = min(LONGEST, length * 4)
        line, counted = seen.line, 0
        for number, (begin, _) in enumerate(spans, seen.rows):
            if seen.at + begin - self._places[-1] >= STEP:
                line += data.count(b"\n", counted, begin)
                counted = begin
                self._places.append(seen.at + begin)
                self._lines.append(line)
                self._rows.append(number)  # last: it is what `before` looks for
        line += data.count(b"\n", counted, got)
        return Walked(seen.at + got, seen.rows + len(spans), line, is_last)

    def save(self, path: Path) -> None:
        """Keep what a finished walk found."""
        walked = self.walked
        body = self._places.tobytes() + self._rows.tobytes() + self._lines.tobytes()
        head = {"v": _VERSION, "at": walked.at, "rows": walked.rows, "line": walked.line, "crc": zlib.crc32(body)}
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}-{get_ident()}")
        half.write_bytes(json.dumps(head).encode() + b"\n" + body)
        half.replace(path)
        self.is_saved = True

    def load(self, path: Path) -> bool:
        """Whether `path` holds what a walk found earlier, which is then known."""
        try:
            head, _, body = path.read_bytes().partition(b"\n")
            told = json.loads(head)
            if told["v"] != _VERSION or told["crc"] != zlib.crc32(body) or len(body) % 24:
                return False
            walked = Walked(int(told["at"]), int(told["rows"]), int(told["line"]), is_done=True)
        except (OSError, ValueError, KeyError, TypeError):
            return False
        columns = array("q", body)
        third = len(columns) // 3
        self._places, self._rows, self._lines = columns[:third], columns[third : 2 * third], columns[2 * third :]
        self.walked, self.is_saved = walked, True
        return True


@dataclass(frozen=True, slots=True)
class Text:
    """One row's text and on which line it begins; `data` is None for a row that is too long."""

    data: bytes | None
    line: int


def texts(marks: Marks, octets: Octets, scanner: Scanner, offset: int, limit: int, longest: int) -> list[Text]:
    """The known rows from `offset` on, as many as `MAX_PART` bytes hold."""
    stop = min(offset + limit, marks.walked.rows)
    if offset >= stop:
        return []
    spot, end = marks.before(offset), marks.after(stop)
    data = octets.read(spot.at, min(end, spot.at + MAX_PART))
    # Up to a place between two rows nothing is open, so that a row is read here as it was by the walk.
    spans, _ = scanner.spans(data, is_last=spot.at + len(data) >= end)
    found: list[Text] = []
    line, counted = spot.line, 0
    for begin, finish in spans[offset - spot.row : stop - spot.row]:
        line += data.count(b"\n", counted, begin)
        counted = begin
        found.append(Text(data[begin:finish] if finish - begin <= longest else None, line))
    return found
