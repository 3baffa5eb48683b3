"""Faults: what each does to the unmodified client, and that each hits what it should."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi, HfFileSystem, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from huggingface_hub.utils._http import parse_ratelimit_headers

from rlx.localhub import Fault, Faults, LocalHub, LocalHubServer
from tests.localhub.small_hub import BIG, META, client_of

pytestmark = pytest.mark.anyio

TASKS = "acme/tasks"
FILE = f"/datasets/{TASKS}/resolve/main/big.txt"

type Download = Callable[[str], Path]


@pytest.fixture
def download(own_server: LocalHubServer, tmp_path: Path) -> Download:
    """Download a file of the tasks through the client, into a cache of this test alone."""

    def run(path: str) -> Path:
        local = hf_hub_download(
            TASKS, path, repo_type="dataset", endpoint=own_server.url, cache_dir=tmp_path / "cache", token=False
        )
        return Path(local)

    return run


def api(server: LocalHubServer) -> HfApi:
    return HfApi(endpoint=server.url, token=False)


def test_without_a_commit_header_downloads_fail_and_the_file_system_does_not(
    own_server: LocalHubServer, download: Download, tmp_path: Path
) -> None:
    own_server.hub.faults.add(Fault(path="*/resolve/*", drop=("x-repo-commit",)))
    with pytest.raises(LocalEntryNotFoundError):
        download("big.txt")
    with pytest.raises(LocalEntryNotFoundError):
        snapshot_download(TASKS, repo_type="dataset", endpoint=own_server.url, cache_dir=tmp_path / "all", token=False)
    fs = HfFileSystem(endpoint=own_server.url, token=False, skip_instance_cache=True)
    assert fs.cat(f"datasets/{TASKS}/big.txt") == BIG


def test_without_an_etag_only_lfs_files_arrive(own_server: LocalHubServer, download: Download) -> None:
    own_server.hub.faults.add(Fault(path="*/resolve/*", drop=("etag",)))
    with pytest.raises(LocalEntryNotFoundError):
        download("big.txt")
    assert download("rows.parquet").exists()


def test_an_ignored_range_gives_the_file_system_wrong_bytes(own_server: LocalHubServer, download: Download) -> None:
    own_server.hub.faults.add(Fault(path="*/resolve/*", ignore_range=True))
    assert download("big.txt").read_bytes() == BIG
    fs = HfFileSystem(endpoint=own_server.url, token=False, skip_instance_cache=True)
    with fs.open(f"datasets/{TASKS}/big.txt", block_size=4096, cache_type="none") as file:
        file.seek(5000)
        assert file.read(8) != BIG[5000:5008]


def test_without_an_error_code_a_missing_repository_is_any_error(own_server: LocalHubServer) -> None:
    own_server.hub.faults.add(Fault(drop=("x-error-code",)))
    with pytest.raises(HfHubHTTPError) as caught:
        api(own_server).repo_exists("acme/nowhere", repo_type="dataset")
    assert not isinstance(caught.value, RepositoryNotFoundError)


def test_a_redirect_without_a_commit_header_fails(own_server: LocalHubServer, download: Download) -> None:
    own_server.hub.faults.add(Fault(path=FILE, status=302, headers={"location": f"{FILE}?redirected"}, times=1))
    own_server.hub.faults.add(Fault(path=FILE, drop=("x-repo-commit",)))
    with pytest.raises(LocalEntryNotFoundError):
        download("big.txt")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=401, code="RepoNotFound"), RepositoryNotFoundError),
        (Fault(status=404, code="RepoNotFound"), RepositoryNotFoundError),
        (Fault(status=401, code="GatedRepo"), GatedRepoError),
        (Fault(status=403, code="GatedRepo"), GatedRepoError),
        (Fault(status=500), HfHubHTTPError),
        (Fault(status=503), HfHubHTTPError),
        (Fault(status=429, reset=41), HfHubHTTPError),
        (Fault(body="[{"), ValueError),
        (Fault(body="[]"), TypeError),
        (Fault(body="{}"), KeyError),
    ],
)
def test_answers_of_any_status_and_shape_can_be_had(
    own_server: LocalHubServer, fault: Fault, error: type[Exception]
) -> None:
    own_server.hub.faults.add(fault)
    with pytest.raises(error) as caught:
        api(own_server).dataset_info(TASKS)
    if isinstance(caught.value, HfHubHTTPError):
        assert caught.value.response.status_code == fault.status
        assert "Injected fault" in str(caught.value)


def test_a_rate_limit_tells_the_window(own_server: LocalHubServer) -> None:
    own_server.hub.faults.add(Fault(path="/api/*", status=429, reset=41))
    with pytest.raises(HfHubHTTPError) as caught:
        api(own_server).dataset_info(TASKS)
    told = parse_ratelimit_headers(caught.value.response.headers)
    assert told is not None
    assert (told.resource_type, told.remaining, told.reset_in_seconds) == ("api", 0, 41)
    assert caught.value.response.headers["retry-after"] == "41"


def test_paginated_calls_outlive_a_short_fault(own_server: LocalHubServer) -> None:
    fault = own_server.hub.faults.add(Fault(path="/api/datasets", status=429, reset=0, times=1))
    assert len(list(api(own_server).list_datasets())) == 3
    assert own_server.hub.faults.met(fault) == 1


def test_a_cursor_page_that_fails_ends_a_listing_midway(own_server: LocalHubServer) -> None:
    own_server.hub.faults.add(Fault(path="/api/datasets", status=404, after=1))
    client = httpx2.Client(base_url=own_server.url)
    with client:
        first = client.get("/api/datasets", params={"limit": 1})
        assert first.status_code == 200
        assert client.get(first.links["next"]["url"]).status_code == 404


@pytest.mark.parametrize("fault", [Fault(truncate=1000), Fault(length=2 * len(BIG)), Fault(length=10)])
def test_a_body_that_does_not_fit_its_length_breaks_the_connection(own_server: LocalHubServer, fault: Fault) -> None:
    own_server.hub.faults.add(fault)
    with httpx2.Client(base_url=own_server.url) as client, pytest.raises(httpx2.TransportError):
        client.get(FILE)
    own_server.hub.faults.clear()
    assert httpx2.get(f"{own_server.url}{FILE}").content == BIG


def test_the_client_survives_a_truncated_download(own_server: LocalHubServer, download: Download) -> None:
    fault = own_server.hub.faults.add(Fault(path="*/resolve/*", method="GET", truncate=300_000, times=1))
    assert download("big.txt").read_bytes() == BIG
    assert own_server.hub.faults.met(fault) == 1


def test_a_file_can_be_shorter_than_its_tree_says(own_server: LocalHubServer) -> None:
    own_server.hub.faults.add(Fault(path="*/resolve/*", truncate=10, length=10))
    assert httpx2.get(f"{own_server.url}{FILE}").content == BIG[:10]


@pytest.mark.parametrize("fault", [Fault(delay=30), Fault(stall=30)])
def test_a_slow_hub_makes_clients_give_up(own_server: LocalHubServer, fault: Fault) -> None:
    own_server.hub.faults.add(fault)
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.get(f"{own_server.url}{FILE}", timeout=0.05)


async def test_faults_hit_their_path_method_and_count(root: Path) -> None:
    fault = Fault(path="/api/datasets/*/rows", method="GET", status=500, after=1, times=2)
    hub = LocalHub(root, faults=Faults(fault))
    async with client_of(hub) as client:
        seen = [(await client.get("/api/datasets/acme/rows")).status_code for _ in range(5)]
        assert seen == [200, 500, 500, 200, 200]
        assert hub.faults.met(fault) == 3
        assert (await client.get("/api/datasets/acme/tasks")).status_code == 200
        hub.faults.add(always := Fault(method="HEAD", status=418))
        assert (await client.head("/api/datasets")).status_code == 418
        assert (await client.get("/api/datasets")).status_code == 200
        hub.faults.remove(always)
        assert (await client.head("/api/datasets")).status_code == 200
        assert hub.faults.met(always) == 0


async def test_faults_change_headers_and_bodies(root: Path) -> None:
    hub = LocalHub(root)
    hub.faults.add(Fault(headers={"ETag": '"lie"', "X-New": "new"}, drop=("X-Repo-Commit",), truncate=4))
    async with client_of(hub) as client:
        answer = await client.get(FILE)
        assert (answer.headers["etag"], answer.headers["x-new"], answer.content) == ('"lie"', "new", BIG[:4])
        assert "x-repo-commit" not in answer.headers
        assert answer.headers["content-length"] == str(len(BIG))


async def test_faults_of_hub_json_follow_the_file(own_root: Path) -> None:
    hub = LocalHub(own_root, rescan=0)
    own = hub.faults.add(Fault(path="/api/spaces", status=404))
    file = own_root / "hub.json"
    async with client_of(hub) as client:
        assert (await client.get("/api/datasets")).status_code == 200
        file.write_text(json.dumps({**META, "faults": [{"path": "/api/datasets", "status": 503, "times": 1}]}))
        assert [(await client.get("/api/datasets")).status_code for _ in range(2)] == [503, 200]
        file.write_text(json.dumps({**META, "faults": [{"path": "/api/models", "status": 503}]}))
        assert (await client.get("/api/models")).status_code == 503
        file.write_text(json.dumps(META))
        assert (await client.get("/api/models")).status_code == 200
        assert (await client.get("/api/spaces")).status_code == 404
        assert hub.faults.met(own) == 1
