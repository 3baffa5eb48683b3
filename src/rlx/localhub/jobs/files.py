"""Files of the Sandbox API, by way of the sandbox's own programs: nothing of the host is ever opened."""

import os.path
import secrets
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rlx.localhub.jobs.commands import Command, output
from rlx.localhub.wire import Refusal
from rlx.sandboxes.base import KEPT, ExecResult, Sandbox

_PAGE: Final = 1000
_SECONDS: Final = 60.0
_TYPES: Final = {"f": "file", "d": "dir", "l": "symlink"}
_FORMAT: Final = r"%y\t%s\t%T@\t%m\t%f\0"
_READ: Final = 'tail -c "+$2" -- "$1" | head -c "$3"'
_WHOLE: Final = 'mkdir -p -- "$(dirname -- "$1")" && cat < "$2" > "$1"'
_PART: Final = (
    'mkdir -p -- "$(dirname -- "$1")" && dd if="$2" of="$1" bs=1M seek="$3" oflag=seek_bytes conv=notrunc status=none'
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where bytes are written to."""

    path: str
    offset: int | None
    """None: the file is these bytes."""
    size: int | None
    """What the file has in the end, where this is its last part."""
    mode: str | None


async def stat(sandbox: Sandbox, path: str) -> dict[str, object]:
    found = await _find(sandbox, [path, "-maxdepth", "0"])
    if not found:
        raise Refusal(404, "", f"{path} does not exist.")
    return _entry(found[0], os.path.dirname(path), path)


async def listing(sandbox: Sandbox, path: str, after: str) -> dict[str, object]:
    """A page of a folder, by name."""
    if (await stat(sandbox, path))["type"] != "dir":
        raise Refusal(400, "", f"{path} is no folder.")
    found = await _find(sandbox, [path, "-mindepth", "1", "-maxdepth", "1"])
    entries = sorted((_entry(line, path) for line in found), key=lambda entry: str(entry["name"]))
    shown = [entry for entry in entries if str(entry["name"]) > after]
    more = len(shown) > _PAGE
    return {"entries": shown[:_PAGE], "next": shown[_PAGE - 1]["name"] if more else None}


async def read(sandbox: Sandbox, path: str, offset: int, length: int | None) -> AsyncGenerator[bytes]:
    """Bytes of a file, as they are read."""
    entry = await stat(sandbox, path)
    if entry["type"] == "dir":
        raise Refusal(400, "", f"{path} is a folder.")
    wanted = str(length if length is not None else 1 << 50)
    return output(sandbox, Command(cmd=["/bin/sh", "-c", _READ, "sh", path, str(offset + 1), wanted]))


async def write(sandbox: Sandbox, place: Place, data: bytes) -> None:
    if place.mode is not None and not (place.mode.isdigit() and len(place.mode) <= 5):
        raise Refusal(400, "", "A mode is octal digits.")
    staged = f"/tmp/.sbx-put-{secrets.token_hex(8)}"  # noqa: S108  # inside
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "put"
        source.write_bytes(data)
        await sandbox.upload(source, staged)
    try:
        if place.offset is None:
            await _must(sandbox, ["/bin/sh", "-c", _WHOLE, "sh", place.path, staged])
        else:
            await _must(sandbox, ["/bin/sh", "-c", _PART, "sh", place.path, staged, str(place.offset)])
        if place.size is not None:
            await _must(sandbox, ["truncate", "-s", str(place.size), "--", place.path])
        if place.mode is not None:
            await _must(sandbox, ["chmod", place.mode, "--", place.path])
    finally:
        await sandbox.exec(["rm", "-f", "--", staged], timeout=_SECONDS)


async def delete(sandbox: Sandbox, path: str, *, recursive: bool) -> None:
    entry = await stat(sandbox, path)
    if entry["type"] == "dir" and not recursive:
        await _must(sandbox, ["rmdir", "--", path])
    else:
        await _must(sandbox, ["rm", "-rf", "--", path])


async def make_folder(sandbox: Sandbox, path: str) -> None:
    await _must(sandbox, ["mkdir", "-p", "--", path])


async def _find(sandbox: Sandbox, arguments: Sequence[str]) -> list[str]:
    done = await sandbox.exec(["find", *arguments, "-printf", _FORMAT], timeout=_SECONDS)
    if done.truncated or len(done.stdout) > 2 * KEPT:
        raise Refusal(413, "", "The folder has more entries than can be listed.")
    return done.stdout.decode("utf-8", "replace").split("\0")[:-1]


def _entry(line: str, folder: str, path: str | None = None) -> dict[str, object]:
    kind, size, moment, mode, name = line.split("\t", 4)
    changed: int | None = None
    with suppress(ValueError):
        changed = round(float(moment) * 1000)
    return {
        "name": os.path.basename(path) if path else name,
        "path": path or os.path.join(folder, name),
        "type": _TYPES.get(kind, "file"),
        "size": int(size),
        "mtime_ms": changed,
        "mode": mode,
    }


async def _must(sandbox: Sandbox, argv: Sequence[str]) -> ExecResult:
    done = await sandbox.exec(argv, timeout=_SECONDS)
    if not done.ok:
        told = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise Refusal(400, "", told or f"{argv[0]} ended with {done.code}.")
    return done
