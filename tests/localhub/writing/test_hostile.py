"""Requests that no client sends: each is refused, and nothing of it stays."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.hf_api import RepoFile

from rlx.localhub import LocalHubServer
from rlx.localhub.files import scan
from rlx.localhub.writing.cards import validate
from tests.localhub.writing.conftest import Api

COMMIT = "/api/datasets/acme/tasks/commit/main"
BATCH = "/datasets/acme/{}.git/info/lfs/objects/batch"
SECRET = b"not for others"


@pytest.fixture
def http(hub: LocalHubServer) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=hub.url, headers={"authorization": "Bearer hf_alice"}) as client:
        yield client


def lines(*changes: object, **header: object) -> bytes:
    """A commit as it is sent."""
    first = {"key": "header", "value": {"summary": "A commit", **header}}
    return b"\n".join(json.dumps(line).encode() for line in (first, *changes))


def put(path: object, content: bytes = b"x") -> dict[str, object]:
    return {"key": "file", "value": {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}}


BAD_PATHS = (
    *("../up", "a/../../up", "/etc/passwd", "a//b", "./a", "a/.", "", "a\0b", "a\nb", ".git/config", "x/.GIT/hooks/a"),
    *("a/.Cache/b", "x" * 256, "/".join(["deep"] * 300), "\udc80", 7, None, "README.md/inside", "tasks"),
)


@pytest.mark.parametrize("path", BAD_PATHS, ids=lambda path: repr(path)[:30])
def test_a_path_that_leads_out_or_is_no_files_is_refused(
    http: httpx2.Client, own_root: Path, state: Path, path: object
) -> None:
    before = scan(str(own_root))
    answer = http.post(COMMIT, content=lines(put("fine.txt"), put(path)))
    assert answer.status_code == 400, answer.text
    assert http.head("/datasets/acme/tasks/resolve/main/fine.txt").status_code == 404
    assert scan(str(own_root)) == before
    assert {path.name for path in state.iterdir()} <= {
        *("objects", "incoming", "lock", "ledger.v1.db", "ledger.v1.db-wal", "ledger.v1.db-shm")
    }
    assert not list((state / "incoming").iterdir())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"key": "file", "value": {}}', 400),
        (lines(put("a"), {"key": "header", "value": {"summary": "again"}}), 400),
        (lines(put("a"), summary=""), 400),
        (lines(put("a"), summary="x" * 501), 400),
        (lines({"key": "symlink", "value": {"path": "a", "target": "/etc/passwd"}}), 400),
        (lines({"key": "file", "value": {"path": "a", "content": "@@", "encoding": "base64"}}), 400),
        (lines({"key": "lfsFile", "value": {"path": "a", "oid": "0" * 64, "size": 1}}), 400),
        (lines({"key": "deletedFile", "value": {"path": "nothing"}}), 404),
        (lines({"key": "deletedFolder", "value": {"path": ".."}}), 400),
        (lines(put("a"), parentCommit="0" * 40), 412),
    ],
    ids=range(13),
)
def test_a_commit_that_is_none_changes_nothing(http: httpx2.Client, body: bytes, status: int) -> None:
    before = http.get("/api/datasets/acme/tasks").json()["sha"]
    answer = http.post(COMMIT, content=body)
    assert answer.status_code == status, answer.text
    assert http.get("/api/datasets/acme/tasks").json()["sha"] == before


def test_a_file_and_a_folder_cannot_have_one_name(http: httpx2.Client) -> None:
    for changes in ([put("n"), put("n/x")], [put("m/x"), put("m")]):
        assert http.post(COMMIT, content=lines(*changes)).status_code == 400
    swapped = [put("tasks/task-001"), {"key": "deletedFolder", "value": {"path": "tasks/task-001"}}]
    assert http.post(COMMIT, content=lines(swapped[1], swapped[0])).status_code == 200


def test_bytes_of_anothers_repository_cannot_be_had_by_their_hash(as_user: Api, http: httpx2.Client) -> None:
    """Who knows the hash of a secret does not know the secret."""
    as_user("hf_alice").upload_file(
        path_or_fileobj=SECRET, path_in_repo="a.bin", repo_id="acme/secret", repo_type="dataset"
    )
    listed = as_user("hf_alice").get_paths_info("acme/secret", ["a.bin"], repo_type="dataset")[0]
    assert isinstance(listed, RepoFile)
    assert listed.lfs is not None
    digest = listed.lfs.sha256
    bob = as_user("hf_bob")
    bob.create_repo("bob/mine", repo_type="dataset")
    claim = {"key": "lfsFile", "value": {"path": "stolen.bin", "algo": "sha256", "oid": digest, "size": len(SECRET)}}
    answer = httpx2.post(
        f"{http.base_url}/api/datasets/bob/mine/commit/main",
        content=lines(claim),
        headers={"authorization": "Bearer hf_bob"},
    )
    assert answer.status_code == 400
    asked = {"operation": "upload", "objects": [{"oid": digest, "size": len(SECRET)}]}
    told = httpx2.post(
        f"{http.base_url}/datasets/bob/mine.git/info/lfs/objects/batch",
        json=asked,
        headers={"authorization": "Bearer hf_bob"},
    ).json()
    assert "actions" in told["objects"][0]


def test_an_object_is_taken_at_its_signed_address_alone_and_only_as_announced(http: httpx2.Client) -> None:
    asked = {"operation": "upload", "objects": [{"oid": "ab" * 32, "size": 5}, {"oid": "ab" * 32, "size": 0}]}
    objects = http.post(BATCH.format("tasks"), json=asked).json()["objects"]
    href = objects[0]["actions"]["upload"]["href"]
    assert "error" in objects[1]
    assert http.put(href, content=b"12345").status_code == 400
    assert http.put(href, content=b"123456").status_code == 413
    assert http.put(re.sub("sig=.", "sig=_", href), content=b"12345").status_code == 403
    assert http.put(href.replace("/5?", "/6?"), content=b"123456").status_code == 403
    assert http.put(href.replace("acme/tasks", "acme/rows"), content=b"12345").status_code == 403
    for body in ({}, {"operation": "download", "objects": []}, {"operation": "upload", "objects": [{"oid": "../x"}]}):
        assert http.post(BATCH.format("tasks"), json=body).status_code == 400


def test_markup_of_strangers_stays_text_on_pages(http: httpx2.Client, as_user: Api) -> None:
    evil = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    bob = as_user("hf_bob")
    num = bob.create_commit(
        "acme/tasks",
        [
            CommitOperationAdd("README.md", f"---\nlicense: mit\n---\n{evil}".encode()),
            CommitOperationAdd("<i>.txt", b"\x00\xff"),
        ],
        commit_message=evil,
        commit_description=evil,
        repo_type="dataset",
        create_pr=True,
    ).pr_num
    for page in (f"/datasets/acme/tasks/discussions/{num}", "/datasets/acme/tasks/discussions"):
        answer = http.get(page)
        assert "<script" not in answer.text
        assert "<img" not in answer.text
        assert "<i>" not in answer.text
        assert "alert(1)" in answer.text
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert "text/css" in http.get("/-/localhub.css").headers["content-type"]


def test_names_that_no_repository_or_branch_may_have_are_refused(http: httpx2.Client) -> None:
    for name in ("..", "a/b/c", "", "x" * 200, ".git", "a b", 7):
        answer = http.post("/api/repos/create", json={"type": "dataset", "organization": "acme", "name": name})
        assert answer.status_code in {400, 403}, name
    for name in ("a b", "../x", "refs/x", "-x", "a..b", "x" * 201, "a.lock", "한글"):
        answer = http.post("/api/datasets/acme/tasks/tag/main", json={"tag": name})
        assert answer.status_code == 400, name
    assert http.put("/api/datasets/acme/tasks/settings", json={"gated": "always"}).status_code == 400
    assert http.delete("/api/datasets/acme/tasks").status_code == 405


@pytest.mark.parametrize(
    ("card", "is_fine"),
    [
        ("---\ntags: [a, b]\n---\n", True),
        ("No front matter.\n", True),
        ("---\n---\n", True),
        ("---\ntags: [a\n---\n", False),
        ("---\ntags: {a: 1}\n---\n", False),
        ("---\ntags: [[a]]\n---\n", False),
        ("---\n- a\n---\n", False),
        ("---\na: &a [*a]\n---\n", False),
        ("---\n" + "[" * 50_000 + "\n---\n", False),
    ],
)
def test_a_card_is_told_what_is_wrong_with_it(card: str, is_fine: bool) -> None:
    assert (validate(card)["errors"] == []) is is_fine
