"""Pull requests and discussions, by the Hub's own client."""

from pathlib import Path

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError

from rlx.localhub import LocalHubServer
from tests.localhub.small_hub import CARD
from tests.localhub.writing.conftest import Api

REPO = {"repo_id": "acme/tasks", "repo_type": "dataset"}
TAGGED = CARD.replace("- harbor\n", "- harbor\n- verifiers\n")


def ask(api: HfApi, text: str = TAGGED, **more: str) -> int:
    """The number of a pull request that replaces the card."""
    made = api.create_commit(
        **REPO,
        operations=[CommitOperationAdd("README.md", text.encode())],
        commit_message="Add RL environment tags",
        commit_description="Adds `verifiers`.",
        create_pr=True,
        **more,
    )
    assert made.pr_num is not None
    return made.pr_num


def card(api: HfApi, revision: str, folder: Path) -> str:
    path = api.hf_hub_download(**REPO, filename="README.md", revision=revision, cache_dir=folder)
    return Path(path).read_text()


def test_a_pull_request_is_opened_by_a_stranger_read_viewed_and_merged_by_the_owner(
    hub: LocalHubServer, as_user: Api, own_root: Path, tmp_path: Path
) -> None:
    alice, bob = as_user("hf_alice"), as_user("hf_bob")
    before = bob.dataset_info("acme/tasks")
    num = ask(bob, parent_commit=str(before.sha))
    assert [(one.num, one.status, one.author) for one in bob.get_repo_discussions(**REPO)] == [(num, "open", "bob")]
    details = bob.get_discussion_details(**REPO, discussion_num=num)
    assert (details.title, details.target_branch) == ("Add RL environment tags", "refs/heads/main")
    assert details.conflicting_files == []
    assert "\n+- verifiers\n" in str(details.diff)
    assert [event.type for event in details.events] == ["comment", "commit"]
    assert card(bob, f"refs/pr/{num}", tmp_path) == TAGGED
    assert card(bob, "main", tmp_path) == CARD
    refs = bob.list_repo_refs(**REPO, include_pull_requests=True)
    assert [ref.ref for ref in refs.pull_requests or []] == [f"refs/pr/{num}"]

    page = httpx2.get(f"{hub.url}/datasets/acme/tasks/discussions/{num}")
    assert page.status_code == 200
    assert "+- verifiers" in page.text

    with pytest.raises(HfHubHTTPError, match="Only those who may write"):
        bob.merge_pull_request(**REPO, discussion_num=num)
    alice.merge_pull_request(**REPO, discussion_num=num, comment="Thank you.")
    merged = alice.get_discussion_details(**REPO, discussion_num=num)
    after = alice.dataset_info("acme/tasks")
    assert (merged.status, merged.merge_commit_oid) == ("merged", after.sha)
    assert "verifiers" in (after.tags or [])
    assert [commit.title for commit in alice.list_repo_commits(**REPO)] == [
        "Add RL environment tags (#1)",
        "Update files",
    ]
    assert card(alice, str(before.sha), tmp_path) == CARD
    assert (own_root / "datasets/acme/tasks/README.md").read_text() == CARD
