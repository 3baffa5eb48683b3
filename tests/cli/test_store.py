"""`rlx store`: the index of rollouts is made from their files."""

from datetime import UTC, datetime

import pytest

from rlx.jobs.queue_service import open_rollouts, rollouts_folder
from rlx.model import Viewer
from rlx.rollout import Rollout, new_id
from rlx.settings import Settings
from rlx.store.instance import InstanceFile
from rlx.store.rollouts.query import Filters
from tests.cli.conftest import Rlx
from tests.store.rollouts.scene import record

LOCAL = Viewer("local")


def started(settings: Settings, count: int) -> list[Rollout]:
    rollouts = open_rollouts(settings, InstanceFile(settings.store))
    made = [rollouts.start(record(lambda: datetime.now(UTC)), LOCAL) for _ in range(count)]
    rollouts.close()
    return made


def test_reindexing_brings_back_every_rollout_and_changes_nothing_the_second_time(rlx: Rlx) -> None:
    settings = Settings()
    made = started(settings, 3)
    for path in rollouts_folder(settings).glob("index.db*"):
        path.unlink()
    first = rlx("store", "reindex", "--format", "json")
    assert (first.code, first.json()) == (0, [{"read": 3, "added": 3, "changed": 0, "removed": 0, "damaged": []}])
    again = rlx("store", "reindex", "--format", "tsv")
    assert again.rows == [["read", "added", "changed", "removed", "damaged"], ["3", "0", "0", "0", "0"]]
    rollouts = open_rollouts(settings, InstanceFile(settings.store))
    assert [*rollouts.views.page(Filters(), LOCAL, sort="old").rollouts] == made
    rollouts.close()


def test_a_record_that_cannot_be_read_is_named_and_exits_1(rlx: Rlx) -> None:
    settings = Settings()
    [made] = started(settings, 1)
    damaged = new_id()
    folder = settings.store / "runs" / damaged
    folder.mkdir(parents=True)
    (folder / "rollout.json").write_text("{")
    done = rlx("store", "reindex", "--anew", "--format", "json")
    assert done.code == 1
    assert done.json() == [{"read": 1, "added": 1, "changed": 0, "removed": 0, "damaged": [damaged]}]
    assert damaged in done.err
    assert made.id not in done.err


def test_a_database_that_cannot_be_reached_exits_3_without_its_password(
    rlx: Rlx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLX_DATABASE_URL", "postgresql://u:hunter2@127.0.0.1:1/x")
    failed = rlx("store", "reindex")
    assert failed.code == 3
    assert "hunter2" not in failed.err
