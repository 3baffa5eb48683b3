"""Changes to repositories, each a whole: commits, branches, new and deleted repositories.

Called from worker threads. A repository of the served folder is taken over, bytes and all, by the first change to it;
the folder stays as it is.
"""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from rlx.localhub.files import Changed, open_file
from rlx.localhub.repo import BRANCHES, Repo
from rlx.localhub.shelf import Shelf, is_name
from rlx.localhub.snapshot import Snapshot
from rlx.localhub.wire import Refusal
from rlx.localhub.writing.draft import Draft, Put, Remove
from rlx.localhub.writing.ledger import MAIN, Changes, Commit, Entry, Ledger
from rlx.localhub.writing.objects import Stored, chunks
from rlx.localhub.writing.repo import WrittenRepo

MAX_FILES: Final = 500_000
MAX_REPOS: Final = 20_000
_ATTEMPTS: Final = 3
_CLOCK: Final[Callable[[], float]] = time.monotonic


@dataclass(frozen=True, slots=True)
class Writer:
    shelf: Shelf
    ledger: Ledger
    now_ms: Callable[[], int]
    _taking: threading.Lock = field(default_factory=threading.Lock)

    def written(self, repo: Repo) -> WrittenRepo:
        """The repository as the ledger has it, taken over from the folder when this is the first change to it."""
        with self._taking:  # not the ledger's own lock, for which everybody would wait while files are copied
            if not self.ledger.knows(repo.key):
                self._take_over(repo)
                self.shelf.wrote(repo.key)
        found = self.shelf.known(repo.key)
        if not isinstance(found, WrittenRepo):
            raise Refusal(404, "RepoNotFound", "Repository not found")
        return found

    def _take_over(self, repo: Repo) -> None:
        for _ in range(_ATTEMPTS):
            repo.refresh(_CLOCK, lambda cost: 0.0, force=True)
            at = repo.head
            try:
                entries = {path: Entry(self._copy(repo, path), at.files[path].sha256 is not None) for path in at.files}
            except Changed:
                continue
            self.ledger.objects.sync()
            title = at.commit["title"]
            commit = Commit(at.sha, None, title, "", repo.author, at.modified_ms)
            with self.ledger.change():
                self.ledger.note([entry.object for entry in entries.values()])
                self.ledger.add_commit(repo.key, commit, entries)
                self.ledger.set_ref(repo.key, MAIN, commit.id)
                self.ledger.set_repo(repo.key, {}, made_ms=at.created_ms)
            return
        raise Refusal(503, "", "The files keep changing on disk.")

    def _copy(self, repo: Repo, path: str) -> Stored:
        file = repo.head.files[path]
        with open_file(repo.place(file), file) as source:
            stored = self.ledger.objects.put(chunks(source))
        if file.etag not in {stored.sha256, stored.blob}:
            raise Changed(path)
        return stored

    def commit(self, repo: WrittenRepo, ref: str, author: str, draft: Draft) -> Commit:
        """Put `draft` on top of a branch. Refuses one whose parent is no longer the branch's head."""
        with self.ledger.lock:
            head = self.at(repo, ref)
            if draft.parent is not None and draft.parent != head.sha:
                raise Refusal(412, "", "A commit has happened since. Please refresh and try again.")
            with self.ledger.change():
                commit = self.add(repo, ref, head, author, draft)
            self.shelf.wrote(repo.key)
            return commit

    def add(self, repo: WrittenRepo, ref: str, parent: Snapshot, author: str, draft: Draft) -> Commit:
        """Make `draft` the head of `ref`, within a change of the ledger. One that changes nothing is `parent` again."""
        before = self.ledger.files(repo.key, parent.sha)
        changes = changes_of(before, draft.changes)
        if not changes:
            return self.ledger.log(repo.key, parent.sha)[0]
        return self.record(repo, ref, parent.sha, author, draft, changes)

    def record(
        self, repo: WrittenRepo, ref: str, parent: str | None, author: str, draft: Draft, changes: Changes
    ) -> Commit:
        made = self.now_ms()
        told: list[object] = [repo.key, ref, parent, draft.title, draft.message, author, made]
        told += [[path, entry and entry.object.sha256] for path, entry in sorted(changes.items())]
        id = hashlib.sha1(json.dumps(told).encode(), usedforsecurity=False).hexdigest()
        commit = Commit(id, parent, draft.title, draft.message, author, made)
        self.ledger.note(draft.objects)
        self.ledger.add_commit(repo.key, commit, changes)
        self.ledger.set_ref(repo.key, ref, id)
        return commit

    def at(self, repo: WrittenRepo, revision: str) -> Snapshot:
        found = repo.at(revision)
        if found is None:
            raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision[:100]}")
        return found

    def create(self, kind: str, org: str, name: str, meta: Mapping[str, object]) -> None:
        """A new repository with an empty commit. Refuses a name that is taken, whatever its case."""
        key = f"{kind}/{org}/{name}"
        if not is_name(org, name):
            raise Refusal(400, "", f"'{org[:100]}/{name[:100]}' is no name for a repository.")
        with self.ledger.lock:
            taken = [id_.casefold() for id_ in self.shelf.names(kind)]
            if key.partition("/")[2].casefold() in taken:
                raise Refusal(409, "", f"You already created this {kind.removesuffix('s')} repo")
            if len(taken) >= MAX_REPOS:
                raise Refusal(403, "", "This local hub holds no more repositories.")
            made = self.now_ms()
            id = hashlib.sha1(f"{key} {made}".encode(), usedforsecurity=False).hexdigest()
            with self.ledger.change():
                self.ledger.add_commit(key, Commit(id, None, "initial commit", "", org, made), {})
                self.ledger.set_ref(key, MAIN, id)
                self.ledger.set_repo(key, meta, made_ms=made)
            self.shelf.wrote(key)

    def delete(self, repo: Repo) -> None:
        with self.ledger.lock:
            self.ledger.delete_repo(repo.key)
            self.shelf.wrote(repo.key)

    def set_meta(self, repo: WrittenRepo, meta: Mapping[str, object]) -> None:
        with self.ledger.lock:
            self.ledger.set_repo(repo.key, {**(self.ledger.meta(repo.key) or {}), **meta})
            self.shelf.wrote(repo.key)

    def set_ref(self, repo: WrittenRepo, name: str, revision: str | None) -> None:
        """Make or, without a revision, remove a branch or a tag. Refuses one that is there, or is not."""
        with self.ledger.lock:
            is_there = name in self.ledger.refs(repo.key)
            if revision is None and not is_there:
                raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {name[:100]}")
            if revision is not None and is_there:
                raise Refusal(409, "", f"Reference {name[:100]} already exists.")
            self.ledger.set_ref(repo.key, name, None if revision is None else self.at(repo, revision).sha)


def branch(revision: str) -> str:
    """The full name of a branch that is committed to."""
    if revision in BRANCHES:
        return MAIN
    return revision if revision.startswith("refs/") else f"refs/heads/{revision}"


def changes_of(before: Mapping[str, Entry], operations: Iterable[Put | Remove]) -> dict[str, Entry | None]:
    """What operations change, in their order. Refuses to remove what is not there, and a file where a folder is."""
    after = dict(before)
    for operation in operations:
        if isinstance(operation, Put):
            after[operation.path] = operation.entry
        else:
            gone = [path for path in after if path.startswith(f"{operation.path}/")] if operation.folder else []
            gone += [operation.path] if not operation.folder and operation.path in after else []
            if not gone:
                raise Refusal(404, "EntryNotFound", f"A file with this name doesn't exist: {operation.path[:200]}")
            for path in gone:
                del after[path]
    changes: dict[str, Entry | None] = {path: entry for path, entry in after.items() if before.get(path) != entry}
    _check_shape(after, [path for path, entry in changes.items() if entry is not None])
    return changes | dict.fromkeys(path for path in before if path not in after)


def _check_shape(files: Mapping[str, Entry], added: list[str]) -> None:
    if len(files) > MAX_FILES:
        raise Refusal(413, "", f"A repository holds no more than {MAX_FILES:,} files.")
    above = {path: _folders(path) for path in added}
    clash = next((path for path, folders in above.items() if any(folder in files for folder in folders)), None)
    if clash is None:
        taken = set(chain.from_iterable(map(_folders, files)))
        clash = next((path for path in added if path in taken), None)
    if clash is not None:
        raise Refusal(400, "", f"A path is both a file and a folder: {clash[:200]}")


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
