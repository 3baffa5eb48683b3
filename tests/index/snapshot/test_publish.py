"""Publishing a snapshot: the pointer is last, whatever goes wrong before it changes nothing, old ones go."""

import json
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import Upstream
from rlx.index.snapshot.opened import check
from rlx.index.snapshot.pointer import POINTER, digest, pointer_bytes, pointer_in
from rlx.index.snapshot.publish import KEPT, current_pointer, prune
from rlx.store.storage import DirectoryStorage, Stored
from tests.index.snapshot.stores import NOW, published, refuses


class Log:
    """A storage that notes the order of what is done, and fails or lies on demand."""

    def __init__(self, root: Path) -> None:
        self._inner = DirectoryStorage(root)
        self.done: list[str] = []
        self.fails: str | None = None
        self.spoils = False

    def read(self, name: str, *, limit: int) -> bytes:
        return self._inner.read(name, limit=limit)

    def fetch(self, name: str, target: Path, *, size: int) -> None:
        self._note("fetch", name)
        self._inner.fetch(name, target, size=size)
        if self.spoils:
            target.write_bytes(b"\0" * size)

    def put(self, name: str, source: Path) -> None:
        self._note("put", name)
        self._inner.put(name, source)

    def write(self, name: str, data: bytes) -> None:
        self._note("write", name)
        self._inner.write(name, data)

    def list(self, folder: str) -> "list[Stored]":
        return self._inner.list(folder)

    def folders(self, folder: str) -> Sequence[str]:
        return self._inner.folders(folder)

    def delete(self, name: str) -> None:
        self._note("delete", name)
        self._inner.delete(name)

    def delete_folder(self, folder: str) -> None:
        self._note("delete", folder)
        self._inner.delete_folder(folder)

    def sweep(self, folder: str) -> None:
        self._note("sweep", folder)
        self._inner.sweep(folder)

    def _note(self, call: str, name: str) -> None:
        self.done.append(f"{call} {name}")
        if call == self.fails:
            raise OSError(28, "No space left on device")


def test_the_database_is_stored_and_read_back_before_the_pointer_names_it(tmp_path: Path) -> None:
    storage = Log(tmp_path / "store")
    pointer = published(storage, tmp_path / "work", "one", "two")
    name = f"snapshots/{pointer.db}"
    assert storage.done == [f"put {name}", f"fetch {name}", f"write snapshots/{POINTER}", "sweep snapshots"]
    stored = tmp_path / "store" / name
    assert digest(stored) == (pointer.size, pointer.sha256)
    assert check(stored) == pointer.counts
    assert current_pointer(storage) == pointer
    assert list((tmp_path / "work").iterdir()) == []


def test_the_pointer_says_what_readers_check(tmp_path: Path) -> None:
    pointer = published(DirectoryStorage(tmp_path / "store"), tmp_path / "work", "one")
    told = json.loads((tmp_path / "store" / "snapshots" / POINTER).read_bytes())
    assert told == {
        "db": "catalog-20261130T120000Z.db",
        "sha256": pointer.sha256,
        "size": pointer.size,
        "built_at": NOW.isoformat(),
        "counts": {"environments": 1, "datasets": 1, "spaces": 0, "tasks": 3},
        "schema": 1,
    }


@pytest.mark.parametrize("fails", ["put", "fetch", "write"])
def test_a_store_in_trouble_leaves_the_old_pointer_and_its_database(tmp_path: Path, fails: str) -> None:
    storage = Log(tmp_path / "store")
    before = published(storage, tmp_path / "work", "one")
    storage.fails = fails
    with pytest.raises(Upstream, match="No space left"):
        published(storage, tmp_path / "work", "two")
    assert current_pointer(storage) == before
    assert check(tmp_path / "store" / "snapshots" / before.db) == before.counts
    assert list((tmp_path / "work").iterdir()) == []


def test_what_comes_back_different_is_not_pointed_at(tmp_path: Path) -> None:
    storage = Log(tmp_path / "store")
    before = published(storage, tmp_path / "work", "one")
    storage.spoils = True
    with pytest.raises(Upstream, match="came back different"):
        published(storage, tmp_path / "work", "two")
    assert current_pointer(storage) == before
    assert [file.name for file in storage.list("snapshots")] == [POINTER, before.db]


def test_two_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    storage = DirectoryStorage(tmp_path / "store")
    names = [published(storage, tmp_path / "work", "one").db for _ in range(3)]
    assert names == [f"catalog-20261130T120000Z{end}.db" for end in ("", "-1", "-2")]


def test_the_newest_are_kept_and_whatever_a_pointer_of_any_schema_names(tmp_path: Path) -> None:
    storage = DirectoryStorage(tmp_path / "store")
    times = [NOW + timedelta(hours=n) for n in range(KEPT + 4)]
    names = [published(storage, tmp_path / "work", "one", at=times[0]).db]
    storage.write("snapshots/LATEST.v9.json", json.dumps({"db": names[0], "schema": 9}).encode())
    names += [published(storage, tmp_path / "work", "one", at=at).db for at in times[1:]]
    kept = [file.name for file in storage.list("snapshots") if file.name.endswith(".db")]
    assert kept == [names[0], *names[-KEPT:]]


def test_nothing_is_pruned_while_a_pointer_cannot_be_read(tmp_path: Path) -> None:
    storage = DirectoryStorage(tmp_path / "store")
    storage.write("snapshots/LATEST.v9.json", b'{"db": "../../x"}')
    for n in range(KEPT + 2):
        published(storage, tmp_path / "work", "one", at=NOW + timedelta(hours=n))
    assert len(storage.list("snapshots")) == KEPT + 2 + 2


def test_leftovers_of_killed_runs_are_swept(tmp_path: Path) -> None:
    storage = DirectoryStorage(tmp_path / "store")
    published(storage, tmp_path / "work", "one")
    half = tmp_path / "store" / "snapshots" / ".catalog-20261130T110000Z.db.abcd"
    half.write_bytes(b"half")
    os.utime(half, (0, 0))
    prune(storage)
    assert not half.exists()


def test_a_pointer_is_read_as_it_was_written(tmp_path: Path) -> None:
    pointer = published(DirectoryStorage(tmp_path / "store"), tmp_path / "work", "one")
    assert pointer_in(pointer_bytes(pointer)) == pointer


GOOD: dict[str, object] = {
    "db": "catalog-20261130T120000Z.db",
    "sha256": "a" * 64,
    "size": 4096,
    "built_at": "2026-11-30T12:00:00+00:00",
    "counts": {"environments": 1, "datasets": 1, "spaces": 0, "tasks": 3},
    "schema": 1,
}
BAD: list[dict[str, object]] = [
    {"db": "../catalog-20261130T120000Z.db"},
    {"db": "/etc/passwd"},
    {"db": "catalog-20261130T120000Z.db/../x"},
    {"db": "catalog-20261130T120000Z.db\n"},
    {"db": "catalog-2026.db"},
    {"db": ["catalog-20261130T120000Z.db"]},
    {"db": None},
    {"sha256": "A" * 64},
    {"sha256": "a" * 63},
    {"sha256": 3},
    {"size": 0},
    {"size": -1},
    {"size": 10**15},
    {"size": "4096"},
    {"size": True},
    {"size": 4096.0},
    {"built_at": "yesterday"},
    {"built_at": 3},
    {"built_at": "0001-01-01T00:00:00+23:00"},
    {"counts": None},
    {"counts": []},
    {"counts": {"environments": 1}},
    {"counts": {"environments": -1, "datasets": 1, "spaces": 0, "tasks": 3}},
    {"counts": {"environments": "1", "datasets": 1, "spaces": 0, "tasks": 3}},
    {"schema": 2},
    {"schema": True},
    {"schema": "1"},
]


def test_the_pointer_that_the_bad_ones_are_made_of_is_good() -> None:
    assert pointer_in(json.dumps(GOOD).encode()).size == 4096


@pytest.mark.parametrize("bad", BAD, ids=[json.dumps(bad)[:40] for bad in BAD])
def test_a_pointer_that_is_none_is_refused(bad: dict[str, object]) -> None:
    assert refuses(pointer_in, json.dumps({**GOOD, **bad}).encode())


@given(st.binary(max_size=300) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_no_bytes_are_more_than_refused(data: bytes | str) -> None:
    assert refuses(pointer_in, data.encode() if isinstance(data, str) else data)
