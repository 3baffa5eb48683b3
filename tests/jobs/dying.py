"""Runs rollouts in a process that is killed: at each of its dealings with the disk in turn, or after a random time.

`python -m tests.jobs.dying URL FOLDER STRIDE RANDOM` prints what was wrong after any of the deaths, as JSON. Each death
is that of a child made by `fork`, so that the libraries are loaded once.
"""

import json
import os
import secrets
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rlx.jobs.queue import Queue
from rlx.jobs.queue_recovery import recover
from rlx.rollout import new_id
from rlx.store.rollouts.files import utc_now
from tests.store.rollouts.scene import ANYTHING, Scene, record

DEALINGS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.copyfile"})
"""What counts as dealing with the disk, by the names of Python's audit events."""
WORKER = "dying"

type Say = Callable[[str, str], None]


def scene_at(root: Path, url: str) -> Scene:
    root.mkdir(parents=True, exist_ok=True)
    return Scene(root / "store", root / "local", url or f"sqlite:///{root}/index.db", clock=Real())


class Real:
    """The real time, and later when turned."""

    later = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.later

    def turn(self, seconds: float) -> None:
        self.later += timedelta(seconds=seconds)


def live(scene: Scene, say: Say) -> None:
    """A worker's and a visitor's day. Says what it was told is so, once it is."""
    queue: Queue = scene.queue
    for agent in ("simple", "oracle", "nop"):
        say("queued", queue.enqueue(record(utc_now, agent=agent)).id)
    held = queue.lease(WORKER, ANYTHING)
    assert held is not None
    held.update(stage="prepare")
    held.update(status="running", stage="agent")
    held.emit("message", {"text": "x" * 300})
    held.keep("artifacts/made", b"data")
    held.beat()
    held.update(status="verifying", stage="verify")
    say("done", held.update(status="done", reward=1.0, rewards={"reward": 1.0}, graded=True).id)
    second = queue.lease(WORKER, ANYTHING)
    assert second is not None
    queue.stop(second.rollout.id)
    assert second.beat()
    say("cancelled", second.update(status="cancelled").id)
    last = queue.lease(WORKER, ANYTHING)
    assert last is not None
    last.release()
    say("cancelled", queue.stop(last.rollout.id).id)
    queue.set_visibility(held.rollout.id, "public")
    queue.delete(second.rollout.id)
    say("deleted", second.rollout.id)


def die(root: Path, url: str, moment: int, seconds: float) -> list[tuple[str, str]]:
    """Live in a child that is killed at its `moment`-th dealing with the disk, or after some seconds. What it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            _live_till(scene_at(root, url), writer, moment, seconds)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        lines = [line.split() for line in said]
    os.waitpid(child, 0)
    return [(what, id) for what, id in lines]


def _live_till(scene: Scene, writer: int, moment: int, seconds: float) -> None:
    count = 0

    def hook(event: str, _: object) -> None:
        nonlocal count
        if event in DEALINGS:
            count += 1
            if count == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    if moment:
        sys.addaudithook(hook)
    if seconds:
        signal.setitimer(signal.ITIMER_REAL, seconds)  # its signal ends a process that does not listen
    live(scene, lambda what, id: _print(writer, f"{what} {id}\n"))
    _print(writer, f"dealings {count}\n")


def _print(writer: int, line: str) -> None:
    os.write(writer, line.encode())


def faults(root: Path, url: str, said: list[tuple[str, str]]) -> list[str]:
    """What is not as it should be once somebody recovers."""
    scene = scene_at(root, url)
    try:
        recover(scene.queue, gone=(WORKER,))
        found = list(check(scene, said))
        again = recover(scene.queue, gone=(WORKER,))
        if again.settled or again.found or again.mirrored:
            found.append(f"recovered twice: {again}")
        while (held := scene.queue.lease("other", ANYTHING)) is not None:
            held.update(status="running")
            held.update(status="done")
        if scene.queue.active():
            found.append(f"never ends: {scene.queue.active()}")
        for id in scene.files.live_ids():
            numbers = [event.n for event in scene.files.events(id, limit=999).events]
            if numbers != list(range(1, len(numbers) + 1)):
                found.append(f"{id} has events {numbers}")
        return found
    finally:
        scene.close()


def has_record(scene: Scene, id: str) -> bool:
    """False for a folder that was made and not written to."""
    return scene.files.live(id) is not None or scene.files.stored(id) is not None


def check(scene: Scene, said: list[tuple[str, str]]) -> list[str]:
    """Files, index and what was said agree."""
    ids = set(scene.index.ids())
    last = {id: what for what, id in said if what != "dealings"}
    found = [f"{id} is lost" for id, what in last.items() if id not in ids and what in {"queued", "done"}]
    found += [f"{id} is in the files alone" for id in scene.files.ids() if id not in ids and has_record(scene, id)]
    found += [f"{id} was deleted" for id, what in last.items() if id in ids and what == "deleted"]
    for id in ids:
        row, file = scene.find(id), scene.files.read(id)
        if file != row:
            found.append(f"{id}: file {file.status}, row {row.status}")
        if not row.ended and row.status != "queued":
            found.append(f"{id} is {row.status} and nobody runs it")
        if last.get(id) in {"done", "cancelled"} and row.status != last[id]:
            found.append(f"{id} was {last[id]} and is {row.status}")
        if row.status in {"done", "cancelled"} and last.get(id) == "queued" and scene.statuses(id)[-1] != row.status:
            found.append(f"{id} is {row.status} and its events end with {scene.statuses(id)}")
        if row.ended and scene.files.stored(id) != row:
            found.append(f"{id} has ended and the store does not say so")
    return found


def main(url: str, folder: Path, stride: int, at_random: int) -> None:
    first = die(folder / "whole", url, 0x7FFFFFFF, 0)
    dealings = int(dict(first)["dealings"])
    wrong = {"whole": faults(folder / "whole", url, first)}
    deaths = [(moment, 0.0) for moment in range(1, dealings + 1, stride)]
    deaths += [(0, 0.001 + secrets.randbelow(250) / 1000) for _ in range(at_random)]
    for moment, seconds in deaths:
        name = f"{moment or seconds}-{new_id()}"
        if url:
            fresh = scene_at(folder / name, url)
            fresh.index.create(anew=True)
            fresh.close()
        found = faults(folder / name, url, die(folder / name, url, moment, seconds))
        if found:
            wrong[name] = found
    told = {"dealings": dealings, "deaths": len(deaths), "wrong": {name: each for name, each in wrong.items() if each}}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
