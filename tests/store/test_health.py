"""Evidence of the health of tasks in a store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.store.health import HealthStore, State, TaskHealth, Trial, file_of
from rlx.store.rollouts.files import utc_now
from rlx.store.storage import DirectoryStorage

KEY = parse_key("acme/parsers")


def task(ref: str = "a", revision: str = "1", state: State = "proven") -> TaskHealth:
    trial = Trial(agent="oracle", rollout="r", scores=(1.0,), seconds=2.0)
    return TaskHealth(ref=ref, revision=revision, state=state, trials=(trial,), checked_at=utc_now())


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def make(tmp_path: Path, now: list[float]) -> Callable[[], HealthStore]:
    return lambda: HealthStore(DirectoryStorage(tmp_path), clock=lambda: now[0])


def test_evidence_holds_for_its_revision_alone(make: Callable[[], HealthStore]) -> None:
    store = make()
    store.put(KEY, task("a"), task("b", "0"))

    assert set(store.of(KEY).at("1")) == {"a"}
    assert store.of(KEY).at("2") == {}
    assert store.read(KEY).tasks["a"].of("oracle")[0].scores == (1.0,)
    assert store.of(parse_key("space:acme/parsers")).tasks == {}


def test_who_writes_keeps_what_others_wrote(make: Callable[[], HealthStore]) -> None:
    one, other = make(), make()
    one.put(KEY, task("a"))
    other.put(KEY, task("b"))
    one.put(KEY, task("a", state="broken"))

    assert {ref: found.state for ref, found in other.read(KEY).tasks.items()} == {"a": "broken", "b": "proven"}


def test_what_is_known_is_looked_at_again_after_a_while_and_is_the_same_till_it_changes(
    make: Callable[[], HealthStore], now: list[float]
) -> None:
    reader, writer = make(), make()
    assert reader.book() == {}
    writer.put(KEY, task("a"))
    assert reader.book() == {}
    now[0] = 10.0
    book = reader.book()
    now[0] = 20.0

    assert set(book) == {str(KEY)}
    assert reader.book() is book


def test_a_file_that_is_none_is_left_out_and_told_to_who_would_replace_it(
    make: Callable[[], HealthStore], tmp_path: Path
) -> None:
    store = make()
    store.put(KEY, task("a"))
    stranger = tmp_path / file_of(parse_key("acme/others"))
    stranger.write_bytes((tmp_path / file_of(KEY)).read_bytes())
    (tmp_path / file_of(parse_key("acme/damaged"))).write_text("{")

    assert set(make().book()) == {str(KEY)}
    with pytest.raises(BadInput):
        store.put(parse_key("acme/damaged"), task("a"))
