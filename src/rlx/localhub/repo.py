"""A served repository: its folder, what was last seen there, and the revisions that are still remembered."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from rlx.localhub.cards import EMPTY, Card, parse_card
from rlx.localhub.files import Changed, File, Stamp, hash_files, read_file, scan
from rlx.localhub.hashes import HashStore, Known
from rlx.localhub.sidecar import PUBLIC, Meta
from rlx.localhub.snapshot import CommitInfo, Snapshot

BRANCHES = frozenset({"main", "refs/heads/main", "HEAD"})
_REMEMBERED = 8
"""Former revisions whose listing is kept, so that a reader pinned to one is not cut off by a change."""


class Repo:
    """`refresh` may block on disk and may be called from any thread; everything else is memory."""

    def __init__(self, kind: str, id_: str, folder: Path | None, store: HashStore) -> None:
        self.kind = kind
        """`datasets`, `spaces` or `models`."""
        self.id = id_
        self.folder = "" if folder is None else str(folder)
        """Empty where the files do not lie in one."""
        self.author = id_.partition("/")[0]
        self.head = Snapshot(())
        self.fragments: dict[str, bytes] = {}
        """JSON of the head by view; emptied when the head or the metadata changes."""
        self.generation = 0
        """Grows with every change of the head or the metadata."""
        self._meta = PUBLIC
        self._store = store
        self._stamps: dict[str, Stamp] | None = None
        self._due = 0.0
        self._lock = threading.Lock()
        self._history: OrderedDict[str, Snapshot] = OrderedDict()

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.id}"

    @property
    def meta(self) -> Meta:
        return self._meta

    @meta.setter
    def meta(self, meta: Meta) -> None:
        if meta != self._meta:
            self._meta = meta
            self.fragments = {}
            self.generation += 1

    def at(self, revision: str) -> Snapshot | None:
        """The files at a branch or commit; None when there is no such revision."""
        return self.head if revision in BRANCHES else self._history.get(revision)

    def refs(self) -> dict[str, str]:
        """Full names of branches, tags and pull requests, and their commits."""
        return {"refs/heads/main": self.head.sha}

    def log(self, at: Snapshot) -> list[CommitInfo]:
        """Remembered commits from `at` on, newest first."""
        history = list(reversed(self._history.values()))
        return [
            CommitInfo(one.sha, one.commit["title"], "", self.author, one.modified_ms)
            for one in history[history.index(at) :]
        ]

    def file(self, at: Snapshot, path: str) -> File | None:
        """The file of a revision as it lies on disk now; None when it does not any more."""
        wanted, current = at.files.get(path), self.head.files.get(path)
        return current if wanted is not None and current is not None and current.oid == wanted.oid else None

    def place(self, file: File) -> str:
        """Where the bytes of a file are on disk."""
        return f"{self.folder}/{file.path}"

    @property
    def is_written(self) -> bool:
        """Whether its revisions are kept apart from the served folder."""
        return False

    def fresh(self, now: float) -> bool:
        return now < self._due

    def refresh(self, clock: Callable[[], float], pause: Callable[[float], float], *, force: bool = False) -> None:
        """Look at the folder unless that was just done. Raises `FileNotFoundError` when it is gone.

        `pause` gives the seconds until the next look from those that this one took.
        """
        with self._lock:
            started = clock()
            if self.fresh(started) and not force:
                return
            stamps = scan(self.folder)
            if stamps != self._stamps or any(file.racy for file in self.head.files.values()):
                self._take(stamps)
            ended = clock()
            self._due = ended + pause(ended - started)

    def _take(self, stamps: dict[str, Stamp]) -> None:
        first = self._stamps is None
        known = self._store.load(self.folder) if first else Known(self.head.files, self.head.card)
        head = Snapshot(hash_files(self.folder, stamps, known.files))
        same = not first and head.sha == self.head.sha
        head.card = self._card(head, known)
        if len(known.files) != len(head.files) or any(
            known.files.get(path) is not file for path, file in head.files.items()
        ):
            self._store.keep(self.folder, Known(head.files, head.card))
        self._stamps = stamps
        self.head = head
        self._history[head.sha] = head
        self._history.move_to_end(head.sha)
        if len(self._history) > _REMEMBERED:
            self._history.popitem(last=False)
        if not same:
            self.fragments = {}
            self.generation += 1

    def _card(self, head: Snapshot, known: Known) -> Card:
        readme = head.files.get("README.md")
        if readme is None:
            return EMPTY
        former = known.files.get("README.md")
        if former is not None and former.oid == readme.oid:
            return known.card
        try:
            return parse_card(read_file(f"{self.folder}/README.md", readme).decode("utf-8", "replace"))
        except Changed:
            return EMPTY
