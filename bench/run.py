"""Prints the product's figures over a hub folder: `python bench/run.py DIR`. Nothing here is asserted anywhere."""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2

from rlx.ids import EnvKey
from rlx.model import ANONYMOUS, EnvQuery, TaskQuery
from rlx.services import Services, create_services
from rlx.settings import Settings
from rlx.web.app import create_app

PAGES = 400
RUNS = 7
_TOTAL = re.compile(r"total;dur=([\d.]+)")


def tell(what: str, figure: str) -> None:
    print(f"| {what} | {figure} |", flush=True)


@contextmanager
def clock() -> Iterator[list[float]]:
    taken: list[float] = []
    start = time.perf_counter()
    yield taken
    taken.append(time.perf_counter() - start)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, round(share * (len(values) - 1)))]


def settings_for(hub: Path, folder: str) -> Settings:
    return Settings(hub=str(hub), store=Path(folder, "store"), cache_dir=Path(folder, "cache"))


async def list_hub(services: Services) -> None:
    with clock() as taken:
        page = await services.catalog.search(EnvQuery(limit=1), ANONYMOUS)
    tell("first listing", f"{page.environments:,} environments in {taken[0]:.2f} s")


async def index_each(services: Services, keys: list[EnvKey]) -> list[tuple[EnvKey, int, int, float]]:
    """Read each environment cold: its key, tasks, files and seconds."""
    read = []
    for key in keys:
        files = len(await (await services.library.repo(key, ANONYMOUS)).tree())
        with clock() as taken:
            environment = await services.library.open(key, ANONYMOUS, wait=None)
        summary = await environment.summary()
        if summary.tasks:
            read.append((key, summary.tasks, files, taken[0]))
    return read


async def time_pages(services: Services, keys: list[EnvKey]) -> None:
    """Server time of task pages, each asked for twice, the second time counted."""
    urls = []
    for key in keys:
        environment = await services.library.open(key, ANONYMOUS, wait=None)
        page = await environment.tasks(TaskQuery(limit=PAGES))
        urls += [key.task_page(card.ref) for card in page.items]
    times = []
    transport = httpx2.ASGITransport(app=create_app(services))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for url in urls[:PAGES]:
            await client.get(url)
            answer = await client.get(url)
            found = _TOTAL.search(answer.headers.get("server-timing", ""))
            if answer.status_code == 200 and found:
                times.append(float(found[1]))
    if times:
        middle, slow = percentile(times, 0.5), percentile(times, 0.95)
        tell("warm task page, server time", f"p50 {middle:.1f} ms, p95 {slow:.1f} ms over {len(times):,} pages")


async def measure(settings: Settings) -> None:
    async with create_services(settings) as services:
        await list_hub(services)
        page = await services.catalog.search(EnvQuery(limit=100_000), ANONYMOUS)
        read = await index_each(services, [card.key for card in page.items])
        if not read:
            return
        largest = max(read, key=lambda item: item[2])
        key, tasks, files, seconds = largest
        tell("cold index of the largest set", f"{key}: {tasks:,} tasks, {files:,} files in {seconds:.2f} s")
        total, taken = sum(item[2] for item in read), sum(item[3] for item in read)
        tell("indexing", f"{total / taken:,.0f} files/s over {len(read):,} environments")
        await time_pages(services, [item[0] for item in read])


def time_command(*arguments: str) -> float:
    """Median seconds of a command."""
    times = []
    for _ in range(RUNS):
        with clock() as taken:
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times += taken
    return statistics.median(times)


def time_help() -> None:
    bare, helped = time_command("-c", "pass"), time_command("-m", "rlx", "--help")
    tell("rlx --help", f"{helped * 1000:.0f} ms, {helped / bare:.1f} times a bare interpreter's {bare * 1000:.0f} ms")


def time_start(settings: Settings) -> None:
    """From the start of `rlx serve` over a warm store to its address, and to the first `/readyz` that answers 200."""
    command = ["-m", "rlx", "serve", "--hub", settings.hub, "--store", str(settings.store), "--port", "0"]
    env = {"RLX_CACHE_DIR": str(settings.cache_dir), "PATH": ""}
    to_address: list[float] = []
    to_ready: list[float] = []
    for _ in range(RUNS):
        start = time.perf_counter()
        server = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True, env=env)
        said = server.stderr.readline() if server.stderr else ""
        address = re.search(r"http://\S+", said)
        to_address.append(time.perf_counter() - start)
        while address and not is_ready(address[0]):
            time.sleep(0.005)
        to_ready.append(time.perf_counter() - start)
        server.terminate()
        server.communicate()
        if not address:
            return tell("start", f"it did not start: {said.strip()}")
    after = statistics.median(to_ready) - statistics.median(to_address)
    tell("start of rlx serve, warm store", f"address after {statistics.median(to_address):.2f} s")
    return tell("/readyz on a warm store", f"200 after {after * 1000:.0f} ms more")


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hub", type=Path, help="a folder that holds datasets/ORG/NAME")
    hub = parser.parse_args().hub.resolve()
    print("| figure | value |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_for(hub, folder)
        anyio.run(measure, settings)
        time_start(settings)
    time_help()


if __name__ == "__main__":
    main()
