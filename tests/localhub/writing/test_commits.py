"""Commits, branches and repositories, by the Hub's own client."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile

from rlx.localhub import LocalHub, LocalHubServer, serve
from rlx.localhub.files import scan
from tests.localhub.small_hub import BIG, CARD
from tests.localhub.writing.conftest import INLINE, Api

# The client sends the bytes of LFS files in a way that its HTTP library is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

REPO: dict[str, Any] = {"repo_id": "acme/tasks", "repo_type": "dataset"}
NEW: dict[str, Any] = {"repo_id": "acme/new", "repo_type": "dataset"}


def test_a_repository_is_made_filled_read_and_deleted(hub: LocalHubServer, as_user: Api, tmp_path: Path) -> None:
    alice = as_user("hf_alice")
    url = alice.create_repo(**NEW, private=True)
    assert str(url) == f"{hub.url}/datasets/acme/new"
    alice.create_repo(**NEW, exist_ok=True)
    with pytest.raises(HfHubHTTPError, match="already created"):
        alice.create_repo("acme/NEW", repo_type="dataset")
    folder = tmp_path / "new"
    (folder / "tasks/한 글").mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    (folder / "tasks/한 글/50% #1?.txt").write_bytes(b"odd\r\n")
    (folder / "big.bin").write_bytes(BIG)
    (folder / "empty.txt").touch()
    commit = alice.upload_folder(**NEW, folder_path=folder, commit_message="Fill it")
    assert commit.commit_url == f"{hub.url}/datasets/acme/new/commit/{commit.oid}"
    info = alice.dataset_info("acme/new", files_metadata=True)
    assert (info.sha, info.private, "harbor" in (info.tags or [])) == (commit.oid, True, True)
    got = alice.snapshot_download(**NEW, local_dir=tmp_path / "got")
    assert {path: (Path(got) / path).read_bytes() for path in scan(got)} == {
        path: (folder / path).read_bytes() for path in scan(str(folder))
    }
    assert [one.id for one in alice.list_datasets(author="acme", search="new")] == ["acme/new"]
    assert not as_user("hf_bob").repo_exists(**NEW)
    alice.update_repo_settings(**NEW, private=False, gated="auto")
    with pytest.raises(HfHubHTTPError, match="restricted"):
        as_user("hf_bob").hf_hub_download(**NEW, filename="README.md", cache_dir=tmp_path / "bob")
    alice.delete_repo(**NEW)
    with pytest.raises(RepositoryNotFoundError):
        alice.dataset_info("acme/new")


def test_a_commit_changes_copies_and_removes_and_each_revision_stays(as_user: Api, tmp_path: Path) -> None:
    alice = as_user("hf_alice")
    first = alice.dataset_info("acme/tasks").sha
    alice.upload_file(**REPO, path_or_fileobj=b"new", path_in_repo="notes/a.txt", commit_message="Add a note")
    made = alice.create_commit(
        **REPO,
        operations=[
            CommitOperationAdd("rows.bin", BIG[: INLINE + 1]),
            CommitOperationCopy("notes/a.txt", "notes/b.txt"),
            CommitOperationDelete("tasks/task-000/", is_folder=True),
            CommitOperationDelete("empty.txt"),
        ],
        commit_message="Change several",
    )
    files = set(alice.list_repo_files(**REPO))
    assert {"notes/a.txt", "notes/b.txt", "rows.bin"} <= files
    assert not {"empty.txt", "tasks/task-000/task.toml"} & files
    assert [commit.title for commit in alice.list_repo_commits(**REPO)] == [
        "Change several",
        "Add a note",
        "Update files",
    ]
    assert "empty.txt" in alice.list_repo_files(**REPO, revision=first)
    entry = alice.get_paths_info(**REPO, paths=["rows.bin"], expand=True)[0]
    assert entry.last_commit is not None
    assert entry.last_commit["oid"] == made.oid
    again = alice.upload_file(**REPO, path_or_fileobj=BIG[: INLINE + 1], path_in_repo="rows.bin")
    assert again.oid == made.oid
    back = alice.upload_file(**REPO, path_or_fileobj=b"", path_in_repo="empty.txt")
    assert back.oid not in {made.oid, first}
    with pytest.raises(RemoteEntryNotFoundError):
        alice.delete_file(**REPO, path_in_repo="nothing.txt")


XET = """
import sys
from huggingface_hub import HfApi, constants
assert not constants.HF_HUB_DISABLE_XET
print(HfApi(endpoint=sys.argv[1], token="hf_alice").upload_file(
    path_or_fileobj=sys.argv[2], path_in_repo="rows.parquet", repo_id="acme/tasks", repo_type="dataset").oid)
"""


def test_a_client_with_xet_sends_its_files_inside_the_commit(own_root: Path, state: Path) -> None:
    rows = own_root / "datasets/acme/tasks/rows.parquet"
    changed = state.parent / "changed.parquet"
    changed.write_bytes(rows.read_bytes() + b"PAR1")
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_DISABLE_XET"}
    with serve(LocalHub(own_root, rescan=0, writable=state)) as running:
        done = subprocess.run(
            [sys.executable, "-c", XET, running.url, str(changed)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        entry = HfApi(endpoint=running.url, token=False).get_paths_info(**REPO, paths=["rows.parquet"])[0]
        assert isinstance(entry, RepoFile)
        assert entry.lfs is not None
        assert entry.lfs.sha256 == hashlib.sha256(changed.read_bytes()).hexdigest()


def test_branches_and_tags_hold_revisions_of_their_own(as_user: Api, tmp_path: Path) -> None:
    alice = as_user("hf_alice")
    alice.create_branch(**REPO, branch="try/out")
    alice.create_branch(**REPO, branch="try/out", exist_ok=True)
    alice.upload_file(**REPO, path_or_fileobj=b"x", path_in_repo="x.txt", revision="try/out")
    alice.create_tag(**REPO, tag="v1", revision="try/out")
    refs = alice.list_repo_refs(**REPO)
    assert sorted(ref.name for ref in refs.branches) == ["main", "try/out"]
    assert [ref.name for ref in refs.tags] == ["v1"]
    assert alice.file_exists(**REPO, filename="x.txt", revision="v1")
    assert not alice.file_exists(**REPO, filename="x.txt")
    alice.delete_branch(**REPO, branch="try/out")
    alice.delete_tag(**REPO, tag="v1")
    with pytest.raises(RevisionNotFoundError):
        alice.dataset_info("acme/tasks", revision="v1")
    with pytest.raises(HfHubHTTPError, match="main stays"):
        alice.delete_branch(**REPO, branch="main")


def test_a_commit_whose_parent_is_no_longer_the_head_is_refused(as_user: Api) -> None:
    alice = as_user("hf_alice")
    first = alice.dataset_info("acme/tasks").sha
    alice.upload_file(**REPO, path_or_fileobj=b"1", path_in_repo="a.txt", parent_commit=first)
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as caught:
        alice.upload_file(**REPO, path_or_fileobj=b"2", path_in_repo="a.txt", parent_commit=first)
    assert caught.value.response.status_code == 412


@pytest.mark.parametrize(
    ("token", "repo", "status"),
    [
        (False, "acme/tasks", 401),
        ("hf_bob", "acme/tasks", 403),
        ("hf_dan", "acme/tasks", 403),
        ("hf_bob", "acme/secret", 404),
        ("hf_bob", "acme/gated", 403),
        ("hf_alice", "acme/nowhere", 404),
    ],
)
def test_whoever_may_not_write_is_told_so_as_on_the_hub(
    as_user: Api, state: Path, token: str | bool, repo: str, status: int
) -> None:
    with pytest.raises(HfHubHTTPError) as caught:
        as_user(token).upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id=repo, repo_type="dataset")
    assert caught.value.response.status_code == status
    with pytest.raises(HfHubHTTPError):
        as_user("hf_bob").create_repo("acme/mine")
    assert not list((state / "objects").iterdir())


def test_a_hub_that_only_reads_refuses_every_client_clearly(own_server: LocalHubServer, as_user: Api) -> None:
    reader = as_user("hf_alice")
    reader.endpoint = own_server.url
    with pytest.raises(HfHubHTTPError, match="--writable"):
        reader.upload_file(**REPO, path_or_fileobj=b"x", path_in_repo="x")
    with pytest.raises(HfHubHTTPError, match="--writable"):
        reader.create_repo("alice/x")
    assert list(reader.get_repo_discussions(**REPO)) == []
    assert reader.whoami()["auth"]["accessToken"]["role"] == "read"


def test_what_was_written_is_there_after_a_new_start_and_the_folder_beside_it_still_counts(
    hub: LocalHubServer, as_user: Api, own_root: Path, state: Path
) -> None:
    alice = as_user("hf_alice")
    oid = alice.upload_file(**REPO, path_or_fileobj=b"x", path_in_repo="x.txt").oid
    alice.delete_repo("acme/rows", repo_type="dataset")
    hub.stop()
    (own_root / "datasets/acme/secret/more.txt").write_text("from the folder")
    with serve(LocalHub(own_root, rescan=0, writable=state)) as again:
        alice.endpoint = again.url
        assert alice.dataset_info("acme/tasks").sha == oid
        assert alice.file_exists("acme/secret", "more.txt", repo_type="dataset")
        assert sorted(one.id for one in alice.list_datasets(author="acme")) == [
            "acme/gated",
            "acme/secret",
            "acme/tasks",
        ]
        assert not alice.repo_exists("acme/rows", repo_type="dataset")
