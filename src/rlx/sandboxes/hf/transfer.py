"""Files as tar archives: bounded, and none outside of the chosen folder. Every call blocks."""

import io
import os
import stat
import tarfile
from pathlib import Path
from typing import IO, Final

from rlx.errors import SandboxError

MOST: Final = 512 * 1024 * 1024
"""Bytes of one transfer, which the client holds in memory."""


def pack(source: Path, name: str, archive: IO[bytes]) -> None:
    """A file as `name`, or what a folder holds; all of it root's. Devices, sockets and pipes are left out.

    Raises `SandboxError` past the bound.
    """
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        if not source.is_dir():
            _add(tar, source, name)
            return
        for here, folders, names in os.walk(source):
            for each in sorted((*folders, *names)):
                path = Path(here, each)
                _add(tar, path, os.fspath(path.relative_to(source)))
                if archive.tell() > MOST:
                    raise SandboxError(f"More than {MOST >> 20} MiB cannot be sent to this sandbox at once.")


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    tar.inodes.clear()  # type: ignore[attr-defined]  # typeshed leaves it out; links become files of their own
    member = tar.gettarinfo(path, name)
    if member is None or not (member.isreg() or member.isdir() or member.issym()):
        return
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode = stat.S_IMODE(member.mode) & 0o777
    if member.isreg():
        with path.open("rb") as file:
            tar.addfile(member, file)
    else:
        tar.addfile(member)


def unpack(data: bytes, target: Path, *, is_folder: bool) -> None:
    """What a sandbox sent, which is not trusted, as the folder or file `target`. Raises `SandboxError`."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errors="surrogateescape") as tar:
            if is_folder:
                target.mkdir(parents=True, exist_ok=True)
                _folder(tar, target)
            else:
                _file(tar, target)
    except (tarfile.TarError, EOFError) as error:
        raise SandboxError(f"The sandbox sent no archive that can be read: {type(error).__name__}.") from error


def _folder(tar: tarfile.TarFile, target: Path) -> None:
    for member in tar:
        if member.issparse() or not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            continue
        try:
            kept = tarfile.data_filter(member, os.fspath(target))
            if kept.name not in (".", ""):
                tar.extract(kept, target, filter="data")
        except (tarfile.FilterError, KeyError):
            continue  # it leads out of the folder, or to what was left out
        except OSError as error:
            raise SandboxError(f"A file of the sandbox cannot be written here: {error.strerror}.") from error


def _file(tar: tarfile.TarFile, target: Path) -> None:
    member = tar.next()
    content = tar.extractfile(member) if member is not None and member.isreg() and not member.issparse() else None
    if content is None or member is None:
        raise SandboxError("What was asked for in the sandbox is no file.")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_bytes(content.read())
    target.chmod(stat.S_IMODE(member.mode) & 0o755 | 0o600)
