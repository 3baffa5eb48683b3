"""`rlx hub detect` and `rlx hub tag`: on a folder, and on a repository of a local hub, by its unmodified client."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from rlx.localhub import LocalHubServer
from tests.cli.conftest import Rlx
from tests.jobs.machine import write_task
from tests.publish.hubs import serving

CARD = b"---\r\nlicense: mit # of the tasks\r\ntags: [coding]\r\n---\r\n# Steps\r\n"
TAGGED = CARD.replace(b"[coding]", b"[coding, rl-environment, harbor, openenv]")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    with serving(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_task(tmp_path, "first", {})
    made = tmp_path / "datasets" / "acme" / "tasks"
    (made / "README.md").write_bytes(CARD)
    return made


@pytest.fixture
def api(server: LocalHubServer) -> HfApi:
    return HfApi(endpoint=server.url, token="hf_alice")


def publish(api: HfApi, folder: Path, repo: str) -> None:
    api.create_repo(repo, repo_type="dataset")
    api.upload_folder(repo_id=repo, folder_path=folder, repo_type="dataset")


def card_of(api: HfApi, repo: str, folder: Path, revision: str = "main") -> bytes:
    got = api.hf_hub_download(repo, "README.md", repo_type="dataset", revision=revision, local_dir=folder / revision)
    return Path(got).read_bytes()


def test_a_folder_s_card_is_edited_once_and_a_check_says_what_is_missing(rlx: Rlx, folder: Path) -> None:
    told = json.loads(rlx("hub", "detect", str(folder), "--format", "json").out)
    assert {one["framework"]: one["state"] for one in told["frameworks"]} == {
        "harbor": "untagged",
        "openenv": "untagged",
    }
    assert rlx("hub", "tag", str(folder), "--check").code == 1
    dry = json.loads(rlx("hub", "tag", str(folder), "--dry-run", "--format", "json").out)
    assert dry["added"] == ["rl-environment", "harbor", "openenv"]
    assert "+tags: [coding, rl-environment, harbor, openenv]" in dry["diff"]
    assert (folder / "README.md").read_bytes() == CARD
    assert rlx("hub", "tag", str(folder)).code == 0
    assert (folder / "README.md").read_bytes() == TAGGED
    assert rlx("hub", "tag", str(folder), "--check").code == 0
    again = rlx("hub", "tag", str(folder))
    assert (again.code, again.out) == (0, "")
    assert "has these tags already" in again.err


def test_a_claim_that_the_files_deny_is_refused_unless_it_is_meant(rlx: Rlx, folder: Path) -> None:
    refused = rlx("hub", "tag", str(folder), "--framework", "verl")
    assert refused.code == 2
    assert "do not support verl" in refused.err
    assert rlx("hub", "tag", str(folder), "--framework", "verll").code == 2
    assert (folder / "README.md").read_bytes() == CARD
    assert rlx("hub", "tag", str(folder), "--framework", "verl", "--claim").code == 0
    assert b"[coding, rl-environment, verl]" in (folder / "README.md").read_bytes()


def test_a_pull_request_is_opened_once_viewed_and_merged(
    rlx: Rlx, server: LocalHubServer, api: HfApi, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(api, folder, "alice/steps")
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    asked = ("hub", "tag", "alice/steps", "--hub", server.url, "--format", "json")
    made = json.loads(rlx(*asked).out)
    assert (made["done"], made["url"]) == ("proposed", f"{server.url}/datasets/alice/steps/discussions/1")
    assert json.loads(rlx(*asked).out)["done"] == "open"
    assert card_of(api, "alice/steps", tmp_path) == CARD
    assert card_of(api, "alice/steps", tmp_path, "refs/pr/1") == TAGGED
    seen = api.get_discussion_details("alice/steps", 1, repo_type="dataset")
    assert (seen.title, seen.author, seen.status) == ("Add RL environment tags", "bob", "open")
    assert seen.diff is not None
    assert "+tags: [coding, rl-environment, harbor, openenv]" in seen.diff
    api.merge_pull_request("alice/steps", 1, repo_type="dataset")
    assert card_of(api, "alice/steps", tmp_path / "merged") == TAGGED
    assert json.loads(rlx(*asked).out)["done"] == "tagged"


def test_who_may_not_write_is_told_so_and_who_may_commits(
    rlx: Rlx, server: LocalHubServer, api: HfApi, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(api, folder, "alice/more")
    asked = ("hub", "tag", "alice/more", "--hub", server.url, "--commit")
    monkeypatch.setenv("HF_TOKEN", "hf_bob")
    refused = rlx(*asked)
    assert refused.code == 4
    assert "hf_bob" not in refused.err
    monkeypatch.delenv("HF_TOKEN")
    assert rlx(*asked).code == 4
    assert "Nobody is signed in" in rlx(*asked).err
    monkeypatch.setenv("HF_TOKEN", "hf_alice")
    assert rlx(*asked).code == 0
    assert card_of(api, "alice/more", tmp_path) == TAGGED
    assert rlx("hub", "tag", os.fspath(folder), "--commit").code == 2
