"""`rlx hub report` against a local hub, by its unmodified client."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from rlx.ids import parse_key
from rlx.localhub import LocalHubServer
from rlx.store.health import HealthStore, TaskHealth, Trial
from rlx.store.storage import open_storage
from tests.cli.conftest import Rlx
from tests.publish.hubs import environment, serving

KEY = parse_key("alice/steps")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    with serving(tmp_path_factory.mktemp("hub")) as running:
        api = HfApi(endpoint=running.url, token="hf_alice")
        api.create_repo("alice/steps", repo_type="dataset")
        folder = environment(tmp_path_factory.mktemp("env"), "first", "first-two", "third")
        api.upload_folder(repo_id="alice/steps", folder_path=folder, repo_type="dataset")
        yield running


@pytest.fixture
def api(server: LocalHubServer) -> HfApi:
    return HfApi(endpoint=server.url, token="hf_alice")


@pytest.fixture
def report(rlx: Rlx, server: LocalHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rlx:
    """`rlx hub report` as bob."""
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    where = ("--hub", server.url, "--store", str(tmp_path / "store"), "--format", "json")
    return lambda *arguments: rlx("hub", "report", "alice/steps", *arguments, *where)


def test_a_report_is_filed_found_again_and_added_to(report: Rlx, api: HfApi) -> None:
    draft = json.loads(report("tasks/first", "--message", "It wants yes.", "--dry-run").out)
    assert (draft["done"], draft["threads"]) == ("would-send", [])
    made = json.loads(report("tasks/first", "--message", "It wants yes.").out)
    assert made["done"] == "opened"
    (thread,) = api.get_repo_discussions("alice/steps", repo_type="dataset", discussion_status="open")
    assert (thread.title, thread.author, thread.url) == ("Broken task: tasks/first", "bob", made["url"])
    sha = api.dataset_info("alice/steps").sha
    said = api.get_discussion_details("alice/steps", thread.num, repo_type="dataset").events[0]
    assert f"Revision: `{sha}`" in str(said._event)
    again = json.loads(report("tasks/first", "--message", "Still.").out)
    assert (again["done"], again["url"]) == ("known", made["url"])
    assert json.loads(report("tasks/first-two", "--message", "Other.", "--dry-run").out)["threads"] == []
    added = json.loads(report("tasks/first", "--message", "Still.", "--comment", str(thread.num)).out)
    assert added["done"] == "commented"
    assert len(api.get_discussion_details("alice/steps", thread.num, repo_type="dataset").events) == 2


def test_what_runs_proved_is_told_and_nothing_of_the_answer(report: Rlx, api: HfApi, tmp_path: Path) -> None:
    nothing = report("tasks/third")
    assert nothing.code == 2
    assert "no run found it broken" in nothing.err
    sha = str(api.dataset_info("alice/steps").sha)
    trials = (Trial(agent="oracle", rollout="a", scores=(0.0,)), Trial(agent="nop", rollout="b", scores=(0.0,)))
    broken = TaskHealth(
        ref="tasks/third",
        revision=sha,
        state="broken",
        reason="oracle-below",
        trials=trials,
        checked_at=datetime.now(UTC),
    )
    HealthStore(open_storage(tmp_path / "store")).put(KEY, broken)
    told = json.loads(report("tasks/third", "--dry-run").out)["text"]
    assert "found it broken" in told
    assert "Reference solution: 1 run, 0 to 0" in told
    assert "echo yes" not in told


def test_a_task_that_there_is_not_is_refused(report: Rlx) -> None:
    assert report("tasks/none", "--message", "x").code != 0
