"""The events of a rollout: a file that one process appends to and any number read while it grows.

A line is one event and `n` rises from line to line, so that the place of any `n` is found by halving the file: there is
no second file that could disagree with it. A line without its end is not read; what a power failure left unreadable is
left off and counted.
"""

import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import ValidationError

from rlx.rollout import Event, EventKind
from rlx.store.rollouts.bounds import Bounds, bounded, dumped
from rlx.store.rollouts.writing import replacing

_log = logging.getLogger(__name__)

SYNCED: Final[frozenset[EventKind]] = frozenset({"status", "stage", "checks", "error"})
"""Kinds that are on the disk before the next is written, or once their batch is; others within a second of work."""
ESSENTIAL: Final[frozenset[EventKind]] = SYNCED | {"files"}
"""Kinds that are kept past the bounds of a log, within its reserve."""
SYNC_EVERY: Final = 1.0
WINDOW: Final = 256 * 1024
"""Bytes that are read through rather than halved. More than a line has."""
PAGE_BYTES: Final = 2 * 1024 * 1024
_NUMBER: Final = re.compile(rb'\{"n":(\d{1,12}),')


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in a row."""

    events: tuple[Event, ...]
    dropped: int = 0
    """Lines among them that cannot be read."""
    torn: bool = False
    """The file ends in half a line: it is being written, or its writer was killed."""
    more: bool = False
    """There are later ones already."""


def read_events(path: Path, *, after: int = 0, limit: int = 500) -> EventPage:
    """Events whose `n` is above `after`, in order; none when there is no file. Reads little more than it returns."""
    try:
        with path.open("rb") as file:
            return _read(file, after, limit)
    except FileNotFoundError:
        return EventPage(())


def last_number(path: Path) -> int:
    """The `n` of the newest whole event; 0 when there is none. Reads the end of the file."""
    try:
        with path.open("rb") as file:
            return _last(file)
    except FileNotFoundError:
        return 0


def _last(file: BinaryIO) -> int:
    end = os.fstat(file.fileno()).st_size
    start = end
    while start > 0:
        start = max(0, start - WINDOW)
        file.seek(start)
        lines = file.read(end - start).split(b"\n")[:-1]
        numbers = [number for line in lines if (number := _number(line)) is not None]
        if numbers:
            return numbers[-1]
    return 0


def _read(file: BinaryIO, after: int, limit: int) -> EventPage:
    size = os.fstat(file.fileno()).st_size
    file.seek(_place(file, size, after))
    events: list[Event] = []
    dropped = taken = 0
    last = after
    for line in _lines(file):
        if not line.endswith(b"\n"):
            return EventPage(tuple(events), dropped, torn=True)
        number = _number(line)
        if number is not None and number <= last:
            continue
        if len(events) == limit or taken > PAGE_BYTES:
            return EventPage(tuple(events), dropped, more=True)
        try:
            event = Event.model_validate_json(line)
        except ValidationError:
            dropped += 1
            continue
        events.append(event)
        last, taken = event.n, taken + len(line)
    return EventPage(tuple(events), dropped)


def _place(file: BinaryIO, size: int, after: int) -> int:
    """Where a line begins before which no event is later than `after`: the place to read on from."""
    low, high = 0, size
    if after <= 0:
        return low
    while high - low > WINDOW:
        middle = (low + high) // 2
        start, number = _line_after(file, middle, high)
        if number is not None and number <= after:
            low = start
        else:
            high = middle
    return low


def _line_after(file: BinaryIO, at: int, end: int) -> tuple[int, int | None]:
    """The first readable line that begins after `at` and before `end`: where, and its number."""
    file.seek(at)
    start = at + len(file.readline(WINDOW))
    while start < end:
        line = file.readline(WINDOW)
        number = _number(line)
        if number is not None or not line:
            return start, number
        start += len(line)
    return end, None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines with their ends; in place of one that is longer than any of ours can be, one that cannot be read."""
    while line := file.readline(WINDOW):
        if len(line) == WINDOW and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(WINDOW)
            line = b"\n" if line else b"?"
        yield line


def _number(line: bytes) -> int | None:
    found = _NUMBER.match(line)
    return int(found[1]) if found else None


class EventLog:
    """The one writer of a file of events. May be used by several threads; never raises for a disk that is full.

    Taking the log makes the file anew: what an earlier writer that does not know it was replaced still appends goes to
    a file that has no name any more.
    """

    def __init__(self, path: Path, *, clock: Callable[[], datetime], bounds: Bounds | None = None) -> None:
        self._clock = clock
        self._bounds = bounds or Bounds()
        self._lock = threading.Lock()
        self._count, size = _taken(path)  # on the disk with what is appended first
        self._size = size
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._synced = clock()
        self._behind = size > 0
        self._told_full = self._is_full()
        self._lost = 0

    @property
    def last(self) -> int:
        """The `n` of the newest event; 0 when there is none."""
        return self._count

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size

    def append(
        self,
        kind: EventKind,
        data: Mapping[str, Any] | None = None,
        *,
        at: datetime | None = None,
        batched: bool = False,
    ) -> Event | None:
        """Write an event down, its data cut to the bounds. None when it is not kept: the log, or the disk, is full.

        `at` is when it happened, if that is not now; `batched`: whoever calls sees to it with `flush` that it is on the
        disk.
        """
        with self._lock:
            if self._lost and self._write("note", _note("events-lost", f"{self._lost} events could not be written.")):
                self._lost = 0
            if self._is_full() and (kind not in ESSENTIAL or self._is_full(self._bounds.reserve)):
                if not self._told_full:
                    text = "The record of events is full. What follows is left off, except states and results."
                    self._told_full = self._write("note", _note("events-cut", text)) is not None
                return None
            event = self._write(kind, data or {}, at)
            if event is None:
                self._lost += 1
            elif not batched and (kind in SYNCED or abs((event.at - self._synced).total_seconds()) >= SYNC_EVERY):
                self._sync()
            return event

    def flush(self) -> None:
        """See to it that what was appended is on the disk."""
        with self._lock:
            self._sync()

    def close(self) -> None:
        with self._lock:
            if self._file >= 0:
                self._sync()
                os.close(self._file)
                self._file = -1

    def _is_full(self, reserve: int = 0) -> bool:
        bounds = self._bounds
        # A reserve of events is one of as many kilobytes.
        return self._count >= bounds.events + reserve or self._size >= bounds.log_bytes + reserve * 1024

    def _write(self, kind: EventKind, data: Mapping[str, Any], at: datetime | None = None) -> Event | None:
        kept, cut = bounded(data, self._bounds.event_bytes)
        if cut:
            kept["cut"] = cut
        now = at or self._clock()
        event = Event(n=self._count + 1, at=now, kind=kind, data=kept)
        line = dumped({"n": event.n, "at": now.isoformat(), "kind": kind, "data": kept}) + b"\n"
        if not self._put(line):
            return None
        self._count, self._size = event.n, self._size + len(line)
        self._behind = True
        return event

    def _put(self, line: bytes) -> bool:
        """Append a line whole, or leave the file as it was."""
        try:
            if os.write(self._file, line) == len(line):
                return True
            reason = "no space left"
        except OSError as error:
            reason = error.strerror or type(error).__name__
        if not self._lost:
            _log.warning("an event cannot be written: %s", reason)
        try:
            os.ftruncate(self._file, self._size)
        except OSError as error:  # the next line would stand behind half of this one
            _log.warning("a file of events cannot be mended: %s", error.strerror)
        return False

    def _sync(self) -> None:
        self._synced = self._clock()
        if not self._behind:
            return
        self._behind = False
        try:
            os.fdatasync(self._file)
        except OSError as error:
            _log.warning("events cannot be brought to the disk: %s", error.strerror)


def _note(kind: str, text: str) -> dict[str, str]:
    return {"text": text, "kind": kind}


def _taken(path: Path) -> tuple[int, int]:
    """Put a copy of the whole lines of a file in its place. The number of its last event, and its size."""
    try:
        source = path.open("rb")
    except FileNotFoundError:
        return 0, 0
    last = size = 0
    with source, replacing(path, durable=False) as target:
        for line in _lines(source):
            if not line.endswith(b"\n"):
                break
            number = _number(line)
            if number is not None and number > last:
                last = number
            target.write(line)
            size += len(line)
    return last, size
