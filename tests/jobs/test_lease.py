"""One indexer at a time."""

import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from rlx.errors import outcome
from rlx.jobs.indexer.lease import FILE, LASTS, Busy, Lease, holder_of
from rlx.store.storage import DirectoryStorage
from tests.jobs.sites import Site, files

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def storage(tmp_path: Path) -> DirectoryStorage:
    return DirectoryStorage(tmp_path / "store")


def lease(storage: DirectoryStorage, clock: Clock | None = None) -> Lease:
    return Lease(storage, now=clock or Clock(), settle=0.0)


def held_by(storage: DirectoryStorage, *, host: str | None = None, pid: int | None = None, **more: object) -> None:
    told = {
        "id": "another",
        "host": host or socket.gethostname(),
        "pid": os.getppid() if pid is None else pid,
        "since": NOW.isoformat(),
        "until": (NOW + LASTS).isoformat(),
    }
    storage.write(FILE, json.dumps({**told, **more}).encode())


def dead_pid() -> int:
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return int(done.stdout)


async def test_it_is_held_for_the_block_and_given_back(storage: DirectoryStorage) -> None:
    async with lease(storage).held():
        holder = holder_of(storage)
        assert holder is not None
        assert (holder.pid, holder.host, holder.holds(NOW)) == (os.getpid(), socket.gethostname(), True)
    assert holder_of(storage) is None


async def test_it_is_given_back_when_the_block_fails(storage: DirectoryStorage) -> None:
    with pytest.raises(ZeroDivisionError):
        async with lease(storage).held():
            raise ZeroDivisionError
    assert holder_of(storage) is None


@pytest.mark.parametrize("host", [None, "elsewhere"])
async def test_a_live_holder_is_left_alone_and_named(storage: DirectoryStorage, host: str | None) -> None:
    held_by(storage, host=host)
    with pytest.raises(Busy, match="Another indexer works on this store: process") as caught:
        async with lease(storage).held():
            pytest.fail("it was held twice")
    assert outcome(caught.value).exit_code == 1
    holder = holder_of(storage)
    assert holder is not None
    assert holder.id == "another"


async def test_a_dead_holder_on_this_machine_is_taken_over(storage: DirectoryStorage) -> None:
    held_by(storage, pid=dead_pid())
    async with lease(storage).held():
        holder = holder_of(storage)
        assert holder is not None
        assert holder.pid == os.getpid()


async def test_a_later_process_of_the_same_number_is_not_the_holder(storage: DirectoryStorage) -> None:
    held_by(storage, born="1")
    async with lease(storage).held():
        pass


async def test_a_dead_process_elsewhere_holds_until_its_lease_ends(storage: DirectoryStorage) -> None:
    held_by(storage, host="elsewhere", pid=dead_pid())
    clock = Clock()
    with pytest.raises(Busy):
        async with lease(storage, clock).held():
            pass
    clock.at += LASTS + timedelta(seconds=1)
    async with lease(storage, clock).held():
        pass


@pytest.mark.parametrize("text", ["", "[]", '{"id": 3}', '{"id": "x", "host": "y", "pid": 1, "since": 1}', "\0" * 9])
async def test_a_damaged_lease_is_nobodys(storage: DirectoryStorage, text: str) -> None:
    storage.write(FILE, text.encode())
    async with lease(storage).held():
        pass


async def test_of_two_who_want_it_at_once_one_gets_it(storage: DirectoryStorage) -> None:
    entered: list[int] = []
    busy = 0

    async def want(number: int) -> None:
        nonlocal busy
        try:
            async with Lease(storage, now=Clock(), settle=0.05).held():
                entered.append(number)
                await both.wait()
        except Busy:
            busy += 1
            both.set()

    both = anyio.Event()
    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(want, number)
    assert (len(entered), busy) == (1, 1)


async def test_a_holder_finds_that_it_was_taken_over(storage: DirectoryStorage) -> None:
    mine = lease(storage)
    async with mine.held():
        held_by(storage)
        with pytest.raises(Busy):
            await mine.check()
    holder = holder_of(storage)
    assert holder is not None
    assert holder.id == "another"


async def test_a_run_beside_a_live_one_changes_nothing(tmp_path: Path) -> None:
    site = Site(tmp_path)
    await site.run()
    held_by(DirectoryStorage(site.store), until=(site.at + LASTS).isoformat())
    before = files(site.store)
    with pytest.raises(Busy):
        await site.run()
    assert files(site.store) == before


async def test_a_run_that_was_taken_over_publishes_nothing(tmp_path: Path) -> None:
    class Stolen(DirectoryStorage):
        """Somebody takes the lease when the first entry is kept."""

        def write(self, name: str, data: bytes) -> None:
            super().write(name, data)
            if name.startswith("catalog/"):
                held_by(DirectoryStorage(site.store), until=(site.at + LASTS).isoformat())

    site = Site(tmp_path)
    site.storage = Stolen(site.store)
    with pytest.raises(Busy):
        await site.run()
    assert not (site.store / "snapshots").exists()


async def test_a_lease_that_a_wrong_clock_signed_far_in_the_future_holds_nobody_up(storage: DirectoryStorage) -> None:
    clock = Clock()
    clock.at = NOW + timedelta(days=400)
    async with lease(storage, clock).held():
        late = holder_of(storage)
    assert late is not None
    storage.write(FILE, late.model_copy(update={"id": "another", "host": "elsewhere"}).model_dump_json().encode())
    async with lease(storage).held():
        pass
    near = late.model_copy(update={"id": "another", "host": "elsewhere", "until": NOW + LASTS + timedelta(minutes=50)})
    storage.write(FILE, near.model_dump_json().encode())
    with pytest.raises(Busy):
        async with lease(storage).held():
            pass
