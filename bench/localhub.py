"""How fast the local hub lists, starts and serves: `python bench/localhub.py`.

Makes repositories in a temporary folder and prints, for 7,000 of them, a listing through the unmodified
`huggingface_hub` client with the share that is the server's; a start over 5,000 files; and the cost of one small file.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_UPDATE_CHECK="1", HF_HUB_DISABLE_IMPLICIT_TOKEN="1")

import httpx2
from huggingface_hub import DatasetInfo, HfApi
from huggingface_hub.hf_api import ExpandDatasetProperty_T

from rlx.localhub import LocalHub, serve
from rlx.localhub.wire import Receive, Scope, Send

REPOS = 7_000
FILES = 5_000
CARD = """---
license: apache-2.0
pretty_name: Tiny {number}
language: [en]
task_categories: [text-generation]
size_categories: [n<1K]
tags: [rl-environment, {framework}]
---

# Tiny {number}

A repository of two files that was made to be listed.
"""


class Timed(LocalHub):
    """A hub that adds up the time its requests take."""

    spent = 0.0

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        await super().app(scope, receive, send)
        self.spent += time.perf_counter() - started


@contextmanager
def timed(what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    print(f"{what:<64}{time.perf_counter() - started:8.3f} s")


def make_repos(root: Path) -> None:
    for number in range(REPOS):
        folder = root / "datasets" / f"org-{number % 50}" / f"tiny-{number:04}"
        folder.mkdir(parents=True)
        framework = ("harbor", "verifiers", "openenv", "nemo-gym")[number % 4]
        (folder / "README.md").write_text(CARD.format(number=number, framework=framework))
        (folder / "task.toml").write_text(f"number = {number}\n")


def make_files(root: Path) -> None:
    for number in range(FILES):
        path = root / "datasets/org/large/tasks" / f"task-{number // 4:04}" / f"file-{number % 4}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"contents of file {number}\n" * 40)


def listing(root: Path, cache: Path) -> None:
    with timed(f"first look at {REPOS:,} repositories, nothing known"):
        LocalHub(root, cache_dir=cache).warm()
    hub = Timed(root, cache_dir=cache)
    with timed(f"first look at {REPOS:,} repositories, hashes kept"):
        hub.warm()
    expand: list[ExpandDatasetProperty_T] = ["author", "cardData", "createdAt", "description", "downloads", "gated"]
    expand += ["lastModified", "likes", "private", "sha", "tags", "trendingScore"]
    with serve(hub) as server:
        api = HfApi(endpoint=server.url, token=False)
        next(iter(api.list_datasets(limit=1)))
        views: dict[str, Callable[[], object]] = {
            "default": lambda: list(api.list_datasets()),
            "full": lambda: list(api.list_datasets(full=True)),
            "expand": lambda: list(api.list_datasets(expand=expand)),
            "expand, again": lambda: list(api.list_datasets(expand=expand)),
        }
        for name, view in views.items():
            hub.spent = 0.0
            with timed(f"{REPOS:,} repositories listed through the client, {name}"):
                view()
            print(f"{'  of which in the server':<64}{hub.spent:8.3f} s")
        page = httpx2.get(f"{server.url}/api/datasets", params={"expand": expand}).text
    with timed("  the client's own share: 7 pages of JSON to objects"):
        for _ in range(7):
            for item in json.loads(page):
                DatasetInfo(**item)  # type: ignore[no-untyped-call]  # it has no annotations


def start(root: Path, cache: Path) -> None:
    with timed(f"start over {FILES:,} files, nothing known"):
        LocalHub(root, cache_dir=cache).warm()
    with timed(f"start over {FILES:,} files, hashes kept"):
        hub = LocalHub(root, cache_dir=cache)
        hub.warm()
    asyncio.run(files(hub))


async def files(hub: LocalHub) -> None:
    paths = [f"/datasets/org/large/resolve/main/tasks/task-{n // 4:04}/file-{n % 4}.txt" for n in range(2000)]
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(hub.app), base_url="http://hub") as client:
        started = time.perf_counter()
        for path in paths:
            (await client.get(path)).raise_for_status()
        each = (time.perf_counter() - started) / len(paths)
    print(f"{'one small file, hub and client in one process':<64}{each * 1000:8.3f} ms ({1 / each:,.0f} a second)")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        make_repos(base / "many")
        make_files(base / "large")
        listing(base / "many", base / "cache")
        start(base / "large", base / "cache")
    return 0


if __name__ == "__main__":
    sys.exit(main())
