"""Runs real tasks with their reference solution and with nothing done: `python -m bench.real_tasks HUB [--tasks GLOB]`.

Of every Harbor task of a hub folder the launcher is asked whether the local sandbox can run it here. Those that it can
are run through a worker, until `--most` of a set hold; prints a table of them, and the reasons of the rest, counted.
With `--store` the rollouts are kept, and not run again. `rlx sandbox prepare` readies tools that many graders fetch.
"""

import argparse
import fnmatch
import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from bench.harbor_tasks import ORACLE, PAGE, SANDBOX, VIEWER, Found, look
from rlx.cli.serve_worker import keep_working
from rlx.cli.session import with_services
from rlx.errors import RlxError
from rlx.model import Viewer
from rlx.rollout import Rollout, Stage
from rlx.runners.asked import Asked, Value
from rlx.runners.launch import RUNNER, Launcher
from rlx.runners.workers import living
from rlx.services import Services
from rlx.settings import Settings
from rlx.store.rollouts.query import Filters

NOP: Final = "nop"
AGENTS: Final = (ORACLE, NOP)
FULL: Final = 1.0
KEEP: Final = "keep_processes"
NO_HEADLINE: Final = "no-headline"
POLL: Final = 0.5
CELL: Final = 300
KEPT: Final = "processes kept for the grader"


@dataclass(frozen=True, slots=True)
class Choice:
    patterns: Sequence[str]
    most: int
    """Of one set: tasks that hold."""
    tries: int
    """Of one set: tasks that are run. 0 runs nothing."""
    slots: int
    minutes: float

    def wants(self, env: str, ref: str) -> bool:
        return not self.patterns or any(fnmatch.fnmatchcase(f"{env}/{ref}", f"{each}*") for each in self.patterns)


@dataclass(slots=True)
class Tried:
    found: Found
    runs: dict[str, Rollout] = field(default_factory=dict)
    kept: bool = False
    """What the agent left running went on while it was graded: the solution may be a server."""
    refused: str = ""
    """Why the launcher took back what its option said."""

    @property
    def holds(self) -> bool:
        """The solution earns everything, and nothing earns less."""
        oracle, nop = (scores(self.runs.get(agent)) for agent in AGENTS)
        return bool(oracle and nop) and min(oracle) >= FULL > min(nop)


def scores(rollout: Rollout | None) -> list[float]:
    """The headline, or every score where the task names none that counts."""
    if rollout is None:
        return []
    if rollout.graded and rollout.reward is not None:
        return [rollout.reward]
    unnamed = rollout.failure is not None and rollout.failure.kind == NO_HEADLINE
    return list(rollout.rewards.values()) if unnamed else []


async def held(services: Services) -> dict[tuple[str, str, str], Rollout]:
    """Rollouts of the store that came to an end of their own: the latest of each task and agent."""
    views = (await anyio.to_thread.run_sync(services.rollouts)).views
    found: dict[tuple[str, str, str], Rollout] = {}
    seen = 0
    while page := views.page(Filters(ended=True), VIEWER, sort="old", offset=seen, limit=PAGE).rollouts:
        seen += len(page)
        ended = [one for one in page if one.status in ("done", "failed")]
        found |= {(one.env, one.ref, one.agent): one for one in ended}
    return found


async def run(services: Services, launcher: Launcher, tried: Tried, agent: str, minutes: float) -> None:
    fields: dict[str, Value] = {"minutes": minutes, KEEP: tried.kept}
    asked = Asked(tried.found.env, tried.found.ref, agent, runner=RUNNER, sandbox=SANDBOX, fields=fields)
    try:
        rollout = await launcher.start(asked, VIEWER)
    except RlxError as error:
        tried.refused = error.message
        return
    views = (await anyio.to_thread.run_sync(services.rollouts)).views
    while not rollout.ended:
        await anyio.sleep(POLL)
        rollout = await anyio.to_thread.run_sync(views.find, rollout.id, VIEWER)
    tried.runs[agent] = rollout


async def try_all(services: Services, launcher: Launcher, found: list[Found], choice: Choice) -> list[Tried]:
    """The first of each set that can run, in order; the same task twice in a row, so that the second is warm."""
    counted: Counter[str] = Counter()
    going: Counter[str] = Counter()
    tried = []
    known = await held(services)
    for each in found:
        of = {agent: known.get((each.env, each.ref, agent)) for agent in AGENTS}
        runs = {agent: one for agent, one in of.items() if one is not None}
        if not each.why and (counted[each.env] < choice.tries or len(runs) == len(AGENTS)):
            counted[each.env] += 1
            tried.append(Tried(each, runs, any(one.fields.get(KEEP) is True for one in runs.values())))
    if not choice.tries:
        return tried
    slots = anyio.Semaphore(choice.slots)

    async def both(one: Tried) -> None:
        async with slots:
            if going[one.found.env] >= choice.most:
                return
            going[one.found.env] += 1
            for kept in (False, True):
                if kept and (one.kept or one.refused or one.holds or not scores(one.runs.get(ORACLE))):
                    break
                one.kept = one.kept or kept
                for agent in AGENTS:
                    if (kept or agent not in one.runs) and not one.refused:
                        await run(services, launcher, one, agent, choice.minutes)
            going[one.found.env] -= not one.holds
            logging.warning("%s %s: %s", one.found.env, one.found.ref, " ".join(cells(one)))

    async with anyio.create_task_group() as group:
        group.start_soon(keep_working, services.settings, choice.slots)
        while not await anyio.to_thread.run_sync(living, launcher.workers):  # noqa: ASYNC110  # of another process
            await anyio.sleep(POLL)
        async with anyio.create_task_group() as running:
            for one in tried:
                running.start_soon(both, one)
        group.cancel_scope.cancel()
    return [one for one in tried if one.runs or one.refused]


def seconds(rollout: Rollout, stage: Stage | None = None) -> str:
    if stage is None:
        begun, ended = rollout.started_at, rollout.finished_at
    else:
        phase = next((each for each in rollout.phases if each.stage == stage), None)
        begun, ended = (phase.started_at, phase.finished_at) if phase else (None, None)
    return f"{(ended - begun).total_seconds():.1f}" if begun and ended else ""


def cells(one: Tried) -> list[str]:
    """Of both rollouts: reward, seconds, and those that making the sandbox took; then why not."""
    told: list[str] = []
    for agent in AGENTS:
        rollout = one.runs.get(agent)
        reward = "" if rollout is None else ", ".join(f"{score:g}" for score in scores(rollout)) or "none"
        told += [reward] + (["", ""] if rollout is None else [seconds(rollout), seconds(rollout, "provision")])
    return [*told, KEPT if one.holds and one.kept else "" if one.holds else _why(one)]


def _why(one: Tried) -> str:
    if one.refused:
        return one.refused
    for rollout in one.runs.values():
        if rollout.failure is not None and not scores(rollout):
            return f"{rollout.agent}: {rollout.failure.kind}, {rollout.failure.message}"
    return "the oracle earns less" if min(scores(one.runs[ORACLE])) < FULL else "doing nothing earns as much"


def cell(text: str) -> str:
    flat = " ".join(text.replace("|", "\\|").split())
    return flat if len(flat) <= CELL else f"{flat[: CELL - 1]}…"


def results(tried: Sequence[Tried]) -> None:
    print("| set | task | oracle | s | of it made ready | nop | s | of it made ready | remark |")
    print("|---|---|---|---|---|---|---|---|---|")
    for one in sorted(tried, key=lambda each: (not each.holds, each.found.env, each.found.ref)):
        row = [one.found.env, one.found.ref, *cells(one)]
        print(f"| {' | '.join(cell(each) for each in row)} |")
    held = [one for one in tried if one.holds]
    print(f"\n{len(held)} of {len(tried)} tasks of {len({one.found.env for one in held})} sets hold.")


def reasons(found: Sequence[Found]) -> None:
    sets: Mapping[str, Counter[str]] = {env: Counter() for env in sorted({each.env for each in found})}
    for each in found:
        sets[each.env]["all"] += 1
        sets[each.env]["can" if not each.why else "bare" if each.option.ok else "not"] += 1
    print("\n| set | tasks | can run | can, but has no solution | cannot |\n|---|---|---|---|---|")
    for env, of in sets.items():
        print(f"| {env} | {of['all']} | {of['can']} | {of['bare']} | {of['not']} |")
    kinds: dict[str, list[Found]] = {}
    for each in found:
        if each.why:
            kinds.setdefault(_kind(each), []).append(each)
    print("\n| tasks | the first of them | where it says so | why it is not run |\n|---|---|---|---|")
    for alike in sorted(kinds.values(), key=lambda each: -len(each)):
        first = alike[0]
        row = (str(len(alike)), f"{first.env}/{first.ref}", first.where, first.why)
        print(f"| {' | '.join(cell(each) for each in row)} |")


def _kind(found: Found) -> str:
    """What reasons are counted by: the sentence, whatever it is filled with."""
    reason = found.option.reason
    return reason.key if not found.option.ok and reason is not None and hasattr(reason, "key") else found.why


def bench(hub: str, store: Path, choice: Choice, tell: Callable[[list[Found]], None]) -> list[Tried]:
    settings = Settings(hub=hub, store=store)

    async def work(services: Services, _: Viewer) -> list[Tried]:
        launcher = Launcher(services)
        found = [task async for task in look(services, launcher, choice.wants)]
        tried = await try_all(services, launcher, found, choice)
        tell(found)
        return tried

    return with_services(settings, work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hub")
    parser.add_argument("--tasks", nargs="*", default=[], metavar="ORG/NAME[/REF]", help="globs; only what begins so")
    parser.add_argument("--most", type=int, default=8, help="tasks of one set that hold, then no more of it is run")
    parser.add_argument(
        "--tries", type=int, default=10, help="tasks of one set that are run; 0 tells what the store has"
    )
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=10.0, help="for one agent")
    parser.add_argument("--store", type=Path, help="keep the rollouts here")
    parser.add_argument("--list", action="store_true", help="print every task that is not run")
    asked = parser.parse_args()
    choice = Choice(asked.tasks, asked.most, asked.tries, asked.slots, asked.minutes)

    def tell(found: list[Found]) -> None:
        reasons(found)
        for each in found if asked.list else ():
            if each.why:
                print(f"{each.env}/{each.ref} {each.where}: {each.why}")

    with tempfile.TemporaryDirectory() as folder:
        tried = bench(asked.hub, asked.store or Path(folder), choice, tell)
    if tried:
        print()
        results(tried)


if __name__ == "__main__":
    main()
