"""A bucket of the Hub as a place to publish to, through the installed `huggingface_hub`.

Uploads and downloads go through the Hub's content-addressed storage, which no test here can stand in for: see
docs/catalog.md for what was exercised.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from rlx.store.passing import passing
from rlx.store.storage import Stored, check_name


class BucketEntry(Protocol):
    """A file or folder as a bucket lists it."""

    @property
    def type(self) -> str: ...

    @property
    def path(self) -> str: ...


class BucketApi(Protocol):
    """The calls of `huggingface_hub.HfApi` that are used, with its own names."""

    def list_bucket_tree(
        self, bucket_id: str, prefix: str | None = None, *, recursive: bool | None = None
    ) -> Iterable[BucketEntry]: ...

    def get_bucket_paths_info(self, bucket_id: str, paths: Iterable[str]) -> Iterable[BucketEntry]: ...

    def batch_bucket_files(
        self,
        bucket_id: str,
        *,
        add: list[tuple[str | Path | bytes, str]] | None = None,
        delete: list[str] | None = None,
    ) -> object: ...

    def download_bucket_files(
        self, bucket_id: str, files: list[Any], *, raise_on_missing_files: bool = False
    ) -> None: ...


def open_bucket(address: str) -> "BucketStorage":
    """The bucket at `<org>/<name>[/prefix]`, with the token of the environment. Raises `ValueError`."""
    from huggingface_hub import HfApi  # imported late: it takes half a second

    org, _, rest = address.strip("/").partition("/")
    name, _, prefix = rest.partition("/")
    if not org or not name:
        raise ValueError(f"{address!r} names no bucket: hf://buckets/<org>/<name>[/prefix]")
    return BucketStorage(HfApi(), f"{check_name(org)}/{check_name(name)}", check_name(prefix) if prefix else "")


class BucketStorage:
    """Meets `rlx.store.storage.Storage`. A bucket shows a file once it is uploaded, so nothing is half-written."""

    def __init__(self, api: BucketApi, bucket: str, prefix: str = "") -> None:
        self._api = api
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""

    def __str__(self) -> str:
        return f"hf://buckets/{self._bucket}/{self._prefix}".rstrip("/")

    def read(self, name: str, *, limit: int) -> bytes:
        size = self._size(name)
        if size > limit:
            raise ValueError(f"{name} has more than {limit:,} bytes")
        with passing("bucket-") as folder:
            target = folder / "file"
            self._download(name, target)
            return target.read_bytes()

    def fetch(self, name: str, target: Path, *, size: int) -> None:
        found = self._size(name)
        if found != size:
            raise ValueError(f"{name} has {found:,} bytes, not {size:,}")
        target.parent.mkdir(parents=True, exist_ok=True)
        self._download(name, target)

    def put(self, name: str, source: Path) -> None:
        path = self._path(name)
        self._asked(lambda: self._api.batch_bucket_files(self._bucket, add=[(source, path)]))

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._asked(lambda: self._api.batch_bucket_files(self._bucket, add=[(data, path)]))

    def list(self, folder: str) -> "list[Stored]":
        found = self._inside(folder, "file")
        return [Stored(name, _size_of(entry), _tag_of(entry)) for name, entry in found]

    def folders(self, folder: str) -> Sequence[str]:
        return [name for name, _ in self._inside(folder, "directory")]

    def delete(self, name: str) -> None:
        path = self._path(name)
        if self._find([path]):
            self._asked(lambda: self._api.batch_bucket_files(self._bucket, delete=[path]))

    def delete_folder(self, folder: str) -> None:
        prefix = self._path(folder)
        try:
            entries = self._asked(lambda: [*self._api.list_bucket_tree(self._bucket, prefix, recursive=True)])
        except FileNotFoundError:
            return
        paths = [entry.path for entry in entries if entry.type == "file" and entry.path.startswith(f"{prefix}/")]
        if paths:
            self._asked(lambda: self._api.batch_bucket_files(self._bucket, delete=paths))

    def sweep(self, folder: str) -> None:
        """Nothing: an upload that was cut off left no file."""

    def _inside(self, folder: str, kind: str) -> Sequence[tuple[str, "BucketEntry"]]:
        prefix = f"{self._prefix}{check_name(folder)}" if folder else self._prefix.rstrip("/")
        try:
            entries = self._asked(lambda: [*self._api.list_bucket_tree(self._bucket, prefix or None)])
        except FileNotFoundError:
            return []
        below = f"{prefix}/" if prefix else ""
        found = {e.path[len(below) :]: e for e in entries if e.type == kind and e.path.startswith(below)}
        return [(name, found[name]) for name in sorted(found) if name and "/" not in name]

    def _path(self, name: str) -> str:
        return f"{self._prefix}{check_name(name)}"

    def _size(self, name: str) -> int:
        found = self._find([self._path(name)])
        if not found:
            raise FileNotFoundError(f"{name} is not in the bucket {self._bucket}")
        return _size_of(found[0])

    def _find(self, paths: Sequence[str]) -> Sequence[BucketEntry]:
        return self._asked(lambda: list(self._api.get_bucket_paths_info(self._bucket, paths)))

    def _download(self, name: str, target: Path) -> None:
        path = self._path(name)
        self._asked(
            lambda: self._api.download_bucket_files(self._bucket, [(path, target)], raise_on_missing_files=True)
        )

    def _asked[T](self, call: Callable[[], T]) -> T:
        """What the Hub answers; its errors, and those of its storage, as `OSError`."""
        from httpx2 import HTTPError
        from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

        try:
            return call()
        except EntryNotFoundError as error:
            raise FileNotFoundError(f"not in the bucket {self._bucket}") from error
        except HfHubHTTPError as error:
            status = error.response.status_code if error.response is not None else None
            raise OSError(f"the bucket {self._bucket} answered {status or type(error).__name__}") from error
        except (HTTPError, RuntimeError, ValueError) as error:
            raise OSError(f"the bucket {self._bucket} failed: {type(error).__name__}") from error


def _size_of(entry: BucketEntry) -> int:
    size = getattr(entry, "size", None)
    return size if isinstance(size, int) and size >= 0 else 0


def _tag_of(entry: BucketEntry) -> str:
    return str(getattr(entry, "xet_hash", ""))
