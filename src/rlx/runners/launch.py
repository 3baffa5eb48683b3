"""Starts rollouts: what can run a task here, and a request checked against the option that it picked.

The one way from the site and from the command line. Whatever a form offered is checked again here.
"""

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from rlx.agents.registry import AgentEntry, agents
from rlx.errors import BadInput, Forbidden, Upstream
from rlx.formats.base import Environment
from rlx.formats.harbor.running import NOT_YET
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey, parse_key
from rlx.index.environment import IndexedEnvironment
from rlx.model import AgentNeed, Estimate, Field, RunOption, Variable, Viewer
from rlx.rollout import Rollout, new_id
from rlx.runners.asked import Asked, checked_fields, checked_variables
from rlx.runners.judge import JudgePlan
from rlx.runners.judge import plan as plan_judge
from rlx.runners.judge_asked import FIELDS as JUDGE_FIELDS
from rlx.runners.judge_asked import chosen
from rlx.runners.models.choose import choose, within_limits
from rlx.runners.models.router import Router
from rlx.runners.qualify import Verdict, material, qualify, qualify_compose, qualify_image
from rlx.runners.ready import need
from rlx.runners.workers import Handed, hand_over, living, workers_folder
from rlx.sandboxes.base import Impossible, Possible
from rlx.sandboxes.hf.kind import HF
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.named import environments
from rlx.sandboxes.registry import entries, sandbox_kind
from rlx.settings import Settings
from rlx.store.instance import Instance
from rlx.store.rollouts.files import utc_now
from rlx.texts import say, words

_KEPT = 2_000
_LASTS = 60.0
"""Tasks of which is remembered whether they can run, and for how many seconds: tools may be prepared meanwhile."""
RUNNER = "harbor"
DEFAULT_CALLS = 60
FIELDS = (
    Field("max_calls", say("launch.max_calls"), "number", DEFAULT_CALLS, minimum=1, maximum=1000, step=1),
    Field("minutes", say("launch.minutes"), "number", help=say("launch.minutes_help"), minimum=0.1, maximum=600),
    Field("max_dollars", say("launch.max_dollars"), "number", help=say("launch.max_dollars_help"), minimum=0.001,
          maximum=10_000),
    Field("reward_key", say("launch.reward_key"), help=say("launch.reward_key_help")),
    Field("keep_processes", say("launch.keep_processes"), "bool", False, help=say("launch.keep_processes_help")),
)  # fmt: skip
"""Of every Harbor option."""


class Library(Protocol):
    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
    ) -> Environment: ...

    async def info(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> RepoInfo: ...


class InstanceSettings(Protocol):
    def current(self) -> Instance: ...


class Starting(Protocol):
    def start(self, rollout: Rollout, viewer: Viewer) -> Rollout: ...


class _Opener(Protocol):
    def __call__(self) -> Starting: ...


class Services(Protocol):
    @property
    def settings(self) -> Settings: ...

    @property
    def library(self) -> Library: ...

    @property
    def instance(self) -> InstanceSettings: ...

    @property
    def router(self) -> Router: ...

    @property
    def rollouts(self) -> _Opener: ...


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the files of a task say of running it here."""

    verdicts: Mapping[str, Verdict]
    """By kind of sandbox."""
    outside: Verdict | None
    """Of sandboxes that Harbor makes itself."""
    has_solution: bool
    minutes: float | None
    judge: JudgePlan | None = None
    network: bool = True


class Launcher:
    """One for the process."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._machine: dict[str, Possible | Impossible] = {}
        self._seen: OrderedDict[tuple[str, str, str], tuple[float, _Seen]] = OrderedDict()

    @property
    def workers(self) -> Path:
        """Where workers of this store say that they are ready."""
        return workers_folder(self._services.settings)

    async def look_around(self) -> None:
        """Find out what this machine can run, so that nobody who asks waits for it."""
        for entry in entries():
            await self._can_run(entry.name)

    async def options(
        self, key: EnvKey, ref: str, viewer: Viewer, revision: str | None = None
    ) -> tuple[RunOption, ...]:
        """The ways to run a task, those that cannot here with the reason. Raises what opening an environment raises."""
        environment = await self._services.library.open(key, viewer, revision=revision)
        return await self._options(environment, ref, viewer)

    async def start(self, asked: Asked, viewer: Viewer) -> Rollout:
        """Let a rollout wait for a worker.

        Raises `BadInput` for what the option does not take, `Forbidden`, `TooMany`, `NotFound`, `NotReady` and
        `Upstream`.
        """
        key = parse_key(asked.env)
        info = await self._services.library.info(key, viewer, asked.revision)
        environment = await self._services.library.open(key, viewer, revision=asked.revision)
        ref = await environment.canonical(asked.ref)
        task = await environment.task(ref)
        option = _picked(await self._options(environment, ref, viewer, asked.sandbox), asked)
        entry = self._agent(option, asked.agent)
        fields = checked_fields(option, asked.fields)
        variables = checked_variables(option, asked.variables, solves=entry.needs_solution)
        if asked.visibility not in ("private", "public"):
            raise BadInput(f"{str(asked.visibility)[:40]!r} is no visibility.", hint="private or public.")
        if info.restricted and asked.visibility != "private":
            raise BadInput(f"{key} is not open to everybody, and so its rollouts are private.")
        model, handed = await choose(entry, asked.model, viewer, self._services.router)
        fields = within_limits(fields, (model,), self._services.instance.current())
        if variables:
            handed = replace(handed or Handed(), bindings=variables)
        plan = (await self._look_at(environment, ref)).judge
        judge, handed = chosen(plan, fields, variables, model, handed)
        if info.restricted or option.sandbox == HF.name:
            handed = replace(handed or Handed(), hub_token=viewer.token)
        now = utc_now()
        rollout = Rollout(
            id=new_id(),
            env=str(key),
            ref=ref,
            revision=info.sha or "",
            title=str(task.title),
            runner=option.runner,
            sandbox=option.sandbox,
            agent=entry.name,
            model=model,
            judge=judge,
            fields=fields,
            created_at=now,
            updated_at=now,
            visibility=asked.visibility,
        )
        return await self._enqueue(rollout, viewer, handed)

    async def _enqueue(self, rollout: Rollout, viewer: Viewer, handed: Handed | None) -> Rollout:
        """What no record may hold is with the workers before one can take the rollout."""
        workers = await anyio.to_thread.run_sync(living, self.workers)
        if handed is not None and not await hand_over(workers, rollout.id, handed):
            raise Upstream(
                "No worker runs on this machine, and keys and variables are given to a worker alone.",
                hint="Start one with `rlx worker`, or serve with `rlx serve`.",
                retry_after=10,
            )
        service = await anyio.to_thread.run_sync(self._services.rollouts)
        started = await anyio.to_thread.run_sync(service.start, rollout, viewer)
        if handed is None:
            await hand_over(workers, rollout.id, None)
        return started

    async def _options(
        self, environment: Environment, ref: str, viewer: Viewer, named: str | None = None
    ) -> tuple[RunOption, ...]:
        """`named`: one of Harbor's other environments is offered too, which takes what Docker takes."""
        found = await environment.run_options(ref)
        if named is not None and named in environments():
            label = say("harbor.sandbox.named", name=named)
            docker = [option for option in found if option.sandbox == "docker"]
            found = (*found, *(replace(option, sandbox=named, label=label, notes=()) for option in docker))
        return tuple([await self._here(option, environment, ref, viewer) for option in found])

    async def _here(self, option: RunOption, environment: Environment, ref: str, viewer: Viewer) -> RunOption:
        """What becomes of a format's option on this machine."""
        if not (option.ok or option.reason == NOT_YET) or option.runner != RUNNER:
            return option
        settings = self._services.instance.current()
        if not settings.rollouts_enabled:
            return replace(option, ok=False, reason=say("launch.off"))
        kind = option.sandbox or ""
        if kind not in {entry.name for entry in entries()} and kind not in environments():
            return replace(option, ok=False, reason=say("launch.no_sandbox"))
        machine = await self._can_run(kind)
        if isinstance(machine, Impossible):
            return replace(option, ok=False, reason=machine.why, notes=(machine.hint,) if machine.hint else ())
        if kind == HF.name and viewer.token is None:
            return replace(option, ok=False, reason=say("sandbox.hf.token"), notes=(say("sandbox.hf.token_hint"),))
        seen = await self._look_at(environment, ref)
        if seen.judge is not None and kind != Local.name:
            return replace(option, ok=False, reason=say("launch.judge_local"))
        notes, warnings, verdict = option.notes, option.warnings, seen.verdicts.get(kind, seen.outside)
        if verdict is not None:
            if verdict.reason is not None:
                return replace(option, ok=False, reason=verdict.reason, source=verdict.source)
            notes, warnings = (*notes, *verdict.notes), (*warnings, *verdict.warnings)
        suited = [
            entry
            for entry in agents()
            if (not settings.agents or entry.name in settings.agents)
            and (seen.has_solution or not entry.needs_solution)
            and (not entry.sandboxes or kind in entry.sandboxes)
        ]
        needs = await anyio.to_thread.run_sync(self._needs, suited, kind, seen)
        waiting = {each.agent for each in needs if each.reason is not None}
        allowed = tuple(entry.name for entry in suited if entry.name not in waiting)
        return replace(
            option,
            ok=bool(allowed),
            reason=None if allowed else say("launch.no_agent"),
            source=None,
            notes=(*notes, *machine.notes),
            warnings=warnings,
            fields=FIELDS if seen.judge is None else (*FIELDS, *JUDGE_FIELDS),
            variables=_asked_for(option.variables, seen.judge),
            agents=allowed,
            agent_needs=needs,
            estimate=Estimate(minutes=seen.minutes),
        )

    def _needs(self, suited: Sequence[AgentEntry], kind: str, seen: _Seen) -> tuple[AgentNeed, ...]:
        """Blocks."""
        settings = self._services.settings
        layers, reachable = Local(settings).layers, settings.public_url is not None
        found = [need(entry, kind, layers, network=seen.network, reachable=reachable) for entry in suited]
        return tuple(each for each in found if each is not None)

    async def _look_at(self, environment: Environment, ref: str) -> _Seen:
        """What the task's files say of running it here; kept for a while, since every visit of its page asks."""
        name = None
        if isinstance(environment, IndexedEnvironment) and not environment.is_pending:
            header = environment.index.header
            name = (header.key, header.sha, ref)
        known = self._seen.get(name) if name is not None else None
        if known is not None and time.monotonic() - known[0] < _LASTS:
            return known[1]
        looked_at = await material(environment, ref)
        if looked_at is None:
            return _Seen({}, None, has_solution=True, minutes=None)
        verdict = await anyio.to_thread.run_sync(lambda: qualify(looked_at, Local(self._services.settings).host()))
        verdicts, outside = {Local.name: verdict, HF.name: qualify_image(looked_at)}, qualify_compose(looked_at)
        judge = plan_judge(looked_at.settings)
        seen = _Seen(verdicts, outside, looked_at.has_solution, looked_at.minutes, judge, looked_at.network)
        if name is not None:
            self._seen[name] = (time.monotonic(), seen)
            self._seen.move_to_end(name)
            if len(self._seen) > _KEPT:
                self._seen.popitem(last=False)
        return seen

    async def _can_run(self, kind: str) -> Possible | Impossible:
        """Asked of the machine once; whoever repairs it restarts the process."""
        if kind not in self._machine:
            found = await anyio.to_thread.run_sync(sandbox_kind, kind, self._services.settings)
            self._machine[kind] = await anyio.to_thread.run_sync(found.can_run)
        return self._machine[kind]

    def _agent(self, option: RunOption, name: str) -> AgentEntry:
        entry = next((entry for entry in agents() if entry.name == name), None)
        if entry is None:
            raise BadInput(f"There is no agent {name[:60]!r}.", hint=f"There is {', '.join(option.agents)}.")
        needed = next((each for each in option.agent_needs if each.agent == name), None)
        if needed is not None and needed.reason is not None:
            raise BadInput(f"The agent {name} cannot work in the sandbox {option.sandbox} here: {words(needed.reason)}")
        if entry.name not in option.agents:
            raise Forbidden(
                f"The agent {name!r} may not run this task here.", hint=f"These: {', '.join(option.agents)}."
            )
        return entry


def _picked(options: Sequence[RunOption], asked: Asked) -> RunOption:
    """The option that was asked for, if it can run. Raises `BadInput`."""
    for option in options:
        if (option.runner, option.sandbox) == (asked.runner, asked.sandbox):
            if not option.ok:
                why = words(option.reason) if option.reason is not None else ""
                at = f" ({option.source})" if option.source else ""
                raise BadInput(f"This task cannot run in the sandbox {asked.sandbox!r} here: {why}{at}")
            return option
    known = ", ".join(f"{option.runner}/{option.sandbox}" for option in options)
    raise BadInput(
        f"This task has no way to run with {asked.runner[:40]!r} in {str(asked.sandbox)[:40]!r}.",
        hint=f"There is {known}." if known else "It cannot be run.",
    )


def _asked_for(variables: Sequence[Variable], judge: JudgePlan | None) -> tuple[Variable, ...]:
    """A judge takes the place of what its graders could not do without."""
    taken = judge.required if judge is not None else frozenset()
    return tuple(replace(each, required=False) if each.name in taken else each for each in variables)
