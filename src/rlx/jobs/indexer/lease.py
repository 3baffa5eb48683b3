"""One indexer at a time: a lease in the store, kept alive while its holder works.

A store may be a mount that locks nothing and shows a change late. So whoever wants the lease writes its name, waits,
and reads back whose name is there; and a holder that finds another's name stops before it publishes.
"""

import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import anyio.to_thread
from pydantic import AwareDatetime, BaseModel, ConfigDict

from rlx.errors import RlxError
from rlx.store.storage import Storage

FILE = "indexer-lease.json"
LASTS = timedelta(minutes=5)
"""How long a lease outlives the last sign of its holder."""
SKEW = timedelta(hours=1)
"""How far clocks may differ: a lease that ends later than one can was signed by a clock that is wrong."""
SIGN = 30.0
"""Seconds between two signs of life."""
SETTLE = 0.5
"""Seconds until a name that was written is read back."""
_MAX = 16 * 1024
_DEAD = frozenset("ZX")

_log = logging.getLogger(__name__)


class Busy(RlxError):
    """Another indexer works on this store, or took it over."""


class Holder(BaseModel):
    """Who holds the lease."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    host: str
    pid: int
    born: str = ""
    """When the process started, as its system counts; a later process of the same number has another."""
    since: AwareDatetime
    until: AwareDatetime

    def holds(self, now: datetime) -> bool:
        """False when it expired, was signed far in the future, or its process on this machine is dead."""
        if not now < self.until <= now + LASTS + SKEW:
            return False
        return self.host != socket.gethostname() or _lives(self.pid, self.born)


def holder_of(storage: Storage) -> Holder | None:
    """Whoever is written down, dead or alive. A damaged lease is nobody's. Raises `OSError`."""
    try:
        return Holder.model_validate_json(storage.read(FILE, limit=_MAX))
    except FileNotFoundError:
        return None
    except ValueError:
        _log.warning("%s is damaged; it is taken for nobody's", FILE)
        return None


class Lease:
    """The lease of one store."""

    def __init__(self, storage: Storage, *, now: Callable[[], datetime], settle: float = SETTLE) -> None:
        self._storage = storage
        self._now = now
        self._settle = settle
        pid = os.getpid()
        self._mine = Holder(
            id=secrets.token_hex(8),
            host=socket.gethostname(),
            pid=pid,
            born=_born(pid),
            since=now(),
            until=now() + LASTS,
        )

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold the lease for the block; signs of life are given meanwhile. Raises `Busy` while another holds it."""
        other = await anyio.to_thread.run_sync(holder_of, self._storage)
        if other is not None and other.holds(self._now()):
            raise _busy(other)
        await anyio.to_thread.run_sync(self._sign)
        await anyio.sleep(self._settle)
        await self.check()
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._live)
                try:
                    yield
                except Exception as error:  # carried out by hand: the task group would wrap it
                    failure = error
                group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._release)
        if failure is not None:
            raise failure

    async def check(self) -> None:
        """Raises `Busy` when the lease is another's by now."""
        other = await anyio.to_thread.run_sync(holder_of, self._storage)
        if other is not None and other.id != self._mine.id:
            raise _busy(other)

    async def _live(self) -> None:
        while True:
            await anyio.sleep(SIGN)
            try:
                await self.check()
                await anyio.to_thread.run_sync(self._sign)
            except Busy:
                return  # found again, and told, before anything is published
            except OSError as error:
                _log.warning("the lease cannot be renewed: %s", error)

    def _sign(self) -> None:
        signed = self._mine.model_copy(update={"until": self._now() + LASTS})
        self._storage.write(FILE, signed.model_dump_json(indent=1).encode())

    def _release(self) -> None:
        try:
            other = holder_of(self._storage)
            if other is not None and other.id == self._mine.id:
                self._storage.delete(FILE)
        except OSError as error:
            _log.warning("the lease stays until it expires: %s", error)


def _busy(other: Holder) -> Busy:
    since = f"{other.since:%Y-%m-%d %H:%M} UTC"
    return Busy(
        f"Another indexer works on this store: process {other.pid} on {other.host}, since {since}.",
        hint=f"Wait for it. If it died, its lease ends by itself at {other.until:%H:%M:%S} UTC.",
    )


def _lives(pid: int, born: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's, so it is there
    now = _born(pid)
    return now not in _DEAD and (not born or not now or now == born)


def _born(pid: int) -> str:
    """When a process started; its state when it is dead and only waits to be collected; empty where nobody tells."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[0] if fields[0] in _DEAD else fields[19]
    except (OSError, IndexError):
        return ""
