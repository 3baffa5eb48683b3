"""A small catalog as it is built, and the toy services over it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rlx.answers import name, prose
from rlx.hub.info import read_info
from rlx.ids import EnvKey
from rlx.index.env_cards import listed_card
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.index.snapshot.write import write_snapshot
from rlx.model import EnvCard, EnvPage, EnvQuery, Facets, Relative, TaskHits, TaskSearch, Viewer
from tests.toy import ToyCatalog, ToyInstance

PARSERS = EnvKey("dataset", "acme", "parsers")
SERVERS = EnvKey("space", "acme", "servers")
LATE = "word " * 40 + "and then the parser"
HOSTILE = "A <b>parser</b> & \u202ereversed\u202c {{ 7 * 7 }}"


def row(ref: str, title: str, brief: str = "", **facets: str) -> TaskRow:
    told: Facets = {key: (name(value),) for key, value in facets.items()}
    return TaskRow(ref, prose(title), prose(brief), told)


TASKS = {
    PARSERS: (
        row("tasks/fix-parser", "Fix the parser", "It fails on <tags>.", difficulty="Easy", graded="One score"),
        row("tasks/hostile", HOSTILE, difficulty="Hard", language="Python", sandbox="Docker"),
        row("tasks/late", "Something else", LATE, difficulty="Hard"),
        row("tasks/korean", "학습환경에서 파서 고치기", "A parser that reads Korean.", category="parsing"),
        *(row(f"many/{n:02}", f"Chore number {n}") for n in range(30)),
    ),
    SERVERS: (row("0", "Serve the parser", difficulty="Easy"),),
}


class Built(ToyCatalog):
    """A catalog whose answers are a real one's: at most `most` tasks are found."""

    def __init__(self, folder: Path, instance: ToyInstance, *, most: int = 20, others: Sequence[EnvKey] = ()) -> None:
        super().__init__()
        infos = [
            read_info(key.kind, {"id": key.repo_id, "tags": ["harbor"], "sdk": "docker"}) for key in (*TASKS, *others)
        ]
        path = folder / "built.db"
        write_snapshot(path, Content([listed_card(info) for info in infos], TASKS, datetime.now(UTC)))
        self.snapshot = Snapshot(path, most=most)
        self.instance = instance

    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
        return self.snapshot.environments(query, self.instance.current())

    async def card(self, key: EnvKey) -> EnvCard | None:
        return self.snapshot.card(key, self.instance.current())

    async def rank(self, key: EnvKey) -> tuple[int, int] | None:
        return self.snapshot.rank(key, self.instance.current())

    async def tasks(self, search: TaskSearch) -> TaskHits:
        return self.snapshot.tasks(search, self.instance.current())

    async def relatives(self, key: EnvKey, ref: str) -> tuple[Relative, ...]:
        return self.snapshot.relatives(key, ref, self.instance.current())
