"""The files of a task that is a folder, as its record keeps them: each with why it is withheld, when it is."""

from collections.abc import Iterator, Sequence

from rlx.answers import Withheld, file_verdict
from rlx.index.records import TaskPlan
from rlx.model import FileEntry


def task_files(plan: TaskPlan) -> tuple[FileEntry, ...]:
    """Paths as the task knows them; a folder among them holds more than is known."""
    skip = len(plan.root) + 1 if plan.root else 0
    return tuple(_entry(plan, entry.path[skip:], entry.size) for entry in plan.files)


def withheld_files(files: Sequence[FileEntry]) -> Iterator[Withheld]:
    """Withheld files by name; those of one folder and reason together when they are many."""
    groups: dict[tuple[str, object], list[FileEntry]] = {}
    for entry in files:
        if entry.withheld:
            groups.setdefault((entry.path.partition("/")[0], entry.withheld), []).append(entry)
    for (folder, _), entries in groups.items():
        reason = entries[0].withheld
        if reason and len(entries) > 3:
            yield Withheld(f"{folder}/ ({len(entries)})", reason)
        elif reason:
            yield from (Withheld(f"{entry.path}/" if entry.is_dir else entry.path, reason) for entry in entries)


def _entry(plan: TaskPlan, path: str, size: int) -> FileEntry:
    is_dir = path.endswith("/")
    verdict = file_verdict(f"{path}x" if is_dir else path, task_root=plan.root)
    return FileEntry(path.rstrip("/"), size, is_dir, verdict.reason if verdict.kind == "withhold" else None)
