"""Downloads: headers, conditions and ranges."""

from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.localhub import LocalHub
from rlx.localhub.download import byte_range, media_type
from tests.localhub.small_hub import BIG, client_of

pytestmark = pytest.mark.anyio

FILE = "/datasets/acme/tasks/resolve/main/big.txt"


async def get(root: Path, path: str = FILE, method: str = "GET", **headers: str) -> httpx2.Response:
    async with client_of(LocalHub(root)) as client:
        return await client.request(method, path, headers={key.replace("_", "-"): v for key, v in headers.items()})


async def test_head_tells_what_get_gives(root: Path) -> None:
    head, whole = await get(root, method="HEAD"), await get(root)
    assert head.content == b""
    assert whole.content == BIG
    for name in ("etag", "x-repo-commit", "content-length", "accept-ranges", "content-type"):
        assert head.headers[name] == whole.headers[name]
    assert head.headers["content-length"] == str(len(BIG))
    assert "x-xet-hash" not in head.headers


async def test_lfs_files_have_sha256_etags(root: Path) -> None:
    head = await get(root, "/datasets/acme/tasks/resolve/main/rows.parquet", method="HEAD")
    assert len(head.headers["etag"].strip('"')) == 64
    assert head.headers["x-linked-etag"] == head.headers["etag"]
    assert head.headers["x-linked-size"] == head.headers["content-length"]


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=799990-", 799_990, 800_000),
        ("bytes=-16", 799_984, 800_000),
        ("bytes=-9999999", 0, 800_000),
        ("bytes=300000-9999999", 300_000, 800_000),
        ("Bytes = 1 - 2", 1, 3),
    ],
)
async def test_ranges_are_exact(root: Path, asked: str, start: int, stop: int) -> None:
    answer = await get(root, range=asked)
    assert answer.status_code == 206
    assert answer.content == BIG[start:stop]
    assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/800000"
    assert answer.headers["content-length"] == str(stop - start)


@pytest.mark.parametrize("asked", ["bytes=800000-", "bytes=900000-900001", "bytes=-0"])
async def test_ranges_that_cannot_be_met_are_416(root: Path, asked: str) -> None:
    answer = await get(root, range=asked)
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */800000")


@pytest.mark.parametrize("asked", ["bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "lines=0-1", "bytes=0-1,5-6", "0-1"])
async def test_other_ranges_give_the_whole_file(root: Path, asked: str) -> None:
    answer = await get(root, range=asked)
    assert (answer.status_code, answer.content) == (200, BIG)


async def test_an_empty_file_has_no_range(root: Path) -> None:
    path = "/datasets/acme/tasks/resolve/main/empty.txt"
    assert (await get(root, path)).content == b""
    assert (await get(root, path, range="bytes=0-")).status_code == 416


async def test_a_known_etag_is_answered_304(root: Path) -> None:
    etag = (await get(root, method="HEAD")).headers["etag"]
    for told in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = await get(root, if_none_match=told)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == etag
    assert (await get(root, if_none_match='"other"')).status_code == 200


async def test_a_range_of_another_version_gives_the_whole_file(root: Path) -> None:
    etag = (await get(root, method="HEAD")).headers["etag"]
    assert (await get(root, range="bytes=0-1", if_range=etag)).status_code == 206
    assert (await get(root, range="bytes=0-1", if_range='"other"')).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nothing_can_be_written(root: Path, method: str) -> None:
    for path in (FILE, "/api/datasets/acme/tasks", "/api/repos/create", "/api/datasets/acme/tasks/commit/main"):
        answer = await get(root, path, method=method)
        assert (answer.status_code, "--writable" in answer.text) == (403, True)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("page.html", "text/plain; charset=utf-8"),
        ("drawing.svg", "text/plain; charset=utf-8"),
        ("code.js", "text/plain; charset=utf-8"),
        ("feed.xml", "text/plain; charset=utf-8"),
        ("Dockerfile", "text/plain; charset=utf-8"),
        ("a.unknown", "text/plain; charset=utf-8"),
        ("picture.png", "image/png"),
        ("paper.pdf", "application/pdf"),
        ("a.json", "application/json"),
        ("a.parquet", "application/octet-stream"),
        ("a.jsonl.gz", "application/octet-stream"),
    ],
)
def test_no_file_is_run_by_a_browser(path: str, told: str) -> None:
    assert media_type(path) == told


@given(st.text(max_size=40) | st.from_regex(r"bytes=\d*-\d*", fullmatch=True), st.integers(0, 2000))
def test_ranges_never_leave_the_file(header: str, size: int) -> None:
    span = byte_range(header, size)
    if span is not None and span[0] < span[1]:
        assert 0 <= span[0] < span[1] <= size


async def test_paths_info_takes_forms_and_json(root: Path) -> None:
    url = "/api/datasets/acme/tasks/paths-info/main"
    async with client_of(LocalHub(root)) as client:
        form = await client.post(url, data={"paths": ["README.md", "tasks"], "expand": "true"})
        told = await client.post(url, json={"paths": ["README.md", "tasks"], "expand": True})
        assert form.json() == told.json()
        assert [one["type"] for one in told.json()] == ["file", "directory"]
        assert (await client.post(url, json={"paths": "README.md"})).json()[0]["path"] == "README.md"
        for body in (b"{", b"[]", b'{"paths": 3}', b'{"paths": [3]}', b"[" * 100_000):
            bad = await client.post(url, content=body, headers={"content-type": "application/json"})
            assert bad.status_code == 400
        assert (await client.post(url, content=b"x" * 9_000_000)).status_code == 413
        assert (await client.post(url, json={"paths": list(map(str, range(10_001)))})).status_code == 413
