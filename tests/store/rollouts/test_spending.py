"""What rollouts may cost in a day holds, for one visitor and in all, whoever starts them and however many at once."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rlx.errors import BadInput, Forbidden, TooMany
from rlx.rollout import ModelUse, Rollout
from rlx.store.rollouts.reindex import reindex
from rlx.store.rollouts.spending import spent
from tests.store.rollouts.scene import START, Scene

PRICED = ModelUse(id="m", provider="router", route="cheapest", dollars_in=1.0, dollars_out=2.0)
UNPRICED = ModelUse(id="m", provider="endpoint")
SCRIPTED = ModelUse(id="solve", provider="scripted")


@pytest.fixture
def scene(memory_path: Path, database_url: str) -> Iterator[Scene]:
    scene = Scene(memory_path / "store", memory_path / "local", database_url)
    yield scene
    scene.close()


def start(scene: Scene, dollars: float | None, owner: str | None = "ann", model: ModelUse = PRICED) -> Rollout:
    fields: dict[str, Any] = {} if dollars is None else {"max_dollars": dollars}
    return scene.enqueue(owner=owner, model=model, fields=fields)


def end(scene: Scene, cost: float | None, status: str = "done") -> None:
    """End the rollout that is next, after its agent worked."""
    held = scene.lease()
    assert held is not None
    held.update(status="running", stage="agent")
    held.update(status=status, cost=cost)


def spent_now(scene: Scene, owner: str | None = None) -> float:
    with scene.index.reading() as connection:
        return spent(connection, scene.clock(), owner)


def test_limits_of_a_day_hold_when_many_start_at_once(scene: Scene) -> None:
    scene.set(max_per_visitor=20, max_active=200, dollars_per_visitor_day=1.0, dollars_per_day=1.6)
    together = threading.Barrier(8)
    refused: list[TooMany] = []

    def begin(owner: str) -> None:
        together.wait()
        for _ in range(4):
            try:
                start(scene, 0.3, owner)
            except TooMany as error:
                refused.append(error)

    starters = [threading.Thread(target=begin, args=(("ann", "bob")[place % 2],)) for place in range(8)]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert len(scene.index.ids()) == 5
    assert len(refused) == 27
    assert spent_now(scene) == pytest.approx(1.5)
    assert max(spent_now(scene, owner) for owner in ("ann", "bob")) <= 1.0
    assert all(0 < (error.retry_after or 0) <= 86_400 for error in refused)


def test_what_is_left_over_is_free_again_and_what_was_spent_is_not(scene: Scene) -> None:
    scene.set(dollars_per_visitor_day=1.0)
    start(scene, 0.9)
    with pytest.raises(TooMany, match=r"of which \$0.1 is left"):
        start(scene, 0.2)
    start(scene, 0.2, "bob")
    end(scene, 0.25)
    start(scene, 0.7)
    with pytest.raises(TooMany):
        start(scene, 0.2)


def test_an_unknown_cost_counts_as_all_that_it_may_have_been(scene: Scene) -> None:
    scene.set(dollars_per_day=1.0)
    start(scene, 0.8)
    end(scene, None, "failed")
    assert spent_now(scene) == pytest.approx(0.8)
    never = start(scene, 0.2)
    scene.queue.stop(never.id)
    assert spent_now(scene) == pytest.approx(0.8)


def test_a_day_ends_at_midnight_and_what_runs_over_it_still_counts(scene: Scene) -> None:
    scene.set(dollars_per_day=1.0)
    start(scene, 0.5)
    end(scene, 0.5)
    start(scene, 0.5)
    with pytest.raises(TooMany):
        start(scene, 0.1)
    scene.clock.turn(24 * 3600 - (START.hour * 3600) + 1)
    assert spent_now(scene) == pytest.approx(0.5)
    start(scene, 0.5, "bob")


def test_deleting_a_rollout_gives_no_money_back_and_an_index_made_anew_knows_the_rest(scene: Scene) -> None:
    scene.set(dollars_per_visitor_day=1.0)
    gone = start(scene, 0.6)
    end(scene, 0.6)
    scene.queue.delete(gone.id)
    with pytest.raises(TooMany):
        start(scene, 0.5)
    start(scene, 0.3)
    scene.index.create(anew=True)
    reindex(scene.index, scene.files)
    assert spent_now(scene) == pytest.approx(0.3)


def test_where_costs_are_limited_prices_and_a_ceiling_are_needed_and_free_models_need_neither(scene: Scene) -> None:
    scene.set(dollars_per_rollout=0.5)
    with pytest.raises(Forbidden, match="not known"):
        start(scene, 0.1, model=UNPRICED)
    with pytest.raises(BadInput, match="ceiling"):
        start(scene, None)
    with pytest.raises(BadInput, match=r"at most \$0.5"):
        start(scene, 0.6)
    start(scene, 0.5)
    start(scene, None, model=SCRIPTED)
    scene.enqueue(owner="ann", model=None)
    scene.set()
    start(scene, None, model=UNPRICED)


def test_whoever_runs_the_machine_keeps_the_limit_of_all_too(scene: Scene) -> None:
    scene.set(dollars_per_visitor_day=0.1, dollars_per_day=1.0)
    start(scene, 0.9, None)
    with pytest.raises(TooMany, match="this instance"):
        start(scene, 0.2, None)


def test_a_limit_that_is_lowered_holds_back_what_waits_and_nothing_that_is_free(scene: Scene) -> None:
    scene.set(dollars_per_day=5.0)
    for owner in ("ann", None, "bob"):
        start(scene, 1.0, owner)
    free = start(scene, None, "eve", SCRIPTED)
    scene.set(dollars_per_day=2.0)
    held = scene.lease()
    assert held is not None
    assert held.rollout.id == free.id
    assert scene.lease() is None
    scene.set(dollars_per_day=5.0, dollars_per_visitor_day=0.5)
    held = scene.lease()
    assert held is not None
    assert held.rollout.owner is None
    assert scene.lease() is None
    scene.set()
    assert scene.lease() is not None
