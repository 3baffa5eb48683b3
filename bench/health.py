"""Checks real tasks: `python -m bench.health HUB --store STORE [--most 8] [-k 2] [--minutes 25]`.

Of every Harbor set of a hub folder the tasks are asked whether they can run here, and the first `--most` that can are
run with their reference solution and with nothing done, `-k` times each, set by set in turn, till the time is over.
What the store knows is not run again. Prints a table of those that were run, and of the rest the reasons, counted.
"""

import argparse
import logging
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import anyio
import anyio.to_thread

from bench import harbor_tasks
from bench.harbor_tasks import VIEWER
from rlx.cli.session import with_services
from rlx.cli.working import at_work
from rlx.errors import RlxError
from rlx.health.report import TaskReport, task_report
from rlx.health.trials import Trials, Wanted
from rlx.ids import parse_key
from rlx.model import Viewer
from rlx.runners.launch import Launcher
from rlx.services import Services
from rlx.settings import Settings
from rlx.store.health import HealthStore
from rlx.store.storage import open_storage
from rlx.texts import words

type Found = dict[str, tuple[str, dict[str, str]]]
"""By set: its revision, and of each task why it is not run; empty for one that can be."""


async def look(services: Services, launcher: Launcher) -> Found:
    """Every set with tasks in Harbor's format."""
    found: Found = {}
    async for task in harbor_tasks.look(services, launcher):
        if task.env not in found:
            found[task.env] = ((await services.library.info(parse_key(task.env), VIEWER)).sha or "", {})
        found[task.env][1][task.ref] = task.why
    return found


async def run(
    services: Services, launcher: Launcher, found: Found, store: HealthStore, asked: argparse.Namespace
) -> None:
    chosen = [[(env, ref) for ref, why in of.items() if not why][: asked.most] for env, (_, of) in found.items()]
    turns = [one for turn in zip_longest(*chosen) for one in turn if one is not None]
    rollouts = await anyio.to_thread.run_sync(services.rollouts)
    slots = anyio.Semaphore(asked.slots)
    wanted = Wanted(times=asked.times, at_once=1, minutes=asked.agent_minutes)

    async def one(env: str, ref: str) -> None:
        async with slots:
            trials = Trials(parse_key(env), found[env][0], launcher, rollouts, store, VIEWER, wanted)
            try:
                (health,) = await trials.check([ref], lambda task, was_known: None)
            except RlxError as error:
                logging.warning("%s %s: %s", env, ref, error.message)
                return
            logging.warning("%s %s: %s %s", env, ref, health.state, health.reason or "")

    async with at_work(services, launcher, asked.slots):
        with anyio.move_on_after(asked.minutes * 60):
            async with anyio.create_task_group() as group:
                for env, ref in turns:
                    group.start_soon(one, env, ref)


def spread(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "none"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def row(env: str, task: TaskReport) -> str:
    why = " ".join(words(reason) for reason in task.reasons)
    cells = (
        env,
        task.ref,
        task.state,
        spread(task.oracle.low, task.oracle.high),
        spread(task.floor.low, task.floor.high),
        f"{task.oracle.n}+{task.floor.n}",
        *(f"{runs.seconds:g}" if runs.seconds is not None else "" for runs in (task.oracle, task.floor)),
        why,
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def tell(found: Found, store: HealthStore) -> None:
    print("| set | task | state | oracle | nothing done | runs | s, oracle | s, nothing | why |")
    print("|---|---|---|---|---|---|---|---|---|")
    states: dict[str, Counter[str]] = {}
    for env, (revision, of) in found.items():
        known = store.read(parse_key(env))
        reports = [task_report(known, ref, revision) for ref, why in of.items() if not why]
        run_ones = [report for report in reports if report.checked_at is not None]
        states[env] = Counter(report.state for report in run_ones)
        states[env]["left"] = len(reports) - len(run_ones)
        for report in run_ones:
            print(row(env, report))
    print(
        "\n| set | tasks | proven | broken | unproven | can run, not run | cannot run |\n|---|---|---|---|---|---|---|"
    )
    for env, count in states.items():
        of = found[env][1]
        figures = (len(of), count["proven"], count["broken"], count["unproven"], count["left"])
        print(f"| {env} | {' | '.join(map(str, figures))} | {sum(map(bool, of.values()))} |")
    reasons = Counter(why for _, of in found.values() for why in of.values() if why)
    print("\n| tasks | why they are not run |\n|---|---|")
    for why, n in reasons.most_common():
        print(f"| {n} | {why.replace('|', '/')} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hub")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--most", type=int, default=8, help="tasks of one set; 0 tells what the store has")
    parser.add_argument("-k", dest="times", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=25.0, help="in all")
    parser.add_argument("--agent-minutes", type=float, default=5.0)
    parser.add_argument("--slots", type=int, default=2)
    asked = parser.parse_args()

    async def work(services: Services, _: Viewer) -> Found:
        launcher, store = Launcher(services), HealthStore(open_storage(asked.store))
        found = await look(services, launcher)
        if asked.most:
            await run(services, launcher, found, store, asked)
        return found

    found = with_services(Settings(hub=asked.hub, store=asked.store), work)
    tell(found, HealthStore(open_storage(asked.store)))


if __name__ == "__main__":
    main()
