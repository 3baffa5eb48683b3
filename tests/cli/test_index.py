"""`rlx index`: building, telling and scheduling the catalog of a store."""

import inspect
import json
import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from rlx.cli import index
from rlx.cli.app import run as run_rlx
from rlx.errors import BadInput, Forbidden
from rlx.hub.schedule import create_job
from tests.cli.conftest import Rlx
from tests.jobs.sites import FEW, Site, files


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A small hub with a private, a gated and a public environment."""
    site = Site(tmp_path, [*FEW, "datasets/acme/private-tasks", "datasets/acme/gated-tasks"])
    site.meta["datasets/acme/private-tasks"] = {"private": True}
    site.meta["datasets/acme/gated-tasks"] = {"gated": "auto"}
    site.tell_hub()
    return site.hub_folder


def events(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def test_programs_read_one_event_a_line(rlx: Rlx, hub: Path) -> None:
    result = rlx("index", "build", "--hub", str(hub), "--format", "json")
    assert result.code == 0
    told = events(result.out)
    assert [event["event"] for event in told] == ["listed", "plan", *["read"] * 4, "snapshot", "published", "done"]
    assert (told[0]["environments"], told[0]["datasets"], told[0]["spaces"]) == (4, 3, 1)
    assert {event["id"] for event in told if event["event"] == "read"} >= {"acme/layout-tasks", "space:acme/echo-env"}
    assert told[-2]["tasks"] == 6
    assert result.err == ""


def test_people_are_told_what_happened(rlx: Rlx, hub: Path) -> None:
    result = rlx("index", "build", "--hub", str(hub), "--format", "human")
    assert (result.code, result.out) == (0, "")
    assert "Listed 3 datasets and 1 Space." in result.err
    assert "To read: 4 new." in result.err
    assert "4 environments, 6 tasks" in result.err
    assert "Read 4, failed 0, left 0." in result.err
    again = rlx("index", "build", "--hub", str(hub), "--format", "human")
    assert "Everything listed was read before." in again.err


def test_a_dry_run_prints_what_it_would_read_and_writes_nothing(rlx: Rlx, hub: Path, tmp_path: Path) -> None:
    result = rlx("index", "build", "--hub", str(hub), "--dry-run", "--format", "quiet")
    assert sorted(result.out.split()) == [
        "acme/layout-flat",
        "acme/layout-tasks",
        "acme/plain-files",
        "space:acme/echo-env",
    ]
    assert not (tmp_path / "store").exists()
    table = rlx("index", "build", "--hub", str(hub), "--dry-run", "--format", "tsv")
    assert table.rows[0] == ["id"]


def test_a_budget_is_kept_and_told(rlx: Rlx, hub: Path) -> None:
    result = rlx("index", "build", "--hub", str(hub), "--count", "1", "--format", "human")
    assert "Read 1, failed 0, left 3: as many as --count were read." in result.err
    result = rlx("index", "build", "--hub", str(hub), "--minutes", "0", "--format", "human")
    assert "Read 0, failed 0, left 3: the time was used up." in result.err
    (told,) = rlx("index", "status", "--format", "json").json()
    assert isinstance(told["last"], dict)
    assert told["last"]["stopped"] == "time"


def test_a_listing_that_shrank_exits_1_and_says_how_to_go_on(rlx: Rlx, hub: Path) -> None:
    rlx("index", "build", "--hub", str(hub), "--format", "quiet")
    (hub / "spaces" / "acme" / "echo-env").rename(hub.parent / "gone")
    result = rlx("index", "build", "--hub", str(hub), "--format", "quiet")
    assert result.code == 1
    assert "under 80 %" in result.err
    assert "--force" in result.err
    assert rlx("index", "build", "--hub", str(hub), "--format", "quiet", "--force").code == 0


def test_a_second_indexer_exits_1_and_names_the_first(rlx: Rlx, hub: Path, tmp_path: Path) -> None:
    lease = tmp_path / "store" / "indexer-lease.json"
    lease.parent.mkdir(parents=True)
    now = datetime.now(UTC)
    until = now + timedelta(minutes=4)
    holder = {"id": "x", "host": "elsewhere", "pid": 7, "since": now.isoformat(), "until": until.isoformat()}
    lease.write_text(json.dumps(holder))
    result = rlx("index", "build", "--hub", str(hub), "--format", "json")
    assert result.code == 1
    assert "process 7 on elsewhere" in json.loads(result.err)["error"]["message"]
    told = rlx("index", "status", "--format", "json").json()[0]["lease"]
    assert isinstance(told, dict)
    assert (told["host"], told["alive"]) == ("elsewhere", True)


def test_a_hub_that_is_away_exits_3_and_writes_nothing(rlx: Rlx, tmp_path: Path) -> None:
    result = rlx("index", "build", "--hub", "http://127.0.0.1:9")
    assert result.code == 3
    assert [name for name in files(tmp_path / "store") if "snapshots" in name] == []


def test_status_tells_what_is_in_use_and_how_the_last_run_went(rlx: Rlx, hub: Path) -> None:
    nothing = rlx("index", "status", "--format", "json").json()[0]
    assert (nothing["db"], nothing["counts"], nothing["last"], nothing["lease"]) == (None, None, None, None)
    assert "No snapshot" in rlx("index", "status", "--format", "human").out
    rlx("index", "build", "--hub", str(hub), "--format", "quiet")
    told = rlx("index", "status", "--format", "json").json()[0]
    assert str(told["db"]).startswith("catalog-")
    assert told["counts"] == {"environments": 4, "datasets": 3, "spaces": 1, "tasks": 6}
    assert isinstance(told["age"], int)
    assert told["failures"] == []
    people = rlx("index", "status", "--format", "human").out
    assert "4 environments" in people
    assert rlx("index", "status", "--format", "quiet").out.strip() == told["db"]


def test_status_tells_a_pointer_that_is_damaged(rlx: Rlx, tmp_path: Path) -> None:
    pointer = tmp_path / "store" / "snapshots" / "LATEST.v1.json"
    pointer.parent.mkdir(parents=True)
    pointer.write_text("{")
    told = rlx("index", "status", "--format", "json").json()[0]
    assert "cannot be read" in str(told["problem"])
    assert "Problem" in rlx("index", "status", "--format", "human").out


def test_a_schedule_is_a_cron_line_that_works(rlx: Rlx, hub: Path, tmp_path: Path) -> None:
    store = tmp_path / "a store"
    result = rlx("index", "schedule", "--hub", str(hub), "--store", str(store), "--minutes", "5")
    assert result.code == 0
    minute, *_, command = result.out.strip().split(" ", 5)
    assert minute.isdigit()
    words = shlex.split(command)
    assert words[:4] == [f"RLX_CACHE_DIR={tmp_path / 'cache'}", sys.executable, "-m", "rlx"]
    assert run_rlx(words[4:]) == 0
    assert (store / "snapshots").is_dir()


def test_a_cron_line_carries_what_a_build_heeds_and_no_secrets(
    rlx: Rlx, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLX_INDEX_JOBS", "7")
    monkeypatch.setenv("RLX_PUBLIC_URL", "https://site.test")
    monkeypatch.setenv("RLX_SESSION_SECRET", "hush")
    monkeypatch.setenv("HF_TOKEN", "hf_hush")
    monkeypatch.setenv("HF_HOME", "/home/me/hf")
    result = rlx("index", "schedule", "--hub", str(hub), "--every", " @hourly")
    assert result.out.startswith("@hourly RLX_CACHE_DIR=/")
    assert " RLX_INDEX_JOBS=7 " in result.out
    assert "hush" not in result.out
    assert "site.test" not in result.out
    assert "HF_HOME" not in result.out
    result = rlx("index", "schedule", "--hub", str(hub), "--use-token")
    assert " HF_HOME=/home/me/hf " in result.out
    assert "hush" not in result.out + result.err
    assert "HF_TOKEN" in result.err


@pytest.mark.parametrize(
    ("every", "why"),
    [
        ("hourly", "1 fields"),
        ("* * * *", "4 fields"),
        ("@sometimes", "no schedule"),
        ("@reboot", "no schedule"),
        ("60 * * * *", "no minute"),
        ("* * 0 * *", "no day of the month"),
        ("* * * foo *", "no month"),
        ("*/0 * * * *", "no minute"),
        ("9-3 * * * *", "no minute"),
        ("", "0 fields"),
        ("1 * * * * rm", "6 fields"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--create",)])
def test_a_schedule_that_cron_would_not_take_is_refused_with_the_reason(
    rlx: Rlx, hub: Path, every: str, why: str, more: tuple[str, ...]
) -> None:
    result = rlx("index", "schedule", "--hub", str(hub), "--every", every, *more)
    assert (result.code, result.out) == (2, "")
    assert why in result.err


@pytest.mark.parametrize("store", ["s3://bucket/x", "hf://buckets/only-org", "hf://models/a/b"])
def test_a_store_that_is_no_place_is_refused(rlx: Rlx, store: str) -> None:
    result = rlx("index", "status", "--store", store)
    assert result.code == 2
    assert "hf://buckets/ORG/NAME" in result.err


def test_a_job_is_only_made_for_what_it_can_reach(rlx: Rlx, hub: Path) -> None:
    result = rlx("index", "schedule", "--hub", str(hub), "--create")
    assert result.code == 2
    assert "hf://buckets" in result.err
    result = rlx("index", "schedule", "--hub", "https://hub.test", "--store", "hf://buckets/a/b", "--create")
    assert result.code == 2
    assert "token" in result.err


class Api:
    """What is asked of the Hub's Jobs."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.asked: dict[str, object] = {}
        self.failure = failure

    def create_scheduled_job(self, **asked: object) -> object:
        self.asked = asked
        if self.failure is not None:
            raise self.failure
        return type("Job", (), {"id": "job-1"})()


def make(api: object) -> str:
    return create_job(
        ["sh", "-c", "true"],
        image=index.IMAGE,
        schedule=index.HOURLY,
        timeout="75m",
        secrets={"HF_TOKEN": "hf_secret"},
        namespace="acme",
        api=api,  # type: ignore[arg-type]  # also one that lacks the call
    )


def test_a_job_is_asked_for_as_the_installed_client_takes_it() -> None:
    api = Api()
    assert make(api) == "job-1"
    assert api.asked["command"] == ["sh", "-c", "true"]
    assert api.asked["secrets"] == {"HF_TOKEN": "hf_secret"}
    inspect.signature(HfApi.create_scheduled_job).bind(None, **api.asked)


def test_a_client_without_scheduled_jobs_and_a_hub_that_refuses_are_told() -> None:
    with pytest.raises(BadInput, match="no scheduled Jobs"):
        make(object())
    response = httpx2.Response(402, request=httpx2.Request("POST", "https://hub.test"))
    with pytest.raises(Forbidden, match="402") as caught:
        make(Api(HfHubHTTPError("hf_secret", response=response)))
    assert "hf_secret" not in str(caught.value)
