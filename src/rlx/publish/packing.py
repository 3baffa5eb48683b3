"""Task folders as a few archives: the same folders always make the same bytes, so that sending can be gone on from."""

import gzip
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rlx.publish.batches import batches
from rlx.publish.folder import LocalFile

TASKS_EACH: Final = 250
BYTES_EACH: Final = 128 * 1024 * 1024
"""Of the files in one archive, before they are compressed."""


def pack(files: Sequence[LocalFile], tasks: Sequence[str], into: Path) -> dict[str, Path]:
    """`tasks-0000.tar.gz` and so on, by their path in the repository. `tasks` are folders of `files`, with no slash."""
    by_task: dict[str, list[LocalFile]] = {task: [] for task in sorted(tasks)}
    for file in files:
        for end in range(1, file.path.count("/") + 1):
            above = "/".join(file.path.split("/", end)[:end])
            if above in by_task:
                by_task[above].append(file)
                break
    packed: dict[str, Path] = {}
    sizes = [(task, sum(file.size for file in files)) for task, files in by_task.items()]
    for number, group in enumerate(batches(sizes, most=TASKS_EACH, most_bytes=BYTES_EACH)):
        name = f"tasks-{number:04}.tar.gz"
        _write(into / name, [file for task in group for file in by_task[task]])
        packed[name] = into / name
    return packed


def _write(place: Path, files: Sequence[LocalFile]) -> None:
    with (
        place.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for file in files:
            data = file.place.read_bytes()
            member = tarfile.TarInfo(file.path)
            member.size = len(data)
            member.mode = 0o755 if file.place.stat().st_mode & 0o100 else 0o644
            archive.addfile(member, io.BytesIO(data))
