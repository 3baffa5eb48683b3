"""A bucket as a place to publish to: against the client's own calls, and a stand-in for the storage behind them.

Uploads and downloads go through content-addressed storage that only the Hub has. So listing, looking up and deleting
run through the real client against a small server here; what is uploaded and downloaded, against an object with the
client's signatures.
"""

import inspect
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

from rlx.hub.bucket import BucketApi, BucketStorage

BUCKET = "acme/catalog"


@dataclass(frozen=True)
class Entry:
    type: str
    path: str
    size: int = 0
    xet_hash: str = ""


class FakeApi:
    """A bucket in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.failure: Exception | None = None

    def list_bucket_tree(
        self, bucket_id: str, prefix: str | None = None, *, recursive: bool | None = None
    ) -> Iterable[Entry]:
        self._check(bucket_id)
        below = f"{prefix}/" if prefix else ""
        for path, data in self.files.items():
            if path.startswith(below) and recursive:
                yield _entry(path, data)
            elif path.startswith(below):
                name, _, deeper = path[len(below) :].partition("/")
                yield Entry("directory", below + name) if deeper else _entry(path, data)

    def get_bucket_paths_info(self, bucket_id: str, paths: Iterable[str]) -> Iterable[Entry]:
        self._check(bucket_id)
        return [_entry(path, self.files[path]) for path in paths if path in self.files]

    def batch_bucket_files(
        self,
        bucket_id: str,
        *,
        add: list[tuple[str | Path | bytes, str]] | None = None,
        delete: list[str] | None = None,
    ) -> None:
        self._check(bucket_id)
        for source, path in add or ():
            self.files[path] = source if isinstance(source, bytes) else Path(source).read_bytes()
        for path in delete or ():
            del self.files[path]

    def download_bucket_files(self, bucket_id: str, files: list[Any], *, raise_on_missing_files: bool = False) -> None:
        self._check(bucket_id)
        for path, target in files:
            if path not in self.files:
                raise EntryNotFoundError(path)
            Path(target).write_bytes(self.files[path])

    def _check(self, bucket_id: str) -> None:
        assert bucket_id == BUCKET
        if self.failure is not None:
            raise self.failure


def _entry(path: str, data: bytes) -> Entry:
    return Entry("file", path, len(data), f"xet-{hash(data)}")


@pytest.mark.parametrize("prefix", ["", "prod/v1"])
def test_what_is_put_is_listed_read_fetched_and_deleted(prefix: str, tmp_path: Path) -> None:
    api = FakeApi()
    storage = BucketStorage(api, BUCKET, prefix)
    source = tmp_path / "source"
    source.write_bytes(b"data")
    storage.put("snapshots/a.db", source)
    storage.write("snapshots/b.json", b"{}")
    storage.write("top.json", b"1")
    assert [(file.name, file.size) for file in storage.list("snapshots")] == [("a.db", 4), ("b.json", 2)]
    assert [file.name for file in storage.list("")] == ["top.json"]
    assert storage.list("nowhere") == []
    assert storage.read("snapshots/a.db", limit=4) == b"data"
    storage.fetch("snapshots/a.db", tmp_path / "away" / "copy", size=4)
    assert (tmp_path / "away" / "copy").read_bytes() == b"data"
    storage.delete("snapshots/a.db")
    storage.delete("snapshots/a.db")
    assert all(path.startswith(prefix) for path in api.files)
    with pytest.raises(FileNotFoundError):
        storage.read("snapshots/a.db", limit=4)


def test_a_file_of_another_size_is_not_fetched_nor_read(tmp_path: Path) -> None:
    storage = BucketStorage(FakeApi(), BUCKET)
    storage.write("a", b"four")
    with pytest.raises(ValueError, match="4 bytes, not 5"):
        storage.fetch("a", tmp_path / "copy", size=5)
    with pytest.raises(ValueError, match="more than 3"):
        storage.read("a", limit=3)


def test_a_bucket_in_trouble_is_an_os_error_without_its_words(tmp_path: Path) -> None:
    api = FakeApi()
    storage = BucketStorage(api, BUCKET)
    response = httpx2.Response(403, request=httpx2.Request("POST", "https://hub.test/api/buckets?token=hf_secret"))
    for failure in (
        HfHubHTTPError("no: hf_secret", response=response),
        httpx2.ConnectError("hf_secret"),
        RuntimeError("hf_secret"),
    ):
        api.failure = failure
        with pytest.raises(OSError, match="bucket acme/catalog") as caught:
            storage.write("a", b"")
        assert "hf_secret" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["list_bucket_tree", "get_bucket_paths_info", "batch_bucket_files", "download_bucket_files"]
)
def test_the_installed_client_takes_the_calls_that_are_made(name: str) -> None:
    used = inspect.signature(getattr(BucketApi, name)).parameters
    real = inspect.signature(getattr(HfApi, name)).parameters
    assert {(key, value.kind) for key, value in used.items()} <= {(key, value.kind) for key, value in real.items()}
    for key in real.keys() - used.keys():
        assert real[key].default is not inspect.Parameter.empty


class Server(BaseHTTPRequestHandler):
    """A bucket's listing, look-up and deletion, as the Hub's client reads them."""

    files: dict[str, int]

    def do_GET(self) -> None:
        prefix = self.path.partition("/tree")[2].strip("/").partition("?")[0].replace("%2F", "/")
        self._answer([_wire(path, size) for path, size in self.files.items() if path.startswith(prefix)])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path.endswith("/paths-info"):
            asked = json.loads(body)["paths"]
            self._answer([_wire(path, self.files[path]) for path in asked if path in self.files])
            return
        for operation in map(json.loads, body.splitlines()):
            assert operation["type"] == "deleteFile"
            self.files.pop(operation["path"])
        self._answer({"success": True})

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def _answer(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _wire(path: str, size: int) -> dict[str, object]:
    return {"type": "file", "path": path, "size": size, "xetHash": f"xet-{path}", "mtime": "2026-01-02T03:04:05.000Z"}


@contextmanager
def served(files: dict[str, int]) -> Iterator[str]:
    handler = type("Handler", (Server,), {"files": files})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_the_real_client_lists_looks_up_and_deletes() -> None:
    files = {"prod/snapshots/a.db": 4, "prod/snapshots/b.db": 5, "prod/snapshots/deep/c.db": 6}
    with served(files) as url:
        storage = BucketStorage(HfApi(endpoint=url, token="hf_none"), BUCKET, "prod")
        assert [(file.name, file.size) for file in storage.list("snapshots")] == [("a.db", 4), ("b.db", 5)]
        with pytest.raises(ValueError, match="more than 3"):
            storage.read("snapshots/a.db", limit=3)
        with pytest.raises(FileNotFoundError):
            storage.read("snapshots/z.db", limit=3)
        storage.delete("snapshots/a.db")
        storage.delete("snapshots/a.db")
        assert sorted(files) == ["prod/snapshots/b.db", "prod/snapshots/deep/c.db"]


@pytest.mark.parametrize("prefix", ["", "prod/v1"])
def test_folders_are_listed_and_removed_with_all_in_them(prefix: str) -> None:
    api = FakeApi()
    storage = BucketStorage(api, BUCKET, prefix)
    for name in ("runs/a/rollout.json", "runs/a/verifier/log", "runs/ab/rollout.json", "runs/file", "top.json"):
        storage.write(name, b"1")
    assert storage.folders("runs") == ["a", "ab"]
    assert storage.folders("") == ["runs"]
    assert storage.folders("nowhere") == []
    storage.delete_folder("runs/a")
    storage.delete_folder("runs/a")
    assert storage.folders("runs") == ["ab"]
    assert len(api.files) == 3
