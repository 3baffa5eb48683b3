"""Pull requests and discussions, by the Hub's own client."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HfHubHTTPError

from rlx.localhub import LocalHubServer
from tests.localhub.small_hub import CARD
from tests.localhub.writing.conftest import Api

REPO: dict[str, Any] = {"repo_id": "acme/tasks", "repo_type": "dataset"}
TAGGED = CARD.replace("- harbor\n", "- harbor\n- verifiers\n")


def ask(api: HfApi, text: str = TAGGED, parent: str | None = None) -> int:
    """The number of a pull request that replaces the card."""
    made = api.create_commit(
        **REPO,
        operations=[CommitOperationAdd("README.md", text.encode())],
        commit_message="Add RL environment tags",
        commit_description="Adds `verifiers`.",
        create_pr=True,
        parent_commit=parent,
    )
    return int(str(made.pr_num))


def card(api: HfApi, revision: str, folder: Path) -> str:
    path = api.hf_hub_download(**REPO, filename="README.md", revision=revision, cache_dir=folder)
    return Path(path).read_text()


def test_a_pull_request_is_opened_by_a_stranger_read_viewed_and_merged_by_the_owner(
    hub: LocalHubServer, as_user: Api, own_root: Path, tmp_path: Path
) -> None:
    alice, bob = as_user("hf_alice"), as_user("hf_bob")
    before = bob.dataset_info("acme/tasks")
    num = ask(bob, parent=str(before.sha))
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


def test_a_discussion_is_had_and_comments_are_changed_by_those_who_wrote_them(as_user: Api) -> None:
    alice, bob = as_user("hf_alice"), as_user("hf_bob")
    opened = bob.create_discussion(**REPO, title="task-003 cannot be solved", description="It fails.\n\nSee <b>.")
    num = opened.num
    at: dict[str, Any] = {**REPO, "discussion_num": num}
    said = alice.comment_discussion(**at, comment="Thank you.")
    assert (said.author, said.content) == ("alice", "Thank you.")
    assert alice.edit_discussion_comment(**at, comment_id=said.id, new_content="Thanks.").edited
    with pytest.raises(HfHubHTTPError, match="whoever wrote it"):
        bob.edit_discussion_comment(**at, comment_id=said.id, new_content="No.")
    bob.rename_discussion(**at, new_title="task-003 has no solution")
    alice.change_discussion_status(**at, new_status="closed", comment="Mended.")
    with pytest.raises(HfHubHTTPError, match="closed already"):
        alice.change_discussion_status(**at, new_status="closed")
    carol = as_user("hf_carol")
    for change in (
        lambda: carol.rename_discussion(**at, new_title="Mine now"),
        lambda: carol.change_discussion_status(**at, new_status="open"),
        lambda: as_user("hf_dan").comment_discussion(**at, comment="Hello."),
        lambda: as_user(False).comment_discussion(**at, comment="Hello."),
    ):
        with pytest.raises(HfHubHTTPError):
            change()
    told = alice.get_discussion_details(**at)
    assert (told.title, told.status, told.is_pull_request) == ("task-003 has no solution", "closed", False)
    assert [event.type for event in told.events] == [
        "comment",
        "comment",
        "title-change",
        "comment",
        "status-change",
    ]
    with pytest.warns(UserWarning, match="irreversible"):
        hidden = alice.hide_discussion_comment(**at, comment_id=told.events[0].id)
    assert (hidden.hidden, hidden.content) == (True, "")
    bob.create_discussion(**REPO, title="Another")
    ask(bob)
    every = [one.num for one in alice.get_repo_discussions(**REPO)]
    opened_ones = [one.num for one in alice.get_repo_discussions(**REPO, discussion_status="open")]
    pulls = [one.num for one in alice.get_repo_discussions(**REPO, discussion_type="pull_request", author="bob")]
    assert (every, opened_ones, pulls) == ([3, 2, 1], [3, 2], [3])


def test_a_pull_request_that_another_commit_crossed_is_not_merged_until_it_is_brought_up_to_date(
    as_user: Api, tmp_path: Path
) -> None:
    alice, bob = as_user("hf_alice"), as_user("hf_bob")
    first, second = ask(bob), ask(bob, CARD.replace("Twelve", "Dozen"))
    alice.merge_pull_request(**REPO, discussion_num=first)
    crossed = alice.get_discussion_details(**REPO, discussion_num=second)
    assert crossed.conflicting_files == ["README.md"]
    with pytest.raises(HfHubHTTPError, match=r"README\.md") as caught:
        alice.merge_pull_request(**REPO, discussion_num=second)
    assert caught.value.response.status_code == 409
    bob.upload_file(**REPO, path_or_fileobj=TAGGED.encode(), path_in_repo="README.md", revision=f"refs/pr/{second}")
    assert alice.get_discussion_details(**REPO, discussion_num=second).conflicting_files == []
    alice.merge_pull_request(**REPO, discussion_num=second)
    assert card(alice, "main", tmp_path) == TAGGED


def test_a_draft_takes_commits_of_its_author_and_is_merged_once_it_is_open(as_user: Api) -> None:
    alice, bob, carol = as_user("hf_alice"), as_user("hf_bob"), as_user("hf_carol")
    draft = bob.create_pull_request(**REPO, title="A note", description="Soon.")
    at: dict[str, Any] = {**REPO, "discussion_num": draft.num}
    note: dict[str, Any] = {
        **REPO,
        "path_or_fileobj": b"note",
        "path_in_repo": "note.txt",
        "revision": f"refs/pr/{draft.num}",
    }
    assert draft.status == "draft"
    with pytest.raises(HfHubHTTPError, match="Only its author"):
        carol.upload_file(**note)
    bob.upload_file(**note)
    with pytest.raises(HfHubHTTPError, match="is draft"):
        alice.merge_pull_request(**at)
    bob.change_discussion_status(**at, new_status="open")
    alice.merge_pull_request(**at)
    assert alice.file_exists(**REPO, filename="note.txt")
    with pytest.raises(HfHubHTTPError, match="is merged"):
        bob.upload_file(**note | {"path_or_fileobj": b"x"})
    with pytest.raises(HfHubHTTPError, match="is merged"):
        alice.merge_pull_request(**at)


def test_what_is_restricted_has_no_pull_requests_of_strangers_and_no_pages(hub: LocalHubServer, as_user: Api) -> None:
    alice, bob = as_user("hf_alice"), as_user("hf_bob")
    for repo in ("acme/gated", "acme/secret"):
        made = alice.create_commit(
            repo,
            [CommitOperationAdd("README.md", b"---\ntags: [x]\n---\nSecret words.\n")],
            commit_message="Change it",
            repo_type="dataset",
            create_pr=True,
        )
        with pytest.raises(HfHubHTTPError):
            bob.get_discussion_details(repo, int(str(made.pr_num)), repo_type="dataset")
        with pytest.raises(HfHubHTTPError):
            bob.create_discussion(repo, title="Let me in", repo_type="dataset")
        assert httpx2.get(f"{hub.url}/datasets/{repo}/discussions/{made.pr_num}").status_code == 401
