"""Small catalogs, and stores that they are published in."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rlx.answers import name
from rlx.hub.info import read_info
from rlx.index.env_cards import listed_card
from rlx.index.snapshot.pointer import Pointer
from rlx.index.snapshot.publish import publish
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.store.storage import Storage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def content(names: Sequence[str], *, tasks: int = 3, at: datetime = NOW) -> Content:
    """A catalog of environments of those names, the first with tasks."""
    cards = [listed_card(read_info("dataset", {"id": f"acme/{item}", "tags": ["harbor"]})) for item in names]
    rows = [TaskRow(f"task-{n}", name(f"Task {n}"), name("Something to do."), {}) for n in range(tasks)]
    return Content(envs=cards, tasks={cards[0].key: rows} if cards else {}, built_at=at)


def published(storage: Storage, work: Path, *names: str, at: datetime = NOW) -> Pointer:
    return publish(storage, content(names, at=at), work, now=at)


def refuses(read: Callable[[bytes], object], data: bytes) -> bool:
    """Whether `read` tells of a file that it is none of its own, and raises nothing else."""
    try:
        read(data)
    except ValueError:
        return True
    return False
