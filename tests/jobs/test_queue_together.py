"""The queue of rollouts while many use it, and while disks and databases fail."""

import resource
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from rlx.errors import TooMany, Upstream
from rlx.jobs.queue_held import Held
from tests.store.rollouts.scene import ANYTHING, LEASE, Scene


@pytest.fixture
def scene(memory_path: Path, database_url: str) -> Iterator[Scene]:
    scene = Scene(memory_path / "store", memory_path / "local", database_url)
    yield scene
    scene.close()


def test_eight_workers_at_once_take_each_rollout_once(scene: Scene) -> None:
    scene.set(max_active=200)
    ids = [scene.enqueue(owner=owner).id for owner in ("ann", "bob", "eve", None) * 4]
    ids += [scene.enqueue().id for _ in range(24)]
    got: list[str] = []
    attempts = Counter[str]()
    together = threading.Barrier(8)

    def work(name: str) -> None:
        together.wait()
        while (held := scene.lease(name)) is not None:
            got.append(held.rollout.id)
            attempts[held.rollout.id] = held.rollout.attempt
            held.update(status="done", reward=1.0, graded=True)

    workers = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(got) == sorted(ids)
    assert set(attempts.values()) == {1}
    assert {scene.files.read(id).status for id in ids} == {"done"}
    assert scene.queue.active() == {}


def test_limits_hold_when_many_start_at_once(scene: Scene) -> None:
    scene.set(max_per_visitor=3)
    together = threading.Barrier(8)
    refused: list[TooMany] = []

    def start() -> None:
        together.wait()
        try:
            scene.enqueue(owner="ann")
        except TooMany as error:
            refused.append(error)

    starters = [threading.Thread(target=start) for _ in range(8)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert (len(scene.index.ids()), len(refused)) == (3, 5)


def test_one_recovers_what_many_want_to_recover(scene: Scene) -> None:
    for _ in range(4):
        scene.held("w1").update(status="running", stage="agent")
    scene.clock.turn(LEASE + 1)
    together = threading.Barrier(4)
    settled: list[str] = []

    def recover() -> None:
        together.wait()
        settled.extend(rollout.id for rollout in scene.recover().settled)

    threads = [threading.Thread(target=recover) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(settled) == scene.index.ids()


def test_a_full_disk_under_a_start_leaves_no_rollout(scene: Scene, memory_path: Path) -> None:
    (memory_path / "local").mkdir(exist_ok=True)
    (memory_path / "local" / "live").write_text("no folder")
    with pytest.raises(OSError, match="live"):
        scene.enqueue()
    assert scene.index.ids() == []
    (memory_path / "local" / "live").unlink()
    assert scene.lease() is None
    held: Held = scene.held()
    assert held.rollout.status == "starting"


@pytest.mark.parametrize("status", ["running", "done"])
def test_a_change_that_the_database_did_not_take_is_tried_again(scene: Scene, status: str) -> None:
    held = scene.held()
    before = scene.find(held.rollout.id)

    def fail(_: object) -> None:
        raise OperationalError("COMMIT", None, Exception("server closed the connection"))

    sa.event.listen(scene.engine, "commit", fail)
    with pytest.raises(Upstream):
        held.update(status=status)
    sa.event.remove(scene.engine, "commit", fail)
    assert scene.find(before.id) == before
    after = held.update(status=status)
    assert after == scene.find(before.id) == scene.files.read(before.id)
    assert after.status == status


def test_a_full_disk_while_it_runs_leaves_the_last_true_record_and_it_goes_on(scene: Scene) -> None:
    held = scene.held()
    before = held.update(status="running", stage="agent")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        for change in (lambda: held.update(status="verifying"), lambda: held.keep("artifacts/a", b"x" * 200)):
            with pytest.raises((OSError, Upstream)):
                change()
        held.emit("message", {"text": "lost"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert scene.files.read(before.id) == scene.find(before.id) == before
    held.beat()
    held.emit("message", {"text": "kept"})
    held.update(status="verifying")
    done = held.update(status="done", reward=1.0, graded=True)
    assert scene.find(done.id) == scene.files.stored(done.id) == done
    notes = [event.data["kind"] for event in scene.files.events(done.id).events if event.kind == "note"]
    assert notes == ["events-lost"]
    assert scene.recover().settled == ()


def test_a_worker_that_offers_everything_gets_nothing_when_nothing_waits(scene: Scene) -> None:
    assert scene.lease("w", ANYTHING) is None
