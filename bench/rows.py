"""Prints how long tables page: `python bench/rows.py [--rows 1000000] [--megabytes 500] [--keep DIR]`.

A parquet of one row group as pyarrow writes it, one of a thousand row groups, a JSON Lines file, its gzip and a CSV,
served by a local hub in a process of its own and paged through the web app, once a cold process has opened all of them
as one environment of rows. What a page takes of the processor tells more than the clock where other work is done.
"""

import argparse
import gzip
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pyarrow as pa
import pyarrow.parquet as pq

from rlx.ids import parse_key
from rlx.localhub import LocalHub, serve
from rlx.model import ANONYMOUS
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app

KEY = parse_key("bench/rows")
PAGES = 200
_BATCH = 10_000


def row(n: int) -> dict[str, object]:
    words = " ".join(f"word{(n * 7 + place) % 997}" for place in range(20 + n % 60))
    return {"id": f"task-{n:07}", "question": words, "answer": str(n * n), "level": n % 5, "info": {"source": n % 97}}


def write_hub(folder: Path, rows: int, megabytes: int) -> None:
    root = folder / "datasets" / KEY.repo_id
    root.mkdir(parents=True)
    (root / "README.md").write_text("---\nlicense: mit\n---\n# Rows\n")
    for name, size in (("one-group.parquet", rows), ("many-groups.parquet", max(1, rows // 1000))):
        batches = [
            pa.Table.from_pylist([row(n) for n in range(at, min(rows, at + _BATCH))]) for at in range(0, rows, _BATCH)
        ]
        pq.write_table(pa.concat_tables(batches), root / name, row_group_size=size)
    with (root / "lines.jsonl").open("w") as lines, (root / "cells.csv").open("w") as cells:
        cells.write("id,question,answer,level\n")
        n = 0
        while lines.tell() < megabytes * 1_000_000:
            for _ in range(1000):
                told = row(n)
                lines.write(json.dumps(told) + "\n")
                cells.write(f'{told["id"]},"{told["question"]}\n""quoted""",{told["answer"]},{told["level"]}\n')
                n += 1
    with (
        (root / "lines.jsonl").open("rb") as plain,
        gzip.open(root / "packed.jsonl.gz", "wb", compresslevel=1) as packed,
    ):
        shutil.copyfileobj(plain, packed)


def resident() -> float:
    """Megabytes this process holds now."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def peak() -> float:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


async def measure(url: str, path: str, folder: Path) -> None:
    settings = Settings(hub=url, store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings) as services:
        transport = httpx2.ASGITransport(app=create_app(services))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
            address = f"{KEY.page}/files/{path}"
            before, start = resident(), time.perf_counter()
            await services.library.open(KEY, ANONYMOUS, wait=None)
            opened = time.perf_counter() - start
            first, html = await timed(client, address)
            start = time.perf_counter()
            while "so far" in html:
                await anyio.sleep(0.25)
                _, html = await timed(client, address)
            counted = time.perf_counter() - start
            found = re.search(r"of ([\d,]+)</span>", html)
            total = int(found[1].replace(",", "")) if found else 0
            last, _ = await timed(client, f"{address}?from={total - 99}")
            chance = random.Random(7)
            worked = time.process_time()
            times = [(await timed(client, f"{address}?from={chance.randrange(1, total)}"))[0] for _ in range(PAGES)]
            worked = time.process_time() - worked
    cuts = statistics.quantiles(times, n=20)
    print(
        f"| {path} | {total:,} | {opened:.1f} s | {first:.2f} s | {counted:.1f} s | {last:.2f} s"
        f" | {1000 * cuts[9]:.0f} ms | {1000 * cuts[18]:.0f} ms | {1000 * worked / PAGES:.0f} ms"
        f" | {before:.0f} MB | {peak():.0f} MB |",
        flush=True,
    )


async def timed(client: httpx2.AsyncClient, address: str) -> tuple[float, str]:
    start = time.perf_counter()
    answer = await client.get(address, headers={"accept": "text/html"})
    answer.raise_for_status()
    return time.perf_counter() - start, answer.text


def serve_hub(hub: Path, cache: Path) -> None:
    """Until the input ends."""
    with serve(LocalHub(hub, cache_dir=cache, rescan=3600)) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def hub_process(hub: Path, cache: Path) -> Iterator[str]:
    command = [sys.executable, __file__, "--serve", str(hub), "--keep", str(cache)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--keep", type=Path, help="a folder for the hub, used again")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve_hub(asked.serve, asked.keep)
        return
    if asked.measure:
        url, path = asked.measure
        anyio.run(measure, url, path, asked.keep)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        if not (folder / "hub").exists():
            write_hub(folder / "hub", asked.rows, asked.megabytes)
        print("| file | rows | opened | first page | counted | last page | p50 | p95 | processor | before | peak |")
        print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
        with hub_process(folder / "hub", folder / "localhub") as url:
            for path in sorted(path.name for path in (folder / "hub/datasets" / KEY.repo_id).iterdir()):
                if path != "README.md":
                    with tempfile.TemporaryDirectory() as own:
                        command = [sys.executable, __file__, "--measure", url, path, "--keep", own]
                        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
