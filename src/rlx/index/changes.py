"""What became of an environment's tasks between two revisions."""

from rlx.index.tasks import TaskIndex
from rlx.model import Changes


def compare(before: TaskIndex, after: TaskIndex) -> Changes:
    """Tasks are the same when every file of theirs is; a renamed task is one removed and one added."""
    old, new = before.digests(), after.digests()
    return Changes(
        old=before.header.sha,
        new=after.header.sha,
        added=tuple(ref for ref in new if ref not in old),
        removed=tuple(ref for ref in old if ref not in new),
        changed=tuple(ref for ref in new if ref in old and old[ref] != new[ref]),
        same=sum(old.get(ref) == digest for ref, digest in new.items()),
    )
