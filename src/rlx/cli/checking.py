"""Checks tasks, or tells what is known of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import anyio.to_thread

from rlx.cli.output import Record, note, progress
from rlx.cli.session import open_environment
from rlx.cli.working import at_work
from rlx.errors import BadInput, Upstream
from rlx.formats.base import Environment
from rlx.health.report import reasons_of, task_json, task_report
from rlx.health.trials import Trials, Wanted
from rlx.ids import parse_key
from rlx.model import TaskQuery, Viewer
from rlx.runners.launch import Launcher
from rlx.services import Services
from rlx.store.health import STATES, EnvHealth, HealthStore, TaskHealth
from rlx.store.storage import open_storage
from rlx.texts import words

PAGE = 500


@dataclass(frozen=True, slots=True)
class Selection:
    """Of an environment's tasks. Neither: all."""

    refs: Sequence[str] = ()
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    env: str
    revision: str
    records: Sequence[Record]
    counts: Mapping[str, int]

    @property
    def sound(self) -> bool:
        return bool(self.records) and self.counts["proven"] == len(self.records)


async def checked(services: Services, viewer: Viewer, env: str, selection: Selection, wanted: Wanted) -> Checked:
    """Run what is not known. Raises what opening an environment and starting rollouts raise."""
    key, owner = parse_key(env), replace(viewer, kind="local")
    environment = await open_environment(services, key, owner, filled=True)
    revision = await _revision(services, env, owner)
    refs = await _selected(environment, selection, revision)
    launcher, store = Launcher(services), HealthStore(open_storage(services.settings.store))
    rollouts = await anyio.to_thread.run_sync(services.rollouts)
    trials = Trials(key, revision, launcher, rollouts, store, owner, wanted)
    done = 0
    with progress(f"Checking {key}") as tell:
        tell(0, len(refs))

        def told(task: TaskHealth, was_known: bool) -> None:
            nonlocal done
            done += 1
            tell(done, len(refs))
            note(f"{done}/{len(refs)} {task.ref}: {task.state}{', as it was known' if was_known else ''}")

        try:
            async with at_work(services, launcher, wanted.at_once):
                found = await trials.check(refs, told)
        except OSError as error:
            raise Upstream(f"The store cannot be used: {error.strerror}.") from error
    return _told(env, revision, EnvHealth(env=env, tasks={task.ref: task for task in found}), refs)


async def known(services: Services, viewer: Viewer, env: str, selection: Selection) -> Checked:
    """What is known at the environment's revision, of all that was ever checked where no task is named."""
    owner = replace(viewer, kind="local")
    environment = await open_environment(services, parse_key(env), owner)
    revision = await _revision(services, env, owner)
    store = HealthStore(open_storage(services.settings.store))
    health = await anyio.to_thread.run_sync(store.read, parse_key(env))
    some = bool(selection.refs or selection.sample)
    refs = await _selected(environment, selection, revision) if some else sorted(health.at(revision))
    return _told(env, revision, health, refs)


async def _revision(services: Services, env: str, viewer: Viewer) -> str:
    info = await services.library.info(parse_key(env), viewer)
    if info.sha is None:
        raise BadInput(f"{env} has no revision that evidence could be kept for.")
    return info.sha


async def _selected(environment: Environment, selection: Selection, revision: str) -> list[str]:
    """Refs in listing order. Raises `NotFound` for one that there is not."""
    if selection.refs:
        return list(dict.fromkeys([await environment.canonical(ref) for ref in selection.refs]))
    refs: list[str] = []
    while page := (await environment.tasks(TaskQuery(offset=len(refs), limit=PAGE))).items:
        refs += [card.ref for card in page]
    if selection.sample and selection.sample < len(refs):
        picked = set(Random(revision).sample(range(len(refs)), selection.sample))  # noqa: S311  not a secret
        refs = [ref for place, ref in enumerate(refs) if place in picked]
    return refs


def _told(env: str, revision: str, health: EnvHealth, refs: Sequence[str]) -> Checked:
    reports = [task_report(health, ref, revision) for ref in refs]
    told = {reason: words(reason) for reason in reasons_of(reports)}
    counts = {str(state): sum(report.state == state for report in reports) for state in STATES}
    return Checked(env, revision, [task_json(report, told) for report in reports], counts)
