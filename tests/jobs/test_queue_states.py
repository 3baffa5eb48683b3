"""Any course of events over the queue: nothing is lost, nothing runs twice, no end is taken back."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rlx.errors import BadInput, TooMany
from rlx.jobs.queue import Offer
from rlx.jobs.queue_held import Held
from rlx.rollout import ENDED, Rollout
from rlx.store.rollouts.reindex import reindex
from rlx.store.rollouts.schema import leases
from rlx.store.rollouts.states import LeaseLost, WrongState
from tests.databases import MEMORY
from tests.store.rollouts.scene import LEASE, Scene

OWNERS = st.sampled_from(["ann", "bob", None])
WORKERS = st.sampled_from(["w1", "w2", "w3"])
ANY = st.integers(0, 20)
LIMIT = 3


class Course(RuleBasedStateMachine):
    """Two machines over one store; workers that live, die, and wake up too late."""

    url = ""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        root = Path(self.folder.name)
        url = self.url or f"sqlite:///{root}/index.db"
        self.scene = Scene(root / "store", root / "one", url)
        self.scene.index.create(anew=True)
        self.machines = [self.scene, self.scene.beside(root / "two")]
        self.scene.set(max_per_visitor=LIMIT, max_active=6)
        self.known: set[str] = set()
        self.ended: dict[str, Rollout] = {}
        self.working: list[Held] = []
        self.stale: list[Held] = []

    def teardown(self) -> None:
        if hasattr(self, "scene"):
            for held in [*self.working, *self.stale]:
                held.close()
            self.scene.close()
            self.folder.cleanup()

    @rule(owner=OWNERS, sandbox=st.sampled_from(["local", "hf", None]), machine=st.booleans())
    def start(self, owner: str | None, sandbox: str | None, machine: bool) -> None:
        of_owner = [rollout for rollout in self.now() if rollout.owner == owner and not rollout.ended]
        try:
            rollout = self.machines[machine].enqueue(owner=owner, sandbox=sandbox)
        except TooMany:
            active = [rollout for rollout in self.now() if not rollout.ended]
            assert owner is not None
            assert len(of_owner) >= LIMIT or len(active) >= 6
            return
        assert owner is None or len(of_owner) < LIMIT
        self.known.add(rollout.id)

    @rule(worker=WORKERS, machine=st.booleans(), room=st.integers(0, 2))
    def take(self, worker: str, machine: bool, room: int) -> None:
        offer = Offer(("harbor",), ("simple",), {"local": room, None: 5})
        held = self.machines[machine].lease(worker, offer)
        if held is not None:
            assert held.rollout.id not in {other.rollout.id for other in self.working}
            assert held.rollout.sandbox != "hf"
            self.working.append(held)

    @precondition(lambda self: self.working)
    @rule(which=ANY, status=st.sampled_from(["running", "verifying", "queued", *sorted(ENDED)]))
    def go_on(self, which: int, status: str) -> None:
        held = self.working[which % len(self.working)]
        before = held.rollout
        try:
            after = held.update(status=status)
        except WrongState:
            assert (status == "queued" and before.begun) or status in {"starting"}
            return
        if after.ended or status == "queued":
            self.working.remove(held)
            self.note_end(after)

    @precondition(lambda self: self.working)
    @rule(which=ANY)
    def give_back(self, which: int) -> None:
        self.note_end(self.working.pop(which % len(self.working)).release())

    @precondition(lambda self: self.working)
    @rule(which=ANY)
    def sign(self, which: int) -> None:
        self.working[which % len(self.working)].beat()

    @precondition(lambda self: self.working)
    @rule(which=ANY)
    def stall(self, which: int) -> None:
        """A worker gives no sign for so long that it counts as dead, while the others live."""
        stalled = self.working.pop(which % len(self.working))
        self.scene.clock.turn(LEASE / 2 + 1)
        for held in self.working:
            held.beat()
        self.scene.clock.turn(LEASE / 2 + 1)
        for held in self.working:
            held.beat()
        self.stale.append(stalled)
        self.recover(False)

    @precondition(lambda self: self.stale)
    @rule(which=ANY, status=st.sampled_from(["running", "done"]))
    def wake_up(self, which: int, status: str) -> None:
        held = self.stale[which % len(self.stale)]
        held.emit("log", {"text": "stale"})
        with pytest.raises(LeaseLost):
            held.update(status=status)

    @rule(machine=st.booleans())
    def recover(self, machine: bool) -> None:
        for rollout in self.machines[machine].recover().settled:
            assert rollout.ended or rollout.status == "queued"
            assert rollout.id not in {held.rollout.id for held in self.working}
            self.note_end(rollout)

    @precondition(lambda self: self.known)
    @rule(which=ANY, machine=st.booleans())
    def stop(self, which: int, machine: bool) -> None:
        rollout = self.machines[machine].queue.stop(self.pick(which))
        self.note_end(rollout)

    @precondition(lambda self: self.known)
    @rule(which=ANY, machine=st.booleans(), visibility=st.sampled_from(["public", "private"]))
    def show(self, which: int, machine: bool, visibility: str) -> None:
        id = self.pick(which)
        self.machines[machine].queue.set_visibility(id, visibility)
        assert self.scene.find(id).visibility == visibility

    @precondition(lambda self: self.known)
    @rule(which=ANY, machine=st.booleans())
    def delete(self, which: int, machine: bool) -> None:
        id = self.pick(which)
        try:
            self.machines[machine].queue.delete(id)
        except BadInput:
            assert id not in self.ended
            return
        self.known.remove(id)
        del self.ended[id]
        self.machines[not machine].files.drop_live(id)

    @rule(machine=st.booleans())
    def reindex(self, machine: bool) -> None:
        here = self.machines[machine]
        before = [rollout.model_dump_json() for rollout in self.now()]
        done = reindex(here.index, here.files)
        assert (done.added, done.removed, done.damaged) == (0, 0, ())
        assert [rollout.model_dump_json() for rollout in self.now()] == before

    @invariant()
    def nothing_is_lost_and_all_agree(self) -> None:
        if not hasattr(self, "scene"):
            return
        assert set(self.scene.index.ids()) == self.known
        with self.scene.index.reading() as connection:
            leased = set(connection.scalars(sa.select(leases.c.id)))
        stale = {held.rollout.id for held in self.stale}
        for rollout in self.now():
            if rollout.id in self.ended:
                end = self.ended[rollout.id]
                assert rollout.model_copy(update={"visibility": "private", "updated_at": end.updated_at}) == end
            assert rollout.ended == (rollout.id in self.ended)
            assert (rollout.id in leased) == (not rollout.ended and rollout.status != "queued")
            if rollout.ended:
                assert {machine.files.read(rollout.id).status for machine in self.machines} == {rollout.status}
        for held in self.working:
            assert held.rollout.id in leased
        assert leased <= {held.rollout.id for held in self.working} | stale

    def now(self) -> list[Rollout]:
        return [self.scene.find(id) for id in sorted(self.known)]

    def pick(self, which: int) -> str:
        return sorted(self.known)[which % len(self.known)]

    def note_end(self, rollout: Rollout) -> None:
        if rollout.ended:
            end = rollout.model_copy(update={"visibility": "private"})
            assert rollout.id not in self.ended or self.ended[rollout.id].status == end.status
            self.ended.setdefault(rollout.id, end)


@pytest.mark.parametrize(("kind", "examples"), [("sqlite", 40), ("postgresql", 15)])
def test_any_course_of_events_loses_nothing_and_takes_nothing_back(
    kind: str, examples: int, new_database: Callable[[str], str]
) -> None:
    class Here(Course):
        url = "" if kind == "sqlite" else new_database(kind)

    quick = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Here, settings=quick)
