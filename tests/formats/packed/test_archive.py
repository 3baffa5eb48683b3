"""Archives of a repository: what is fetched of them, what is kept on disk, and who may have it."""

import gzip
import io
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import httpx2
import pytest

from rlx.errors import NotFound, TooLarge, Upstream
from rlx.formats.packed.archive import OnDisk, open_archive, peek, stem
from rlx.formats.packed.budget import REPOSITORY, Budget, RefusedArchive
from rlx.formats.packed.view import PackedRepo, view
from rlx.formats.rows.sources.octets import Held, Octets
from rlx.hub.client import HubClient
from rlx.hub.desk import Desk
from rlx.hub.repo import Repo
from rlx.ids import EnvKey
from rlx.localhub import LocalHub
from tests.formats.packed.making import TASK, tar, zipped

pytestmark = pytest.mark.anyio

KEY = EnvKey("dataset", "acme", "set")
SMALL = Budget(members=3, each=1000, total=20_000, packed=4000, ratio=3, free=100)


class Counted:
    """Octets that count what is read of them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.read_bytes = 0

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, start: int, end: int) -> bytes:
        part = self._data[start:end]
        self.read_bytes += len(part)
        return part


class Served(httpx2.AsyncBaseTransport):
    """Passes requests on, counts ranges, remembers tokens; while `cuts`, it sends one byte of a range."""

    def __init__(self, root: Path) -> None:
        self._inner = httpx2.ASGITransport(app=LocalHub(root / "hub", cache_dir=root / "localhub").app)
        self.ranges = 0
        self.tokens: list[str | None] = []
        self.cuts = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if "range" in request.headers:
            self.ranges += 1
            self.tokens.append(request.headers.get("authorization"))
            if self.cuts:
                return httpx2.Response(206, content=b"x")
        return await self._inner.handle_async_request(request)


@pytest.fixture
def serve(tmp_path: Path) -> Callable[[Mapping[str, bytes]], Served]:
    def made(files: Mapping[str, bytes]) -> Served:
        for path, data in files.items():
            target = tmp_path / "hub/datasets/acme/set" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return Served(tmp_path)

    return made


@asynccontextmanager
async def opened(served: Served, desk: Path, token: str | None = None) -> AsyncIterator[PackedRepo]:
    client = HubClient("http://hub.localhost", transport=served)
    client.desk = Desk(desk)
    try:
        yield view(Repo(client, await client.info(KEY, token=False), token or False))
    finally:
        await client.aclose()


def many(count: int) -> dict[str, bytes]:
    return {f"tasks/t{number:04}/{path}": data for number in range(count) for path, data in TASK.items()}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.tar", "a"),
        ("x/B.TAR.GZ", "B"),
        ("c.tgz", "c"),
        ("d.tar.zst", "d"),
        ("e.zip", "e"),
        ("f.gz", None),
        (".zip", None),
        ("g.zip/h.csv", None),
        ("tar", None),
    ],
)
def test_an_archive_is_called_by_its_name_without_the_suffix(path: str, name: str | None) -> None:
    assert stem(path) == name


async def test_a_tar_file_is_fetched_once_and_kept_for_the_next_process(
    serve: Callable[[Mapping[str, bytes]], Served], tmp_path: Path
) -> None:
    served = serve({"tasks.tar.gz": gzip.compress(tar(many(20)), mtime=0)})
    for token in (None, "hf_alice"):
        async with opened(served, tmp_path / "desk", token) as repo:
            tree = await repo.tree()
            assert await repo.fetch(tree["tasks/t0007/task.toml"]) == TASK["task.toml"]
            assert await repo.read("tasks/t0019/tests/test.sh") == TASK["tests/test.sh"]
        if token is None:
            fetched = served.ranges
            assert fetched > 0
    assert served.ranges <= fetched + 1, "the second process looks at the beginning at most"
    kept = [path for path in (tmp_path / "desk").rglob("*") if path.is_file()]
    assert [path.suffix for path in kept] == [".tar"]
    assert not any("hf_alice" in str(path) for path in kept)


async def test_what_was_kept_on_disk_is_fetched_again_when_it_is_gone(
    serve: Callable[[Mapping[str, bytes]], Served], tmp_path: Path
) -> None:
    served = serve({"tasks.tar": tar(many(3))})
    async with opened(served, tmp_path / "desk") as repo:
        entry = (await repo.tree())["tasks/t0001/instruction.md"]
        for path in (tmp_path / "desk").rglob("*.tar"):
            path.unlink()
        assert await repo.fetch(entry) == TASK["instruction.md"]


async def test_files_are_fetched_with_the_token_of_who_asks(
    serve: Callable[[Mapping[str, bytes]], Served], tmp_path: Path
) -> None:
    served = serve({"one.zip": zipped(many(4))})
    async with opened(served, tmp_path / "desk", "hf_alice") as repo:
        await repo.fetch((await repo.tree())["tasks/t0001/task.toml"])
    assert set(served.tokens) == {"Bearer hf_alice"}


async def test_a_view_reads_parts_of_files_and_refuses_more_than_is_asked_for(
    serve: Callable[[Mapping[str, bytes]], Served], tmp_path: Path
) -> None:
    files = {**many(1), "tasks/t0000/environment/data.txt": b"0123456789"}
    served = serve({"a.zip": zipped(files), "README.md": b"# Set\n"})
    async with opened(served, tmp_path / "desk") as repo:
        entry = await repo.entry("tasks/t0000/environment/data.txt")
        assert entry is not None
        assert await repo.fetch_range(entry, 3, 6) == b"345"
        assert await repo.read("README.md") == b"# Set\n"
        with pytest.raises(TooLarge):
            await repo.fetch(entry, limit=9)
        with pytest.raises(NotFound):
            await repo.read("tasks/t0000/../../a.zip")
        assert {item.path for item in await repo.below("tasks/t0000")} == {*files}


async def test_a_hub_that_fails_half_way_is_told_and_tried_again(
    serve: Callable[[Mapping[str, bytes]], Served], tmp_path: Path
) -> None:
    served = serve({"a.tar": tar(many(6))})
    async with opened(served, tmp_path / "desk") as repo:
        served.cuts = True
        with pytest.raises(Upstream):
            await repo.tree()
        assert [item for item in (tmp_path / "desk").rglob("*") if item.is_file()] == []
        served.cuts = False
        assert "tasks/t0002/task.toml" in await repo.tree()


def test_what_a_zip_file_holds_is_told_without_reading_it(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("one/task.toml", b"")
        archive.writestr("one/environment/big.bin", bytes(range(256)) * 16_000)
    octets = Counted(out.getvalue())
    assert peek(octets) == ("one/task.toml", "one/environment/big.bin")
    archive_ = open_archive(octets, tmp_path / "a", REPOSITORY)
    assert archive_.read(octets, archive_.members[0]) == b""
    assert octets.read_bytes < 600_000


def test_a_claim_reads_the_beginning_of_a_tar_file_alone() -> None:
    data = tar({"one/task.toml": b"", "two/big": bytes(range(256)) * 40_000, "three/task.toml": b""})
    for packed in (data, gzip.compress(data, 0, mtime=0)):
        octets = Counted(packed)
        assert peek(octets)[0] == "one/task.toml"
        assert octets.read_bytes < 3 * 2**20
    assert peek(Held(b"no archive")) == ()


@pytest.mark.parametrize(
    ("octets", "reason"),
    [
        (Held(tar({str(number): b"" for number in range(4)})[:3584] + bytes(256)), "more than 3 files"),
        (Held(zipped({str(number): b"" for number in range(4)})), "more than 3 files"),
        (Held(bytes(5000)), "more than 0 MB"),
        (Held(gzip.compress(tar({"a": b""}), mtime=0)), "3 times its size"),
        (Held(b"no archive at all"), "neither"),
        (Held(gzip.compress(b"no tar", mtime=0)), "no tar file"),
    ],
)
def test_archives_past_a_budget_are_refused_and_leave_nothing(octets: Octets, reason: str, tmp_path: Path) -> None:
    with pytest.raises(RefusedArchive, match=reason):
        open_archive(octets, tmp_path / "a", SMALL)
    assert list(tmp_path.iterdir()) == []


def test_a_file_too_large_refuses_itself_alone(tmp_path: Path) -> None:
    data = tar({"a": bytes(1500), "b": b"x"})
    budget = Budget(members=9, each=1000, total=2**20, packed=2**20)
    found = open_archive(Held(data), tmp_path / "a", budget).members
    assert [member.refused is None for member in found] == [False, True]


def test_a_disk_without_room_is_told_and_not_taken_for_a_damaged_archive(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Upstream, match="server's disk"):
        open_archive(Held(tar(TASK)), tmp_path / "file" / "a.tar", REPOSITORY)


def test_octets_on_disk_end_where_the_file_ends(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    with path.open("rb") as file:
        octets = OnDisk(file.fileno())
        assert (octets.size, octets.read(8, 20), octets.read(5, 2)) == (10, b"89", b"")


async def test_an_archive_is_not_opened_twice_at_once(
    serve: Callable[[Mapping[str, bytes]], Served], tmp_path: Path
) -> None:
    served = serve({"a.zip": zipped(many(2))})
    async with opened(served, tmp_path / "desk") as repo:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(repo.listing)
        assert served.ranges <= 2
