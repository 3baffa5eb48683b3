"""What lists, counts and figures say, to whom, in both databases alike; and the index made anew from the files."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from rlx.errors import BadInput, Forbidden, NotFound, Upstream
from rlx.model import ANONYMOUS, Viewer
from rlx.rollout import ModelUse, new_id
from rlx.store.rollouts.index import Figures, Index
from rlx.store.rollouts.query import Filters, Sort
from rlx.store.rollouts.reindex import Reindexed, reindex
from rlx.store.rollouts.schema import meta, open_engine, sqlite_url
from tests.store.rollouts.scene import Scene

ANN = Viewer("session", "ann", "hf_ann")
BOB = Viewer("session", "bob", "hf_bob")
NAMELESS = Viewer("session", None, "hf_token")
LOCAL = Viewer("local")


@pytest.fixture
def scene(memory_path: Path, database_url: str) -> Iterator[Scene]:
    scene = Scene(memory_path / "store", memory_path / "local", database_url)
    yield scene
    scene.close()


def seen(scene: Scene, viewer: Viewer | None, filters: Filters | None = None, sort: Sort = "old") -> list[str]:
    """Titles."""
    return [rollout.title for rollout in scene.views.page(filters or Filters(), viewer, sort=sort).rollouts]


def test_others_see_what_is_public_and_graded_and_owners_see_their_own(scene: Scene) -> None:
    scene.done(title="ann public", owner="ann", visibility="public")
    scene.done(title="ann private", owner="ann")
    scene.done(None, title="ann ungraded", owner="ann", visibility="public")
    scene.done(title="local", visibility="public")
    scene.done(title="local private")
    scene.enqueue(title="ann waits", owner="ann", visibility="public")
    public = ["ann public", "local"]
    assert seen(scene, ANONYMOUS) == seen(scene, BOB) == seen(scene, NAMELESS) == public
    assert seen(scene, ANN) == ["ann public", "ann private", "ann ungraded", "local", "ann waits"]
    assert seen(scene, LOCAL) == ["ann public", "local", "local private"]
    assert len(seen(scene, None)) == 6
    assert seen(scene, ANN, Filters(mine=True)) == ["ann public", "ann private", "ann ungraded", "ann waits"]
    assert seen(scene, ANN, Filters(mine=False)) == ["local"]
    assert seen(scene, ANONYMOUS, Filters(mine=True)) == []
    assert seen(scene, ANONYMOUS, Filters(mine=False)) == public


def test_what_a_viewer_may_not_see_is_not_there_by_its_id_either(scene: Scene) -> None:
    rollout = scene.done(owner="ann")
    assert scene.views.find(rollout.id, ANN) == rollout
    for viewer in (ANONYMOUS, BOB, NAMELESS, LOCAL):
        for ask in (scene.views.find, scene.views.events, scene.views.files, scene.views.own):
            with pytest.raises(NotFound):
                ask(rollout.id, viewer)
    with pytest.raises(NotFound):
        scene.views.find(new_id(), None)
    with pytest.raises(BadInput):
        scene.views.find("../../etc/passwd", None)


def test_others_may_look_at_a_rollout_and_not_touch_it(scene: Scene) -> None:
    held = scene.held(owner="ann", visibility="public")
    held.emit("message", {"text": "by ann in /home/ann/work"})
    held.keep("artifacts/a", b"data")
    done = held.update(status="done", reward=1.0, graded=True)
    assert scene.views.find(done.id, BOB).owner is None
    texts = [event.data["text"] for event in scene.views.events(done.id, BOB).events if event.kind == "message"]
    assert texts == ["by ‹withheld› in ‹path›"]
    for ask in (scene.views.own, scene.views.files):
        with pytest.raises(Forbidden):
            ask(done.id, BOB)
    with pytest.raises(Forbidden):
        scene.views.open(done.id, "artifacts/a", BOB)
    assert scene.views.open(done.id, "artifacts/a", ANN).read_bytes() == b"data"


def test_what_operators_hide_is_for_its_owner_alone_and_a_hidden_environment_for_nobody(scene: Scene) -> None:
    hidden = scene.done(title="hidden", owner="ann", visibility="public")
    scene.done(title="shown", owner="ann", visibility="public")
    scene.done(title="withdrawn", owner="ann", visibility="public", env="acme/withdrawn")
    scene.set(hidden_rollouts=frozenset({hidden.id}), hidden=frozenset({"acme/withdrawn"}))
    assert seen(scene, BOB) == ["shown"]
    assert seen(scene, ANN) == ["hidden", "shown"]
    with pytest.raises(NotFound):
        scene.views.find(hidden.id, BOB)
    scene.set()
    assert seen(scene, BOB) == ["hidden", "shown", "withdrawn"]


def test_filters_narrow_and_values_of_one_field_are_alternatives(scene: Scene) -> None:
    model = ModelUse(id="org/model", provider="hub")
    scene.done(0.0, title="a", env="acme/one", ref="1", model=model)
    scene.done(0.5, title="b", env="acme/one", ref="2", agent="oracle")
    scene.done(1.0, title="c", env="acme/two", ref="1", sandbox=None)
    scene.done(None, title="d", env="acme/two", ref="2", agent="nop")
    scene.enqueue(title="e", env="space:acme/two", ref="1")

    def found(**filters: Any) -> str:
        return "".join(seen(scene, None, Filters(**filters)))

    assert found() == "abcde"
    assert found(values={"env": {"acme/one"}}) == "ab"
    assert found(values={"env": {"acme/one", "acme/two"}, "agent": {"oracle", "nop"}}) == "bd"
    assert found(values={"model": {"org/model"}}) == "a"
    assert found(values={"model": {"org/model", None}}) == "abcde"
    assert found(values={"sandbox": {None}}) == "c"
    assert found(values={"status": set()}) == ""
    assert found(graded=True) == "abc"
    assert found(graded=False) == "de"
    assert found(ended=False) == "e"
    assert found(ended=True) == "abcd"
    assert found(reward_from=0.5) == "bc"
    assert found(reward_from=0.1, reward_to=0.9) == "b"
    assert found(tasks=[("acme/one", "1"), ("space:acme/two", "1")]) == "ae"
    assert found(tasks=[]) == ""
    assert found(values={"env": {"'; DROP TABLE rollouts; --", "%"}}) == ""


def test_orders_are_whole_and_whoever_has_no_figure_comes_last(scene: Scene) -> None:
    for title, reward, cost in (("a", 0.5, 2.0), ("b", None, None), ("c", 1.0, 1.0), ("d", 0.5, None)):
        scene.done(reward, title=title, cost=cost)

    def by(sort: Sort) -> str:
        return "".join(seen(scene, None, sort=sort))

    assert (by("new"), by("old")) == ("dcba", "abcd")
    assert (by("reward"), by("-reward")) == ("cdab", "dacb")
    assert (by("cost"), by("-cost")) == ("acdb", "cadb")
    assert by("finished") == "dcba"


def test_pages_follow_each_other_and_count_everything(scene: Scene) -> None:
    for number in range(7):
        scene.done(title=str(number))
    pages = [scene.views.page(Filters(), None, sort="old", offset=at, limit=3) for at in (0, 3, 6, 9)]
    assert ["".join(rollout.title for rollout in page.rollouts) for page in pages] == ["012", "345", "6", ""]
    assert {page.total for page in pages} == {7}
    assert scene.views.page(Filters(), None, offset=-1, limit=-1).rollouts == ()


def test_a_field_is_counted_without_its_own_filter(scene: Scene) -> None:
    scene.done(env="acme/one", agent="simple", visibility="public", owner="ann")
    scene.done(env="acme/one", agent="oracle", visibility="public", owner="ann")
    scene.done(env="acme/two", agent="simple", visibility="public", owner="ann")
    scene.done(env="acme/two", agent="simple", owner="ann")
    facets = scene.views.facets(Filters({"env": {"acme/one"}}), BOB)
    assert facets["env"] == [("acme/one", 2), ("acme/two", 1)]
    assert facets["agent"] == [("oracle", 1), ("simple", 1)]
    assert facets["model"] == [(None, 2)]
    assert scene.views.facets(Filters(), ANN)["env"] == [("acme/one", 2), ("acme/two", 2)]


def test_figures_are_of_graded_attempts_of_agents_that_try(scene: Scene) -> None:
    for reward, ref, agent in ((0.0, "1", "simple"), (1.0, "1", "simple"), (None, "1", "simple"), (1.0, "1", "oracle")):
        scene.done(reward, ref=ref, agent=agent)
    scene.done(0.25, ref="2")
    scene.done(0.5, env="acme/two", ref="1")
    scene.done(0.75, owner="ann", env="acme/two", ref="1")
    one = Figures(attempts=3, graded=2, mean=0.5, best=1.0)
    by_task = scene.views.figures_by_task(Filters({"env": {"acme/tools"}}), LOCAL)
    assert by_task == {("acme/tools", "1"): one, ("acme/tools", "2"): Figures(1, 1, 0.25, 0.25)}
    assert scene.views.figures_by_environment(Filters(), LOCAL)["acme/two"] == Figures(1, 1, 0.5, 0.5)
    assert scene.views.figures(Filters({"env": {"acme/two"}}), None) == Figures(2, 2, 0.625, 0.75)
    assert scene.views.figures(Filters(), ANONYMOUS) == Figures(0, 0, None, None)


def test_a_ref_may_hold_whatever_there_is(scene: Scene) -> None:
    ref = "tasks/ü %'\"\\;\0漢"
    rollout = scene.enqueue(ref=ref)
    assert scene.find(rollout.id).ref == ref


def rows(scene: Scene) -> dict[str, str]:
    return {id: scene.find(id).model_dump_json() for id in scene.index.ids()}


def test_an_index_that_is_thrown_away_is_made_again_from_the_files(scene: Scene) -> None:
    for number in range(3):
        scene.done(number / 2, title=str(number), visibility="public")
    scene.enqueue(title="waits")
    before = rows(scene)
    scene.index.create(anew=True)
    assert scene.index.ids() == []
    assert reindex(scene.index, scene.files) == Reindexed(read=4, added=4)
    assert rows(scene) == before
    assert reindex(scene.index, scene.files) == Reindexed(read=4)
    assert scene.lease() is not None


def test_another_machine_makes_its_index_from_the_store_alone(scene: Scene, tmp_path: Path) -> None:
    scene.done(title="here")
    other = Scene(scene.store, tmp_path / "two", sqlite_url(tmp_path / "two.db"), scene.clock)
    assert reindex(other.index, other.files) == Reindexed(read=1, added=1)
    assert rows(other) == rows(scene)
    other.close()


def test_reindexing_meets_what_is_behind_damaged_or_gone_and_leaves_what_runs(scene: Scene, tmp_path: Path) -> None:
    behind, damaged, gone = scene.done(title="behind"), scene.done(title="damaged"), scene.done(title="gone")
    held = scene.held(title="runs")
    with scene.index.writing() as connection:
        scene.index.put(connection, behind.model_copy(update={"status": "running", "updated_at": behind.created_at}))
    for root in (scene.local / "live", scene.store / "runs"):
        (root / damaged.id / "rollout.json").write_text("{")
    scene.files.delete(gone.id)
    told: list[tuple[int, int | None]] = []
    done = reindex(scene.index, scene.files, lambda *step: told.append(step))
    assert done == Reindexed(read=2, changed=1, removed=2, damaged=(damaged.id,))
    assert scene.find(behind.id) == behind
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)
    assert not held.beat()
    held.update(status="done")


def test_an_index_of_another_version_is_not_touched(scene: Scene) -> None:
    scene.done()
    with scene.index.writing() as connection:
        connection.execute(meta.update().values(value="99"))
    with pytest.raises(BadInput, match="99"):
        scene.index.create()
    scene.index.create(anew=True)
    assert scene.index.ids() == []


def test_a_database_that_cannot_be_used_is_told_without_its_address(tmp_path: Path) -> None:
    for url in (sqlite_url(tmp_path / "no" / "folder.db"), "postgresql://u:secret@127.0.0.1:1/x"):
        index = Index(open_engine(url))
        with pytest.raises(Upstream) as caught:
            index.create()
        assert "secret" not in str(caught.value)
        assert "folder" not in str(caught.value)
        assert caught.value.retry_after
        index.close()


@pytest.mark.parametrize("url", ["", "mysql://u:secret@h/x", "secret", "sqlite://", "sqlite:///:memory:", "https://h"])
def test_what_is_no_database_is_refused_without_its_address(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_engine(url)
    assert "secret" not in str(caught.value)


def test_tables_are_made_once_however_many_make_them(scene: Scene) -> None:
    made: list[bool] = []

    def make() -> None:
        scene.index.create()
        made.append(True)

    with scene.index.writing() as connection:
        connection.execute(sa.text("DROP TABLE rlx_meta"))
    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [True] * 6
