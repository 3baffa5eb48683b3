"""The revisions of an environment, and what changed between two of them, as Markdown."""

from collections.abc import Iterator, Sequence

from rlx.ids import EnvKey
from rlx.model import Changes, Revision, TaskChanges
from rlx.texts import say, words
from rlx.twins.inline import fence, line, span
from rlx.twins.parts import NOWHERE, Addresses

LISTED = 500
"""Tasks of one kind of change that are named."""


def revisions_markdown(
    key: EnvKey,
    commits: Sequence[Revision],
    changes: Changes | None,
    task: TaskChanges | None,
    language: str,
    *,
    at: Addresses = NOWHERE,
) -> str:
    """Commits newest first; the tasks added, removed and changed; the files of one of them, with their diffs.

    `at` says where links lead: to each revision, each task as it was, and the files of each that is no more the same.
    """
    parts = [f"# {words(say('env.tab_revisions'), language)}: {span(str(key))}"]
    if changes is not None:
        parts += _changes(key, changes, at, language)
    if task is not None:
        parts += _task(task, language)
    told = [
        " ".join(
            [
                f"- {at.named(item.sha, f'{key.page}?revision={item.sha}')}",
                *([item.at.date().isoformat()] if item.at else []),
                line(item.title, language),
            ]
        )
        for item in commits
    ]
    parts.append("\n".join(told))
    return "\n\n".join(part for part in parts if part) + "\n"


def _changes(key: EnvKey, changes: Changes, at: Addresses, language: str) -> Iterator[str]:
    yield f"## {words(say('env.from_to', old=changes.old[:12], new=changes.new[:12]), language)}"
    yield f"{words(say('env.same'), language)}: {changes.same:,}"
    kinds = (
        (say("env.added_tasks"), changes.added, changes.new, say("env.its_files")),
        (say("env.removed_tasks"), changes.removed, changes.old, say("env.its_files")),
        (say("env.changed_tasks"), changes.changed, changes.new, say("env.which_files")),
        (say("env.unknown_tasks", n=len(changes.unknown)), changes.unknown, changes.new, say("env.which_files")),
    )
    for title, refs, sha, which in kinds:
        if refs:
            yield f"### {words(title, language)}: {len(refs):,}"
            more = len(refs) - LISTED
            rest = [f"- {words(say('env.more_tasks', n=more), language)}"] if more > 0 else []
            told = []
            for ref in refs[:LISTED]:
                url = at.compared(key, changes.old, changes.new, ref)
                files = f": [{words(which, language)}]({url})" if url else ""
                told.append(f"- {at.named(ref, f'{key.task_page(ref)}?revision={sha}')}{files}")
            yield "\n".join([*told, *rest])


def _task(task: TaskChanges, language: str) -> Iterator[str]:
    yield f"## {words(say('env.files_of', ref=task.ref), language)}"
    if not task.files:
        yield words(say("env.unseen"), language)
    if task.partial:
        yield words(say("env.unlisted"), language)
    for item in task.files:
        yield f"- {span(item.path)}: {words(say(f'env.file_{item.kind}'), language)}"
        if item.diff is not None:
            yield fence(item.diff, "diff")
