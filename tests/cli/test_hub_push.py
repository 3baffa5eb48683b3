"""`rlx hub push` and `rlx hub pull` against a local hub."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from rlx.hub.writing import HubWriter
from rlx.ids import parse_key
from rlx.localhub import Fault, LocalHubServer
from tests.cli.conftest import Result, Rlx
from tests.jobs.machine import machine, write_task
from tests.publish.hubs import alice, environment, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    with serving(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture
def push(rlx: Rlx, server: LocalHubServer, monkeypatch: pytest.MonkeyPatch) -> Rlx:
    """`rlx hub push` as alice."""
    monkeypatch.setenv("HF_TOKEN", "hf_alice")
    return lambda *arguments: rlx("hub", "push", *arguments, "--hub", server.url)


def events(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.out.splitlines()]


def test_an_environment_is_checked_carded_sent_and_sent_again(
    push: Rlx, rlx: Rlx, server: LocalHubServer, tmp_path: Path
) -> None:
    folder = environment(tmp_path)
    (folder / ".env").write_text("TOKEN=secret-of-mine")
    told = events(push(str(folder), "--repo", "alice/steps", "--format", "json"))
    assert [one["event"] for one in told] == ["checked", "left-out", "card", "create", "plan", "commit", "done"]
    assert told[0] == {
        "event": "checked",
        "repo": "alice/steps",
        "tasks": 2,
        "frameworks": ["harbor", "openenv"],
    }
    assert (told[1]["path"], told[2]["done"]) == (".env", "written")
    again = events(push(str(folder), "--repo", "alice/steps", "--format", "json"))
    assert (again[-1]["sent"], again[-1]["sha"]) == (0, told[-1]["sha"])
    shown = json.loads(rlx("env", "show", "alice/steps", "--hub", server.url, "--format", "json").out)
    assert (shown["format"], shown["tasks"], shown["revision"]) == ("harbor", 2, told[-1]["sha"])

    got = tmp_path / "got"
    pulled = rlx("hub", "pull", "alice/steps", str(got), "--hub", server.url, "--format", "json")
    assert events(pulled)[-1]["sha"] == told[-1]["sha"]
    card = (got / "README.md").read_text()
    assert "  - rl-environment\n  - harbor\n" in card
    assert "harbor run --path steps/tasks --agent oracle" in card
    assert not (got / ".env").exists()
    assert (got / "tasks/first/tests/test.sh").read_bytes() == (folder / "tasks/first/tests/test.sh").read_bytes()


def test_of_a_card_of_ones_own_every_byte_stays(push: Rlx, server: LocalHubServer, tmp_path: Path) -> None:
    folder = environment(tmp_path)
    own = b"---\r\ntags: [mine]   # a comment\r\n---\r\nWords.\r\n"
    (folder / "README.md").write_bytes(own)
    result = push(str(folder), "--repo", "alice/own")
    assert "Tags were added" in result.err
    tagged = own.replace(b"[mine]", b"[mine, rl-environment, harbor, openenv]")
    assert httpx2.get(f"{server.url}/datasets/alice/own/resolve/main/README.md").content == tagged
    (folder / "README.md").write_bytes(b"---\ntags: {odd: 1}\n---\nWords.\n")
    assert "rlx hub tag adds it" in push(str(folder), "--repo", "alice/odd", "--dry-run").err
    (folder / "README.md").unlink()
    push(str(folder), "--repo", "alice/own")
    assert httpx2.get(f"{server.url}/datasets/alice/own/resolve/main/README.md").content == tagged
    (folder / "README.md").write_text("Just words.\n")
    push(str(folder), "--repo", "alice/words")
    sent = httpx2.get(f"{server.url}/datasets/alice/words/resolve/main/README.md").content
    assert sent.startswith(b"---\npretty_name: words\n")
    assert sent.endswith(b"---\n\nJust words.\n")


def test_what_is_no_environment_or_not_in_order_is_not_sent(push: Rlx, server: LocalHubServer, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.md").write_text("Nothing here.")
    broken = environment(tmp_path / "broken", "fine", "bad")
    (broken / "tasks/bad/task.toml").write_text("not = [toml")
    keyed = environment(tmp_path / "keyed")
    (keyed / "README.md").write_text("hf_" + "x" * 34)
    for folder, why in (
        (empty, "no environment"),
        (broken, "1 of the tasks"),
        (keyed, "README.md cannot be sent"),
        (tmp_path / "nowhere", "is no folder"),
    ):
        result = push(str(folder), "--repo", "alice/refused")
        assert (result.code, why in result.err) == (2, True), result.err
    assert "tasks/bad" in push(str(broken), "--repo", "alice/refused").err
    assert httpx2.get(f"{server.url}/api/datasets/alice/refused").status_code == 401


def test_whoever_is_not_signed_in_or_names_a_folder_is_told_what_to_do(
    rlx: Rlx, push: Rlx, server: LocalHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = environment(tmp_path)
    assert push(str(folder), "--repo", "acme/theirs").code == 4
    told = rlx("hub", "push", str(folder), "--repo", "alice/x", "--hub", str(tmp_path))
    assert (told.code, "--writable" in told.err) == (2, True)
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "none"))
    would = push(str(folder), "--repo", "alice/x", "--dry-run", "--format", "json")
    assert "README.md" in [one["path"] for one in events(would) if one["event"] == "would-send"]
    told = push(str(folder), "--repo", "alice/x")
    assert (told.code, "hf auth login" in told.err) == (4, True)


def test_spaces_rows_and_what_rlx_new_wrote_are_published_too(
    push: Rlx, rlx: Rlx, server: LocalHubServer, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    assert rlx("new", "--example", "guessing", "--out", str(made), "--target", "openenv").code == 0
    assert push(str(made), "--repo", "alice/made").code == 0
    assert b"\n  - rl-environment\n" in httpx2.get(f"{server.url}/datasets/alice/made/resolve/main/README.md").content
    assert push(str(made / "openenv_env"), "--repo", "alice/live").code == 0
    shown = json.loads(rlx("env", "show", "space:alice/live", "--hub", server.url, "--format", "json").out)
    assert (shown["kind"], shown["framework"]) == ("space", "openenv")
    rows = tmp_path / "rows"
    rows.mkdir()
    questions = [{"question": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(9)]
    (rows / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    assert push(str(rows), "--repo", "alice/rows").code == 0
    shown = json.loads(rlx("env", "show", "alice/rows", "--hub", server.url, "--format", "json").out)
    assert shown["tasks"] == 9
    folder = environment(tmp_path)
    assert push(str(folder), "--repo", "alice/packed", "--packed").code == 0
    assert set(alice(server).files(parse_key("alice/packed"), "main")) == {"README.md", "tasks-0000.tar.gz"}
    shown = json.loads(rlx("env", "show", "alice/packed", "--hub", server.url, "--format", "json").out)
    assert (shown["format"], shown["tasks"]) == ("packed", 2)
    assert push(str(rows), "--repo", "alice/rows", "--packed").code == 2


def test_a_push_that_is_killed_goes_on(push: Rlx, server: LocalHubServer, tmp_path: Path) -> None:
    folder = environment(tmp_path, *(f"t{number}" for number in range(60)))
    server.hub.faults.add(Fault(path="*/commit/main", after=1, delay=60))
    command = [sys.executable, "-m", "rlx", "hub", "push", str(folder), "--repo", "alice/killed"]
    process = subprocess.Popen([*command, "--hub", server.url, "--format", "json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        for line in process.stdout:
            if json.loads(line)["event"] == "commit":
                process.send_signal(signal.SIGKILL)
                break
    server.hub.faults.clear()
    told = events(push(str(folder), "--repo", "alice/killed", "--format", "json"))
    assert (told[-1]["known"], told[-1]["sent"]) == (199, 101)  # the card is left as it is there


def test_a_hub_that_is_served_writable_tells_a_token_that_owns_everything(rlx: Rlx, tmp_path: Path) -> None:
    write_task(tmp_path / "hub", "first", {})
    refused = rlx("hub", "serve", str(tmp_path / "hub"), "--state", str(tmp_path / "state"))
    assert (refused.code, "--writable" in refused.err) == (2, True)
    command = [sys.executable, "-m", "rlx", "hub", "serve", str(tmp_path / "hub"), "--writable", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process, process.stderr:
        try:
            said = "".join(process.stderr.readline() for _ in range(3))
            token, url = re.search(r"hf_local\w+", said), re.search(r"http://127\.0\.0\.1:\d+", said)
            assert token, said
            assert url, said
            writer, key = HubWriter(url[0], token[0]), parse_key("acme/tasks")
            writer.commit(key, {"README.md": b"---\ntags: [x]\n---\n"}, title="Say so", parent=writer.head(key))
            assert "README.md" in writer.files(key, "main")
        finally:
            process.kill()
    assert not (tmp_path / "hub/datasets/acme/tasks/README.md").exists()


@pytest.mark.run_extra
@pytest.mark.timeout(300)
def test_a_pushed_environment_opens_and_its_oracle_earns_everything(
    push: Rlx, server: LocalHubServer, tmp_path: Path
) -> None:
    write_task(tmp_path, "solved", {})
    assert push(str(tmp_path / "datasets/acme/tasks"), "--repo", "alice/runs").code == 0
    with machine(server.url, tmp_path / "machine") as made:
        made.work(slots=1)
        done = made.run("tasks/solved", "oracle", env="alice/runs")
    assert (done.status, done.reward, done.failure) == ("done", 1.0, None)
