"""Discussions and pull requests as the ledger keeps them: what was said, in order."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rlx.localhub.snapshot import iso
from rlx.localhub.views import object_id
from rlx.localhub.wire import Refusal
from rlx.localhub.writing.ledger import Ledger

MAX_DISCUSSIONS: Final = 10_000
MAX_EVENTS: Final = 2_000
_COLUMNS: Final = "num, title, author, status, made_ms, target, base, merged"
OPEN: Final = frozenset({"open", "draft"})


@dataclass(frozen=True, slots=True)
class Discussion:
    repo: str
    """Its key."""
    num: int
    title: str
    author: str
    status: str
    """`open`, `closed`, `draft` or `merged`."""
    made_ms: int
    target: str | None
    """Of a pull request: the branch it is for."""
    base: str | None
    merged: str | None

    @property
    def is_pull(self) -> bool:
        return self.target is not None

    @property
    def ref(self) -> str:
        """The branch of a pull request's own."""
        return f"refs/pr/{self.num}"

    def view(self) -> dict[str, object]:
        """As a list tells it."""
        kind, _, id_ = self.repo.partition("/")
        return {
            "num": self.num,
            "title": self.title,
            "author": {"name": self.author, "type": "user"},
            "status": self.status,
            "isPullRequest": self.is_pull,
            "createdAt": iso(self.made_ms),
            "pinned": False,
            "repo": {"name": id_, "type": kind.removesuffix("s")},
        }


@dataclass(frozen=True, slots=True)
class Event:
    repo: str
    num: int
    seq: int
    type: str
    """`comment`, `status-change`, `title-change` or `commit`."""
    author: str
    made_ms: int
    data: Mapping[str, object]

    @property
    def id(self) -> str:
        return object_id(f"{self.repo} {self.num} {self.seq}")

    def view(self) -> dict[str, object]:
        author = {"name": self.author, "type": "user"}
        return {
            "id": self.id,
            "type": self.type,
            "author": author,
            "createdAt": iso(self.made_ms),
            "data": dict(self.data),
        }


def discussions(ledger: Ledger, repo: str) -> list[Discussion]:
    """Newest first."""
    rows = ledger.rows(f"SELECT {_COLUMNS} FROM discussions WHERE repo = ? ORDER BY num DESC", repo)  # noqa: S608  fixed
    return [_discussion(repo, *row) for row in rows]


def find(ledger: Ledger, repo: str, num: str) -> Discussion:
    """Refuses a number that is no discussion's."""
    wanted = int(num) if num.isascii() and num.isdigit() and len(num) < 10 else 0
    rows = ledger.rows(f"SELECT {_COLUMNS} FROM discussions WHERE repo = ? AND num = ?", repo, wanted)  # noqa: S608  fixed
    if not rows:
        raise Refusal(404, "", "No discussion or pull request of this number.")
    return _discussion(repo, *rows[0])


def begin(
    ledger: Ledger,
    repo: str,
    author: str,
    title: str,
    now_ms: int,
    *,
    status: str = "open",
    target: str | None = None,
    base: str | None = None,
) -> Discussion:
    """A new discussion or, with a target, pull request. Within a change of the ledger."""
    if not 3 <= len(title.strip()) <= 200:
        raise Refusal(400, "", "A title has 3 to 200 characters.")
    last = ledger.rows("SELECT max(num) FROM discussions WHERE repo = ?", repo)[0][0]
    num = int(str(last or 0)) + 1
    if num > MAX_DISCUSSIONS:
        raise Refusal(403, "", "This repository holds no more discussions.")
    made = Discussion(repo, num, title.strip(), author, status, now_ms, target, base, None)
    with ledger.change() as db:
        db.execute(
            "INSERT INTO discussions VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            (repo, num, made.title, author, status, now_ms, target, base),
        )
    return made


def update(ledger: Ledger, to: Discussion) -> None:
    with ledger.change() as db:
        db.execute(
            "UPDATE discussions SET title = ?, status = ?, merged = ? WHERE repo = ? AND num = ?",
            (to.title, to.status, to.merged, to.repo, to.num),
        )


def events(ledger: Ledger, of: Discussion) -> list[Event]:
    rows = ledger.rows(
        "SELECT seq, type, author, made_ms, data FROM events WHERE repo = ? AND num = ? ORDER BY seq", of.repo, of.num
    )
    return [
        Event(of.repo, of.num, int(str(seq)), str(type), str(author), int(str(made)), json.loads(str(data)))
        for seq, type, author, made, data in rows
    ]


def say(ledger: Ledger, of: Discussion, type: str, author: str, now_ms: int, data: Mapping[str, object]) -> Event:
    """Add an event."""
    with ledger.change() as db:
        count = ledger.rows("SELECT count(*) FROM events WHERE repo = ? AND num = ?", of.repo, of.num)[0][0]
        event = Event(of.repo, of.num, int(str(count)), type, author, now_ms, data)
        if event.seq >= MAX_EVENTS:
            raise Refusal(403, "", "This discussion holds no more.")
        db.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            (of.repo, of.num, event.seq, type, author, now_ms, json.dumps(dict(data))),
        )
    return event


def rewrite(ledger: Ledger, event: Event, data: Mapping[str, object]) -> Event:
    """Replace what an event says."""
    with ledger.change() as db:
        db.execute(
            "UPDATE events SET data = ? WHERE repo = ? AND num = ? AND seq = ?",
            (json.dumps(dict(data)), event.repo, event.num, event.seq),
        )
    return Event(event.repo, event.num, event.seq, event.type, event.author, event.made_ms, data)


def comment_data(
    raw: str, author: str, now_ms: int, *, edited: bool = False, hidden: bool = False
) -> dict[str, object]:
    latest = {"raw": "" if hidden else raw, "updatedAt": iso(now_ms), "author": {"name": author, "type": "user"}}
    return {"edited": edited, "hidden": hidden, "latest": latest, "numEdits": int(edited)}


def _discussion(repo: str, *row: object) -> Discussion:
    num, title, author, status, made, target, base, merged = row
    names = [None if value is None else str(value) for value in (target, base, merged)]
    return Discussion(repo, int(str(num)), str(title), str(author), str(status), int(str(made)), *names)
