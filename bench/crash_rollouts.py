"""Kills the web process and its workers with SIGKILL at random moments while rollouts run, and looks at what is left.

    python -m bench.crash_rollouts [--rollouts 30] [--kills 8] [--seed 1] [--json]

`rlx serve` runs tasks of the demo with the oracle, with nobody and with the scripted model, asked for over its API. A
process that was killed comes back, the web process by this script and a worker by the web process. In the end every
rollout that was ever promised must be there, ended, in a state that its events and files agree with; and no process,
mount or folder of a sandbox may be left. Before the kills it is measured how soon a first event is seen.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from rlx.demo import demo_hub
from rlx.jobs.queue_service import open_rollouts
from rlx.rollout import ENDED
from rlx.runners.workers import living, workers_folder
from rlx.settings import Settings
from rlx.store.instance import InstanceFile

ENV = "rl-explorer/first-steps"
TASKS = ("fix-median", "tidy-config", "word-counter", "stock-take")
PATIENCE = 400.0
TRUE_CAUSES = {"interrupted": {"worker"}, "cancelled": {"person"}, "failed": {"model"}}
"""Why a rollout of these may have ended otherwise than graded: a key that died with its worker, say."""


@dataclass
class Figures:
    rollouts: int
    seed: int
    kills: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    first_event_ms: list[float] = field(default_factory=list)
    """From before the request till an event of a worker was seen: p50 and most."""
    wrong: list[str] = field(default_factory=list)
    """None, or this is a bug."""
    seconds: float = 0.0


class Site:
    """`rlx serve` with its worker, which may be killed and started again over the same store."""

    def __init__(self, folder: Path, slots: int) -> None:
        self.settings = Settings(hub=str(demo_hub()), store=folder / "store", cache_dir=folder / "cache")
        self._slots = slots
        self._log = (folder / "log").open("ab")
        self.web: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> None:
        told = ["--hub", self.settings.hub, "--store", str(self.settings.store), "--slots", str(self._slots)]
        self.web = subprocess.Popen(
            [sys.executable, "-m", "rlx", "serve", *told, "--port", "0"],
            env={**os.environ, "RLX_CACHE_DIR": str(self.settings.cache_dir)},
            stdout=self._log,
            stderr=subprocess.PIPE,
        )
        assert self.web.stderr is not None
        while not (found := re.search(rb"http://[\w.:\[\]]+", line := self.web.stderr.readline())):
            if not line:
                raise SystemExit("The web process ended at once.")
        self.url = found[0].decode()

    def worker(self) -> int | None:
        return next((card.pid for card in living(workers_folder(self.settings))), None)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of an answer; None where nobody answers, or not now."""
        with suppress(httpx2.HTTPError):
            answer = httpx2.request(method, f"{self.url}{path}", json=body, timeout=30, trust_env=False)
            if answer.status_code < 300:
                return answer.json()
        return None

    def post(self, agent: str, task: str) -> str | None:
        model = {"id": "solve"} if agent == "simple" else None
        asked = {"env": ENV, "ref": f"tasks/{task}", "agent": agent, "model": model}
        found = self.ask("POST", "/api/runs", asked)
        return None if found is None else str(found["id"])

    def first_event(self, id: str) -> None:
        """Till a worker says something, on the stream of events."""
        url, headers = f"{self.url}/api/runs/{id}/events", {"accept": "text/event-stream"}
        with httpx2.stream("GET", url, headers=headers, timeout=60, trust_env=False) as answer:
            for line in answer.iter_lines():
                if line.startswith("data:") and '"stage"' in line:
                    return

    def end(self) -> None:
        if self.web is not None and self.web.poll() is None:
            self.web.send_signal(signal.SIGINT)
            self.web.wait(90)
        self._log.close()


def until(condition: Callable[[], bool], patience: float = PATIENCE) -> bool:
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def kill(site: Site, whom: str) -> bool:
    pid = site.worker() if whom == "worker" else site.web.pid if site.web is not None else None
    if pid is None:
        return False
    os.kill(pid, signal.SIGKILL)
    if whom == "web" and site.web is not None:
        site.web.wait()
        site.start()
    return True


def run(site: Site, figures: Figures, kills: int) -> list[str]:
    """Ids of all that was promised."""
    chance = random.Random(figures.seed)  # which moments, not secrets
    site.start()
    if not until(lambda: site.worker() is not None):
        raise SystemExit("No worker came up.")
    ids: list[str] = []
    for place in range(5):
        began = time.perf_counter()
        id = site.post("nop", TASKS[0])
        if id is None:
            raise SystemExit("A rollout was refused.")
        ids.append(id)
        site.first_event(id)
        if place:  # the first finds a task that nobody has read yet
            figures.first_event_ms.append((time.perf_counter() - began) * 1000)
        until(lambda id=id: (site.ask("GET", f"/api/runs/{id}") or {}).get("status") in ENDED)  # type: ignore[misc]
    agents = ("oracle", "nop", "simple")
    due = sorted(chance.sample(range(1, figures.rollouts), min(kills, figures.rollouts - 1)))
    made = Counter[str]()
    for place in range(figures.rollouts):
        until(lambda place=place: _posted(site, ids, agents[place % 3], TASKS[place % 4]), 60)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.4))
        if place in due:
            time.sleep(chance.uniform(0, 1.5))
            whom = chance.choice(("worker", "worker", "web"))
            made[whom] += until(lambda whom=whom: kill(site, whom), 90)  # type: ignore[misc]
    figures.kills = dict(made)
    return ids


def _posted(site: Site, ids: list[str], agent: str, task: str) -> bool:
    id = site.post(agent, task)
    if id is not None:
        ids.append(id)
    return id is not None


def judge(site: Site, figures: Figures, ids: list[str]) -> None:
    """Wait for the end of all, and say what is not as it should be."""
    rollouts = open_rollouts(site.settings, InstanceFile(site.settings.store))
    try:
        until(lambda: not rollouts.queue.active())
        known = set(rollouts.index.ids())
        figures.wrong += [f"{id} is lost" for id in ids if id not in known]
        ended, attempts = Counter[str](), Counter[int]()
        for id in sorted(known):
            record = rollouts.files.read(id)
            ended[record.status] += 1
            attempts[record.attempt] += 1
            events = rollouts.files.events(id, limit=5000).events
            states = [event.data["status"] for event in events if event.kind == "status"]
            cause = record.failure.cause if record.failure is not None else None
            if record.status not in ENDED:
                figures.wrong.append(f"{id} is {record.status}")
            elif states[-1:] != [record.status]:
                figures.wrong.append(f"{id} is {record.status} and its events say {states}")
            if [event.n for event in events] != list(range(1, len(events) + 1)):
                figures.wrong.append(f"{id} has holes among its events")
            if record.status == "done" and (record.reward is None or not record.graded):
                figures.wrong.append(f"{id} is done and not graded")
            if record.status != "done" and cause not in TRUE_CAUSES.get(record.status, set()):
                figures.wrong.append(f"{id} is {record.status}: {record.failure}")
            if record.agent == "oracle" and record.status == "done" and record.reward != 1.0:
                figures.wrong.append(f"the oracle earned {record.reward} in {id}")
            if site.ask("GET", f"/api/runs/{id}").get("status") != record.status:
                figures.wrong.append(f"the site says otherwise of {id}")
        figures.ended, figures.attempts = dict(ended), dict(sorted(attempts.items()))
    finally:
        rollouts.close()


def left_behind(cache: Path) -> list[str]:
    found = [str(path) for path in (cache / "sandboxes" / "boxes").glob("*")]
    found += [str(path) for path in (cache / "work").glob("*/*")]
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(cache).encode() in (process / "cmdline").read_bytes():
                found.append(f"process {process.name}")
            if str(cache) in (process / "mounts").read_text():
                found.append(f"mounts of {process.name}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rollouts", type=int, default=30)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slots", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    told: Any = parser.parse_args()
    figures = Figures(told.rollouts, told.seed)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="rlx-crash-"))
    site = Site(folder, told.slots)
    try:
        judge(site, figures, run(site, figures, told.kills))
        if not until(lambda: not left_behind(site.settings.cache_dir), 60):
            figures.wrong += [f"left: {each}" for each in left_behind(site.settings.cache_dir)]
    finally:
        site.end()
        shutil.rmtree(folder, ignore_errors=True)
    figures.seconds = round(time.monotonic() - began, 1)
    if told.json:
        print(json.dumps(asdict(figures)))
    else:
        first = figures.first_event_ms
        print(f"first event: {statistics.median(first):.0f} ms, at most {max(first):.0f} ms")
        print(f"killed {figures.kills}; ended {figures.ended}; attempts {figures.attempts}; {figures.seconds} s")
        print("nothing is wrong" if not figures.wrong else "\n".join(figures.wrong))
    raise SystemExit(1 if figures.wrong else 0)


if __name__ == "__main__":
    main()
