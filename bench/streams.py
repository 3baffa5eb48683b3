"""What a stream of events without end, and an output of any size, cost: `python -m bench.streams [--events N]`.

A rollout of this machine's user whose log holds all of the events (its bounds raised for that), one that says as many
within the usual bounds, and one whose tool printed 50 MB. They are read from a server in a process of its own; times
are those of whole answers over loopback, memory is the server's resident set and its highest so far. Asserted nowhere.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from rlx.demo import demo_hub
from rlx.jobs.queue import Offer, Queue
from rlx.jobs.queue_held import Held
from rlx.jobs.queue_service import Rollouts, open_rollouts, rollouts_folder
from rlx.rollout import Rollout, new_id
from rlx.settings import Settings
from rlx.store.instance import InstanceFile
from rlx.store.rollouts.bounds import Bounds
from rlx.store.rollouts.files import RolloutFiles
from rlx.store.rollouts.views import Views
from rlx.store.storage import open_storage

OFFER = Offer(runners=("harbor",), agents=("simple",), sandboxes={"local": 99})
LARGE = 50 * 1024 * 1024
ROUNDS = 5


def unbounded(settings: Settings, events: int) -> Rollouts:
    """The rollouts of a store, their logs with room for so many events."""
    usual = open_rollouts(settings, InstanceFile(settings.store))
    room = Bounds(events=2 * events, log_bytes=1024 * events)
    files = RolloutFiles(rollouts_folder(settings) / "live", open_storage(settings.store), bounds=room)
    instance = InstanceFile(settings.store)
    queue = Queue(usual.index, files, instance)
    return Rollouts(Views(usual.index, files, instance), queue, files, usual.index)


def held(rollouts: Rollouts, title: str) -> Held:
    now = datetime.now(UTC)
    rollouts.queue.enqueue(
        Rollout(
            id=new_id(),
            env="rl-explorer/first-steps",
            ref="tasks/tidy-config",
            revision="",
            title=title,
            runner="harbor",
            sandbox="local",
            agent="simple",
            created_at=now,
            updated_at=now,
        )
    )
    found = rollouts.queue.lease("bench", OFFER)
    if found is None:
        raise SystemExit("The rollout was not leased.")
    found.update(status="running", stage="agent")
    return found


def ended(rollout: Held) -> str:
    rollout.update(status="verifying", stage="verify")
    return rollout.update(status="done", reward=1.0, reward_key="reward", rewards={"reward": 1.0}, graded=True).id


def talk(rollout: Held, events: int) -> tuple[str, float]:
    """Its id, and the seconds that saying so many things took."""
    began = time.perf_counter()
    for number in range(0, events, 2):
        call = {"id": f"c{number}", "name": "bash", "arguments": {"command": f"echo {number}"}}
        rollout.emit("call", call)
        rollout.emit("output", {"id": f"c{number}", "text": f"{number}\n" + "x" * 60})
    took = time.perf_counter() - began
    return ended(rollout), took


def memory(pid: int) -> tuple[float, float]:
    """MB resident now, and at most so far."""
    told = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(int(told[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]  # two


@contextmanager
def measured(pid: int, what: str) -> Iterator[list[int]]:
    """A line of what answers took; the block adds the size of each."""
    sizes: list[int] = []
    began = time.perf_counter()
    yield sizes
    took = (time.perf_counter() - began) / max(1, len(sizes))
    now, most = memory(pid)
    size = statistics.median(sizes) if sizes else 0
    print(f"| {what} | {took * 1000:,.0f} ms | {size / 1024:,.0f} KB | {now:.0f} / {most:.0f} MB |", flush=True)


def read(client: httpx2.Client, pid: int, what: str, url: str, *, rounds: int = ROUNDS) -> None:
    with measured(pid, what) as sizes:
        for _ in range(rounds):
            answer = client.get(url)
            answer.raise_for_status()
            sizes.append(len(answer.content))


def follow(client: httpx2.Client, pid: int, id: str, after: int) -> None:
    """Until its end, from where somebody was."""
    headers = {"accept": "text/event-stream", "last-event-id": str(after)}
    with (
        measured(pid, f"followed from event {after:,}") as sizes,
        client.stream("GET", f"/api/runs/{id}/events", headers=headers) as answer,
    ):
        sizes.append(sum(len(piece) for piece in answer.iter_bytes()))


def tell(client: httpx2.Client, pid: int, id: str, events: int) -> None:
    read(client, pid, "the page", f"/run/{id}")
    read(client, pid, "the page, from the middle", f"/run/{id}?before={events // 2}")
    read(client, pid, "as JSON", f"/run/{id}?format=json")
    read(client, pid, "as Markdown", f"/run/{id}?format=md")
    for after in (0, events // 2, events - 500):
        read(client, pid, f"500 events after {after:,}", f"/api/runs/{id}/events?after={after}&limit=500")
    follow(client, pid, id, max(0, events - 50_000))
    for form in ("jsonl", "parquet"):
        read(client, pid, f"as a row, {form}", f"/api/runs/{id}/export?as={form}", rounds=1)


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, int]]:
    """The address of `rlx serve` over the store, and its process."""
    env = {**os.environ, "RLX_CACHE_DIR": str(settings.cache_dir)}
    told = ["serve", "--demo", "--store", str(settings.store), "--port", "0", "--no-worker"]
    with Path(settings.cache_dir, "log").open("w+") as log:
        server = subprocess.Popen([sys.executable, "-m", "rlx", *told], stderr=log, env=env)
        try:
            found = None
            while found is None and server.poll() is None:
                found = re.search(r"http://127\.0\.0\.1:\d+", Path(log.name).read_text())
            if found is None:
                raise SystemExit("The server did not start.")
            yield found[0], server.pid
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000)
    events: int = parser.parse_args().events
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(hub=str(demo_hub()), store=Path(folder, "store"), cache_dir=Path(folder, "cache"))
        print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
        usual = open_rollouts(settings, InstanceFile(settings.store))
        whole, took = talk(held(unbounded(settings, events), "all of it"), events)
        size = sum(path.stat().st_size for path in (rollouts_folder(settings) / "live" / whole).iterdir())
        print(f"- {events:,} events kept: {took / events * 1e6:.0f} µs each, {size / 2**20:,.0f} MB")
        within, took = talk(held(usual, "within bounds"), events)
        kept = usual.files.last_event(within)
        print(f"- {events:,} events within the usual bounds: {took / events * 1e6:.1f} µs each, {kept:,} kept")
        large = held(usual, "a large output")
        began = time.perf_counter()
        large.emit("call", {"id": "c", "name": "bash", "arguments": {"command": "yes | head -c 50M"}})
        large.emit("output", {"id": "c", "text": "y\n" * (LARGE // 2)})
        print(f"- an output of {LARGE / 2**20:.0f} MB: kept in {(time.perf_counter() - began) * 1000:.0f} ms")
        large_id = ended(large)
        with (
            serving(settings) as (url, pid),
            httpx2.Client(base_url=url, timeout=300, trust_env=False) as client,
        ):
            client.get("/").raise_for_status()
            print(f"- the server before: {memory(pid)[0]:.0f} MB\n")
            print("| asked for | time | size | memory now / at most |\n|---|---|---|---|")
            tell(client, pid, whole, events)
            read(client, pid, "the page, within bounds", f"/run/{within}")
            read(client, pid, "the page of the large output", f"/run/{large_id}")


if __name__ == "__main__":
    main()
