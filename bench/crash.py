"""Kills the indexer with SIGKILL at random moments and looks at what readers find after each.

    python bench/crash.py [--moments 50] [--stride 1] [--seed 1] [--json]

A small hub is made, every environment of it changed before every run, and a run started that is killed between its
start and its expected end; then runs that kill themselves in the middle of dealing with the store for the first time,
the second, and so on (every `--stride`th; 0 for none). After each the pointer must name a snapshot that passes every
check; at the end one run must complete. The process forks runs of itself, so that moments fall into runs and not into
the start of an interpreter.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import anyio

from rlx.formats.registry import formats
from rlx.index.snapshot.opened import check
from rlx.index.snapshot.pointer import FOLDER, digest
from rlx.index.snapshot.publish import current_pointer
from rlx.jobs.indexer.entries import FOLDER as ENTRIES
from rlx.jobs.indexer.run import Indexer, Options, Place, readers_of
from rlx.services import create_services
from rlx.settings import Settings
from rlx.store.storage import DirectoryStorage, Stored

ENVIRONMENTS = 6
TASKS = 8
SETTINGS = '[metadata]\ndifficulty = "easy"\ncategory = "text"\ntags = ["crash"]\n\n[agent]\ntimeout_sec = 60\n'


@dataclass
class Figures:
    moments: int
    seed: int
    whole_run_seconds: float
    killed: int = 0
    ended_before: int = 0
    """Runs that were quicker than their killer, which tried again."""
    steps: int = 0
    """Runs that died while they dealt with the store."""
    during: dict[str, int] = field(default_factory=dict)
    """Killed runs by what they had done."""
    invalid: list[str] = field(default_factory=list)
    """What readers found wrong: none, or this is a bug."""
    completed: bool = False
    leftovers: int = 0
    """Half-written files that wait to be swept."""
    seconds: float = 0.0


def make_hub(folder: Path) -> None:
    for env in range(ENVIRONMENTS):
        for task in range(TASKS):
            at = folder / "datasets" / "acme" / f"set-{env}" / "tasks" / f"task-{task}"
            for path, text in {
                "task.toml": SETTINGS,
                "instruction.md": f"Write the number {env * TASKS + task} into answer.txt and say why it is odd.\n",
                "tests/test.sh": "#!/bin/sh\ntest -s /app/answer.txt && echo 1 > /logs/verifier/reward.txt\n",
                "environment/Dockerfile": "FROM ubuntu:24.04\n",
            }.items():
                (at / path).parent.mkdir(parents=True, exist_ok=True)
                (at / path).write_text(text)


def change(folder: Path, turn: int) -> None:
    for env in range(ENVIRONMENTS):
        path = folder / "datasets" / "acme" / f"set-{env}" / "tasks" / "task-0" / "instruction.md"
        path.write_text(f"Turn {turn}: write a number into answer.txt and say why it is odd.\n")


class Dying(DirectoryStorage):
    """A directory whose user dies in the middle of dealing with it for the `last` time; 0: never."""

    def __init__(self, root: Path, last: int) -> None:
        super().__init__(root)
        self._left = last
        self._place = root

    def read(self, name: str, *, limit: int) -> bytes:
        self._step(name)
        return super().read(name, limit=limit)

    def fetch(self, name: str, target: Path, *, size: int) -> None:
        self._step(name)
        super().fetch(name, target, size=size)

    def put(self, name: str, source: Path) -> None:
        self._step(name, source.read_bytes())
        super().put(name, source)

    def write(self, name: str, data: bytes) -> None:
        self._step(name, data)
        super().write(name, data)

    def list(self, folder: str) -> "list[Stored]":
        self._step(folder)
        return super().list(folder)

    def delete(self, name: str) -> None:
        self._step(name)
        super().delete(name)

    def _step(self, name: str, data: bytes = b"") -> None:
        self._left -= 1
        if self._left == 0:
            half = self._place / name
            if data:
                half.parent.mkdir(parents=True, exist_ok=True)
                half.with_name(f".{half.name}.dead").write_bytes(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)


async def run(hub: Path, folder: Path, progress: int, last: int) -> None:
    """One run; what it has done is written to the file descriptor `progress`. It dies as `Dying` does."""
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings) as services:
        place = Place(
            hub=services.hub,
            library=services.library,
            storage=Dying(settings.store, last),
            work=settings.cache_dir / "indexer",
            name=str(hub),
            everything=True,
            readers=readers_of(formats()),
        )
        indexer = Indexer(place, lambda event, facts: _tell(progress, event), settle=0.0)
        await indexer.run(Options())


def _tell(progress: int, event: str) -> None:
    os.write(progress, f"{event}\n".encode())


def start(hub: Path, folder: Path, last: int = 0) -> tuple[int, int]:
    """A run in a process of its own: its id, and where it tells what it has done."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        code = 1
        with suppress(BaseException):  # the parent counts it; this copy of it must not go on
            anyio.run(run, hub, folder, write, last)
            code = 0
        os._exit(code)
    os.close(write)
    return pid, read


def ended(pid: int, pipe: int) -> tuple[int, list[str]]:
    """How a run ended, and the events it told."""
    with os.fdopen(pipe) as stream:
        events = stream.read().split()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), events


def wrong(folder: Path) -> str | None:
    """What a reader finds wrong with the store."""
    store = folder / "store"
    try:
        pointer = current_pointer(DirectoryStorage(store))
        if pointer is None:
            return "no pointer"
        db = store / FOLDER / pointer.db
        if digest(db) != (pointer.size, pointer.sha256):
            return "other bytes than the pointer tells"
        return None if check(db) == pointer.counts else "other counts than the pointer tells"
    except Exception as error:  # whatever it is, it is what this looks for
        return f"{type(error).__name__}: {error}"


def crash(folder: Path, moments: int, stride: int, seed: int) -> Figures:
    start_time = time.monotonic()
    rng = random.Random(seed)
    hub = folder / "hub"
    make_hub(hub)
    ended(*start(hub, folder))
    turn = 0
    change(hub, turn)
    before = time.monotonic()
    code, _ = ended(*start(hub, folder))
    figures = Figures(moments, seed, round(time.monotonic() - before, 2))
    if code != 0:
        figures.invalid.append(f"an undisturbed run ended with {code}")

    def look(what: str, code: int, events: list[str]) -> None:
        last = events[-1] if events else "start"
        figures.during[last] = figures.during.get(last, 0) + 1
        if code != -signal.SIGKILL:
            figures.invalid.append(f"{what}: the run ended with {code}")
        found = wrong(folder)
        if found:
            figures.invalid.append(f"{what}: {found}")

    while figures.killed < moments:
        turn += 1
        change(hub, turn)
        pid, pipe = start(hub, folder)
        time.sleep(rng.uniform(0.0, figures.whole_run_seconds))
        os.kill(pid, signal.SIGKILL)
        code, events = ended(pid, pipe)
        if code == 0:
            figures.ended_before += 1
            continue
        figures.killed += 1
        look(f"moment {figures.killed}", code, events)
    step = stride
    while stride:
        turn += 1
        change(hub, turn)
        code, events = ended(*start(hub, folder, step))
        if code == 0:
            break
        figures.steps += 1
        look(f"step {step}", code, events)
        step += stride
    change(hub, turn + 1)
    code, events = ended(*start(hub, folder))
    figures.completed = code == 0 and events[-1:] == ["done"] and wrong(folder) is None
    places = [folder / "store" / name for name in ("", FOLDER, ENTRIES)]
    figures.leftovers = sum(path.name.startswith(".") for place in places for path in place.iterdir())
    figures.seconds = round(time.monotonic() - start_time, 1)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rlx-crash-") as folder:
        figures = crash(Path(folder), asked.moments, asked.stride, asked.seed)
    if asked.json:
        print(json.dumps(asdict(figures)))
    else:
        for name, value in asdict(figures).items():
            print(f"{name:>18}: {value}")
    return 1 if figures.invalid or not figures.completed else 0


if __name__ == "__main__":
    sys.exit(main())
