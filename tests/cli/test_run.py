"""`rlx run` over rollouts that were recorded, and the demo."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from rlx.cli.run import COLUMNS, Outcome, Sort
from rlx.jobs.queue_service import open_rollouts
from rlx.settings import Settings
from rlx.store.instance import Instance, InstanceFile
from rlx.store.rollouts.query import SORTS
from rlx.twins.run_list import OUTCOMES
from tests.cli.conftest import Rlx
from tests.recorded import CANARY, Recorder

TASK = ("rl-explorer/first-steps", "tasks/fix-median")


@pytest.fixture
def recorder(rlx: Rlx, tmp_path: Path) -> Iterator[Recorder]:
    """Writes into the store that `rlx` reads."""
    settings = Settings(store=tmp_path / "store", cache_dir=tmp_path / "cache")
    rollouts = open_rollouts(settings, InstanceFile(settings.store))
    yield Recorder(rollouts)
    rollouts.close()


def test_a_list_has_what_scripts_rely_on(rlx: Rlx, recorder: Recorder) -> None:
    run = recorder.done(0.5)
    recorder.failed()
    listed = rlx("run", "ls", "--demo", "--format", "json").json()
    assert len(listed) == 2
    done = next(one for one in listed if one["id"] == run.id)
    assert {"id", "status", "reward", "rewards", "error", "agent", "sandbox", "usage", "cost"} <= set(done)
    assert set(COLUMNS) <= set(done)
    assert (done["status"], done["reward"], done["error"], done["cost"]) == ("done", 0.5, None, None)
    narrowed = rlx("run", "ls", "--demo", "--outcome", "ungraded", "--columns", "status,error,model")
    assert narrowed.rows == [["status", "error", "model"], ["failed", "no-reward", "solve"]]
    assert rlx("run", "ls", "--demo", "--filter", "status=done", "--format", "quiet").out == f"{run.id}\n"
    assert rlx("run", "ls", "--demo", "--filter", "colour=red").code == 2


def test_a_list_is_narrowed_and_paged_as_its_page_is(rlx: Rlx, recorder: Recorder) -> None:
    runs = [recorder.done(reward) for reward in (0.5, 1.0, 0.25)]
    recorder.done(ref="tasks/other")
    of_task = ("run", "ls", "--demo", "--filter", f"env={runs[0].env}", "--ref", runs[0].ref, "--format", "quiet")
    assert rlx(*of_task, "--mine", "--sort", "reward").out.split() == [runs[1].id, runs[0].id, runs[2].id]
    assert rlx(*of_task, "--sort", "-reward", "--offset", "1", "--limit", "1").out.split() == [runs[0].id]
    assert rlx("run", "ls", "--demo", "--ref", runs[0].ref).code == 2


def test_a_variable_that_this_shell_lacks_is_told_by_name(rlx: Rlx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_VARIABLE", raising=False)
    start = ("run", "start", *TASK, "--demo", "--agent", "nop")
    assert "no variable NO_SUCH_VARIABLE" in rlx(*start, "--var", "NO_SUCH_VARIABLE").err
    refused = rlx(*start, "--var", "TOKEN=of-somebody")
    assert (refused.code, "of-somebody" in refused.err) == (2, False)


def test_a_rollout_is_shown_without_its_answers(rlx: Rlx, recorder: Recorder) -> None:
    for run in (recorder.oracle(), recorder.nop(), recorder.done()):
        for form in ("auto", "json", "tsv"):
            shown = rlx("run", "show", run.id, "--demo", "--format", form)
            assert shown.code == 0
            assert run.id in shown.out
            assert CANARY not in shown.out
    assert rlx("run", "show", "0" * 16, "--demo").code == 2
    assert rlx("run", "show", "what", "--demo").code == 2


def test_watching_tells_events_beside_the_result_and_exits_by_it(rlx: Rlx, recorder: Recorder) -> None:
    done, failed = recorder.done(), recorder.failed()
    watched = rlx("run", "watch", done.id, "--demo", "--format", "json")
    assert watched.code == 0
    assert watched.json()[0]["reward"] == 1.0
    assert "cat stats.py" in watched.err
    assert "1 passed, 1 failed" in watched.err
    assert CANARY not in watched.err
    assert rlx("run", "watch", failed.id, "--demo").code == 1


def test_an_export_is_rows_that_load(rlx: Rlx, recorder: Recorder, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    first, second = recorder.done(), recorder.oracle()
    assert rlx("run", "export", str(tmp_path / "all.parquet"), "--demo").code == 0
    assert [row["id"] for row in pq.read_table(tmp_path / "all.parquet").to_pylist()] == [first.id, second.id]
    told = rlx("run", "export", "-", "--demo", "--id", first.id)
    row = json.loads(told.out)
    assert row["messages"][1]["tool_calls"][0]["function"]["name"] == "bash"
    assert CANARY not in told.out
    assert rlx("run", "export", str(tmp_path / "all.txt"), "--demo").code == 2
    assert rlx("run", "export", "-", "--demo", "--id", "0" * 16).code == 2


def test_what_cannot_be_run_is_refused_with_the_reason(rlx: Rlx, recorder: Recorder, tmp_path: Path) -> None:
    for arguments, code in (
        ((*TASK, "--agent", "nobody"), 2),
        ((*TASK, "--sandbox", "nowhere"), 2),
        ((*TASK, "--agent", "nop", "--model", "solve"), 2),
        ((*TASK, "--field", "colour=red"), 2),
        ((*TASK, "--field", "colour"), 2),
        ((*TASK, "--base-url", "https://models.example/v1"), 2),
        ((TASK[0], "tasks/none"), 2),
    ):
        refused = rlx("run", "start", *arguments, "--demo", "--format", "json")
        assert refused.code == code, refused.err
        assert json.loads(refused.err.splitlines()[-1])["error"]["message"]
    InstanceFile(tmp_path / "store").save(Instance(rollouts_enabled=False))
    assert rlx("run", "start", *TASK, "--agent", "nop", "--demo").code in {2, 4}
    assert rlx("run", "ls", "--demo", "--format", "quiet").out == ""


def test_choices_are_those_of_the_lists() -> None:
    assert set(get_args(Outcome)) == set(OUTCOMES) - {""}
    assert get_args(Sort) == SORTS
