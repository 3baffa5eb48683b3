"""A web process under load: 64 clients that keep their connections, each asking something else."""

import asyncio
import os
import random
import re
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.synthetic import asks, env_asks

CLIENTS = 64
NOWHERE = "http://127.0.0.1:9"
"""A hub that is never asked: everything comes from the snapshot."""
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_TOTAL = re.compile(rb"total;dur=([\d.]+)")


@dataclass(slots=True)
class Seen:
    """What clients saw: ms of each answer, the server's own ms, and statuses; 0 is a connection that broke."""

    taken: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        return self.statuses.total() - self.statuses[200]


class Server:
    """`rlx serve` over a store."""

    def __init__(self, process: "subprocess.Popen[bytes]", url: str) -> None:
        self.process = process
        self.url = url

    def memory(self) -> dict[str, float]:
        """MB that are resident: now, of its own, and at most so far."""
        told = Path(f"/proc/{self.process.pid}/status").read_text()
        found = {name: int(kb) / 1024 for name, kb in re.findall(r"(\w+):\s+(\d+) kB", told)}
        return {"now": found["VmRSS"], "own": found["RssAnon"], "most": found["VmHWM"]}

    def worked(self) -> float:
        """Seconds of processor time so far."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(store: Path, cache: Path, *, check: float = 60.0) -> Iterator[Server]:
    """`check`: seconds between two looks for a new snapshot."""
    command = [sys.executable, "-m", "rlx", "serve", "--hub", NOWHERE, "--store", str(store), "--port", "0"]
    env = {**os.environ, "RLX_CACHE_DIR": str(cache), "RLX_SNAPSHOT_CHECK": str(check)}
    with (cache.parent / "log").open("w+") as log:
        process = subprocess.Popen(command, stderr=log, env=env)
        try:
            found = None
            while found is None and process.poll() is None:
                time.sleep(0.02)
                found = re.search(r"http://127\.0\.0\.1:(?!9\b)\d+", Path(log.name).read_text())
            if found is None:
                raise SystemExit(f"The server did not start: {Path(log.name).read_text()}")
            yield Server(process, found[0])
        finally:
            process.terminate()
            process.wait()


def addresses(*, seed: int = 4) -> list[str]:
    """What is asked for: tasks twice as often as environments, all kinds of queries alike."""
    tasks = [item for of in asks(60, seed=seed).values() for item in of]
    found = []
    for item in tasks:
        filters = ";".join(f"{key}:{'|'.join(values)}" for key, values in item.filters.items())
        found.append(f"/api/search/tasks?{urlencode({'q': item.text, 'f': filters})}")
    queries = [query for of in env_asks(40, seed=seed).values() for query in of]
    found += [f"/api/search?{urlencode({'q': query.text, 'offset': query.offset})}" for query in queries]
    random.Random(seed).shuffle(found)
    return found


def ask_for(url: str, paths: Sequence[str], seconds: float) -> Seen:
    """`CLIENTS` at once, each after its last answer, for so long."""
    seen = Seen()
    asyncio.run(_crowd(url, paths, time.perf_counter() + seconds, seen))
    return seen


def ask_once(url: str, path: str) -> bytes:
    with urllib.request.urlopen(f"{url}{path}", timeout=10) as answer:
        return bytes(answer.read())


async def _crowd(url: str, paths: Sequence[str], end: float, seen: Seen) -> None:
    host = urlsplit(url).netloc
    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            mine = [*paths[number * 11 % len(paths) :], *paths[: number * 11 % len(paths)]]
            group.create_task(_client(host, mine, end, seen))


async def _client(host: str, paths: Sequence[str], end: float, seen: Seen) -> None:
    name, port = host.split(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    place = 0
    while time.perf_counter() < end:
        start = time.perf_counter()
        request = f"GET {paths[place % len(paths)]} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\n\r\n"
        place += 1
        try:
            writer.write(request.encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
        except (OSError, EOFError):
            seen.statuses[0] += 1
            reader, writer = await asyncio.open_connection(name, int(port))
            continue
        seen.statuses[int(head[9:12])] += 1
        seen.taken.append(1000 * (time.perf_counter() - start))
        told = _TOTAL.search(head)
        if told:
            seen.worked.append(float(told[1]))
    writer.close()
