"""Private and gated repositories, tokens, and quotas."""

import json
import os
from pathlib import Path

import pytest
from huggingface_hub import HfApi, HfFileSystem, hf_hub_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

from rlx.errors import BadInput, NotFound
from rlx.localhub import LocalHub, LocalHubServer
from tests.localhub.small_hub import META, client_of

pytestmark = pytest.mark.anyio

PRIVATE = "acme/secret"
GATED = "acme/gated"


@pytest.mark.parametrize(
    ("token", "seen"),
    [
        (False, {"acme/tasks", "acme/rows", "acme/gated"}),
        ("hf_alice", {"acme/tasks", "acme/rows", "acme/gated", "acme/secret"}),
        ("hf_bob", {"acme/tasks", "acme/rows", "acme/gated", "bob/own"}),
    ],
)
def test_lists_hold_what_the_visitor_may_see(server: LocalHubServer, token: str | bool, seen: set[str]) -> None:
    assert {one.id for one in HfApi(endpoint=server.url, token=token).list_datasets()} == seen


@pytest.mark.parametrize("token", [False, "hf_bob"])
def test_a_private_repository_is_as_good_as_absent(server: LocalHubServer, token: str | bool, tmp_path: Path) -> None:
    api = HfApi(endpoint=server.url, token=token)
    assert not api.repo_exists(PRIVATE, repo_type="dataset")
    for name in (PRIVATE, "acme/nowhere"):
        with pytest.raises(RepositoryNotFoundError) as caught:
            api.dataset_info(name)
        assert caught.value.response.status_code == (404 if token else 401)
        with pytest.raises(RepositoryNotFoundError):
            hf_hub_download(
                name, "README.md", repo_type="dataset", endpoint=server.url, cache_dir=tmp_path, token=token
            )
        with pytest.raises(FileNotFoundError):
            HfFileSystem(endpoint=server.url, token=token, skip_instance_cache=True).ls(f"datasets/{name}")


def test_private_answers_are_the_same_as_those_for_nothing(server: LocalHubServer) -> None:
    api = HfApi(endpoint=server.url, token=False)
    answers = []
    for name in (PRIVATE, "acme/nowhere"):
        with pytest.raises(RepositoryNotFoundError) as caught:
            api.dataset_info(name)
        headers = {k: v for k, v in caught.value.response.headers.items() if k not in {"date", "ratelimit"}}
        answers.append((caught.value.response.text, headers))
    assert answers[0] == answers[1]


def test_owners_read_their_private_repository(server: LocalHubServer, tmp_path: Path) -> None:
    assert HfApi(endpoint=server.url, token="hf_alice").dataset_info(PRIVATE).private
    path = hf_hub_download(
        PRIVATE, "README.md", repo_type="dataset", endpoint=server.url, cache_dir=tmp_path, token="hf_alice"
    )
    assert "harbor" in Path(path).read_text()


@pytest.mark.parametrize(("token", "status"), [(False, 401), ("hf_bob", 403)])
def test_gated_files_are_refused_and_the_page_is_not(
    server: LocalHubServer, token: str | bool, status: int, tmp_path: Path
) -> None:
    api = HfApi(endpoint=server.url, token=token)
    assert api.dataset_info(GATED).gated == "manual"
    with pytest.raises(GatedRepoError) as caught:
        api.auth_check(GATED, repo_type="dataset")
    assert caught.value.response.status_code == status
    with pytest.raises(GatedRepoError):
        hf_hub_download(GATED, "train.jsonl", repo_type="dataset", endpoint=server.url, cache_dir=tmp_path, token=token)


@pytest.mark.parametrize("token", ["hf_alice", "hf_carol"])
def test_owners_and_those_granted_read_gated_files(server: LocalHubServer, token: str, tmp_path: Path) -> None:
    HfApi(endpoint=server.url, token=token).auth_check(GATED, repo_type="dataset")
    assert hf_hub_download(
        GATED, "train.jsonl", repo_type="dataset", endpoint=server.url, cache_dir=tmp_path, token=token
    )


def test_a_bad_token_fails_even_public_reads(server: LocalHubServer) -> None:
    with pytest.raises(HfHubHTTPError) as caught:
        HfApi(endpoint=server.url, token="hf_mallory").dataset_info("acme/tasks")
    assert caught.value.response.status_code == 401
    assert not isinstance(caught.value, RepositoryNotFoundError)


async def test_a_hub_without_users_takes_every_token_for_none(tmp_path: Path) -> None:
    (tmp_path / "datasets/org/name").mkdir(parents=True)
    hub = LocalHub(tmp_path)
    async with client_of(hub, "hf_of_this_machine") as client:
        assert (await client.get("/api/datasets/org/name")).status_code == 200
        assert (await client.get("/api/whoami-v2")).status_code == 401


async def test_users_given_by_the_program_add_to_those_of_the_file(root: Path) -> None:
    hub = LocalHub(root, users={"hf_dora": "dora"})
    for token, name in (("hf_dora", "dora"), ("hf_bob", "bob")):
        async with client_of(hub, token) as client:
            assert (await client.get("/api/whoami-v2")).json()["name"] == name


async def test_limits_of_the_file_are_enforced(own_root: Path) -> None:
    now = [1000.0]
    (own_root / "hub.json").write_text(json.dumps({**META, "limits": {"api": 2}}))
    hub = LocalHub(own_root, clock=lambda: now[0])
    async with client_of(hub) as client, client_of(hub, "hf_alice") as alice:
        first = await client.get("/api/datasets")
        assert first.headers["ratelimit"] == '"api";r=1;t=300'
        assert first.headers["ratelimit-policy"] == '"fixed window";"api";q=2;w=300'
        await client.get("/api/datasets")
        refused = await client.get("/api/datasets")
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "300"
        assert (await alice.get("/api/datasets")).status_code == 200
        assert (await client.get("/datasets/acme/tasks/resolve/main/README.md")).status_code == 200
        now[0] += 301
        assert (await client.get("/api/datasets")).status_code == 200


async def test_changes_of_hub_json_take_effect(own_root: Path) -> None:
    hub = LocalHub(own_root, rescan=0)
    file = own_root / "hub.json"
    async with client_of(hub) as client:
        assert (await client.get("/api/datasets/acme/tasks")).json()["likes"] == 3
        assert len((await client.get("/api/datasets")).json()) == 3
        file.write_text(json.dumps({"datasets/acme/tasks": {"likes": 4}, "datasets/acme/rows": {"private": True}}))
        assert (await client.get("/api/datasets/acme/tasks")).json()["likes"] == 4
        assert {one["id"] for one in (await client.get("/api/datasets")).json()} == {
            "acme/gated",
            "acme/secret",
            "acme/tasks",
            "bob/own",
        }
        file.unlink()
        assert len((await client.get("/api/datasets")).json()) == 5


async def test_a_broken_hub_json_keeps_the_last_good_one_in_force(
    own_root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hub = LocalHub(own_root, rescan=0)
    (own_root / "hub.json").write_text('{"datasets/acme/tasks": {"privat": true}}')
    async with client_of(hub) as client:
        assert (await client.get("/api/datasets/acme/secret")).status_code == 401
    assert "datasets/acme/tasks.privat" in caplog.text
    with pytest.raises(BadInput, match=r"malformed at datasets/acme/tasks\.privat"):
        LocalHub(own_root)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"users": 3}', '{"limits": {"api": "many"}}', '{"faults": [{}, 1]}'])
def test_a_malformed_hub_json_is_refused_at_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "hub.json").write_text(text)
    with pytest.raises(BadInput, match=r"hub\.json is malformed"):
        LocalHub(tmp_path)


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        LocalHub(tmp_path / "nowhere")


def test_nothing_is_written_below_the_root(own_root: Path, tmp_path: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        return sorted(
            (path.as_posix(), path.stat().st_mtime_ns, path.stat().st_ino) for path in [own_root, *own_root.rglob("*")]
        )

    before = state()
    hub = LocalHub(own_root, cache_dir=tmp_path / "cache")
    assert hub.warm() == {"datasets": 5, "spaces": 1, "models": 1}
    assert state() == before
    assert os.listdir(tmp_path / "cache") == ["hashes.v1.db"]
