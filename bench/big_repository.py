"""Prints how a repository too big to list opens: `python bench/big_repository.py [--tasks N] [--page S] [--keep DIR]`.

The local hub serves it from a process of its own; `--page` is how long it takes over each page of a recursive listing,
as the Hub does. Each way of reading is measured in a process of its own too.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2

from rlx.errors import NotReady
from rlx.ids import parse_key
from rlx.localhub import Fault, LocalHub, serve
from rlx.model import ANONYMOUS, TaskQuery
from rlx.services import Services, create_services
from rlx.settings import Settings

KEY = parse_key("bench/big-repository")
_LEVELS = ("easy", "medium", "hard")


def write_hub(folder: Path, tasks: int) -> None:
    """Eight files a task."""
    root = folder / "datasets" / KEY.repo_id
    root.mkdir(parents=True)
    (root / "README.md").write_text("---\ntags: [harbor, rl-environment]\n---\n# Big\n")
    for n in range(tasks):
        task = root / "tasks" / f"part-{n % 12:02}" / f"task-{n:05}"
        for inner in ("environment", "solution", "tests"):
            (task / inner).mkdir(parents=True)
        (task / "environment" / "Dockerfile").write_text(f"FROM python:3.{8 + n % 6}-slim\nCOPY data.csv /\n")
        (task / "environment" / "data.csv").write_text(f"n,m\n{n},{n * n}\n")
        (task / "solution" / "solve.sh").write_text(f"echo {n} > /app/answer\n")
        (task / "tests" / "test.sh").write_text("pytest /tests/test_outputs.py && echo 1 > /logs/verifier/reward.txt\n")
        (task / "tests" / "test_outputs.py").write_text(f"def test_answer():\n    assert {n}\n")
        (task / "tests" / "expected.json").write_text(f'{{"n": {n}}}\n')
        words = " ".join(f"word{(n * 7 + place) % 997}" for place in range(5 + (n * n) % 300))
        (task / "instruction.md").write_text(f"Solve puzzle {n}.\n\n{words}\n")
        (task / "task.toml").write_text(
            f'version = "1.0"\n[metadata]\ndifficulty = "{_LEVELS[n % 3]}"\ncategory = "category {n % 60}"\n'
            f"[agent]\ntimeout_sec = {60 * (1 + n % 90)}\n"
        )


class Counting(httpx2.AsyncHTTPTransport):
    """The network, counted by what is asked for."""

    def __init__(self) -> None:
        super().__init__(limits=httpx2.Limits(max_connections=48, max_keepalive_connections=48))
        self.calls: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.calls[kind_of(str(request.url))] += 1
        return await super().handle_async_request(request)


def kind_of(url: str) -> str:
    if "/tree/" in url:
        return "pages of a recursive listing" if "recursive=true" in url else "pages of a folder"
    return "paths-info" if "/paths-info/" in url else "files" if "/resolve/" in url else "others"


async def measure(url: str, folder: Path, deadline: float) -> dict[str, object]:
    """Open it in an empty store till its tasks are named, then till all are read."""
    settings = Settings(hub=url, store=folder / "store", cache_dir=folder / "cache", listing_deadline=deadline)
    transport = Counting()
    start = time.perf_counter()
    async with create_services(settings, transport=transport) as services:
        named = await open_first(services, start)
        calls = transport.calls.total()
        environment = await services.library.open(KEY, ANONYMOUS, wait=None)
        whole = time.perf_counter() - start
        total = (await environment.tasks(TaskQuery())).total
    return {
        "tasks": total,
        "named": named,
        "calls before": calls,
        "whole": whole,
        "calls": dict(transport.calls.most_common()),
        "worked": time.process_time(),
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def open_first(services: Services, start: float) -> float:
    while True:
        try:
            await services.library.open(KEY, ANONYMOUS, wait=0.05)
        except NotReady:
            continue
        return time.perf_counter() - start


def serve_hub(hub: Path, cache: Path, page: float) -> None:
    """Until the input ends."""
    local = LocalHub(hub, cache_dir=cache, rescan=3600)
    local.warm()
    if page:
        local.faults.add(Fault(path="*/tree/*", query="*recursive=true*", delay=page))
    with serve(local) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def hub_process(hub: Path, cache: Path, page: float) -> Iterator[str]:
    command = [sys.executable, __file__, "--serve", str(hub), "--keep", str(cache), "--page", str(page)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def tell(what: str, deadline: float, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--measure", url, "--deadline", str(deadline), "--keep", folder]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(answer.splitlines()[-1])  # a request that was tried again is told before
    calls = ", ".join(f"{n:,} {kind}" for kind, n in found["calls"].items())
    print(
        f"| {what} | {found['named']:.1f} s after {found['calls before']:,} calls | {found['whole']:.0f} s"
        f" | {found['worked']:.0f} s | {calls} | {found['mb']:.0f} MB |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=15_000)
    parser.add_argument("--page", type=float, default=0.4, help="seconds of each page of a recursive listing")
    parser.add_argument("--keep", type=Path, help="a folder for the hub, used again")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, default=0.0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve_hub(asked.serve, asked.keep, asked.page)
        return
    if asked.measure:
        print(json.dumps(anyio.run(measure, asked.measure, asked.keep, asked.deadline)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        if not (folder / "hub").exists():
            write_hub(folder / "hub", asked.tasks)
        print("| way | tasks named | all read | processor | calls | peak memory |\n|---|---|---|---|---|---|")
        with hub_process(folder / "hub", folder / "localhub", asked.page) as url:
            tell("listed at once", 1e9, url)
            tell("given up after 5 s, then walked", 5.0, url)
            tell("walked", 0.0, url)


if __name__ == "__main__":
    main()
