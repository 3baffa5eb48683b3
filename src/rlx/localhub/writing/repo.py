"""A repository that was written to: its revisions come from the ledger, its bytes from the objects."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable

from rlx.localhub.cards import EMPTY, parse_card
from rlx.localhub.files import Changed, File, pointer_oid, read_file, stamp_of
from rlx.localhub.hashes import HashStore
from rlx.localhub.repo import BRANCHES, Repo
from rlx.localhub.snapshot import CommitInfo, Snapshot
from rlx.localhub.writing.ledger import MAIN, Commit, Entry, Ledger

_REMEMBERED = 16


class WrittenRepo(Repo):
    """`head` follows the ledger's main branch."""

    def __init__(self, kind: str, id_: str, ledger: Ledger) -> None:
        super().__init__(kind, id_, None, HashStore(None))
        self._ledger = ledger
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._guard = threading.RLock()
        self.created_ms = ledger.created_ms(self.key)

    @property
    def is_written(self) -> bool:
        return True

    def fresh(self, now: float) -> bool:
        return True

    def refresh(self, clock: Callable[[], float], pause: Callable[[float], float], *, force: bool = False) -> None:
        """Take the newest commit of main for the head."""
        with self._guard:
            head = self.at(MAIN)
            if head is not None and head is not self.head:
                self.head = head
                self.fragments = {}
                self.generation += 1

    def at(self, revision: str) -> Snapshot | None:
        refs = self.refs()
        name = MAIN if revision in BRANCHES else revision
        id = next((refs[each] for each in (name, f"refs/heads/{name}", f"refs/tags/{name}") if each in refs), name)
        with self._guard:
            if id in self._snapshots:
                self._snapshots.move_to_end(id)
                return self._snapshots[id]
            log = self._ledger.log(self.key, id)
            if not log:
                return None
            found = self._snapshots[id] = self._snapshot(log[0])
            if len(self._snapshots) > _REMEMBERED:
                self._snapshots.popitem(last=False)
            return found

    def refs(self) -> dict[str, str]:
        return self._ledger.refs(self.key)

    def log(self, at: Snapshot) -> list[CommitInfo]:
        return [_info(commit) for commit in self._ledger.log(self.key, at.sha)]

    def file(self, at: Snapshot, path: str) -> File | None:
        return at.files.get(path)

    def place(self, file: File) -> str:
        return self._ledger.objects.place(file.object or "")

    def _snapshot(self, commit: Commit) -> Snapshot:
        entries = self._ledger.files(self.key, commit.id)
        found = [self._file(path, entry) for path, entry in entries.items()]
        snapshot = Snapshot([file for file in found if file is not None], _info(commit), created_ms=self.created_ms)
        readme = snapshot.files.get("README.md")
        try:
            text = "" if readme is None else read_file(self.place(readme), readme).decode("utf-8", "replace")
        except Changed:
            text = ""
        snapshot.card = parse_card(text) if text else EMPTY
        return snapshot

    def _file(self, path: str, entry: Entry) -> File | None:
        stored = entry.object
        try:
            stamp = stamp_of(os.stat(self._ledger.objects.place(stored.sha256)))
        except OSError:
            return None
        oid = pointer_oid(stored.sha256, stored.size) if entry.lfs else stored.blob
        return File(path, stamp, oid, stored.sha256 if entry.lfs else None, object=stored.sha256)


def _info(commit: Commit) -> CommitInfo:
    return CommitInfo(commit.id, commit.title, commit.message, commit.author, commit.made_ms)
