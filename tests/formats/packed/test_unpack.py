"""Archives of one task: opened whatever they are packed with, and refused with the reason where they are hostile."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.packed.archive import open_archive
from rlx.formats.packed.budget import REPOSITORY, TASK, Budget, RefusedArchive
from rlx.formats.packed.unpack import task_files, unpack
from rlx.formats.rows.sources.octets import Held
from rlx.texts import words
from tests.formats.packed.making import TASK as FILES
from tests.formats.packed.making import entry, header, overlapping, patched, tar, tar_of, zip_entry, zipped

PLAIN = tar(FILES)
ARCHIVES = {
    "tar": PLAIN,
    "gnu tar": tar(FILES, format_=tarfile.GNU_FORMAT),
    "ustar": tar(FILES, format_=tarfile.USTAR_FORMAT),
    "gz": gzip.compress(PLAIN, mtime=0),
    "gz in two parts": gzip.compress(PLAIN[:700], mtime=0) + gzip.compress(PLAIN[700:], mtime=0),
    "bz2": bz2.compress(PLAIN),
    "xz": lzma.compress(PLAIN),
    "zst": pa.Codec("zstd").compress(PLAIN, asbytes=True),
    "zip": zipped(FILES),
    "zip, stored": zipped(FILES, zipfile.ZIP_STORED),
    "zip, bzip2": zipped(FILES, zipfile.ZIP_BZIP2),
}


def refusal(data: bytes, budget: Budget = TASK) -> str:
    with pytest.raises(RefusedArchive) as refused:
        unpack(data, budget)
    assert words(refused.value.reason) == refused.value.message
    return refused.value.message


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_task_comes_out_of_every_kind_of_archive_as_it_went_in(kind: str) -> None:
    assert unpack(ARCHIVES[kind]) == dict(sorted(FILES.items()))


@pytest.mark.parametrize("format_", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_names_longer_than_a_header_come_out_whole(format_: int) -> None:
    files = {f"{'environment/' * 20}größe-{'x' * 90}.py": b"1", "task.toml": b""}
    assert unpack(tar(files, format_=format_)) == dict(sorted(files.items()))
    assert unpack(zipped(files)) == dict(sorted(files.items()))


def test_a_prefix_of_a_header_is_a_folder() -> None:
    path = f"{'a' * 90}/{'b' * 60}"
    assert unpack(tar({path: b"x"}, format_=tarfile.USTAR_FORMAT)) == {path: b"x"}


def test_folders_and_dots_are_no_part_of_a_path() -> None:
    data = tar_of(entry("./", tarfile.DIRTYPE), entry("./one/", tarfile.DIRTYPE), entry("./one//task.toml"))
    assert unpack(data) == {"one/task.toml": b""}


HOSTILE = {
    "symlink": (tar_of(entry("a", tarfile.SYMTYPE, "/etc/passwd")), "holds a link"),
    "hard link": (tar_of(entry("a", tarfile.LNKTYPE, "b")), "holds a link"),
    "zip symlink": (zip_entry("a", 0o120777, b"/etc/passwd"), "holds a link"),
    "device": (tar_of(entry("a", tarfile.CHRTYPE)), "no file"),
    "pipe": (tar_of(entry("a", tarfile.FIFOTYPE)), "no file"),
    "zip pipe": (zip_entry("a", 0o010644), "no file"),
    "volume label": (header(b"a", kind=b"V") + bytes(1024), "no file"),
    "sparse": (header(b"a", kind=b"S") + bytes(1024), "gaps"),
    "absolute": (tar({"/etc/passwd": b""}), "outside itself"),
    "zip absolute": (zipped({"/etc/passwd": b""}), "outside itself"),
    "drive": (zipped({"C:/evil": b""}), "outside itself"),
    "dot-dot": (tar({"a/../../b": b""}), "outside itself"),
    "zip dot-dot": (zipped({"../b": b""}), "outside itself"),
    "dot-dot folder": (tar_of(entry("../x/", tarfile.DIRTYPE)), "outside itself"),
    "backslash": (tar({"a\\b": b""}), "backslash"),
    "zip backslash": (zipped({"..\\b": b""}), "backslash"),
    "NUL": (patched(zipped({"aXb": b""}), b"aXb", 1, b"\0"), "NUL"),
    "NUL in an extended header": (
        header(b"x", kind=b"x", size=b"00000000014\0")
        + b"12 path=a\0b\n".ljust(512, b"\0")
        + header(b"x")
        + bytes(1024),
        "NUL",
    ),
    "not UTF-8": (header(b"\xff\xfe") + bytes(1024), "not UTF-8"),
    "zip not UTF-8": (patched(zipped({"aXb": b""}), b"aXb", 1, b"\xff"), "not UTF-8"),
    "long name": (tar({"a/" * 500 + "b": b""}), "more than 1,000 characters"),
    "very long name": (tar({"a" * 70_000: b""}), "more than 1,000 characters"),
    "no name": (header(b"") + bytes(1024), "without a name"),
    "twice": (tar_of(entry("a"), entry("./a")), "two files of one name"),
    "zip twice": (patched(zipped({"a1": b"", "a2": b""}), b"a2", 0, b"a1"), "two files of one name"),
    "case": (tar({"Readme": b"", "README": b""}), "differ in case"),
    "case of folders": (tar({"a/x": b"", "A/y": b""}), "differ in case"),
    "case beyond ASCII": (tar({"straße": b"", "STRASSE": b""}), "differ in case"),
    "composed": (tar({"e\u0301": b"", "é": b""}), "differ in case"),
    "file and folder": (tar({"a": b"", "a/b": b""}), "a file and a folder"),
    "folder and file": (tar({"a/b": b"", "a": b""}), "a file and a folder"),
    "encrypted": (patched(patched(zipped({"a": b"x"}), b"PK\1\2", 8, b"\1"), b"PK\3\4", 6, b"\1"), "encrypted"),
    "method": (patched(zipped({"a": b"x"}), b"PK\1\2", 10, b"\x0e"), "not read here"),
    "overlap": (overlapping(10, 100_000), "lie over each other"),
    "nothing": (b"", "neither"),
    "text": (b"no archive at all" * 100, "neither"),
    "cut tar": (PLAIN[:1200], "cut off"),
    "tar without an end": (PLAIN[: 512 * 3], "cut off"),
    "cut gz": (gzip.compress(PLAIN, mtime=0)[:-30], "damaged"),
    "cut xz": (lzma.compress(PLAIN)[:-30], "damaged"),
    "cut bz2": (bz2.compress(PLAIN)[:-30], "damaged"),
    "cut zip": (zipped(FILES)[:-40], "damaged"),
    "damaged header": (patched(PLAIN, b"instruction.md", 0, b"X"), "damaged"),
    "damaged zip": (patched(zipped({"a": b"abc"}, zipfile.ZIP_STORED), b"abc", 0, b"abd"), "not what the archive says"),
    "damaged flate": (patched(zipped({"a": b"abc" * 99}), b"PK\3\4", 31, b"\xff\xff\xff"), "damaged"),
    "no tar inside": (gzip.compress(b"hello", mtime=0), "no tar file"),
    "an archive in an archive": (gzip.compress(zipped(FILES), mtime=0), "no tar file"),
    "negative size": (header(b"a", size=b"\xff" * 12) + bytes(1024), "damaged"),
    "size that is no number": (header(b"a", size=b"9x\0" + bytes(9)) + bytes(1024), "damaged"),
    "size past the end": (header(b"a", size=b"77777777777\0") + bytes(1024), "cut off"),
    "huge size": (header(b"a", size=b"\x80" + b"\x7f" * 11) + bytes(1024), "cut off"),
    "paths for all": (
        header(b"x", kind=b"g", size=b"00000000012\0") + b"10 path=a\n".ljust(512, b"\0") + bytes(1024),
        "damaged",
    ),
    "extended header of no records": (
        header(b"x", kind=b"x", size=b"00000000012\0") + b"99 path=a\n".ljust(512, b"\0") + bytes(1024),
        "damaged",
    ),
    "long list": (patched(zipped({"a": b""}), b"PK\5\6", 12, struct.pack("<I", 2**31)), "damaged"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused_with_the_reason(kind: str) -> None:
    data, reason = HOSTILE[kind]
    assert reason in refusal(data)


def test_bombs_are_refused_before_they_are_unpacked() -> None:
    zeros = tar({"a": bytes(TASK.free + 1)})
    for bomb in (gzip.compress(zeros), bz2.compress(zeros), lzma.compress(zeros), zipped({"a": bytes(TASK.free + 1)})):
        assert "200 times its size" in refusal(bomb)
    noisy = bytes(range(256)) * 4096
    assert "more than 32 MB" in refusal(tar({"a": noisy * 33}))
    assert "more than 64 MB" in refusal(patched(zipped({"a": b"x"}), b"PK\1\2", 24, struct.pack("<I", 80 * 2**20)))
    assert "more than 64 MB" in refusal(bytes(64 * 2**20 + 1))


def test_a_size_that_a_zip_file_lies_about_is_found_out() -> None:
    data = zipped({"a": bytes(1000)})
    assert "not what the archive says" in refusal(patched(data, b"PK\1\2", 24, struct.pack("<I", 10)))
    assert "not what the archive says" in refusal(patched(data, b"PK\1\2", 24, struct.pack("<I", 5000)))


def test_a_hundred_thousand_files_are_refused() -> None:
    names = {f"{number:06}": b"" for number in range(100_000)}
    assert "more than 10,000 files" in refusal(zipped(names))
    small = b"".join(header(f"{number:06}".encode()) for number in range(100_000)) + bytes(1024)
    assert "more than 10,000 files" in refusal(gzip.compress(small, 6, mtime=0))


def test_a_hundred_thousand_files_of_a_whole_archive_are_refused(tmp_path: Path) -> None:
    packed = zipped({f"{number:06}": b"" for number in range(100_000)})
    with pytest.raises(RefusedArchive, match="more than 80,000 files"):
        open_archive(Held(packed), tmp_path / "tasks.tar", REPOSITORY)


def test_a_list_that_hides_its_length_is_looked_at_before_it_is_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(70_000):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    assert b"PK\x06\x06" in out.getvalue()
    assert "more than 10,000 files" in refusal(out.getvalue())


def test_a_task_is_found_below_the_folders_around_it() -> None:
    wrapped = {f"wrap/one/{path}": data for path, data in FILES.items()}
    inner = {"wrap/one/environment/fixture/task.toml": b"", "wrap/notes.txt": b""}
    found = task_files({**wrapped, **inner})
    assert found == {**FILES, "environment/fixture/task.toml": b""}
    with pytest.raises(RefusedArchive, match="no task"):
        task_files({"instruction.md": b""})
    with pytest.raises(RefusedArchive, match="2 tasks"):
        task_files({"a/task.toml": b"", "b/task.toml": b""})


names = st.text(st.sampled_from("abß./\\\0:C \n"), max_size=12)


@given(st.dictionaries(names, st.binary(max_size=40), max_size=6), st.sampled_from(["tar", "zip"]))
def test_no_member_ever_leaves_the_folder(files: dict[str, bytes], kind: str) -> None:
    with suppress(RefusedArchive, ValueError):
        found = unpack(tar(files) if kind == "tar" else zipped(files))
        for path in found:
            parts = path.split("/")
            assert not {"", ".", ".."}.intersection(parts)
            assert "\\" not in path
            assert "\0" not in path
        folded = [path.casefold() for path in found]
        assert len(set(folded)) == len(folded)


@given(st.binary(max_size=1500), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08\0", b"BZh9", b"\xfd7zXZ\0"]))
def test_no_bytes_do_anything_but_open_or_be_refused(data: bytes, start: bytes) -> None:
    with suppress(RefusedArchive):
        unpack(start + data)


@given(st.sampled_from(sorted(ARCHIVES)), st.data())
def test_no_damage_does_anything_but_open_or_be_refused(kind: str, data: st.DataObject) -> None:
    archive = bytearray(ARCHIVES[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(archive)))
    with suppress(RefusedArchive):
        found = unpack(bytes(archive[:cut]) if cut % 3 == 0 else bytes(archive))
        assert sum(map(len, found.values())) <= TASK.total
