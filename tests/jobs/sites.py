"""A hub that changes, a store, and runs of the indexer over them."""

import json
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2

from rlx.formats.registry import AnyFormat, formats
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.publish import current_pointer
from rlx.jobs.indexer.run import Indexer, Options, Place, readers_of
from rlx.jobs.indexer.state import Run
from rlx.localhub import LocalHub
from rlx.services import create_services
from rlx.settings import Settings
from rlx.store.storage import DirectoryStorage, Storage

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"
FEW = ("datasets/acme/layout-tasks", "datasets/acme/layout-flat", "datasets/acme/plain-files", "spaces/acme/echo-env")


class Site:
    """`events` are those of the last run. Time passes when `later` says so."""

    def __init__(self, root: Path, repos: Sequence[str] = FEW, known: Sequence[AnyFormat] | None = None) -> None:
        self.root = root
        self.hub_folder = root / "hub"
        for repo in repos:
            self.add(repo)
        self.meta: dict[str, object] = {"users": {"hf_alice": {"name": "alice", "orgs": ["acme"]}}}
        self.tell_hub()
        self.hub = LocalHub(self.hub_folder, rescan=0)
        self.store = root / "store"
        self.storage: Storage = DirectoryStorage(self.store)
        self.formats = formats() if known is None else known
        self.events: list[tuple[str, Mapping[str, object]]] = []
        self.at = datetime.now(UTC)
        self.settings: dict[str, object] = {}
        self.hub_name = str(self.hub_folder)

    def add(self, repo: str) -> Path:
        """A repository of the fixtures, or an empty folder of that name."""
        target = self.hub_folder / repo
        if (FIXTURES / repo).is_dir():
            shutil.copytree(FIXTURES / repo, target)
        target.mkdir(parents=True, exist_ok=True)
        return target

    def change(self, repo: str, text: str = "Changed.\n") -> None:
        (self.hub_folder / repo / "NOTES.md").write_text(text)

    def tell_hub(self, **meta: object) -> None:
        """What the hub keeps beside files, by repository: private, trendingScore and so on."""
        self.meta |= {repo.replace("__", "/"): value for repo, value in meta.items()}
        (self.hub_folder / "hub.json").write_text(json.dumps(self.meta))

    def operators(self, **settings: object) -> None:
        path = self.store / "admin" / "settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))

    def later(self, **span: float) -> None:
        self.at += timedelta(**span)

    async def run(self, options: Options | None = None, *, token: str | None = None, everything: bool = True) -> Run:
        """One run by a process of its own, as far as that can be had in this one."""
        self.events.clear()
        settings = Settings(hub=str(self.hub_folder), store=self.store, cache_dir=self.root / "cache", **self.settings)  # type: ignore[arg-type]  # any setting, by name
        transport = httpx2.ASGITransport(app=self.hub.app)
        failure: Exception | None = None
        run: Run | None = None
        async with create_services(
            settings, transport=transport, known_formats=self.formats, public_token=token or False
        ) as services:
            place = Place(
                hub=services.hub,
                library=services.library,
                storage=self.storage,
                work=self.root / "cache" / "indexer",
                name=self.hub_name,
                everything=everything,
                readers=readers_of(self.formats),
                token=token or False,
            )
            indexer = Indexer(place, self._note, now=lambda: self.at, settle=0.0)
            try:
                run = await indexer.run(options or Options())
            except Exception as error:  # carried out by hand: the services' task group would wrap it
                failure = error
        if failure is not None:
            raise failure
        return run or Run(started=self.at, ended=self.at, listed=0, read=0, failed=0, left=0, tasks=0, db="")

    def read(self) -> list[str]:
        """What the last run read, in the order it was planned."""
        found = [facts for event, facts in self.events if event == "read"]
        return [str(facts["id"]) for facts in sorted(found, key=lambda facts: int(str(facts["n"])))]

    def told(self, event: str) -> list[Mapping[str, object]]:
        return [facts for name, facts in self.events if name == event]

    def snapshot(self) -> Snapshot:
        pointer = current_pointer(self.storage)
        assert pointer is not None
        return Snapshot(self.store / "snapshots" / pointer.db)

    def _note(self, event: str, facts: Mapping[str, object]) -> None:
        json.dumps(facts)
        self.events.append((event, facts))


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
