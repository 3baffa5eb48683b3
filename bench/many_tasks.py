"""Prints how an environment of many tasks reads and pages: `python bench/many_tasks.py [--tasks 20000] [--keep DIR]`.

It is written as tiny Harbor tasks, with titles and refs of 200 characters among them and categories in plenty.
"""

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2

from rlx.ids import parse_key
from rlx.localhub import LocalHub
from rlx.model import ANONYMOUS
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app

KEY = parse_key("bench/many-tasks")
TIMES = 60
_TOTAL = re.compile(r"total;dur=([\d.]+)")
_LEVELS = ("easy", "medium", "hard")


def write_hub(folder: Path, tasks: int) -> None:
    root = folder / "datasets" / KEY.repo_id
    root.mkdir(parents=True)
    (root / "README.md").write_text("---\ntags: [harbor, rl-environment]\nlicense: mit\n---\n# Many tasks\n")
    for n in range(tasks):
        tail = f"-{'long-name-' * 18}"[:190] if n % 50 == 0 else ""
        task = root / "tasks" / f"task-{n:05}{tail}"
        (task / "environment").mkdir(parents=True)
        (task / "tests").mkdir()
        (task / "environment" / "Dockerfile").write_text(f"FROM python:3.{8 + n % 6}-slim\n")
        (task / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
        words = " ".join(f"word{(n * 7 + place) % 997}" for place in range(5 + (n * n) % 700))
        (task / "instruction.md").write_text(f"Solve puzzle {n}.\n\n{words}\n")
        (task / "task.toml").write_text(
            f'version = "1.0"\n[metadata]\ndifficulty = "{_LEVELS[n % 3]}"\ncategory = "category {n % 60}"\n'
            f'tags = ["tag {n % 997}", "tag {n % 31}"]\n[agent]\ntimeout_sec = {60 * (1 + n % 90)}\n'
        )


def pages(tasks: int) -> Iterator[tuple[str, str]]:
    """What is asked for, and its address."""
    last = (tasks - 1) // 50 * 50
    for part in ("", "part=results&"):
        kind = "the list alone" if part else "the whole page"
        yield f"first page, {kind}", f"{KEY.page}?{part}"
        yield f"filtered, {kind}", f"{KEY.page}?{part}f=difficulty:Hard;category:category%205|category%208"
        yield f"searched, {kind}", f"{KEY.page}?{part}q=puzzle+19"
        yield f"hardest first, last page, {kind}", f"{KEY.page}?{part}sort=-difficulty&offset={last}"
    yield "JSON of the list", f"{KEY.api}/tasks?offset={last}"


async def measure(hub: Path, folder: Path, tasks: int) -> None:
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache")
    # Looking at the folder for changes is the local hub's work, and would be timed along.
    local = LocalHub(hub, cache_dir=folder / "cache" / "localhub", rescan=3600)
    async with create_services(settings, transport=httpx2.ASGITransport(app=local.app)) as services:
        start = time.perf_counter()
        await services.library.open(KEY, ANONYMOUS, wait=None)
        print(f"| opened | {time.perf_counter() - start:.1f} s |", flush=True)
        transport = httpx2.ASGITransport(app=create_app(services))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for what, url in pages(tasks):
                print(f"| {what} | {await figures(client, url)} |", flush=True)


async def figures(client: httpx2.AsyncClient, url: str) -> str:
    """Server times of one page after it was asked for once, its processor time with the client's own, its bytes."""
    taken, worked = [], []
    size = 0
    for _ in range(TIMES + 1):
        start = time.process_time()
        answer = await client.get(url)
        worked.append(1000 * (time.process_time() - start))
        answer.raise_for_status()
        size = int(answer.headers["content-length"])
        told = _TOTAL.search(answer.headers["server-timing"])
        taken.append(float(told[1]) if told else 0.0)
    ordered = sorted(taken[1:])
    p95 = ordered[round(0.95 * (len(ordered) - 1))]
    median, processor = statistics.median(ordered), statistics.median(worked[1:])
    return f"median {median:.1f} ms, p95 {p95:.1f} ms, processor {processor:.1f} ms, {size / 1000:.1f} kB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="a folder for the hub and what is read of it, used again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        if not (folder / "hub").exists():
            write_hub(folder / "hub", arguments.tasks)
        print(f"| {arguments.tasks:,} tasks | |\n|---|---|")
        anyio.run(measure, folder / "hub", folder, arguments.tasks)


if __name__ == "__main__":
    main()
