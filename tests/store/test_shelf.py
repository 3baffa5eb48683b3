"""Files are published whole or not at all."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from rlx.errors import Upstream
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


def test_a_store_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    shelf = Shelf(tmp_path / "store", tmp_path / "local")
    with shelf.writing("indexes/a/1.db") as path:
        path.write_bytes(b"one")
    found = shelf.find("indexes/a/1.db")
    assert found is not None
    assert found.read_bytes() == b"one"
    shelf.drop("indexes/a/1.db")
    assert shelf.find("indexes/a/1.db") is None


def test_a_local_disk_that_cannot_be_written_reads_from_the_store_and_says_so_when_it_must_write(
    shelf: Shelf, tmp_path: Path
) -> None:
    with shelf.writing("indexes/a/1.db") as path:
        path.write_bytes(b"one")
    (tmp_path / "file").write_text("no folder")
    other = Shelf(tmp_path / "store", tmp_path / "file")
    assert other.find("indexes/a/1.db") == tmp_path / "store/indexes/a/1.db"
    with pytest.raises(Upstream, match="cannot be kept on this server's disk: File exists"), other.writing("x"):
        pass
    other.drop("indexes/a/1.db")
    assert other.find("indexes/a/1.db") is None


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), sqlite3.OperationalError("database or disk is full")]
)
def test_a_full_disk_is_told_and_leaves_nothing(shelf: Shelf, tmp_path: Path, error: Exception) -> None:
    def fill() -> None:
        with shelf.writing("indexes/a/1.db") as path:
            path.write_bytes(b"half")
            raise error

    with pytest.raises(Upstream, match=r"No space left|disk is full") as caught:
        fill()
    assert "RLX_CACHE_DIR" in (caught.value.hint or "")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
