"""Prints the catalog's figures over synthetic ones: `python -m bench.catalog [--build] [--search] ... [--tasks N]`.

Without a flag everything is measured, in about ten minutes: `--build --search --peers --cold --load --swap --alike`.
Needs the group `bench` (`uv sync --all-extras --group bench`). Processor times tell more where the machine is shared.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from bench import clients, peers
from bench.synthetic import HOLDERS, TASKS, Ask, Words, asks, content, env_asks, sizes
from rlx.answers.stored import stored
from rlx.ids import EnvKey
from rlx.index import similar
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.publish import publish
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.index.snapshot.write import write_snapshot
from rlx.model import TaskSearch
from rlx.store.instance import Instance
from rlx.store.storage import open_storage

LARGE = 1_000_000
QUERIES = 60
"""Of each class. Others of the same kinds are asked before, so that nothing asked for was asked before."""
FEW = 12
"""Of each class, where a query takes a tenth of a second and more, or the file is read anew."""
PARTS = ("build", "search", "peers", "cold", "load", "swap", "alike")
LOAD_SECONDS = 15.0
SWAPS = 3

type Question = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Times:
    """Of queries, in ms: as the clock tells, and as the processor does."""

    clock: list[float]
    worked: list[float]


def share(values: Sequence[float], of: float) -> float:
    return sorted(values)[round(of * (len(values) - 1))]


def both(values: Sequence[float]) -> str:
    return f"{share(values, 0.5):.2f} / {share(values, 0.95):.2f}"


def timed(questions: Sequence[Question]) -> Times:
    clock, worked = [], []
    for question in questions:
        start, processor = time.perf_counter(), time.process_time()
        question()
        worked.append(1000 * (time.process_time() - processor))
        clock.append(1000 * (time.perf_counter() - start))
    return Times(clock, worked)


def heading(*columns: str) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)


def tell(*columns: str) -> None:
    print(f"| {' | '.join(columns)} |", flush=True)


def of_tasks(snapshot: Snapshot, count: int, seed: int = 2) -> dict[str, list[Question]]:
    instance = Instance()
    searches = {
        name: [TaskSearch(text=item.text, filters=item.filters, limit=peers.PAGE) for item in of]
        for name, of in asks(count, seed=seed).items()
    }
    return {name: [partial(snapshot.tasks, search, instance) for search in of] for name, of in searches.items()}


def of_environments(snapshot: Snapshot, count: int, seed: int = 3) -> dict[str, list[Question]]:
    instance = Instance()
    queries = env_asks(count, seed=seed)
    return {name: [partial(snapshot.environments, query, instance) for query in of] for name, of in queries.items()}


def build(path: Path, made: Content, times: int) -> None:
    clock, worked = [], []
    for _ in range(times):
        path.unlink(missing_ok=True)
        start, processor = time.perf_counter(), time.process_time()
        counts = write_snapshot(path, made)
        clock.append(time.perf_counter() - start)
        worked.append(time.process_time() - processor)
    size = path.stat().st_size / 1e6
    tell(
        f"{counts.environments:,} environments, {counts.tasks:,} tasks",
        f"{min(clock):.2f} s",
        f"{min(worked):.2f} s",
        f"{size:.1f} MB",
    )


def search(path: Path) -> dict[str, Times]:
    """Times of each class of queries for tasks."""
    snapshot = Snapshot(path)
    print(
        f"\nSearch at {snapshot.counts.tasks:,} tasks, with facets, ms p50 / p95 over {QUERIES} queries a class, warm"
    )
    heading("query", "server time", "processor time")
    found = {}
    for what, of in (("tasks", of_tasks), ("environments", of_environments)):
        for questions in of(snapshot, QUERIES, 50).values():
            timed(questions)
        for name, questions in of(snapshot, QUERIES).items():
            times = timed(questions)
            tell(f"{what}: {name}", both(times.clock), both(times.worked))
            if what == "tasks":
                found[name] = times
    every = [value for times in found.values() for value in times.clock]
    tell("tasks: all classes", both(every), both([value for times in found.values() for value in times.worked]))
    return found


def compare(folder: Path, made: Content, ours: Mapping[str, Times], tasks: int) -> None:
    """The same queries put to the peers, beside the catalog's."""
    large = tasks > 200_000
    print(f"\nPeers at {tasks:,} tasks, processor ms p50 / p95, and how often the catalog's p50 and p95 go into theirs")
    heading("query", "catalog", "peer", "its times", "p50", "p95", "answers")
    makers: list[tuple[str, Callable[[], peers.Tantivy | peers.DuckDB], int]] = [
        ("tantivy", lambda: peers.Tantivy(folder / "tantivy", made), QUERIES),
        ("scan.duckdb", lambda: peers.DuckDB(folder / "scan.duckdb", made, fts=False), 6 if large else FEW),
    ]
    if not large:
        makers.append(("fts.duckdb", lambda: peers.DuckDB(folder / "fts.duckdb", made, fts=True), FEW))
    builds = []
    for file, make, count in makers:
        start, processor = time.perf_counter(), time.process_time()
        peer = make()
        took, worked = time.perf_counter() - start, time.process_time() - processor
        size = sum(path.stat().st_size for path in (folder, *folder.rglob("*")) if file in str(path) and path.is_file())
        builds.append((peer.name, took, worked, size / 1e6))
        for name, of in asks(QUERIES).items():
            ask(peer, name, of[:count], ours[name])
        del peer
    heading("peer", "build", "processor", "size")
    for name, took, worked, megabytes in builds:
        tell(name, f"{took:.1f} s", f"{worked:.1f} s", f"{megabytes:.1f} MB")


def ask(peer: peers.Tantivy | peers.DuckDB, name: str, of: Sequence[Ask], ours: Times) -> None:
    prefix = name.startswith("prefix")
    counts: list[int] = []
    times = timed([lambda item=item: counts.append(peer.ask(item, prefix=prefix)) for item in of])  # type: ignore[misc]
    ratios = [share(times.worked, at) / max(share(ours.worked, at), 0.001) for at in (0.5, 0.95)]
    tell(
        name,
        both(ours.worked),
        peer.name,
        both(times.worked),
        f"{ratios[0]:.2f}",
        f"{ratios[1]:.2f}",
        f"{sum(counts):,}",
    )


def cold(path: Path, tasks: int) -> None:
    print(f"\nCold at {tasks:,} tasks: a fresh process for each class, the file dropped from the page cache, clock ms")
    heading("query", "open", "first query", f"p50 / p95 of {FEW}")
    for what, of in (("tasks", asks(1)), ("environments", env_asks(1))):
        for name in of:
            drop(path)
            command = [sys.executable, "-m", "bench.catalog", "--cold-class", f"{what}:{name}", "--file", str(path)]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            tell(f"{what}: {name}", f"{told['open']:.1f}", f"{told['times'][0]:.1f}", both(told["times"]))


def cold_class(path: Path, which: str) -> None:
    what, _, name = which.partition(":")
    start = time.perf_counter()
    snapshot = Snapshot(path)
    opened = 1000 * (time.perf_counter() - start)
    questions = (of_tasks if what == "tasks" else of_environments)(snapshot, FEW)[name]
    print(json.dumps({"open": opened, "times": timed(questions).clock}))


def drop(path: Path) -> None:
    """Take a file out of the page cache."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def load(folder: Path, made: Content) -> None:
    store, cache = folder / "store", folder / "cache"
    publish(open_storage(store), made, folder / "work", now=datetime.now(UTC))
    paths = clients.addresses()
    with clients.served(store, cache) as server:
        started = server.memory()
        clients.ask_for(server.url, paths, 3.0)
        before = server.worked()
        seen = clients.ask_for(server.url, paths, LOAD_SECONDS)
        worked = 1000 * (server.worked() - before) / len(seen.taken)
        memory = server.memory()
    heading("web process, the catalog published", "figure")
    tell(
        f"{clients.CLIENTS} clients, {len(paths):,} different searches",
        f"{len(seen.taken) / LOAD_SECONDS:,.0f} requests/s",
    )
    tell("as a client sees it, p50 / p95 / p99", f"{both(seen.taken)} / {share(seen.taken, 0.99):.0f} ms")
    tell("as the server tells it, p50 / p95", f"{both(seen.worked)} ms")
    tell("processor time of the server", f"{worked:.1f} ms a request")
    tell("statuses", f"{dict(seen.statuses)}")
    tell("resident at the start", f"{started['now']:.0f} MB, {started['own']:.0f} MB its own")
    tell("resident after", f"{memory['now']:.0f} MB, {memory['own']:.0f} MB its own, at most {memory['most']:.0f} MB")


def swap(folder: Path, made: Content) -> None:
    """New snapshots are published by another process while clients ask."""
    store, cache = folder / "swapped", folder / "swapped-cache"
    storage = open_storage(store)
    publish(storage, replace(made, built_at=made.built_at - timedelta(days=1)), folder / "work", now=datetime.now(UTC))
    command = [sys.executable, "-m", "bench.catalog", "--publish-to", str(store)]
    with clients.served(store, cache, check=1.0) as server, subprocess.Popen(command) as publisher:
        failed = asked = 0
        uses: set[str] = set()
        slow: list[float] = []
        while publisher.poll() is None:
            seen = clients.ask_for(server.url, clients.addresses(), 2.0)
            status = clients.ask_once(server.url, "/api/search/status")
            uses.add(str(json.loads(status)["db"]))
            failed += seen.failed
            asked += seen.statuses.total()
            slow += seen.taken
        memory = server.memory()
    heading("swap under load", "figure")
    tell("snapshots in use while clients asked", f"{len(uses)}")
    tell("requests, failed", f"{asked:,}, {failed}")
    tell("p99, slowest", f"{share(slow, 0.99):.0f} ms, {max(slow):.0f} ms")
    tell("resident after", f"{memory['now']:.0f} MB, at most {memory['most']:.0f} MB")


def publish_to(store: Path) -> None:
    made = content()
    with tempfile.TemporaryDirectory() as work:
        for hour in range(SWAPS):
            publish(
                open_storage(store),
                replace(made, built_at=made.built_at + timedelta(hours=hour)),
                Path(work),
                now=datetime.now(UTC),
            )
            time.sleep(4)


def alike(tasks: int) -> None:
    """Near duplicates of one task in twenty are planted: a fifth of the words is replaced."""
    words = Words(5)
    rows: list[tuple[EnvKey, TaskRow]] = []
    bodies: list[tuple[str, str]] = []
    planted: list[tuple[str, str]] = []
    for number, size in enumerate(sizes(tasks, HOLDERS)):
        key, boilerplate = EnvKey("dataset", "bench", f"set-{number}"), words.draw(20, 60)
        for place in range(size):
            ref = f"tasks/x-{number}-{place}"
            if bodies and words.random.random() < 0.05:
                other, said = words.random.choice(bodies)
                body = " ".join(word if words.random.random() > 0.2 else words.draw(1, 1) for word in said.split())
                planted.append((ref, other))
            else:
                body = words.draw(20, 160)
                bodies.append((ref, body))
            rows.append(
                (key, TaskRow(ref, stored(""), stored(""), {}, sketch=similar.sketch(f"{ref} {boilerplate} {body}")))
            )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = {(item.ref, item.other_ref) for item in similar.alike(rows)}
    heading("tasks alike", "figure")
    tell(f"{tasks:,} tasks compared", f"{time.process_time() - start:.1f} s of processor time")
    tell("memory", f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MB more")
    tell(f"of {len(planted):,} near duplicates", f"{sum(pair in found for pair in planted) / len(planted):.1%} found")


def measure(parts: Sequence[str], tasks: int, folder: Path) -> None:
    """What needs a catalog of one size."""
    folder.mkdir()
    made = content(tasks=tasks)
    path = folder / "catalog.db"
    heading("build", "clock", "processor", "file")
    build(path, made, 3 if tasks <= TASKS else 1)
    ours = search(path) if "search" in parts or "peers" in parts else {}
    if "cold" in parts:
        cold(path, tasks)
    if "peers" in parts:
        compare(folder, made, ours, tasks)
    if tasks <= TASKS:
        if "load" in parts:
            load(folder, made)
        if "swap" in parts:
            swap(folder, made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for part in PARTS:
        parser.add_argument(f"--{part}", action="store_true")
    parser.add_argument("--tasks", type=int, nargs="+", default=[TASKS, LARGE], help="sizes of catalogs")
    parser.add_argument("--cold-class", help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--publish-to", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.cold_class:
        cold_class(asked.file, asked.cold_class)
    elif asked.publish_to:
        publish_to(asked.publish_to)
    else:
        parts = [part for part in PARTS if getattr(asked, part)] or list(PARTS)
        with tempfile.TemporaryDirectory() as folder:
            if parts != ["alike"]:
                for tasks in asked.tasks:
                    measure(parts, tasks, Path(folder, str(tasks)))
            if "alike" in parts:
                alike(TASKS)


if __name__ == "__main__":
    main()
