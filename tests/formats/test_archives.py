"""Archives are listed by name and size; those that are broken, lead out or would take too much are refused."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.archives import MAX_MEMBERS, MAX_UNPACKED, Member, Refused, is_archive, members
from rlx.texts import words


def tar(*names: str, mode: str = "w", link: str | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]  # the mode is a parameter
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(name)
            archive.addfile(entry, io.BytesIO(name.encode()))
        if link is not None:
            entry = tarfile.TarInfo("link")
            entry.type, entry.linkname = tarfile.SYMTYPE, link
            archive.addfile(entry)
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    return out.getvalue()


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, name)
    return out.getvalue()


def listed(path: str, data: bytes) -> list[tuple[str, int | None]]:
    return [(item.path, item.size) for item in members(path, io.BytesIO(data), len(data))]


def refusal(path: str, data: bytes) -> str:
    with pytest.raises(Refused) as refused:
        members(path, io.BytesIO(data), len(data))
    return words(refused.value.reason)


@pytest.mark.parametrize(
    ("path", "mode"),
    [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("x/A.TGZ", "w:gz"), ("a.tar.bz2", "w:bz2"), ("a.txz", "w:xz")],
)
def test_a_tape_archive_is_listed_without_its_folders(path: str, mode: str) -> None:
    assert is_archive(path)
    assert listed(path, tar("one.txt", "deep/größe.py", mode=mode, link="one.txt")) == [
        ("one.txt", 7),
        ("deep/größe.py", 13),
        ("link", None),
    ]


def test_a_zip_file_is_listed_without_its_folders() -> None:
    assert listed("a.zip", zipped("folder/", "folder/one.txt", "b c.py")) == [("folder/one.txt", 14), ("b c.py", 6)]
    assert listed("a.zip", b"prefix of an installer" + zipped("one")) == [("one", 3)]
    assert listed("a.zip", zipped()) == []


@pytest.mark.parametrize(
    ("path", "pack"), [("rows.jsonl.gz", gzip.compress), ("r.bz2", bz2.compress), ("r.xz", lzma.compress)]
)
def test_one_compressed_file_is_named_by_its_archive(path: str, pack: Callable[[bytes], bytes]) -> None:
    assert listed(path, pack(b"hello")) == [(path.rpartition(".")[0], 5)]


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "..\\evil", "C:\\evil"])
def test_an_archive_that_names_a_path_outside_itself_is_refused(name: str) -> None:
    for path, data in (("a.tar", tar("good", name)), ("a.zip", zipped("good", name))):
        assert "outside itself" in refusal(path, data)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.zip", b"no archive"),
        ("a.tgz", b"no archive"),
        ("a.tar", b"no archive" * 100),
        ("a.tar", tar("x" * 30)[:600]),
        ("a.zip", zipped("a", "b")[:-30]),
        ("a.xz", lzma.compress(b"x" * 1000)[:-8]),
        ("a.gz", gzip.compress(b"x" * 1000, mtime=0)[:-8]),
        ("a.bz2", bz2.compress(b"x" * 1000)[:-8]),
    ],
)
def test_a_broken_archive_is_refused(path: str, data: bytes) -> None:
    assert "cannot be read" in refusal(path, data)


def test_a_stream_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzip.compress(b"\0" * (MAX_UNPACKED + 1), 1)
    assert "unpacks to more than 256 MB" in refusal("a.gz", bomb)
    head = tar("x")[:512]
    assert "unpacks to more than 256 MB" in refusal(
        "a.tgz", gzip.compress(_sized(head, 2**33) + b"\0" * MAX_UNPACKED, 1, mtime=0)
    )


def test_an_archive_that_says_it_unpacks_to_too_much_is_refused() -> None:
    data = bytearray(zipped("bomb"))
    at = data.find(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 2**32 - 2)
    assert "unpacks to 4 GB" in refusal("a.zip", bytes(data))


def test_an_archive_of_too_many_files_is_refused() -> None:
    names = [str(number) for number in range(MAX_MEMBERS + 1)]
    assert "more than 10,000 files" in refusal("a.tar", tar(*names))
    assert "more than 10,000 files" in refusal("a.zip", zipped(*names))


def test_a_zip_files_list_is_not_read_when_it_is_too_long() -> None:
    data = bytearray(zipped("a"))
    at = data.rfind(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<I", 2**31)
    assert "more than 10,000 files" in refusal("a.zip", bytes(data))


def test_memory_for_unpacking_xz_is_bounded() -> None:
    greedy = lzma.compress(b"x", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 512 * 1024 * 1024}])
    assert "cannot be read" in refusal("a.xz", greedy)


@given(st.binary(max_size=400), st.sampled_from(["a.zip", "a.tar", "a.tgz", "a.bz2", "a.xz", "a.tar.gz"]))
def test_no_bytes_do_anything_but_list_or_be_refused(data: bytes, path: str) -> None:
    with suppress(Refused):
        assert all(isinstance(item, Member) for item in members(path, io.BytesIO(data), len(data)))


@given(st.integers(0, 511), st.integers(0, 255))
def test_no_damaged_header_does_anything_else(place: int, byte: int) -> None:
    data = bytearray(tar("one", "two"))
    data[place] = byte
    with suppress(Refused):
        assert len(members("a.tar", io.BytesIO(bytes(data)), len(data))) <= 2


def _sized(header: bytes, size: int) -> bytes:
    """A tar header whose file says to have `size` bytes."""
    changed = bytearray(header)
    changed[124:136] = f"{size:011o}\0".encode()
    changed[148:156] = b" " * 8
    changed[148:156] = f"{sum(changed):06o}\0 ".encode()
    return bytes(changed)
