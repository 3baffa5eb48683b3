"""One run of the indexer over a synthetic catalog of which nothing changed, part by part.

    python bench/indexer.py [--environments 7000] [--tasks 50000]

The hub is a listing in this process; every environment has an entry in the store. The first run has no local copies of
the entries, the second has.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2

from bench.synthetic import content
from rlx.index.entries import Entry
from rlx.index.similar import sketch
from rlx.index.snapshot.rows import Content
from rlx.jobs.indexer.entries import Entries
from rlx.jobs.indexer.run import Indexer, Options, Place
from rlx.model import EnvCard
from rlx.services import LOCAL_HUB, create_services
from rlx.settings import Settings
from rlx.store.storage import DirectoryStorage

SHA = "a" * 40
PARTS = (
    ("listed", "listing"),
    ("plan", "entries and plan"),
    ("snapshot", "likeness"),
    ("published", "build, check, copy, read back, point"),
)
"""The event that ends each part of a run in which nothing is read."""

type Moment = tuple[float, float]
"""Seconds since the start of a run, and of processor time."""


def listed(card: EnvCard) -> dict[str, Any]:
    """A repository as the Hub lists it."""
    return {
        "id": card.key.repo_id,
        "sha": SHA,
        "tags": list(card.tags),
        "likes": card.likes,
        "downloads": card.downloads,
        "trendingScore": card.trending,
        "lastModified": None if card.modified is None else card.modified.isoformat(),
        "sdk": "docker",
        "description": card.brief,
    }


def hub_of(made: Content) -> httpx2.MockTransport:
    """A Hub that only lists, 1,000 a page."""
    rows = {kind: [listed(card) for card in made.envs if card.key.kind == kind] for kind in ("dataset", "space")}

    def answer(request: httpx2.Request) -> httpx2.Response:
        found = rows["space" if request.url.path == "/api/spaces" else "dataset"]
        start = int(request.url.params.get("cursor", "0"))
        more = f'<{LOCAL_HUB}{request.url.path}?cursor={start + 1000}>; rel="next"' if start + 1000 < len(found) else ""
        data = json.dumps(found[start : start + 1000]).encode()
        return httpx2.Response(200, content=data, headers={"link": more} if more else {})

    return httpx2.MockTransport(answer)


def fill(store: Path, made: Content) -> float:
    """Keep an entry of every environment; returns seconds."""
    entries = Entries(DirectoryStorage(store), None)
    start = time.monotonic()
    for card in made.envs:
        rows = tuple(replace(row, sketch=sketch(f"{row.title} {row.brief}")) for row in made.tasks.get(card.key, ()))
        entries.save(card.key, Entry(replace(card, revision=SHA, tasks=len(rows) or None), rows))
    return time.monotonic() - start


async def run(folder: Path, made: Content) -> dict[str, Moment]:
    """When each of a run's events came."""
    told: dict[str, Moment] = {}
    settings = Settings(hub=LOCAL_HUB, store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings, transport=hub_of(made)) as services:
        place = Place(
            hub=services.hub,
            library=services.library,
            storage=DirectoryStorage(settings.store),
            work=settings.cache_dir / "indexer",
            everything=True,
            readers={},
            name=LOCAL_HUB,
        )
        start, spent = time.monotonic(), time.process_time()

        def tell(event: str, facts: Mapping[str, object]) -> None:
            told[event] = (time.monotonic() - start, time.process_time() - spent)

        await Indexer(place, tell, settle=0.0).run(Options())
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environments", type=int, default=7_000)
    parser.add_argument("--tasks", type=int, default=50_000)
    asked = parser.parse_args()
    made = content(asked.environments, asked.tasks)
    made = replace(made, tasks={key: list(rows) for key, rows in made.tasks.items()})
    with tempfile.TemporaryDirectory(prefix="rlx-indexer-") as name:
        folder = Path(name)
        seconds = fill(folder / "store", made)
        size = sum(path.stat().st_size for path in (folder / "store" / "catalog").iterdir())
        print(f"entries made, {len(made.envs):,} files: {seconds:.1f} s, {size / 1e6:.1f} MB")
        for what in ("first run", "second run"):
            told = anyio.run(run, folder, made)
            before = (0.0, 0.0)
            for event, part in PARTS:
                after = told[event]
                print(f"{what}, {part}: {after[0] - before[0]:.2f} s, processor {after[1] - before[1]:.2f} s")
                before = after
            print(f"{what}, all: {told['done'][0]:.2f} s, processor {told['done'][1]:.2f} s")
    print(
        f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, the catalog itself included"
    )


if __name__ == "__main__":
    main()
