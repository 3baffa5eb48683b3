"""Writes down what a rollout says while it goes on: in its order, by a thread, as much at once as has come together."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from typing import Any, Final

from rlx.jobs.queue_held import Changed, Entry, Held, Said
from rlx.rollout import EventKind

LINGER: Final = 0.05
"""Seconds that what is said waits for what comes next, unless somebody waits for it."""
MOST: Final = 500
"""Entries that may wait. Whoever has more to say is as slow as the disk."""


class Pen:
    """Of one rollout. May be used by several threads.

    After an error nothing more is written: `failed` hears of it, and whoever waits gets it.
    """

    def __init__(self, held: Held, clock: Callable[[], datetime], failed: Callable[[Exception], None]) -> None:
        self._held = held
        self._clock = clock
        self._failed = failed
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="pen")
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._waiting: list[Entry] = []
        self._writing: Future[None] | None = None
        self._error: Exception | None = None
        self._is_closed = False

    def say(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        """Something happened, now."""
        self._add(Said(kind, data, self._clock()))

    def change(self, **fields: Any) -> None:
        """Fields of the record changed."""
        self._add(Changed(fields))

    async def settle(self) -> None:
        """Wait till all of it is on the disk and in the index. Raises what `Held.update` does."""
        with self._lock:
            self._hurry.set()
            writing = self._writing
        if writing is not None:
            await asyncio.shield(asyncio.wrap_future(writing))
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Like `settle`, for a thread. What is said afterwards is not written, and `failed` hears of nothing more."""
        with self._lock:
            self._is_closed = True
            self._hurry.set()
        self._pool.shutdown(wait=True)
        if self._error is not None:
            raise self._error

    def _add(self, entry: Entry) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._waiting.append(entry)
            is_many = len(self._waiting) > MOST
            if self._writing is None or self._writing.done():
                self._writing = self._pool.submit(self._write)
            writing = self._writing
        if is_many:
            self._hurry.set()
            writing.result()

    def _write(self) -> None:
        while True:
            self._hurry.wait(LINGER)
            with self._lock:
                if not self._is_closed:
                    self._hurry.clear()
                entries, self._waiting = self._waiting, []
                if not entries or self._error is not None:
                    self._writing = None
                    return
            try:
                self._held.write(entries)
            except Exception as error:  # told to whoever waits, and to whoever ends the rollout
                self._error = error
                if not self._is_closed:
                    self._failed(error)
