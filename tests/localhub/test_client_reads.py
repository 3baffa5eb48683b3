"""What the Hub's own client reads, read from the local hub by the unmodified client."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard, HfApi, HfFileSystem, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile, RepoFolder

from rlx.localhub import LocalHubServer
from tests.localhub.small_hub import BIG, ROWS

type Api = Callable[..., HfApi]

TASKS = "acme/tasks"


def filesystem(server: LocalHubServer, token: str | bool = False) -> HfFileSystem:
    return HfFileSystem(endpoint=server.url, token=token, skip_instance_cache=True)


def asked(server: LocalHubServer) -> list[str]:
    """Requests since the last call."""
    seen = [f"{method} {path}" for method, path in server.hub.requests]
    server.hub.requests.clear()
    return seen


def test_lists_give_datasets_and_spaces(api: Api) -> None:
    assert {one.id for one in api().list_datasets()} == {TASKS, "acme/rows", "acme/gated"}
    assert [one.id for one in api().list_spaces()] == ["acme/echo"]
    assert [one.id for one in api().list_models()] == ["acme/policy"]


def test_dataset_info_has_card_files_and_counts(api: Api) -> None:
    info = api().dataset_info(TASKS)
    assert info.sha is not None
    assert len(info.sha) == 40
    assert (info.author, info.private, info.gated, info.likes, info.downloads) == ("acme", False, False, 3, 40)
    assert info.card_data is not None
    assert info.card_data["pretty_name"] == "Tasks"
    assert info.tags == [
        "license:mit",
        "language:en",
        "language:ko",
        "size_categories:n<1K",
        "task_categories:text-generation",
        "rl-environment",
        "harbor",
        "region:us",
    ]
    assert info.created_at is not None
    assert info.created_at.isoformat() == "2026-01-02T03:04:05+00:00"
    assert info.siblings is not None
    assert "odd names/50% #1?.txt" in {one.rfilename for one in info.siblings}
    assert info.description == "# Tasks Twelve tasks and a table."


def test_files_metadata_gives_blob_ids_and_lfs(api: Api) -> None:
    files = {one.rfilename: one for one in api().dataset_info(TASKS, files_metadata=True).siblings or []}
    assert files["big.txt"].size == len(BIG)
    assert files["empty.txt"].blob_id == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert files["big.txt"].lfs is None
    lfs = files["rows.parquet"].lfs
    assert lfs is not None
    assert len(lfs["sha256"]) == 64
    assert lfs["size"] == files["rows.parquet"].size


def test_space_info_has_its_runtime(api: Api) -> None:
    info = api().space_info("acme/echo")
    assert (info.sdk, info.subdomain, info.host) == ("docker", "acme-echo", "https://acme-echo.hf.space")
    assert info.runtime is not None
    assert info.runtime.stage == "PAUSED"
    assert info.datasets == [TASKS]
    runtime = api().get_space_runtime("acme/echo")
    assert (runtime.stage, runtime.hardware, runtime.requested_hardware) == ("PAUSED", None, "cpu-upgrade")


def test_expand_gives_those_keys_alone(api: Api) -> None:
    info = api().dataset_info(TASKS, expand=["sha", "gated"])
    assert info.sha is not None
    assert (info.likes, info.siblings, info.tags) == (None, None, None)


def test_info_at_a_revision(api: Api) -> None:
    sha = api().dataset_info(TASKS).sha
    assert api().dataset_info(TASKS, revision=sha).sha == sha
    assert api().dataset_info(TASKS, revision="main").sha == sha
    with pytest.raises(RevisionNotFoundError):
        api().dataset_info(TASKS, revision="refs/pr/1")


def test_trees_list_one_level_or_all(api: Api) -> None:
    top = list(api().list_repo_tree(TASKS, repo_type="dataset"))
    assert [one.path for one in top] == [
        "README.md",
        "big.txt",
        "empty.txt",
        "odd names",
        "rows.parquet",
        "tasks",
    ]
    assert {one.path for one in top if isinstance(one, RepoFolder)} == {"odd names", "tasks"}
    deep = list(api().list_repo_tree(TASKS, path_in_repo="tasks", recursive=True, repo_type="dataset"))
    assert len([one for one in deep if isinstance(one, RepoFile)]) == 24
    assert len([one for one in deep if isinstance(one, RepoFolder)]) == 12


def test_trees_refuse_what_is_no_folder(api: Api) -> None:
    for path in ("nowhere", "README.md", "task"):
        with pytest.raises(EntryNotFoundError):
            list(api().list_repo_tree(TASKS, path_in_repo=path, repo_type="dataset"))


def test_expanded_trees_tell_the_last_commit(api: Api) -> None:
    entries = list(api().list_repo_tree(TASKS, path_in_repo="tasks/task-000", expand=True, repo_type="dataset"))
    assert {one.path for one in entries} == {"tasks/task-000/instruction.md", "tasks/task-000/task.toml"}
    sha = api().dataset_info(TASKS).sha
    assert all(one.last_commit is not None and one.last_commit.oid == sha for one in entries)


def test_long_trees_come_in_pages(own_server: LocalHubServer, own_root: Path) -> None:
    for number in range(1205):
        (own_root / f"datasets/acme/rows/{number:05}.txt").touch()
    (own_root / "datasets/acme/rows/few").mkdir()
    for number in range(120):
        (own_root / f"datasets/acme/rows/few/{number:05}.txt").touch()
    api = HfApi(endpoint=own_server.url, token=False)
    asked(own_server)
    paths = [one.path for one in api.list_repo_tree("acme/rows", repo_type="dataset")]
    assert paths == sorted({*paths})
    assert len(paths) == 1208
    assert len(asked(own_server)) == 2
    expanded = list(api.list_repo_tree("acme/rows", path_in_repo="few", repo_type="dataset", expand=True))
    assert len(expanded) == 120
    assert len(asked(own_server)) == 3


def test_paths_info_leaves_out_what_is_not_there(api: Api) -> None:
    paths = ["README.md", "tasks", "tasks/task-003/task.toml", "nowhere", "odd names/한글.txt", "../hub.json"]
    found = api().get_paths_info(TASKS, paths, repo_type="dataset")
    assert [one.path for one in found] == ["README.md", "tasks", "tasks/task-003/task.toml", "odd names/한글.txt"]
    expanded = api().get_paths_info(TASKS, ["README.md"], expand=True, repo_type="dataset")
    assert isinstance(expanded[0], RepoFile)
    assert expanded[0].last_commit is not None


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("big.txt", BIG),
        ("empty.txt", b""),
        ("odd names/50% #1?.txt", b"odd"),
        ("odd names/한글.txt", b"non-ASCII"),
    ],
)
def test_files_are_downloaded_whole(server: LocalHubServer, tmp_path: Path, path: str, content: bytes) -> None:
    local = hf_hub_download(TASKS, path, repo_type="dataset", endpoint=server.url, cache_dir=tmp_path, token=False)
    assert Path(local).read_bytes() == content


def test_a_cached_file_costs_one_head_request(own_server: LocalHubServer, tmp_path: Path) -> None:
    def download() -> str:
        return hf_hub_download(
            TASKS, "big.txt", repo_type="dataset", endpoint=own_server.url, cache_dir=tmp_path, token=False
        )

    download()
    assert [line.split()[0] for line in asked(own_server)] == ["HEAD", "GET"]
    download()
    assert [line.split()[0] for line in asked(own_server)] == ["HEAD"]


def test_models_and_spaces_are_downloaded_too(server: LocalHubServer, tmp_path: Path) -> None:
    for repo_type, repo_id, path in (("model", "acme/policy", "config.json"), ("space", "acme/echo", "README.md")):
        local = hf_hub_download(
            repo_id, path, repo_type=repo_type, endpoint=server.url, cache_dir=tmp_path, token=False
        )
        assert Path(local).stat().st_size > 0


def test_snapshots_hold_every_file(server: LocalHubServer, tmp_path: Path) -> None:
    folder = Path(
        snapshot_download(TASKS, repo_type="dataset", endpoint=server.url, local_dir=tmp_path / "all", token=False)
    )
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {path for path in files if not path.startswith(".cache/")} == {
        one.rfilename for one in HfApi(endpoint=server.url, token=False).dataset_info(TASKS).siblings or []
    }
    assert (folder / "big.txt").read_bytes() == BIG


def test_snapshots_at_a_revision_follow_patterns(server: LocalHubServer, tmp_path: Path) -> None:
    sha = HfApi(endpoint=server.url, token=False).dataset_info(TASKS).sha
    folder = snapshot_download(
        TASKS,
        repo_type="dataset",
        revision=sha,
        allow_patterns="tasks/task-00[0-2]/*",
        endpoint=server.url,
        cache_dir=tmp_path,
        token=False,
    )
    assert len([path for path in Path(folder).rglob("*") if path.is_file()]) == 6


def test_existence_is_told_of_files_repositories_and_revisions(api: Api) -> None:
    client = api()
    assert client.file_exists(TASKS, "README.md", repo_type="dataset")
    assert not client.file_exists(TASKS, "nowhere.md", repo_type="dataset")
    assert not client.file_exists("acme/nowhere", "README.md", repo_type="dataset")
    assert client.repo_exists(TASKS, repo_type="dataset")
    assert not client.repo_exists("acme/nowhere", repo_type="dataset")
    assert not client.repo_exists(TASKS, repo_type="space")
    assert client.revision_exists(TASKS, "main", repo_type="dataset")
    assert not client.revision_exists(TASKS, "v2", repo_type="dataset")


def test_missing_files_are_remembered_by_the_cache(server: LocalHubServer, tmp_path: Path) -> None:
    with pytest.raises(RemoteEntryNotFoundError):
        hf_hub_download(TASKS, "no.md", repo_type="dataset", endpoint=server.url, cache_dir=tmp_path, token=False)
    assert list(tmp_path.glob("*/.no_exist/*/no.md"))


def test_access_is_checked(api: Api) -> None:
    api().auth_check(TASKS, repo_type="dataset")
    with pytest.raises(GatedRepoError):
        api().auth_check("acme/gated", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        api().auth_check("acme/secret", repo_type="dataset")


def test_refs_and_commits_name_the_head(api: Api) -> None:
    sha = api().dataset_info(TASKS).sha
    refs = api().list_repo_refs(TASKS, repo_type="dataset", include_pull_requests=True)
    assert [(branch.name, branch.target_commit) for branch in refs.branches] == [("main", sha)]
    assert (refs.converts, refs.tags, refs.pull_requests) == ([], [], [])
    assert [commit.commit_id for commit in api().list_repo_commits(TASKS, repo_type="dataset")] == [sha]


def test_whoami_tells_the_user_behind_a_token(api: Api) -> None:
    told = api("hf_alice").whoami()
    assert (told["name"], told["type"], [org["name"] for org in told["orgs"]]) == ("alice", "user", ["acme"])
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        api("hf_nobody").whoami()


def test_the_file_system_lists_finds_and_reads(server: LocalHubServer) -> None:
    fs = filesystem(server)
    assert f"datasets/{TASKS}/tasks" in fs.ls(f"datasets/{TASKS}", detail=False)
    assert fs.info(f"datasets/{TASKS}/big.txt")["size"] == len(BIG)
    assert len(fs.glob(f"datasets/{TASKS}/tasks/*/task.toml")) == 12
    assert len(fs.find(f"datasets/{TASKS}/tasks")) == 24
    assert fs.read_text(f"datasets/{TASKS}/odd names/한글.txt") == "non-ASCII"
    assert fs.cat(f"datasets/{TASKS}/big.txt") == BIG
    with pytest.raises(FileNotFoundError):
        fs.info(f"datasets/{TASKS}/nowhere")


def test_the_file_system_reads_ranges(server: LocalHubServer) -> None:
    with filesystem(server).open(f"datasets/{TASKS}/big.txt", block_size=4096) as file:
        for place in (0, 8, 5001, len(BIG) - 16):
            file.seek(place)
            assert file.read(16) == BIG[place : place + 16]


def test_parquet_is_read_by_range(server: LocalHubServer) -> None:
    fs, path = filesystem(server), f"datasets/{TASKS}/rows.parquet"
    with fs.open(path, block_size=1024, cache_type="none") as file:
        assert pq.ParquetFile(file, pre_buffer=True).read_row_group(1, columns=["id"]).to_pylist()[0] == {"id": 100}
    table = pyarrow.dataset.dataset(path, filesystem=fs).to_table(filter=pyarrow.dataset.field("id") == 7)
    assert table.to_pylist() == [ROWS[7]]


def test_cards_load(server: LocalHubServer, tmp_path: Path) -> None:
    path = hf_hub_download(TASKS, "README.md", repo_type="dataset", endpoint=server.url, cache_dir=tmp_path)
    card = DatasetCard.load(path)
    assert card.data.tags == ["rl-environment", "harbor"]
    info = HfApi(endpoint=server.url, token=False).dataset_info(TASKS)
    assert info.card_data is not None
    assert str(info.card_data) == str(card.data)


def test_the_file_system_tells_when_a_file_was_modified(server: LocalHubServer) -> None:
    info = HfApi(endpoint=server.url, token=False).list_repo_commits(TASKS, repo_type="dataset")[0]
    assert filesystem(server).modified(f"datasets/{TASKS}/big.txt") == info.created_at
