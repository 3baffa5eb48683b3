"""What running a rollout costs over Harbor alone, and how many run at once.

`python -m bench.rollouts [--tasks NAMES] [--rounds N]` runs the oracle on tasks, in this process: the same trial by
Harbor itself in the same sandbox, and by our runner with its record, events and stages; layers are warm. Then up to
eight at once. A name is that of a task of the demo, or a task's folder. Tasks that need uv, pip or pytest need --cache
with the layers that `rlx sandbox prepare` made.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlx.demo import demo_hub
from rlx.jobs.queue import Offer
from rlx.jobs.queue_service import open_rollouts, rollouts_folder
from rlx.jobs.worker import Worker
from rlx.jobs.worker_process import SWITCHES
from rlx.rollout import Rollout, new_id
from rlx.runners.registry import Surroundings, entries
from rlx.runners.relay import Relay
from rlx.runners.workers import Handed
from rlx.settings import Settings
from rlx.store.instance import InstanceFile

TASKS = demo_hub() / "datasets" / "rl-explorer" / "first-steps" / "tasks"


async def by_harbor(task: Path, settings: Settings, folder: Path) -> float:
    """The reward of a trial, as Harbor runs it."""
    from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig
    from harbor.trial.trial import Trial

    from rlx.sandboxes.harbor import PLACE, Place
    from rlx.sandboxes.local.harbor import IMPORT_PATH
    from rlx.sandboxes.local.kind import Local

    PLACE.set(Place(Local(settings)))
    config = TrialConfig(
        task=TaskConfig(path=task),
        trials_dir=folder,
        agent=AgentConfig(name="oracle"),
        environment=EnvironmentConfig(import_path=IMPORT_PATH),
    )
    result = await (await Trial.create(config)).run()
    return float(result.verifier_result.rewards["reward"])


def folder_of(name: str) -> Path:
    return Path(name) if "/" in name else TASKS / name


class Ours:
    """The queue, a worker in this process, and the Harbor runner."""

    def __init__(self, settings: Settings, slots: int) -> None:
        self.rollouts = open_rollouts(settings, InstanceFile(settings.store))
        surroundings = Surroundings(settings, "http://127.0.0.1:9", Relay(), lambda path, app: None)
        runners = {entry.name: entry.load(surroundings) for entry in entries()}
        offer = Offer(list(runners), ["oracle"], {"local": slots})
        self.worker = Worker("bench", self.rollouts, runners, offer, self.task_of, settings.cache_dir / "work")
        self.live = rollouts_folder(settings) / "live"

    async def task_of(self, rollout: Rollout, handed: Handed, folder: Path) -> Path:
        return folder_of(rollout.ref)

    async def run(self, task: Path) -> float:
        now = datetime.now(UTC)
        rollout = Rollout(
            id=new_id(), env="a/b", ref=str(task), revision="", title=task.name, runner="harbor", sandbox="local",
            agent="oracle", created_at=now, updated_at=now,
        )  # fmt: skip
        self.rollouts.queue.enqueue(rollout)
        self.worker.hear(rollout.id, None)
        found = await self._ended(rollout.id)
        return found.reward if found.reward is not None else -1.0

    async def _ended(self, id: str) -> Rollout:
        """Once its end is written down. Whoever waits costs the worker nothing, as if that were another process."""
        record, seen = self.live / id / "rollout.json", 0
        while True:
            if (now := os.stat(record).st_mtime_ns) != seen:  # microseconds
                seen, found = now, self.rollouts.files.live(id)
                if found is not None and found.ended:
                    return found
            await asyncio.sleep(0.002)


async def timed(work: Callable[[], Awaitable[float]]) -> float:
    began = time.perf_counter()
    reward = await work()
    if reward != 1.0:
        raise SystemExit(f"a run earned {reward}")
    return time.perf_counter() - began


async def measure(names: list[str], rounds: int, settings: Settings, folder: Path) -> None:
    ours = Ours(settings, slots=8)
    ending = asyncio.Event()
    working = asyncio.create_task(ours.worker.run(ending))
    tasks = [folder_of(name) for name in names]
    for task in tasks:
        await timed(lambda task=task: by_harbor(task, settings, folder))  # type: ignore[misc]  # makes the layers
    table: dict[str, dict[str, list[float]]] = {task.name: {"harbor": [], "ours": []} for task in tasks}
    for _ in range(rounds):
        for task in tasks:
            row = table[task.name]
            row["harbor"].append(await timed(lambda task=task: by_harbor(task, settings, folder)))  # type: ignore[misc]
            row["ours"].append(await timed(lambda task=task: ours.run(task)))  # type: ignore[misc]
    print("| task, quickest of the rounds | Harbor alone, s | rollout, s | ratio |\n|---|---|---|---|")
    ratios = []
    for name, row in table.items():
        harbor, own = min(row["harbor"]), min(row["ours"])  # what else the machine does only ever adds
        ratios.append(own / harbor)
        print(f"| {name} | {harbor:.3f} | {own:.3f} | {own / harbor:.2f} |")
    print(f"| all | | | {statistics.geometric_mean(ratios):.2f} |\n")
    for at_once in (1, 2, 4, 8):
        began = time.perf_counter()
        await asyncio.gather(*(timed(lambda: ours.run(tasks[0])) for _ in range(at_once)))
        took = time.perf_counter() - began
        print(f"{at_once} at once: {took:.2f} s, {at_once / took:.2f} a second")
    ending.set()
    await working
    ours.rollouts.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=["fix-median", "sales-figures", "tidy-config"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cache", type=Path, help="a cache with prepared layers; by default an empty one")
    told: Any = parser.parse_args()
    os.environ.update(SWITCHES)
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store=Path(folder) / "store", cache_dir=told.cache or Path(folder) / "cache")
        asyncio.run(measure(told.tasks, told.rounds, settings, Path(folder) / "trials"))


if __name__ == "__main__":
    main()
