"""Folders as repositories: what is served, what is not, and how changes are noticed."""

import hashlib
import os
import time
from pathlib import Path

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub import LocalHub
from rlx.localhub.files import File, Stamp, hash_files, scan
from rlx.localhub.snapshot import Snapshot
from tests.localhub.small_hub import ask, client_of, writer

pytestmark = pytest.mark.anyio

REPO = "/api/datasets/org/name"


def git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def hub_with(tmp_path: Path, **files: str) -> tuple[LocalHub, Path]:
    """A hub of one dataset, which looks at the disk on every request, and the dataset's folder."""
    write = writer(tmp_path / "hub/datasets/org/name")
    for name, text in {"README": "readme", **files}.items():
        write(f"{name}.md", text)
    return LocalHub(tmp_path / "hub", rescan=0), tmp_path / "hub/datasets/org/name"


async def paths(client: httpx2.AsyncClient) -> list[str]:
    tree = await client.get(f"{REPO}/tree/main?recursive=true")
    return [one["path"] for one in tree.json()]


async def sha(client: httpx2.AsyncClient) -> str:
    told: str = (await client.get(f"{REPO}?expand=sha")).json()["sha"]
    return told


async def test_links_are_served_when_they_stay_inside(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    (tmp_path / "outside.txt").write_text("outside")
    (tmp_path / "hub/datasets/org/secret").mkdir()
    (tmp_path / "hub/datasets/org/secret/key.txt").write_text("of another repository")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("control")
    (folder / "real").mkdir()
    (folder / "inside.md").symlink_to("README.md")
    (folder / "out.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "sibling.txt").symlink_to("../secret/key.txt")
    (folder / "control.txt").symlink_to(".git/config")
    (folder / "etc").symlink_to("/etc")
    (folder / "loop").symlink_to(".")
    (folder / "circle").symlink_to("circle")
    (folder / "broken").symlink_to("nowhere")
    async with client_of(hub) as client:
        assert await paths(client) == ["README.md", "inside.md"]
        assert (await client.get("/datasets/org/name/resolve/main/inside.md")).text == "readme"
        for path in ("out.txt", "sibling.txt", "control.txt", "etc/passwd", "loop/README.md"):
            answer = await client.get(f"/datasets/org/name/resolve/main/{path}")
            assert (answer.status_code, answer.headers["x-error-code"]) == (404, "EntryNotFound"), path


async def test_control_folders_and_odd_files_are_no_part_of_a_repository(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    for name in (".git", ".hg", ".svn", ".cache"):
        (folder / "sub" / name).mkdir(parents=True)
        (folder / "sub" / name / "config").write_text("control")
    (folder / "worktree").mkdir()
    (folder / "worktree/.git").write_text("gitdir: /elsewhere")
    (folder / ".gitattributes").write_text("kept")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_text("no UTF-8")
    async with client_of(hub) as client:
        assert await paths(client) == [".gitattributes", "README.md"]
        for path in ("sub/.git/config", ".git/HEAD", "%FF%FE.txt", "pipe"):
            assert (await client.get(f"/datasets/org/name/resolve/main/{path}")).status_code in {400, 404}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/datasets/org/name/resolve/main/../../../../hub.json", 404),
        ("/datasets/org/name/resolve/main/..%2F..%2Fsecret%2Fkey.txt", 404),
        ("/datasets/org/name/resolve/main/%2Fetc%2Fpasswd", 404),
        ("/datasets/org/name/resolve/main//etc/passwd", 404),
        ("/datasets/org/name/resolve/main/README.md%00", 400),
        ("/datasets/org/name/resolve/main/%FF", 400),
        ("/datasets/org/name/resolve/main/%C0%AE%C0%AE", 400),
        ("/datasets/org/name/resolve/main/%zz", 404),
        ("/datasets/org/name/resolve/main/", 404),
        ("/datasets/org/name/resolve/..%2F..", 404),
        ("/datasets/org/name/resolve/nowhere/README.md", 404),
        ("/datasets/..%2F../name/resolve/main/README.md", 401),
        ("/datasets/org/../resolve/main/README.md", 401),
        ("/datasets/org/name%00/resolve/main/README.md", 400),
        ("/datasets/./name/resolve/main/README.md", 401),
        ("/api/datasets/..%2Fdatasets%2Forg/name", 401),
        ("/api/datasets/org/name/tree/main/..", 404),
        ("/api/datasets/org/name/tree/main/%2E%2E%2F%2E%2E", 404),
        ("/api/datasets/org/name/tree/main/%00", 400),
        ("/api/datasets/org/name/tree/%00/x", 400),
        ("/api/datasets/org/name/nowhere", 404),
        ("/api/datasets/org", 401),
        ("/api/spaces/semantic-search", 404),
        ("/api/datasets-tags-by-type", 404),
        ("/api/nowhere", 404),
        ("/nowhere", 404),
        ("/org/name/resolve/main/README.md", 401),
        ("//", 404),
    ],
)
async def test_odd_paths_are_refused(tmp_path: Path, path: str, status: int) -> None:
    hub, _ = hub_with(tmp_path)
    assert (await ask(hub, path))[0] == status


@given(path=st.text(st.characters(codec="latin-1", exclude_characters="?"), max_size=60), query=st.binary(max_size=30))
async def test_no_path_and_no_query_breaks_the_hub(small: LocalHub, path: str, query: bytes) -> None:
    for prefix in ("/", "/api/datasets/", f"{REPO}/tree/main/", "/datasets/org/name/resolve/", "/viewer/"):
        assert (await ask(small, prefix + path, query))[0] < 500


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> LocalHub:
    return hub_with(tmp_path_factory.mktemp("small"))[0]


async def test_folders_that_could_be_no_repository_are_left_out(tmp_path: Path) -> None:
    for name in ("ok/fine", ".hidden/name", "org/.hidden", "sp ace/name", "org/sp ace", "org/dots..", "org/thing.git"):
        (tmp_path / "datasets" / name).mkdir(parents=True)
    (tmp_path / "datasets/file").write_text("")
    (tmp_path / "datasets/ok/file").write_text("")
    async with client_of(LocalHub(tmp_path)) as client:
        assert [one["id"] for one in (await client.get("/api/datasets")).json()] == ["ok/fine"]
        assert (await client.get("/api/datasets/ok/file")).status_code == 401
        assert (await client.get("/api/spaces")).json() == []


async def test_a_change_is_noticed_and_moves_the_commit(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    async with client_of(hub) as client:
        first = await sha(client)
        assert await sha(client) == first
        (folder / "README.md").write_text("---\ntags: [harbor]\n---\n")
        second = await sha(client)
        assert second != first
        assert "harbor" in (await client.get(REPO)).json()["tags"]
        assert [one["id"] for one in (await client.get("/api/datasets?filter=harbor")).json()] == ["org/name"]
        (folder / "new.txt").write_text("new")
        third = await sha(client)
        (folder / "new.txt").unlink()
        assert third not in {first, second}
        assert await sha(client) == second
        commits = (await client.get(f"{REPO}/commits/main")).json()
        assert [one["id"] for one in commits] == [second, third, first]


async def test_a_file_rewritten_in_the_same_tick_is_noticed(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    file, soon = folder / "README.md", time.time_ns() + 30_000_000_000
    os.utime(file, ns=(soon, soon))
    async with client_of(hub) as client:
        first = await sha(client)
        file.write_text("README")
        os.utime(file, ns=(soon, soon))
        assert await sha(client) != first


async def test_former_revisions_stay_readable_as_far_as_the_disk_allows(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path, other="same")
    async with client_of(hub) as client:
        first = await sha(client)
        (folder / "README.md").write_text("changed")
        await sha(client)
        kept = await client.get(f"/datasets/org/name/resolve/{first}/other.md")
        assert (kept.status_code, kept.headers["x-repo-commit"]) == (200, first)
        gone = await client.get(f"/datasets/org/name/resolve/{first}/README.md")
        assert (gone.status_code, gone.headers["x-error-code"]) == (404, "EntryNotFound")
        tree = (await client.get(f"{REPO}/tree/{first}")).json()
        assert next(one for one in tree if one["path"] == "README.md")["size"] == len("readme")
        assert (await client.get(f"{REPO}/revision/{first}")).json()["sha"] == first
        assert (await client.get(f"{REPO}/revision/{'0' * 40}")).headers["x-error-code"] == "RevisionNotFound"


async def test_what_is_served_always_fits_its_etag(tmp_path: Path) -> None:
    """Within the pause between two looks, a changed file is found out when it is opened."""
    hub, folder = hub_with(tmp_path)
    slow = LocalHub(hub.root, rescan=60)
    async with client_of(slow) as client:
        first = await client.get("/datasets/org/name/resolve/main/README.md")
        assert first.headers["etag"] == f'"{git_oid(b"readme")}"'
        (folder / "README.md").write_text("changed it")
        second = await client.get("/datasets/org/name/resolve/main/README.md")
        assert second.text == "changed it"
        assert second.headers["etag"] == f'"{git_oid(b"changed it")}"'
        assert second.headers["x-repo-commit"] != first.headers["x-repo-commit"]
        pinned = await client.get(f"/datasets/org/name/resolve/{first.headers['x-repo-commit']}/README.md")
        assert pinned.status_code == 404


async def test_looks_are_spaced_by_the_pause(tmp_path: Path) -> None:
    now = [0.0]
    hub, folder = hub_with(tmp_path)
    paced = LocalHub(hub.root, rescan=2.0, clock=lambda: now[0])
    async with client_of(paced) as client:
        first = await sha(client)
        (folder / "new.txt").write_text("new")
        assert await sha(client) == first
        now[0] += 2.1
        assert await sha(client) != first


async def test_a_repository_comes_and_goes(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    async with client_of(hub) as client:
        assert (await client.get(REPO)).status_code == 200
        folder.rename(folder.parent / "renamed")
        assert (await client.get(REPO)).headers["x-error-code"] == "RepoNotFound"
        assert (await client.get("/api/datasets/org/renamed")).status_code == 200
        assert [one["id"] for one in (await client.get("/api/datasets")).json()] == ["org/renamed"]


async def test_hashes_are_kept_between_runs_and_never_trusted_too_far(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    os.utime(folder / "README.md", ns=(10**18, 10**18))
    cache = tmp_path / "cache"
    counts = LocalHub(hub.root, cache_dir=cache).warm()
    async with client_of(LocalHub(hub.root, cache_dir=cache)) as client:
        first = await sha(client)
    async with client_of(LocalHub(hub.root)) as client:
        assert await sha(client) == first
    (folder / "README.md").write_text("changed while nobody looked")
    async with client_of(LocalHub(hub.root, cache_dir=cache)) as client:
        assert await sha(client) != first
    (cache / "hashes.v1.db").write_bytes(b"not a database" * 100)
    assert LocalHub(hub.root, cache_dir=cache).warm() == counts
    (tmp_path / "file").write_text("")
    assert LocalHub(hub.root, cache_dir=tmp_path / "file").warm() == counts


def test_kept_hashes_are_used(tmp_path: Path) -> None:
    """A file that cannot be told from the one that was hashed is not read again."""
    hub, folder = hub_with(tmp_path)
    os.utime(folder / "README.md", ns=(10**18, 10**18))
    stamps = scan(str(folder))
    first = {file.path: file for file in hash_files(str(folder), stamps, {})}
    (folder / "README.md").write_text("README")
    os.utime(folder / "README.md", ns=(10**18, 10**18))
    again = list(hash_files(str(folder), scan(str(folder)), first))
    assert again[0] is first["README.md"]
    assert hub.warm()["datasets"] == 1


def test_files_that_vanish_while_they_are_hashed_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "here.txt").write_text("here")
    stamps = {**scan(str(tmp_path)), "gone.txt": Stamp(1, 1, 1)}
    assert [file.path for file in hash_files(str(tmp_path), stamps, {})] == ["here.txt"]
    assert "gone.txt" in caplog.text


def test_hashes_are_those_of_git_and_lfs(tmp_path: Path) -> None:
    write = writer(tmp_path)
    write("a.txt", "hello\n")
    write("b.parquet", "hello\n")
    files = {file.path: file for file in hash_files(str(tmp_path), scan(str(tmp_path)), {})}
    assert files["a.txt"].oid == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert files["a.txt"].sha256 is None
    assert files["b.parquet"].sha256 == hashlib.sha256(b"hello\n").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{files['b.parquet'].sha256}\nsize 6\n".encode()
    assert files["b.parquet"].oid == git_oid(pointer)


@given(
    st.dictionaries(
        st.lists(st.text("ab.-0/", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join), st.just(None)
    )
)
def test_folders_and_files_of_a_snapshot_agree(names: dict[str, None]) -> None:
    whole = [name for name in names if all(name.split("/"))]
    paths = [name for name in whole if not any(other.startswith(f"{name}/") for other in whole)]
    snapshot = Snapshot(File(path, Stamp(0, 0, 0), "0" * 40, None) for path in paths)
    everything, _ = snapshot.below("", recursive=True)
    assert [path for path in everything if path in snapshot.files] == sorted(paths)
    for folder in snapshot.folders:
        deep, _ = snapshot.below(folder, recursive=True)
        assert [path for path in deep if path in snapshot.files] == sorted(
            path for path in paths if not folder or path.startswith(f"{folder}/")
        )
        flat, start = snapshot.below(folder, recursive=False, after=deep[0] if deep else "")
        assert flat == [path for path in deep if "/" not in path[len(folder) + 1 if folder else 0 :]]
        assert start <= len(flat)


async def test_many_visitors_at_once_get_whole_answers(tmp_path: Path) -> None:
    hub, folder = hub_with(tmp_path)
    write = writer(folder)
    for number in range(60):
        write(f"{number:02}.bin", bytes([number]) * (5000 * number))
    seen: list[bool] = []
    async with client_of(hub) as client, anyio.create_task_group() as group:

        async def fetch(number: int) -> None:
            answer = await client.get(f"/datasets/org/name/resolve/main/{number:02}.bin")
            seen.append(answer.content == bytes([number]) * (5000 * number))

        async def rewrite(number: int) -> None:
            (folder / "README.md").write_text(f"version {number}")
            assert (await client.get(REPO)).status_code == 200

        for number in range(60):
            group.start_soon(fetch, number)
            group.start_soon(rewrite, number)
    assert seen == [True] * 60
