"""What is published in a directory: whole or not at all, and nowhere else."""

import os
from pathlib import Path

import pytest

from rlx.store.storage import DirectoryStorage, open_storage


@pytest.fixture
def storage(tmp_path: Path) -> DirectoryStorage:
    return DirectoryStorage(tmp_path / "store")


def test_what_is_put_is_listed_read_and_fetched(storage: DirectoryStorage, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"one")
    storage.put("folder/a.db", source)
    storage.write("folder/b.json", b"{}")
    assert [(file.name, file.size) for file in storage.list("folder")] == [("a.db", 3), ("b.json", 2)]
    assert storage.read("folder/a.db", limit=3) == b"one"
    target = tmp_path / "away" / "copy"
    storage.fetch("folder/a.db", target, size=3)
    assert target.read_bytes() == b"one"


def test_a_file_that_is_replaced_has_another_tag(storage: DirectoryStorage) -> None:
    storage.write("a", b"one")
    (before,) = storage.list("")
    storage.write("a", b"other")
    (after,) = storage.list("")
    assert before.tag != after.tag


def test_a_file_of_another_size_is_not_fetched_nor_read(storage: DirectoryStorage, tmp_path: Path) -> None:
    storage.write("a", b"four")
    with pytest.raises(ValueError, match="4 bytes, not 5"):
        storage.fetch("a", tmp_path / "copy", size=5)
    with pytest.raises(ValueError, match="more than 3"):
        storage.read("a", limit=3)
    assert not (tmp_path / "copy").exists()


def test_what_is_not_there_is_told_as_such(storage: DirectoryStorage, tmp_path: Path) -> None:
    assert storage.list("nowhere") == []
    storage.delete("nowhere/a")
    with pytest.raises(FileNotFoundError):
        storage.read("nowhere/a", limit=1)
    with pytest.raises(FileNotFoundError):
        storage.fetch("nowhere/a", tmp_path / "copy", size=1)


def test_a_failed_putting_leaves_the_old_file_and_nothing_else(storage: DirectoryStorage, tmp_path: Path) -> None:
    storage.write("folder/a", b"old")
    with pytest.raises(FileNotFoundError):
        storage.put("folder/a", tmp_path / "missing")
    assert storage.read("folder/a", limit=10) == b"old"
    assert [path.name for path in (tmp_path / "store" / "folder").iterdir()] == ["a"]


def test_leftovers_are_not_listed_and_old_ones_are_swept(storage: DirectoryStorage, tmp_path: Path) -> None:
    storage.write("folder/a", b"")
    young, old = (tmp_path / "store" / "folder" / name for name in (".a.1234", ".a.5678"))
    young.write_bytes(b"half")
    old.write_bytes(b"half")
    os.utime(old, (0, 0))
    assert [file.name for file in storage.list("folder")] == ["a"]
    storage.sweep("folder")
    assert (young.exists(), old.exists()) == (True, False)


@pytest.mark.parametrize("name", ["../a", "/etc/passwd", "a/../../b", "", "a//b", "a/.hidden", "a\0", "a\nb", "ü"])
def test_no_name_leads_elsewhere(storage: DirectoryStorage, name: str, tmp_path: Path) -> None:
    for call in (
        lambda: storage.read(name, limit=1),
        lambda: storage.write(name, b""),
        lambda: storage.fetch(name, tmp_path / "copy", size=0),
        lambda: storage.delete(name),
    ):
        with pytest.raises(ValueError, match="no name of a stored file"):
            call()


@pytest.mark.parametrize("place", ["s3://bucket", "hf://buckets/", "hf://buckets/org", "hf://buckets/../name"])
def test_other_places_are_refused(place: str) -> None:
    with pytest.raises(ValueError, match=r"no directory|names no bucket|no name"):
        open_storage(place)


def test_folders_are_listed_and_removed_with_all_in_them(tmp_path: Path) -> None:
    storage = DirectoryStorage(tmp_path)
    for name in ("runs/a/rollout.json", "runs/a/verifier/log", "runs/ab/rollout.json", "runs/file", "top.json"):
        storage.write(name, b"1")
    (tmp_path / "runs/.hidden").mkdir()
    assert storage.folders("runs") == ["a", "ab"]
    assert storage.folders("") == ["runs"]
    assert storage.folders("nowhere") == []
    storage.delete_folder("runs/a")
    storage.delete_folder("runs/a")
    assert storage.folders("runs") == ["ab"]
    for wrong in ("", "..", "runs/../..", "/"):
        with pytest.raises(ValueError, match="no name"):
            storage.delete_folder(wrong)
