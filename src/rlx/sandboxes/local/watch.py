"""Limits that no control group keeps: memory, processes and disk of a sandbox, looked at several times a second."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rlx.sandboxes.local.layers import measure

PERIOD = 0.1
DISK_PERIOD = 0.5
PATIENCE = 8
"""Measuring a disk takes at most one part in so many of the time."""
SPARE = 512 * 1024 * 1024
"""Bytes of the host's disk that no sandbox may take."""
FEW = 50
"""Nor may one take the last part in so many of the files that the disk can hold."""
_PAGE = os.sysconf("SC_PAGESIZE")


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    resident: int
    """Bytes, shared ones included."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What is kept for one sandbox. None: something else keeps it."""

    process: int
    """Its outermost process."""
    spared: int
    """How many of the processes below are the sandbox's own: they are neither counted nor killed."""
    memory: int | None
    pids: int | None
    disk: int
    folders: Sequence[Path]
    """Where it writes."""


class Watch:
    """Watches one sandbox until it is cancelled. What is over a limit is killed, and `over` told which it was."""

    def __init__(self, watched: Watched, sweep: Callable[[], None], over: Callable[[str], None]) -> None:
        self._watched = watched
        self._sweep = sweep
        self._over = over
        self._measured = 0.0

    async def run(self) -> None:
        while True:
            if self._watched.memory is not None or self._watched.pids is not None:
                self._look_at_processes()
            if time.monotonic() >= self._measured:
                await self._look_at_disk()
            await asyncio.sleep(PERIOD)

    def _look_at_processes(self) -> None:
        own = below(self._watched.process, processes())[self._watched.spared :]
        if self._watched.pids is not None and len(own) > self._watched.pids:
            self._over("pids")
            self._sweep()
        elif self._watched.memory is not None and sum(each.resident for each in own) > self._watched.memory:
            shares = {each.pid: proportional(each) for each in own}
            if sum(shares.values()) > self._watched.memory:
                self._over("memory")
                with suppress(ProcessLookupError):
                    os.kill(max(shares, key=lambda pid: shares[pid]), signal.SIGKILL)

    async def _look_at_disk(self) -> None:
        begun = time.monotonic()
        used = sum([await asyncio.to_thread(measure, folder) for folder in self._watched.folders])
        free = os.statvfs(self._watched.folders[0])
        if used > self._watched.disk or free.f_bavail * free.f_frsize < SPARE or free.f_favail * FEW < free.f_files:
            self._over("disk")
            self._sweep()
        now = time.monotonic()
        self._measured = now + max(DISK_PERIOD, (now - begun) * PATIENCE)


def processes() -> list[Process]:
    """Every process that this one sees."""
    found = []
    with os.scandir("/proc") as entries:
        names = [entry.name for entry in entries if entry.name.isdigit()]
    for name in names:
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{name}/stat", "rb") as file:
            fields = file.read(2048).rpartition(b")")[2].split()
            found.append(Process(int(name), int(fields[1]), int(fields[21]) * _PAGE))
    return found


def below(process: int, known: Sequence[Process]) -> list[Process]:
    """It and its descendants, parents before children."""
    children: dict[int, list[Process]] = {}
    for each in known:
        children.setdefault(each.parent, []).append(each)
    found = [each for each in known if each.pid == process]
    for each in found:
        found += children.get(each.pid, ())
    return found


def proportional(process: Process) -> int:
    """Bytes it has in memory, what it shares counted in parts; all of it where that is not told."""
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:
        return int(file.read().partition(b"\nPss:")[2].split()[0]) * 1024
    return process.resident


def is_alive(pid: int) -> bool:
    """Whether it runs; one that is dead may wait for its parent to notice."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read(2048).rpartition(b")")[2].split()[:1] != [b"Z"]
    except OSError:
        return False
