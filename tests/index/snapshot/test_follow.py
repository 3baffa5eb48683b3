"""Following a store: good snapshots are swapped in while queries run, bad ones change nothing."""

import gc
import json
import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import anyio
import anyio.lowlevel
import pytest

from rlx.index.snapshot.follow import KEPT, REJECTED_FOR, Follower
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.pointer import POINTER, digest
from rlx.model import EnvQuery
from rlx.store.instance import Instance
from rlx.store.storage import DirectoryStorage
from tests.index.snapshot.stores import NOW, published

pytestmark = pytest.mark.anyio


class Counting(DirectoryStorage):
    """A directory that counts what is fetched, and fails on demand."""

    fetched = 0
    broken = False

    def read(self, name: str, *, limit: int) -> bytes:
        if self.broken:
            raise OSError(5, "Input/output error")
        return super().read(name, limit=limit)

    def fetch(self, name: str, target: Path, *, size: int) -> None:
        self.fetched += 1
        super().fetch(name, target, size=size)


class Site:
    """A store, a follower of it, and a clock."""

    def __init__(self, root: Path) -> None:
        self.root = root / "store" / "snapshots"
        self.cache = root / "cache"
        self.storage = Counting(root / "store")
        self.work = root / "work"
        self.seconds = 0.0
        self.follower = self.another()

    def another(self, every: float = 60.0) -> Follower:
        return Follower(
            self.storage,
            self.cache,
            every=every,
            clock=lambda: self.seconds,
            now=lambda: NOW + timedelta(seconds=self.seconds),
        )

    def publish(self, *names: str, hours: int = 0) -> Path:
        pointer = published(self.storage, self.work, *names, at=NOW + timedelta(hours=hours))
        return self.root / pointer.db

    def point(self, **changes: object) -> None:
        path = self.root / POINTER
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    def point_at(self, db: Path) -> None:
        """Make the pointer agree with whatever the file holds."""
        size, sha256 = digest(db)
        self.point(db=db.name, size=size, sha256=sha256)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def names(snapshot: Snapshot | None) -> list[str]:
    assert snapshot is not None
    return [item.key.name for item in snapshot.environments(EnvQuery(sort="name"), Instance()).items]


async def test_without_a_pointer_nothing_is_in_use_and_nothing_is_wrong(site: Site) -> None:
    assert not await site.follower.check()
    assert site.follower.current is None
    status = site.follower.status
    assert (status.db, status.error, status.checked, status.age(NOW)) == (None, None, NOW, None)


async def test_what_the_pointer_names_is_copied_once_and_told(site: Site) -> None:
    db = site.publish("one", "two")
    assert await site.follower.check()
    site.seconds = 90
    assert not await site.follower.check()
    assert site.storage.fetched == 2  # once to publish, once to follow
    assert names(site.follower.current) == ["one", "two"]
    status = site.follower.status
    assert (status.db, status.error, status.since) == (db.name, None, NOW)
    assert status.counts is not None
    assert status.counts.environments == 2
    assert status.checked == NOW + timedelta(seconds=90)
    assert status.age(NOW + timedelta(hours=1)) == 3600


async def test_a_second_process_uses_the_copy_that_is_there_unless_it_is_damaged(site: Site) -> None:
    site.publish("one")
    await site.follower.check()
    fetched = site.storage.fetched
    assert await site.another().check()
    assert site.storage.fetched == fetched
    (copy,) = site.cache.glob("*.db")
    copy.write_bytes(b"damaged")
    other = site.another()
    assert await other.check()
    assert names(other.current) == ["one"]
    assert site.storage.fetched == fetched + 1


async def test_whoever_holds_the_old_one_reads_on_and_it_closes_after_the_last(site: Site) -> None:
    site.publish("one")
    await site.follower.check()
    held = site.follower.current
    for hours in range(1, KEPT + 3):
        site.publish("one", f"more-{hours}", hours=hours)
        assert await site.follower.check()
    assert names(held) == ["one"]
    assert len(names(site.follower.current)) == 2
    gone = weakref.ref(held) if held is not None else None
    del held
    gc.collect()
    assert gone is not None
    assert gone() is None


async def test_queries_run_through_every_swap(site: Site) -> None:
    site.publish("one")
    await site.follower.check()
    failures: list[BaseException] = []
    asked = 0
    stop = threading.Event()

    def ask() -> None:
        nonlocal asked
        while not stop.is_set():
            try:
                assert "one" in names(site.follower.current)
                asked += 1
            except BaseException as error:  # told to the test, which fails
                failures.append(error)
                return

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for hours in range(1, 9):
        site.publish("one", f"more-{hours}", hours=hours)
        assert await site.follower.check()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert asked > 0


async def test_local_copies_are_pruned_and_leftovers_swept(site: Site) -> None:
    half = site.cache / ".catalog-20261130T120000Z.0123456789ab.db.abcd"
    half.parent.mkdir()
    half.write_bytes(b"half")
    others = site.cache / "others.db"
    others.write_bytes(b"not ours")
    for old in (half, others):
        os.utime(old, (0, 0))
    for hours in range(KEPT + 3):
        site.publish("one", hours=hours)
        await site.follower.check()
    assert len(list(site.cache.glob("catalog-*"))) == len(list(site.cache.iterdir())) - 1 == KEPT
    assert others.exists()
    assert site.follower.status.db is not None
    assert any(path.name.startswith(site.follower.status.db.removesuffix(".db")) for path in site.cache.iterdir())


def truncate(site: Site, db: Path) -> None:
    db.write_bytes(db.read_bytes()[: db.stat().st_size // 2])


def flip(site: Site, db: Path) -> None:
    data = bytearray(db.read_bytes())
    data[len(data) // 2] ^= 1
    db.write_bytes(data)


def swap(site: Site, db: Path) -> None:
    """The bytes of another snapshot under this name."""
    other = next(path for path in site.root.glob("*.db") if path != db)
    db.write_bytes(other.read_bytes())


def empty(site: Site, db: Path) -> None:
    db.write_bytes(b"")


def half_but_pointed_at(site: Site, db: Path) -> None:
    truncate(site, db)
    site.point_at(db)


def text_but_pointed_at(site: Site, db: Path) -> None:
    db.write_text("not a database at all" * 100)
    site.point_at(db)


def other_database_but_pointed_at(site: Site, db: Path) -> None:
    db.unlink()
    made = sqlite3.connect(db)
    made.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    made.execute("INSERT INTO meta VALUES ('schema', '1')")
    made.commit()
    made.close()
    site.point_at(db)


def edited_but_pointed_at(sql: str) -> Callable[[Site, Path], None]:
    def edit(site: Site, db: Path) -> None:
        made = sqlite3.connect(db)
        made.execute(sql)
        made.commit()
        made.close()
        site.point_at(db)

    return edit


def pointed(**changes: object) -> Callable[[Site, Path], None]:
    return lambda site, db: site.point(**changes)


def garbage(site: Site, db: Path) -> None:
    (site.root / POINTER).write_bytes(b'{"db": "catalog')


def endless(site: Site, db: Path) -> None:
    (site.root / POINTER).write_bytes(b" " * 1_000_000)


COUNTS = {"environments": 2, "datasets": 2, "spaces": 0, "tasks": 4}
DAMAGES = {
    "truncated": truncate,
    "a bit flipped": flip,
    "bytes of another": swap,
    "empty": empty,
    "truncated, sha agrees": half_but_pointed_at,
    "no database, sha agrees": text_but_pointed_at,
    "another database, sha agrees": other_database_but_pointed_at,
    "another schema, sha agrees": edited_but_pointed_at("UPDATE meta SET value = '2' WHERE key = 'schema'"),
    "fewer rows than it says, sha agrees": edited_but_pointed_at("DELETE FROM envs WHERE ord = 1"),
    "no date, sha agrees": edited_but_pointed_at("DELETE FROM meta WHERE key = 'built_at'"),
    "other counts": pointed(counts=COUNTS),
    "another date": pointed(built_at="2026-01-01T00:00:00+00:00"),
    "another sha": pointed(sha256="0" * 64),
    "another size": pointed(size=4096),
    "a huge size": pointed(size=10**18),
    "a size of another type": pointed(size="big"),
    "a name elsewhere": pointed(db="../../elsewhere.db"),
    "an absolute name": pointed(db="/etc/passwd"),
    "another schema": pointed(schema=2),
    "half a pointer": garbage,
    "an endless pointer": endless,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
async def test_what_is_damaged_is_refused_and_the_old_one_stays(
    site: Site, damage: Callable[[Site, Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    site.publish("one")
    await site.follower.check()
    before = site.follower.current
    damage(site, site.publish("one", "two", hours=1))
    with caplog.at_level(logging.WARNING):
        assert not await site.follower.check()
        told = len(caplog.records)
        assert not await site.follower.check()
    assert site.follower.current is before
    assert names(before) == ["one"]
    assert site.follower.status.error is not None
    assert (told, len(caplog.records)) == (1, 1)
    site.publish("one", "three", hours=2)
    assert await site.follower.check()
    assert site.follower.status.error is None
    assert names(site.follower.current) == ["one", "three"]


async def test_a_bad_snapshot_is_left_alone_for_ten_minutes(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    db = site.publish("one")
    data = db.read_bytes()
    flip(site, db)
    assert not await site.follower.check()
    fetched = site.storage.fetched
    db.write_bytes(data)
    site.seconds = REJECTED_FOR - 1
    assert not await site.follower.check()
    assert site.storage.fetched == fetched
    site.seconds = REJECTED_FOR
    assert await site.follower.check()
    assert names(site.follower.current) == ["one"]


async def test_a_snapshot_that_is_not_there_yet_is_taken_when_it_comes(site: Site) -> None:
    db = site.publish("one")
    late = db.rename(db.with_name("late"))
    assert not await site.follower.check()
    assert "cannot be copied" in str(site.follower.status.error)
    late.rename(db)
    assert await site.follower.check()
    assert site.follower.status.error is None


async def test_a_store_that_is_away_changes_nothing(site: Site) -> None:
    site.publish("one")
    await site.follower.check()
    site.storage.broken = True
    assert not await site.follower.check()
    assert "Input/output error" in str(site.follower.status.error)
    assert names(site.follower.current) == ["one"]
    site.storage.broken = False
    await site.follower.check()
    assert site.follower.status.error is None
    (site.root / POINTER).unlink()
    await site.follower.check()
    assert "gone" in str(site.follower.status.error)
    assert names(site.follower.current) == ["one"]


async def test_no_damage_that_the_sha_agrees_with_raises(site: Site) -> None:
    random = Random(7)  # noqa: S311
    good = site.publish("one", "two").read_bytes()
    for place in sorted(random.sample(range(len(good)), 40)):
        db = site.publish("one", "two")
        data = bytearray(good)
        data[place : place + 8] = random.randbytes(8)
        db.write_bytes(data)
        site.point_at(db)
        await site.follower.check()
        current = site.follower.current
        assert current is None or current.counts.environments == 2


async def test_it_looks_again_by_itself(site: Site) -> None:
    follower = site.another(every=0.0)
    async with anyio.create_task_group() as group:
        group.start_soon(follower.run)
        site.publish("one")
        with anyio.fail_after(60):
            while follower.current is None:
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
