"""Files of a sandbox come and go as archives, and none out of the folder that was chosen for them."""

import io
import tarfile
from pathlib import Path

import pytest

from rlx.errors import SandboxError
from rlx.sandboxes.base import KEPT
from rlx.sandboxes.hf.ends import Ends
from rlx.sandboxes.hf.transfer import pack, unpack


def archive(*members: tuple[str, bytes | str, bytes]) -> bytes:
    """Of members by name, type and content; of links, where they lead."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind if isinstance(kind, bytes) else tarfile.REGTYPE
            if member.type in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                member.linkname = content.decode()
                tar.addfile(member)
            else:
                member.size, member.mode = len(content), 0o6755
                tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


@pytest.mark.parametrize(
    "members",
    [
        [("../out", "", b"x")],
        [("/out", "", b"x")],
        [("link", tarfile.SYMTYPE, b"../.."), ("link/out", "", b"x")],
        [("link", tarfile.SYMTYPE, b"/etc")],
        [("hard", tarfile.LNKTYPE, b"../../out")],
        [("device", tarfile.CHRTYPE, b"")],
        [("pipe", tarfile.FIFOTYPE, b"")],
    ],
)
def test_nothing_leads_out_of_the_folder(tmp_path: Path, members: list[tuple[str, bytes | str, bytes]]) -> None:
    (tmp_path / "out").write_text("untouched")
    target = tmp_path / "deep" / "folder"
    unpack(archive(*members, ("kept", "", b"kept")), target, is_folder=True)

    assert (tmp_path / "out").read_text() == "untouched"
    assert (target / "kept").read_bytes() == b"kept"
    for path in target.rglob("*"):
        assert path.resolve().is_relative_to(target)
        assert path.is_symlink() or path.is_dir() or path.is_file()
        assert path.is_symlink() or not path.stat().st_mode & 0o6000


def test_what_is_no_archive_or_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no archive"):
        unpack(b"x" * 2000, tmp_path / "a", is_folder=True)
    with pytest.raises(SandboxError, match="no file"):
        unpack(archive(("link", tarfile.SYMTYPE, b"/etc/passwd")), tmp_path / "a", is_folder=False)


def test_what_is_sent_is_roots_and_no_device(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("x")
    (tmp_path / "script").chmod(0o4755)
    (tmp_path / "link").symlink_to("script")
    sent = io.BytesIO()
    pack(tmp_path, "", sent)
    sent.seek(0)
    with tarfile.open(fileobj=sent) as tar:
        found = {member.name: (member.uid, member.mode, member.linkname) for member in tar}
    assert found["script"] == (0, 0o755, "")
    assert found["link"][2] == "script"


def test_both_ends_of_an_output_are_kept() -> None:
    ends = Ends()
    for piece in (b"a" * (KEPT - 1), b"bc", b"d" * (3 * KEPT), b"e"):
        ends.add(piece)
    kept = ends.both()
    assert len(kept) == 2 * KEPT
    assert kept[KEPT - 2 : KEPT] == b"ab"
    assert kept.endswith(b"de")
    assert ends.left_out == 4 * KEPT + 2 - 2 * KEPT
