"""Publishes files in commits that can be gone on from: what the repository holds already is not sent again."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rlx.errors import BadInput, Upstream
from rlx.hub.writing import HubWriter, RemoteFile
from rlx.ids import EnvKey
from rlx.publish.batches import batches
from rlx.publish.folder import blob_of, sha256_of

BATCH_FILES: Final = 200
BATCH_BYTES: Final = 64 * 1024 * 1024
"""Of one commit; a larger file is a commit of its own."""
_ATTEMPTS: Final = 4
CARD: Final = "README.md"

type Sent = Mapping[str, Path | bytes]
"""Paths in the repository, and what they hold."""
type Told = Callable[[str, Mapping[str, object]], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    key: EnvKey
    title: str
    """Of commits and of the pull request; a pull request of this title is gone on with."""
    message: str = ""
    private: bool = False
    pull: bool = False
    sdk: str | None = None
    """Of a new Space."""


@dataclass(frozen=True, slots=True)
class Pushed:
    sha: str
    url: str
    pull: int | None
    sent: int
    """Files of this run."""
    known: int
    """Files that were there already."""


def push(
    writer: HubWriter, files: Sent, wanted: Wanted, told: Told, *, pause: Callable[[float], None] = time.sleep
) -> Pushed:
    """Send `files`. A run that was killed is gone on from by the next; files of others stay.

    `told` hears `create`, `plan`, `commit` and `again`. Raises what `HubWriter` raises.
    """
    push = _Push(writer, files, wanted, told)
    for attempt in range(1, _ATTEMPTS):
        try:
            return push.run()
        except Upstream as error:
            told("again", {"why": error.message, "attempt": attempt})
            pause(2.0**attempt)
    return push.run()


class _Push:
    def __init__(self, writer: HubWriter, files: Sent, wanted: Wanted, told: Told) -> None:
        self._writer = writer
        self._files = files
        self._wanted = wanted
        self._told = told
        self._name = ""
        self._sent = 0

    def run(self) -> Pushed:
        key, wanted = self._wanted.key, self._wanted
        self._name = self._name or self._writer.name()
        if not self._writer.exists(key):
            if wanted.pull:
                raise BadInput(f"There is no {key} to open a pull request on.", hint="Leave --pr out to create it.")
            self._writer.create(key, private=wanted.private, sdk=wanted.sdk)
            self._told("create", {"repo": str(key), "private": wanted.private})
        pull = self._open_pull() if wanted.pull else None
        revision = "main" if pull is None else f"refs/pr/{pull}"
        head = self._writer.head(key, revision)
        there = self._writer.files(key, head)
        missing = [path for path, content in self._files.items() if not is_same(content, there.get(path))]
        known = len(self._files) - len(missing) - self._sent
        total = sum(_size(self._files[path]) for path in missing)
        self._told("plan", {"files": len(missing), "bytes": total, "known": len(self._files) - len(missing)})
        url = f"{self._writer.endpoint}{_page(key)}"
        batches = list(batches_of([(path, _size(self._files[path])) for path in missing]))
        for number, batch in enumerate(batches, 1):
            title = wanted.title if len(batches) == 1 or wanted.pull else f"{wanted.title} ({number}/{len(batches)})"
            made = self._writer.commit(
                key,
                {path: self._files[path] for path in batch},
                title=title,
                message=wanted.message if number == 1 else "",
                parent=head,
                revision=revision,
                pull=wanted.pull and pull is None,
            )
            if made.pull is not None:
                pull, revision = made.pull, f"refs/pr/{made.pull}"
            head = made.sha
            self._sent += len(batch)
            told = {"sha": head, "files": len(batch), "bytes": sum(_size(self._files[path]) for path in batch)}
            self._told("commit", {**told, "batch": number, "batches": len(batches)})
        if pull is not None:
            url = f"{url}/discussions/{pull}"
        return Pushed(head, url, pull, self._sent, max(known, 0))

    def _open_pull(self) -> int | None:
        """The pull request that an earlier run opened."""
        found = self._writer.pulls(self._wanted.key, self._name)
        return next((num for num, title in found if title == self._wanted.title), None)


def is_same(content: Path | bytes, there: RemoteFile | None) -> bool:
    """Whether a file of the repository holds these bytes."""
    if there is None or there.size != _size(content):
        return False
    return there.sha256 == sha256_of(content) if there.sha256 else there.blob == blob_of(content)


def batches_of(files: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """Paths by commit, the card first: its commit says what the rest is."""
    ordered = sorted(files, key=lambda file: (file[0] != CARD, file[0]))
    return batches(ordered, most=BATCH_FILES, most_bytes=BATCH_BYTES)


def _size(content: Path | bytes) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _page(key: EnvKey) -> str:
    return f"/{key.kind}s/{key.repo_id}"
