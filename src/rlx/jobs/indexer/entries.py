"""The entries of a store, one file an environment, and copies of them on local disk."""

import hashlib
import logging
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rlx.ids import EnvKey
from rlx.index.entries import MAX_ENTRY, Entry, entry_bytes, entry_in
from rlx.store.storage import Storage, Stored

FOLDER = "catalog"
_SUFFIX = ".json.gz"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    entries: Mapping[EnvKey, Entry | None]
    """None for one that cannot be read: damaged, or of another version."""
    gone: tuple[str, ...]
    """Files of environments that are listed no more."""


class Entries:
    """Reads and writes entries. Without a `cache` nothing is written to local disk."""

    def __init__(self, storage: Storage, cache: Path | None) -> None:
        self._storage = storage
        self._cache = cache

    def load(self, keys: Iterable[EnvKey]) -> Loaded:
        """The entries of `keys`. What lies here unchanged is not fetched. Raises `OSError`."""
        wanted = {f"{key.slug}{_SUFFIX}": key for key in keys}
        stored = self._storage.list(FOLDER)
        entries = {wanted[file.name]: self._entry(file, wanted[file.name]) for file in stored if file.name in wanted}
        self._tidy(stored)
        return Loaded(entries, tuple(file.name for file in stored if file.name not in wanted))

    def save(self, key: EnvKey, entry: Entry) -> None:
        """Raises `OSError`."""
        self._storage.write(f"{FOLDER}/{key.slug}{_SUFFIX}", entry_bytes(entry))

    def drop(self, name: str) -> None:
        self._storage.delete(f"{FOLDER}/{name}")

    def sweep(self) -> None:
        self._storage.sweep(FOLDER)

    def _entry(self, file: Stored, key: EnvKey) -> Entry | None:
        try:
            entry = entry_in(self._bytes(file))
        except (ValueError, FileNotFoundError) as error:
            _log.warning("the entry of %s is made anew: %s", key, error)
            return None
        return entry if entry.card.key == key else None

    def _bytes(self, file: Stored) -> bytes:
        local = self._local(file)
        if local is not None:
            try:
                return local.read_bytes()
            except FileNotFoundError:
                pass
        data = self._storage.read(f"{FOLDER}/{file.name}", limit=MAX_ENTRY)
        if local is not None:
            temporary = local.with_name(f".{local.name}.{secrets.token_hex(4)}")
            local.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(data)
            os.replace(temporary, local)
        return data

    def _local(self, file: Stored) -> Path | None:
        if self._cache is None:
            return None
        tag = hashlib.sha256(f"{self._storage} {file.tag}".encode()).hexdigest()[:16]
        return self._cache / f"{file.name.removesuffix(_SUFFIX)}@{tag}"

    def _tidy(self, stored: Iterable[Stored]) -> None:
        """Copies of what is no more, or changed."""
        if self._cache is None or not self._cache.is_dir():
            return
        known = {self._local(file) for file in stored}
        for path in self._cache.iterdir():
            if path not in known:
                path.unlink(missing_ok=True)
