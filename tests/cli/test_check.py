"""`rlx check` over what is known; running it is shown in `tests/jobs/test_proved.py`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlx.ids import parse_key
from rlx.store.health import HealthStore, State, TaskHealth, Trial
from rlx.store.storage import DirectoryStorage
from tests.cli.conftest import Result, Rlx

ENV = "rl-explorer/first-steps"


@pytest.fixture
def know(rlx: Rlx, tmp_path: Path) -> Rlx:
    """The command line, over a store that knows one task."""
    revision = str(rlx("env", "show", ENV, "--demo", "--format", "json").json()[0]["revision"])

    def put(state: State) -> None:
        trials = (Trial(agent="oracle", rollout="r", scores=(1.0,)), Trial(agent="nop", rollout="r", scores=(0.5,)))
        known = TaskHealth(
            ref="tasks/fix-median", revision=revision, state=state, trials=trials, checked_at=datetime.now(UTC)
        )
        HealthStore(DirectoryStorage(tmp_path / "store")).put(parse_key(ENV), known)

    def call(state: State, *arguments: str) -> Result:
        put(state)
        return rlx("check", ENV, "--demo", *arguments)

    return call


def test_what_is_known_is_told_and_decides_the_exit_code(know: Rlx) -> None:
    proven = know("proven", "--format", "json")
    assert proven.code == 0
    told = json.loads(proven.out)
    assert told["counts"] == {"proven": 1, "broken": 0, "unproven": 0}
    assert told["tasks"][0]["oracle"] == {"runs": 1, "low": 1.0, "high": 1.0, "seconds": None}

    broken = know("broken", "--format", "tsv")
    assert broken.code == 1
    assert broken.rows[1][:5] == ["tasks/fix-median", "broken", "", "1", "0.5"]


def test_tasks_that_were_not_checked_are_unproven(know: Rlx) -> None:
    named = know("proven", "--task", "tasks/tidy-config", "--format", "json")
    assert named.code == 1
    assert json.loads(named.out)["tasks"][0]["state"] == "unproven"
    assert len(json.loads(know("proven", "--sample", "3", "--format", "json").out)["tasks"]) == 3


def test_nothing_known_proves_nothing(rlx: Rlx) -> None:
    found = rlx("check", ENV, "--demo", "--format", "json")
    assert found.code == 1
    assert json.loads(found.out)["tasks"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        (ENV, "--task", "tasks/none"),
        (ENV, "--task", "tasks/fix-median", "--sample", "1"),
        (ENV, "--again"),
        (ENV, "--trials", "-k", "0"),
        ("rl-explorer/none",),
    ],
)
def test_what_cannot_be_checked_is_refused(rlx: Rlx, arguments: tuple[str, ...]) -> None:
    assert rlx("check", *arguments, "--demo").code == 2


def test_a_list_of_tasks_is_narrowed_by_what_is_known(know: Rlx, rlx: Rlx) -> None:
    def refs(health: str) -> list[str]:
        result = rlx("task", "ls", ENV, "--demo", "--filter", f"health={health}", "--format", "quiet")
        assert result.code == 0, result.err
        return result.out.split()

    assert len(refs("unproven")) == 5
    assert refs("proven") == []
    know("proven")
    assert refs("proven") == ["tasks/fix-median"]
    assert len(refs("Unproven")) == 4
    assert refs("broken") == []
    listed = rlx("task", "ls", ENV, "--demo", "--columns", "ref,health", "--format", "tsv").rows
    assert ["tasks/fix-median", "Proven"] in listed
    wrong = rlx("task", "ls", ENV, "--demo", "--filter", "health=fine")
    assert wrong.code != 0
    assert "Broken" in wrong.err
