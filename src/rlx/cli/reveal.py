"""`--reveal`: the withheld files of a task, for whoever owns the folder it lies in. Nothing else shows them."""

from pathlib import Path
from tempfile import TemporaryDirectory

from rlx.errors import Forbidden, NotFound
from rlx.formats.base import Environment, Revealing
from rlx.model import FileEntry, Listing
from rlx.services import local_folder
from rlx.settings import Settings
from rlx.twins.inline import fence, span


def check_owner(settings: Settings) -> None:
    """Raises `Forbidden` unless the hub is a folder of this machine."""
    if local_folder(settings.hub) is None:
        raise Forbidden(
            f"--reveal is refused for {settings.hub}.",
            hint="It shows answers, so it takes only a folder of your own: --hub DIR.",
        )


async def revealed_files(environment: Environment, ref: str) -> dict[str, str]:
    """Every withheld file of the task by path, raw. Bytes that are not UTF-8 are replaced."""
    told = dict(await environment.revealed(ref)) if isinstance(environment, Revealing) else {}
    if told:
        return told
    with TemporaryDirectory() as folder:
        task = await environment.materialize(ref, Path(folder))
        found = {}
        for path in sorted(await _withheld_paths(environment, ref, "")):
            file = _inside(task, path)
            if file.is_file():
                found[path] = file.read_text("utf-8", "replace")
        return found


async def revealed_path(environment: Environment, ref: str, path: str) -> Listing | bytes:
    """A folder of the task, or a file's raw bytes. Raises `NotFound`."""
    told = dict(await environment.revealed(ref)) if isinstance(environment, Revealing) else {}
    if path in told:
        return told[path].encode()
    if told:
        found = await environment.files(ref, path)
        return (
            found if isinstance(found, Listing) else (found.text or "").encode() if found.data is None else found.data
        )
    with TemporaryDirectory() as folder:
        task = await environment.materialize(ref, Path(folder))
        place = _inside(task, path)
        if place.is_file():
            return place.read_bytes()
        if not place.is_dir():
            raise NotFound(f"No file {path[:200]!r} in the task.", hint="rlx task files lists them.")
        children = sorted(place.iterdir(), key=lambda child: (child.is_file(), child.name))
        entries = tuple(
            FileEntry(str(child.relative_to(task)), child.stat().st_size, is_dir=child.is_dir()) for child in children
        )
        return Listing(path, entries, len(entries))


def revealed_markdown(files: dict[str, str]) -> str:
    """A section of withheld files; empty when there are none."""
    parts = [f"### {span(path)}\n\n{fence(text)}" for path, text in files.items()]
    return "\n\n".join(["", "## Withheld files", *parts]) + "\n" if parts else ""


async def _withheld_paths(environment: Environment, ref: str, path: str) -> list[str]:
    found = await environment.files(ref, path)
    if not isinstance(found, Listing):
        return []
    paths = []
    for entry in found.entries:
        if entry.is_dir:
            paths += await _withheld_paths(environment, ref, entry.path)
        elif entry.withheld is not None:
            paths.append(entry.path)
    return paths


def _inside(root: Path, path: str) -> Path:
    """`path` below `root`. Raises `NotFound` when it leads out."""
    place = None if "\0" in path else (root / path).resolve()
    if place is None or not place.is_relative_to(root.resolve()):
        raise NotFound(f"No file {path[:200]!r} in the task.", hint="rlx task files lists them.")
    return place
