"""Brings a repository into a folder, and later changes to it, without touching what was changed there meanwhile."""

import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
from anyio.to_thread import run_sync

from rlx.errors import BadInput, Upstream
from rlx.hub.client import HubClient
from rlx.hub.parallel import each
from rlx.hub.writing import HubWriter, RemoteFile
from rlx.ids import EnvKey
from rlx.publish.push import is_same

STATE: Final = ".cache/rlx-pull"
"""In the folder: what the last pull brought, and files on their way. Never published."""
AT_ONCE: Final = 16
SMALL: Final = 8 * 1024 * 1024
"""Bytes up to which a file is fetched at once."""
_CONTROL: Final = frozenset({".git", ".hg", ".svn", ".cache"})

type Told = Callable[[str, Mapping[str, object]], None]


@dataclass(frozen=True, slots=True)
class Pulled:
    sha: str
    got: int
    known: int
    """Files that were there already."""
    left_out: Sequence[str]
    """Paths that could not lie in a folder safely."""


def pull(
    reader: HubWriter, key: EnvKey, folder: Path, revision: str | None, told: Told, *, force: bool = False
) -> Pulled:
    """Bring the files of `key` at `revision` into `folder`. A run that was killed is gone on from by the next.

    `told` hears `plan` and `file`. Raises `BadInput` where files of the folder were changed, or never came from the
    repository, and would be replaced; nothing is written then.
    """
    sha = reader.head(key, revision)
    there = reader.files(key, sha)
    safe = [path for path in there if is_safe(path)]
    brought = _brought(folder)
    missing, changed = _compare(folder, [there[path] for path in safe], brought)
    if changed and not force:
        shown = ", ".join(changed[:5]) + (" …" if len(changed) > 5 else "")
        raise BadInput(
            f"{len(changed):,} {'file' if len(changed) == 1 else 'files'} in {folder} would be replaced: {shown}",
            hint="Move them away, choose another folder, or add --force.",
        )
    told("plan", {"sha": sha, "files": len(missing), "bytes": sum(there[path].size for path in missing)})
    stage = folder / STATE
    stage.mkdir(parents=True, exist_ok=True)
    for left_over in stage.glob("*.part"):
        left_over.unlink(missing_ok=True)
    # Before and after count as brought while it goes on: one that is stopped leaves some of each.
    wanted = {path: _mark(there[path]) for path in safe}
    marks = {path: (*brought.get(path, ()), mark) for path, mark in wanted.items()}
    _keep(stage / "brought.json", {"repo": str(key), "sha": None, "files": marks})
    anyio.run(_bring, reader, _Place(key, sha, folder), [there[path] for path in missing], told)
    _keep(stage / "brought.json", {"repo": str(key), "sha": sha, "files": {path: [wanted[path]] for path in wanted}})
    left = [path for path in there if path not in wanted]
    return Pulled(sha, len(missing), len(safe) - len(missing), left)


@dataclass(frozen=True, slots=True)
class _Place:
    key: EnvKey
    sha: str
    folder: Path


async def _bring(reader: HubWriter, where: _Place, files: Sequence[RemoteFile], told: Told) -> None:
    """Fetch files side by side: small ones at once, large ones so that each can be gone on from."""
    client = HubClient(reader.endpoint, connections=AT_ONCE)
    stage = where.folder / STATE

    async def bring(file: RemoteFile) -> None:
        place = _place(where.folder, file.path)
        try:
            if file.size <= SMALL:
                data = await client.read(
                    where.key, where.sha, file.path, token=reader.token, limit=SMALL, expected=file.size
                )
                got = stage / f"{secrets.token_hex(8)}.part"
                got.write_bytes(data)
            else:
                got = await run_sync(reader.download, where.key, file.path, where.sha, stage / "files")
            if not await run_sync(is_same, got, file):
                got.unlink()
                raise Upstream(f"The Hub sent other bytes for {file.path[:200]} than it lists.", hint="Run it again.")
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(got, place)
        except OSError as error:
            raise BadInput(f"{place} cannot be written: {error.strerror}.", hint="Choose another folder.") from error
        told("file", {"path": file.path, "bytes": file.size})

    try:
        await each(files, bring, at_once=AT_ONCE)
    finally:
        await client.aclose()


def is_safe(path: str) -> bool:
    """Whether a path of a repository may lie in a folder: below it, and in no folder of a tool."""
    parts = path.split("/")
    plain = (
        "\\" not in path and not any(ord(char) < 32 for char in path) and len(path.encode("utf-8", "replace")) < 1024
    )
    return plain and all(part not in {"", ".", ".."} and part.casefold() not in _CONTROL for part in parts)


def _compare(
    folder: Path, files: Sequence[RemoteFile], brought: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Paths that are to be brought, and those among them that hold something of somebody's own."""
    missing: list[str] = []
    changed: list[str] = []
    for file in files:
        place = _place(folder, file.path)
        if not place.is_symlink() and place.is_file() and is_same(place, file):
            continue
        missing.append(file.path)
        if (place.is_symlink() or place.exists()) and not _is_brought(place, brought.get(file.path, ())):
            changed.append(file.path)
    return missing, changed


def _place(folder: Path, path: str) -> Path:
    """Where a file goes. Raises `BadInput` where a link in the folder leads out of it, or a file is in the way."""
    place = folder / path
    for above in list(place.parents)[: path.count("/")]:
        if above.is_symlink() or (above.exists() and not above.is_dir()):
            raise BadInput(f"{above} is in the way of {path[:200]}.", hint="Move it away, or choose another folder.")
    if place.is_dir() and not place.is_symlink():
        raise BadInput(f"{place} is a folder where the repository has a file.", hint="Choose another folder.")
    return place


def _is_brought(place: Path, marks: Sequence[str]) -> bool:
    """Whether the file is as a pull left it."""
    return not place.is_symlink() and place.is_file() and any(_is(place, mark) for mark in marks)


def _is(place: Path, mark: str) -> bool:
    kind, _, digest = mark.partition(":")
    is_lfs = kind == "sha256"
    size = place.stat().st_size
    return is_same(place, RemoteFile(str(place), size, "" if is_lfs else digest, digest if is_lfs else None))


def _mark(file: RemoteFile) -> str:
    return f"sha256:{file.sha256}" if file.sha256 else f"blob:{file.blob}"


def _brought(folder: Path) -> dict[str, Sequence[str]]:
    """What pulls brought, each file as it was or is; empty where there was none."""
    try:
        told = json.loads((folder / STATE / "brought.json").read_bytes())
    except (OSError, ValueError):
        return {}
    files = told.get("files") if isinstance(told, dict) else None
    if not isinstance(files, dict):
        return {}
    return {str(path): [str(mark) for mark in marks] for path, marks in files.items() if isinstance(marks, list)}


def _keep(path: Path, value: Mapping[str, object]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value))
    part.replace(path)
