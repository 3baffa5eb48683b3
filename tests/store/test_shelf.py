"""Files are published whole or not at all."""

import os
from pathlib import Path

import pytest

from rlx.store.shelf import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "store", tmp_path / "local")


def test_what_is_written_is_found_in_the_store_and_on_local_disk(shelf: Shelf, tmp_path: Path) -> None:
    with shelf.writing("indexes/a/1.db") as path:
        path.write_bytes(b"one")
        assert shelf.find("indexes/a/1.db") is None
    assert (tmp_path / "store/indexes/a/1.db").read_bytes() == b"one"
    found = shelf.find("indexes/a/1.db")
    assert found is not None
    assert found.read_bytes() == b"one"


def test_a_failed_writing_leaves_nothing(shelf: Shelf, tmp_path: Path) -> None:
    def fail() -> None:
        with shelf.writing("indexes/a/1.db") as path:
            path.write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert shelf.find("indexes/a/1.db") is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_another_process_finds_what_the_store_holds(shelf: Shelf, tmp_path: Path) -> None:
    with shelf.writing("packs/a/1.db") as path:
        path.write_bytes(b"one")
    other = Shelf(tmp_path / "store", tmp_path / "elsewhere")
    assert other.find("packs/a/2.db") is None
    found = other.find("packs/a/1.db")
    assert found is not None
    assert found.is_relative_to(tmp_path / "elsewhere")


def test_a_private_shelf_never_reaches_the_store(tmp_path: Path) -> None:
    with Shelf(None, tmp_path / "local").writing("indexes/a/1.db") as path:
        path.write_bytes(b"private")
    assert not (tmp_path / "store").exists()


def test_names_come_newest_first_and_drop_forgets_both_copies(shelf: Shelf) -> None:
    for place, name in enumerate(["old", "new"]):
        with shelf.writing(f"indexes/a/{name}.db") as path:
            path.write_bytes(b"x")
            os.utime(path, (place + 1, place + 1))
    assert shelf.names("indexes/a") == ["new.db", "old.db"]
    shelf.drop("indexes/a/new.db")
    assert shelf.names("indexes/a") == ["old.db"]
    assert shelf.find("indexes/a/new.db") is None


def test_leftovers_of_killed_processes_are_swept_and_fresh_ones_kept(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "store/indexes/a"
    folder.mkdir(parents=True)
    (folder / ".1.db.dead").write_bytes(b"half")
    os.utime(folder / ".1.db.dead", (1, 1))
    (folder / ".2.db.alive").write_bytes(b"half")
    shelf.sweep("indexes/a")
    assert [path.name for path in folder.iterdir()] == [".2.db.alive"]
    assert shelf.names("indexes/a") == []
