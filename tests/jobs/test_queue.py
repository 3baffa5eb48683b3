"""The queue of rollouts: who may start one, who gets which, and what becomes of it, in both databases alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.errors import BadInput, Forbidden, NotFound, TooMany
from rlx.jobs.queue import Offer
from rlx.rollout import Failure, Phase, new_id
from rlx.store.rollouts.states import LeaseLost, WrongState
from tests.store.rollouts.scene import LEASE, Scene


@pytest.fixture
def scene(memory_path: Path, database_url: str) -> Iterator[Scene]:
    scene = Scene(memory_path / "store", memory_path / "local", database_url)
    yield scene
    scene.close()


def test_a_rollout_goes_from_waiting_to_its_end_in_files_events_and_index_alike(scene: Scene) -> None:
    rollout = scene.enqueue()
    assert scene.find(rollout.id) == scene.files.read(rollout.id) == rollout
    held = scene.lease()
    assert held is not None
    for status in ("starting", "running", "verifying", "done"):
        if status != "starting":
            held.update(status=status)
        assert scene.find(rollout.id) == scene.files.read(rollout.id) == held.rollout
        assert held.rollout.status == status
    assert scene.statuses(rollout.id) == ["queued", "starting", "running", "verifying", "done"]
    assert held.rollout.started_at is not None
    assert held.rollout.finished_at is not None
    assert scene.files.stored(rollout.id) == held.rollout
    assert scene.queue.active() == {}
    assert scene.lease() is None


def test_a_new_rollout_is_in_the_store_at_once(scene: Scene, memory_path: Path) -> None:
    rollout = scene.enqueue()
    assert scene.files.stored(rollout.id) == rollout
    assert scene.beside(memory_path / "two").files.read(rollout.id) == rollout


def test_what_is_no_new_rollout_is_refused_and_leaves_nothing(scene: Scene) -> None:
    rollout = scene.enqueue()
    for wrong in (rollout, scene.record(status="done"), scene.record(attempt=2)):
        with pytest.raises(BadInput):
            scene.queue.enqueue(wrong)
    assert scene.index.ids() == scene.files.ids() == [rollout.id]


def test_operators_switch_rollouts_off_and_on_while_they_wait(scene: Scene) -> None:
    scene.enqueue()
    scene.set(rollouts_enabled=False)
    with pytest.raises(Forbidden):
        scene.enqueue()
    assert scene.lease() is None
    scene.set(rollouts_enabled=True)
    assert scene.lease() is not None


def test_operators_say_which_agents_may_be_run(scene: Scene) -> None:
    scene.enqueue(agent="simple")
    scene.set(agents=("oracle",))
    with pytest.raises(Forbidden, match="simple"):
        scene.enqueue(agent="simple")
    oracle = scene.enqueue(agent="oracle")
    held = scene.lease()
    assert held is not None
    assert held.rollout.id == oracle.id
    assert scene.lease() is None


def test_a_visitor_has_a_limit_and_so_have_all_visitors_together(scene: Scene) -> None:
    scene.set(max_per_visitor=2, max_active=3)
    scene.enqueue(owner="ann")
    scene.enqueue(owner="ann")
    with pytest.raises(TooMany, match="You have 2"):
        scene.enqueue(owner="ann")
    scene.enqueue(owner="bob")
    with pytest.raises(TooMany, match="no more than 3"):
        scene.enqueue(owner="eve")
    assert len(scene.index.ids()) == len(scene.files.ids()) == 3
    held = scene.lease()
    assert held is not None
    held.update(status="failed")
    scene.enqueue(owner=held.rollout.owner)


def test_whoever_runs_the_machine_may_queue_many_and_runs_as_many_as_is_set(scene: Scene) -> None:
    scene.set(max_per_visitor=1, max_active=3)
    for _ in range(6):
        scene.enqueue()
    assert [scene.lease() is not None for _ in range(5)] == [True, True, True, False, False]


def test_a_visitor_runs_no_more_at_once_than_is_set(scene: Scene) -> None:
    for _ in range(3):
        scene.enqueue(owner="ann")
    scene.set(max_per_visitor=2)
    assert [scene.lease() is not None for _ in range(3)] == [True, True, False]
    bob = scene.enqueue(owner="bob")
    held = scene.lease()
    assert held is not None
    assert held.rollout.id == bob.id


def test_whoever_runs_the_fewest_comes_first_then_whoever_waits_longest(scene: Scene) -> None:
    for owner in ("ann", "ann", "ann", "bob", "bob", None, None):
        scene.enqueue(owner=owner)
    order = [held.rollout.owner for _ in range(7) if (held := scene.lease()) is not None]
    assert order == ["ann", "bob", None, "ann", "bob", None, "ann"]


def test_a_worker_gets_only_what_it_can_run(scene: Scene) -> None:
    waiting = [
        scene.enqueue(runner="server", sandbox=None),
        scene.enqueue(sandbox="hf"),
        scene.enqueue(agent="terminus-2"),
    ]
    assert scene.lease() is None
    assert scene.lease("w", Offer(("server",), ("simple",), {"local": 1})) is None
    assert scene.lease("w", Offer(("harbor",), ("simple",), {"hf": 0, None: 1})) is None
    assert scene.lease("w", Offer((), (), {})) is None
    offers = [
        Offer(("server",), ("simple",), {None: 1}),
        Offer(("harbor",), ("simple",), {"hf": 1}),
        Offer(("harbor",), ("terminus-2",), {"local": 1}),
    ]
    got = [scene.lease("w", offer) for offer in offers]
    assert [held.rollout.id if held else None for held in got] == [rollout.id for rollout in waiting]


def test_a_worker_runs_no_more_in_a_kind_of_sandbox_than_it_offers(scene: Scene) -> None:
    for sandbox in ("local", "local", "local", "hf"):
        scene.enqueue(sandbox=sandbox)
    offer = Offer(("harbor",), ("simple",), {"local": 2, "hf": 1})
    got = [held.rollout.sandbox for _ in range(4) if (held := scene.lease("w1", offer)) is not None]
    assert got == ["local", "local", "hf"]
    other = scene.lease("w2", offer)
    assert other is not None
    assert scene.lease("w2", offer) is None


def test_what_waits_is_stopped_at_once_and_never_runs(scene: Scene) -> None:
    rollout = scene.enqueue()
    stopped = scene.queue.stop(rollout.id)
    assert (stopped.status, stopped.failure and stopped.failure.kind) == ("cancelled", "cancelled")
    assert scene.queue.stop(rollout.id) == stopped == scene.files.read(rollout.id) == scene.files.stored(rollout.id)
    assert scene.lease() is None
    assert scene.statuses(rollout.id) == ["queued", "cancelled"]
    with pytest.raises(NotFound):
        scene.queue.stop(new_id())


def test_the_worker_of_what_runs_is_told_to_stop(scene: Scene) -> None:
    held = scene.held()
    assert not held.beat()
    scene.queue.stop(held.rollout.id)
    assert held.beat()
    assert held.beat()
    held.update(status="cancelled", failure=Failure(cause="person", kind="cancelled", message="Stopped."))
    assert scene.find(held.rollout.id).status == "cancelled"


def test_operators_stop_what_runs_and_what_waits(scene: Scene) -> None:
    held, waiting = scene.held(), scene.enqueue()
    scene.set(stop_requests=frozenset({held.rollout.id, waiting.id}))
    assert held.beat()
    assert scene.lease() is None
    assert [rollout.status for rollout in scene.recover().settled] == ["cancelled"]
    assert scene.find(waiting.id).status == "cancelled"


def test_no_state_leads_back_from_an_end(scene: Scene) -> None:
    rollout = scene.done()
    with pytest.raises(WrongState):
        scene.files.write(rollout.model_copy(update={"status": "running", "updated_at": scene.clock()}))
    assert scene.queue.stop(rollout.id) == rollout
    assert scene.recover().settled == ()
    assert scene.find(rollout.id) == rollout


@pytest.mark.parametrize(("first", "then"), [("running", "queued"), ("verifying", "starting"), ("running", "starting")])
def test_a_step_that_cannot_be_is_refused_and_changes_nothing(scene: Scene, first: str, then: str) -> None:
    held = scene.held()
    before = held.update(status=first)
    with pytest.raises(WrongState):
        held.update(status=then)
    assert held.rollout == before == scene.files.read(before.id) == scene.find(before.id)
    held.update(status="done")


@pytest.mark.parametrize("wrong", [{"reward": float("nan")}, {"status": "happy"}, {"rewards": {"a": float("inf")}}])
def test_what_is_no_record_is_not_written(scene: Scene, wrong: dict[str, object]) -> None:
    held = scene.held()
    with pytest.raises(ValueError, match="validation error"):
        held.update(**wrong)
    assert scene.files.read(held.rollout.id) == held.rollout


def test_a_worker_that_lost_its_lease_changes_nothing_any_more(scene: Scene) -> None:
    held = scene.held("w1")
    scene.clock.turn(LEASE + 1)
    scene.recover()
    again = scene.lease("w2")
    assert again is not None
    assert again.rollout.attempt == 2
    for change in (held.beat, held.release, lambda: held.update(status="done"), lambda: held.keep("artifacts/a", b"")):
        with pytest.raises(LeaseLost):
            change()
    held.emit("log", {"text": "of a worker that does not know"})
    assert scene.files.read(held.rollout.id) == again.rollout
    assert "log" not in [event.kind for event in scene.files.events(held.rollout.id).events]
    again.update(status="done")


def test_a_sign_of_life_keeps_a_rollout(scene: Scene) -> None:
    held = scene.held()
    for _ in range(5):
        scene.clock.turn(LEASE - 1)
        assert scene.recover().settled == ()
        held.beat()
    held.update(status="done")


def test_a_rollout_whose_worker_died_before_the_agent_began_waits_again(scene: Scene) -> None:
    held = scene.held()
    held.update(stage="prepare", phases=(Phase(stage="provision", started_at=scene.clock()),))
    scene.clock.turn(LEASE + 1)
    [again] = scene.recover().settled
    assert (again.status, again.attempt, again.stage, again.phases, again.started_at) == ("queued", 2, None, (), None)
    assert scene.statuses(again.id) == ["queued", "starting", "queued"]
    assert scene.find(again.id) == scene.files.read(again.id) == again


def test_a_rollout_whose_worker_died_after_the_agent_began_is_interrupted_and_says_so(scene: Scene) -> None:
    held = scene.held()
    held.update(status="running", stage="agent")
    scene.clock.turn(LEASE + 1)
    [rollout] = scene.recover().settled
    assert rollout.status == "interrupted"
    assert rollout.failure is not None
    assert (rollout.failure.cause, rollout.failure.kind) == ("worker", "interrupted")
    assert "'agent'" in rollout.failure.message
    assert (rollout.reward, rollout.graded, rollout.finished_at is not None) == (None, False, True)
    assert scene.files.stored(rollout.id) == rollout
    assert scene.statuses(rollout.id)[-1] == "interrupted"


def test_a_rollout_that_kills_every_worker_is_given_up(scene: Scene) -> None:
    id = scene.enqueue().id
    for attempt in (1, 2, 3):
        held = scene.lease(f"w{attempt}")
        assert held is not None
        assert held.rollout.attempt == attempt
        scene.clock.turn(LEASE + 1)
        scene.recover()
    assert scene.lease() is None
    assert scene.find(id).status == "interrupted"


def test_what_a_dead_worker_held_is_free_at_once_when_its_death_is_known(scene: Scene) -> None:
    dead, alive = scene.held("w1"), scene.held("w2")
    settled = scene.recover("w1").settled
    assert [rollout.id for rollout in settled] == [dead.rollout.id]
    assert not alive.beat()


def test_a_stop_that_a_dead_worker_did_not_hear_is_carried_out(scene: Scene) -> None:
    for status, stage in (("starting", "provision"), ("running", "agent")):
        held = scene.held()
        held.update(status=status, stage=stage)
        scene.queue.stop(held.rollout.id)
        scene.recover("w1")
        assert scene.find(held.rollout.id).status == "cancelled"


def test_a_rollout_whose_start_was_cut_off_after_it_was_written_down_waits_like_any_other(scene: Scene) -> None:
    written = scene.record()
    scene.files.write(written)
    assert scene.lease() is None
    assert scene.recover().found == (written.id,)
    held = scene.lease()
    assert held is not None
    assert held.rollout.id == written.id
    held.update(status="done")


def test_a_removal_that_was_cut_off_is_hidden_at_once_and_completed(scene: Scene) -> None:
    rollout = scene.done()
    with scene.index.writing() as connection:
        scene.index.mark_deleted(connection, rollout.id)
    for ask in (scene.find, scene.queue.stop, lambda id: scene.queue.set_visibility(id, "public")):
        with pytest.raises(NotFound):
            ask(rollout.id)
    scene.recover()
    assert scene.files.ids() == scene.index.ids() == []


def test_a_worker_that_ends_gives_back_what_had_not_begun(scene: Scene) -> None:
    held = scene.held("w1")
    released = held.release()
    assert (released.status, released.attempt) == ("queued", 1)
    again = scene.lease("w2")
    assert again is not None
    again.update(status="running", stage="agent")
    ended = again.release()
    assert (ended.status, ended.failure and ended.failure.cause) == ("interrupted", "worker")


def test_an_owner_may_show_and_hide_a_rollout_while_it_runs_and_after(scene: Scene) -> None:
    held = scene.held()
    scene.queue.set_visibility(held.rollout.id, "public")
    assert scene.find(held.rollout.id).visibility == "public"
    held.beat()
    assert scene.files.read(held.rollout.id).visibility == "public"
    scene.queue.set_visibility(held.rollout.id, "private")
    done = held.update(status="done")
    assert done.visibility == "private"
    scene.queue.set_visibility(done.id, "public")
    stored = scene.files.stored(done.id)
    assert stored is not None
    assert scene.find(done.id).visibility == scene.files.read(done.id).visibility == stored.visibility == "public"
    with pytest.raises(BadInput):
        scene.queue.set_visibility(done.id, "everybody")


def test_only_what_has_ended_is_deleted(scene: Scene) -> None:
    held = scene.held()
    with pytest.raises(BadInput, match="starting"):
        scene.queue.delete(held.rollout.id)
    held.update(status="done")
    scene.queue.delete(held.rollout.id)
    assert scene.index.ids() == scene.files.ids() == []
    assert scene.recover().found == ()


def test_files_of_a_rollout_are_kept_by_who_holds_it_and_what_is_not_is_noted(scene: Scene) -> None:
    held = scene.held()
    assert held.keep("artifacts/a.txt", b"data")
    assert not held.keep("artifacts/b.txt", Path("/dev/zero"))
    notes = [event.data for event in scene.files.events(held.rollout.id).events if event.kind == "note"]
    assert [note["kind"] for note in notes] == ["file-cut"]
    held.update(status="done")
    assert [file.path for file in scene.files.listing(held.rollout.id)] == ["artifacts/a.txt"]


def test_what_runs_reaches_the_store_at_intervals(scene: Scene, memory_path: Path) -> None:
    held = scene.held()
    held.update(status="running", stage="agent")
    held.emit("message", {"text": "hello"})
    elsewhere = scene.beside(memory_path / "two")
    assert [event.kind for event in elsewhere.files.events(held.rollout.id).events] == ["status"]
    scene.clock.turn(30)
    held.beat()
    assert [event.kind for event in elsewhere.files.events(held.rollout.id).events][-1] == "message"
    assert elsewhere.files.read(held.rollout.id).status == "running"


def test_machines_share_a_queue_and_go_on_where_another_left_off(scene: Scene, memory_path: Path) -> None:
    other = scene.beside(memory_path / "two")
    id = scene.enqueue().id
    held = other.lease("w2")
    assert held is not None
    held.update(status="running", stage="agent")
    held.emit("message", {"text": "over there"})
    scene.clock.turn(30)
    held.beat()
    assert scene.files.read(id).status == "running"
    assert [event.kind for event in scene.files.events(id).events][-1] == "message"
    held.update(status="done", reward=1.0, graded=True)
    assert scene.files.read(id).status == scene.find(id).status == "done"
    scene.recover()
    other.recover()
    assert scene.files.stored(id) == held.rollout


def test_a_rollout_of_another_machine_that_died_is_settled_from_what_the_index_has(
    scene: Scene, memory_path: Path
) -> None:
    other = scene.beside(memory_path / "two")
    id = scene.enqueue().id
    held = other.lease("w2")
    assert held is not None
    held.update(status="running", stage="agent", notes=("only over there",))
    scene.clock.turn(LEASE + 1)
    [settled] = scene.recover().settled
    assert (settled.id, settled.status, settled.notes) == (id, "interrupted", ("only over there",))
    assert scene.files.stored(id) == settled
