"""What became of an environment's tasks between two revisions, and of one task's files."""

from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice

from rlx.answers.stored import stored
from rlx.index.digests import comparable
from rlx.index.records import TaskRecord
from rlx.index.tasks import TaskIndex
from rlx.model import Changes, FileChange, TaskChanges

MAX_DIFF = 400
"""Lines of one file's diff."""
_MAX_LINES = 5_000
"""Lines of a file that is compared line by line: the time it takes grows with their square."""


def compare(before: TaskIndex, after: TaskIndex) -> Changes:
    """Tasks are the same when every file of theirs is; a renamed task is one removed and one added."""
    old, new = before.digests(), after.digests()
    both = [ref for ref in new if ref in old]
    told = {ref: None for ref in both if comparable(old[ref], new[ref])}
    return Changes(
        old=before.header.sha,
        new=after.header.sha,
        added=tuple(ref for ref in new if ref not in old),
        removed=tuple(ref for ref in old if ref not in new),
        changed=tuple(ref for ref in told if old[ref] != new[ref]),
        same=sum(old[ref] == new[ref] for ref in told),
        unknown=tuple(ref for ref in both if ref not in told),
    )


def compare_task(ref: str, before: TaskRecord | None, after: TaskRecord | None) -> TaskChanges:
    """By what is kept of both: sizes of all files, and the masked texts of those a page shows.

    Of a task that one revision lacks every file is removed, or added.
    """
    unlisted = {f"{entry.path}/" for record in (before, after) if record for entry in record.files if entry.is_dir}
    return TaskChanges(ref, tuple(_changes(before, after, tuple(unlisted))), partial=bool(unlisted))


def _changes(before: TaskRecord | None, after: TaskRecord | None, unlisted: tuple[str, ...]) -> Iterator[FileChange]:
    """A file that one side lacks is no change where that side's folder was not listed."""
    old, new = _sizes(before), _sizes(after)
    for path in sorted(old.keys() | new.keys()):
        if before is None:
            yield FileChange(path, "added")
            continue
        if after is None:
            yield FileChange(path, "removed")
            continue
        was, now = before.texts.get(path), after.texts.get(path)
        if (path not in old or path not in new) and path.startswith(unlisted):
            continue
        if path not in old:
            yield FileChange(path, "added")
        elif path not in new:
            yield FileChange(path, "removed")
        elif was is not None and now is not None and was.text != now.text:
            yield _diff(path, was.text, now.text)
        elif old[path] != new[path]:
            yield FileChange(path, "changed")


def _sizes(record: TaskRecord | None) -> dict[str, int]:
    return {entry.path: entry.size for entry in record.files if not entry.is_dir} if record is not None else {}


def _diff(path: str, old: str, new: str) -> FileChange:
    """A diff of masked texts shows nothing that they do not."""
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MAX_LINES:
        return FileChange(path, "changed")
    lines = list(islice(unified_diff(before, after, lineterm="", n=3), 2, MAX_DIFF + 3))
    return FileChange(path, "changed", stored("\n".join(lines[:MAX_DIFF])), cut=len(lines) > MAX_DIFF)
