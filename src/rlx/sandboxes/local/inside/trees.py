"""Files as a stream, the same on both ends: what is sent never leads its receiver outside of the folder it chose.

A record is a line of JSON: `p` path, `k` kind (f, d, l), `m` mode, and of a link `t` its target. A file's bytes follow
in chunks, each with its length in four bytes before it; a length of zero ends them, `BROKEN` says that they stop short.
The last record is `{"end": true}`. Links are made last, and none is ever followed below the folder: a path is walked
one name at a time, by descriptors. Standard library only, Python 3.9 on.
"""

from __future__ import annotations  # Python 3.9 reads this too

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

CHUNK = 256 * 1024
BROKEN = 0xFFFFFFFF
LONGEST_LINE = 64 * 1024
DEEPEST = 200
ENTRIES = 500_000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeError(Exception):
    """A stream that is none, or is past a limit; or a source that is not there."""


def send(source: str, out: BinaryIO) -> None:
    """Write a file, under an empty path, or a folder with all in it. Pipes, sockets and devices are left out.

    The source itself may be a link; what is below it is not followed. Raises `TreeError` where there is none.
    """
    try:
        top = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise TreeError(error.strerror) from None
    skipped = 0
    try:
        status = os.fstat(top)
        if stat.S_ISDIR(status.st_mode):
            skipped = _send_folder(top, out)
        elif stat.S_ISREG(status.st_mode):
            _line(out, p="", k="f", m=stat.S_IMODE(status.st_mode))
            _send_file(top, out)
        else:
            raise TreeError("neither a file nor a folder")
    finally:
        os.close(top)
    _line(out, end=True, skipped=skipped)
    out.flush()


def _send_folder(top: int, out: BinaryIO) -> int:
    skipped = 0
    _line(out, p="", k="d", m=stat.S_IMODE(os.fstat(top).st_mode))
    waiting: list[str] = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            here = _walk(top, [part for part in prefix.split("/") if part], make=False)
        except OSError:
            skipped += 1  # it went away, or became something else, while it was read
            continue
        try:
            names = sorted(os.listdir(here)) if prefix.count("/") < DEEPEST else []
            for name in names:
                skipped += _send_entry(here, name, prefix + name, out, waiting)
        finally:
            os.close(here)
    return skipped


def _send_entry(here: int, name: str, path: str, out: BinaryIO, waiting: list[str]) -> int:
    try:
        status = os.stat(name, dir_fd=here, follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            _line(out, p=path, k="l", m=mode, t=os.readlink(name, dir_fd=here))
        elif stat.S_ISDIR(status.st_mode):
            _line(out, p=path, k="d", m=mode)
            waiting.append(path + "/")
        elif stat.S_ISREG(status.st_mode):
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    return 1
                _line(out, p=path, k="f", m=mode)
                _send_file(file, out)
            finally:
                os.close(file)
        else:
            return 1
    except BrokenPipeError:
        raise
    except OSError:
        return 1
    return 0


def _send_file(file: int, out: BinaryIO) -> None:
    while True:
        try:
            data = os.read(file, CHUNK)
        except OSError:
            out.write(BROKEN.to_bytes(4, "big"))
            return
        out.write(len(data).to_bytes(4, "big"))
        if not data:
            return
        out.write(data)


def _line(out: BinaryIO, **record: Any) -> None:
    out.write(json.dumps(record).encode("ascii") + b"\n")


class Received:
    """What came: bytes, entries, and what was left out."""

    def __init__(self) -> None:
        self.bytes = 0
        self.entries = 0
        self.skipped = 0


def receive(
    stream: BinaryIO, target: str, *, limit: int | None = None, inward: bool = False, plain: bool = False
) -> Received:
    """Write what `send` sent: a file at `target`, or a folder's content into it, made where missing.

    What stands in the way is replaced. Past `limit` bytes raises `TreeError`. With `inward` links that lead out of the
    folder are left out; with `plain` neither set-id bits nor unreadable modes are kept.
    """
    found = Received()
    links: list[tuple[list[str], str]] = []
    modes: dict[str, int] = {}
    top = -1
    try:
        for record in _records(stream):
            if record.get("end"):
                break
            found.entries += 1
            if found.entries > ENTRIES:
                raise TreeError(f"more than {ENTRIES:,} files")
            parts = _parts(record)
            kind, mode = record.get("k"), _mode(record, plain)
            if not parts and kind == "f":
                _receive_file(stream, target, None, mode, found, limit)
                continue
            if top < 0:
                os.makedirs(target, exist_ok=True)
                top = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            if kind == "d":
                os.close(_walk(top, parts, make=True))
                modes["/".join(parts)] = mode
            elif kind == "l" and isinstance(record.get("t"), str):
                links.append((parts, record["t"]))
            elif kind == "f":
                here = _walk(top, parts[:-1], make=True)
                try:
                    _receive_file(stream, parts[-1], here, mode, found, limit)
                finally:
                    os.close(here)
            else:
                raise TreeError("an unknown record")
        else:
            raise TreeError("the stream ends too soon")
        told = record.get("skipped")
        found.skipped += told if isinstance(told, int) else 0
        for parts, to in links:
            found.skipped += _receive_link(top, parts, to, inward)
        for path in sorted(modes, reverse=True):  # the innermost first, or a closed folder would bar the way
            if path:
                _close_folder(top, path.split("/"), modes[path])
    finally:
        if top >= 0:
            os.close(top)
    return found


def _records(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    while True:
        line = stream.readline(LONGEST_LINE)
        if not line:
            return
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise TreeError("a record that is none") from None
        if not isinstance(record, dict):
            raise TreeError("a record that is none")
        yield record


def _parts(record: dict[str, Any]) -> list[str]:
    path = record.get("p")
    if not isinstance(path, str) or not _is_name(path):
        raise TreeError("a path that is none")
    parts = path.split("/") if path else []
    if any(part in ("", ".", "..") for part in parts) or len(parts) > DEEPEST + 2:
        raise TreeError("a path that leads elsewhere")
    return parts


def _is_name(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _mode(record: dict[str, Any], plain: bool) -> int:
    mode = record.get("m")
    mode = mode & 0o7777 if isinstance(mode, int) else 0o644
    if plain:
        mode = (mode & 0o777) | (0o700 if record.get("k") == "d" else 0o600)
    return mode


def _walk(top: int, parts: list[str], *, make: bool) -> int:
    """A descriptor of the folder below `top`; a link on the way is no folder, and with `make` gives way to one."""
    here = os.dup(top)
    try:
        for part in parts:
            try:
                there = os.open(part, FOLDER, dir_fd=here)
            except OSError:
                if not make:
                    raise
                with suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=here)
                os.mkdir(part, 0o755, dir_fd=here)
                there = os.open(part, FOLDER, dir_fd=here)
            os.close(here)
            here = there
    except BaseException:
        os.close(here)
        raise
    return here


def _receive_file(stream: BinaryIO, name: str, here: int | None, mode: int, found: Received, limit: int | None) -> None:
    if here is None:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    _clear(name, here)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(name, flags, 0o600, dir_fd=here)
    try:
        while True:
            size = int.from_bytes(_exactly(stream, 4), "big")
            if size == 0:
                break
            if size == BROKEN:
                found.skipped += 1
                break
            if size > CHUNK:
                raise TreeError("a chunk that is too large")
            found.bytes += size
            if limit is not None and found.bytes > limit:
                raise TreeError(f"more than {limit:,} bytes")
            data = memoryview(_exactly(stream, size))
            while data:
                data = data[os.write(file, data) :]
        os.fchmod(file, mode)
    finally:
        os.close(file)


def _exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise TreeError("the stream ends too soon")
    return data


def _clear(name: str, here: int | None) -> None:
    try:
        os.unlink(name, dir_fd=here)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):
        os.rmdir(name, dir_fd=here)


def _receive_link(top: int, parts: list[str], to: str, inward: bool) -> int:
    """1 where the link is left out."""
    if not parts or not to or not _is_name(to):
        return 1
    if inward and (to.startswith("/") or not _stays(parts[:-1], to)):
        return 1
    here = _walk(top, parts[:-1], make=True)
    try:
        _clear(parts[-1], here)
        os.symlink(to, parts[-1], dir_fd=here)
    except OSError:
        return 1
    finally:
        os.close(here)
    return 0


def _stays(folder: list[str], to: str) -> bool:
    """Whether a link leads inside: up no further than its folder is deep, and never up again after a name.

    A name may be that of another link, whose parent is elsewhere; and all names lead inside when all links do.
    """
    parts = [part for part in to.split("/") if part not in ("", ".")]
    up = next((place for place, part in enumerate(parts) if part != ".."), len(parts))
    return up <= len(folder) and ".." not in parts[up:]


def _close_folder(top: int, parts: list[str], mode: int) -> None:
    with suppress(OSError):
        here = _walk(top, parts, make=False)
        try:
            os.fchmod(here, mode)
        finally:
            os.close(here)
