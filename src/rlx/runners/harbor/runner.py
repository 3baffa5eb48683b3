"""Runs a Harbor task: OpenEnv's `run_rollout` in a sandbox of ours, with every phase told and bounded."""

import asyncio
import logging
import shlex
from contextlib import ExitStack
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from harbor.environments.base import BaseEnvironment
from harbor.trial.hooks import LogEntry, TrialEvent, TrialHookEvent
from harbor.trial.trial import Trial
from openenv.core.harness.capture.sessions import Upstream
from openenv.core.harness.capture.upstream import InferenceClient
from openenv.harbor.rollout import run_rollout

from rlx import __version__
from rlx.agents.registry import AgentEntry, agent
from rlx.errors import AgentError, SandboxError, TaskError
from rlx.rollout import Failure, Stage
from rlx.runners.base import Outcome, Run, cost_of
from rlx.runners.harbor import hooks, kept, outcome
from rlx.runners.harbor.budget import Budget
from rlx.runners.harbor.capture import create_capture
from rlx.runners.harbor.human import seated
from rlx.runners.harbor.judging import INSIDE, Judging, figures, judged
from rlx.runners.harbor.places import Where, check_outside, where
from rlx.runners.models.purse import Purse, price_of
from rlx.runners.registry import Surroundings
from rlx.runners.relay import Gate, Line, Relay, sender
from rlx.runners.scrub import Scrub
from rlx.runners.seats.desk import Desk
from rlx.runners.seats.seat import SEAT
from rlx.runners.stages import GRACE
from rlx.runners.watch import Watch
from rlx.sandboxes.base import Address
from rlx.sandboxes.harbor import PLACE, Place, SandboxEnvironment, aside, before_verification
from rlx.sandboxes.local.installed.layer import COMMAND, prepared
from rlx.sandboxes.local.kind import Local
from rlx.texts import Say, say, words

_log = logging.getLogger(__name__)

_CHANGED: Final = r"""find {folders} -xdev -newer /.rlx-begun \( -type f -o -type l \) -not -path '*/.git/*' \
  -printf '%s\t%p\n' 2> /dev/null | head -n 201"""
_FOLDERS: Final = "/root /home /srv /opt /etc /var/www"


class HarborRunner:
    """One for the worker."""

    name = "harbor"

    def __init__(self, surroundings: Surroundings) -> None:
        hooks.install()
        import_module("harbor.agents.terminus_2.terminus_2")  # which takes seconds, and is loaded when first asked for
        for name in ("harbor", "openenv", "LiteLLM"):  # what they log of a trial, commands too, is in its own files
            logger = logging.getLogger(name)
            logger.setLevel(logging.CRITICAL)
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
        self._settings = surroundings.settings
        self._local = Local(surroundings.settings)
        self._relay = surroundings.relay
        self._url = surroundings.url
        self._outside = surroundings.outside
        self._capture = create_capture()
        surroundings.mount("/capture", self._capture)
        self._desk = surroundings.desk
        surroundings.mount("/seats", self._desk.app)

    async def run(self, run: Run) -> Outcome:
        place = where(run, self._local, self._settings)
        given = (self._capture, self._relay, self._url, run, self._desk)
        return await _Running(self._local, place, *given, outside=self._outside).play()


class _Running:
    """One rollout."""

    def __init__(
        self,
        local: Local,
        where: Where,
        capture: FastAPI,
        relay: Relay,
        url: str,
        run: Run,
        desk: Desk,
        *,
        outside: str | None,
    ) -> None:
        self._where = where
        self._capture = capture
        self._relay = relay
        self._url = url
        self._proxy = f"{url}/capture"
        """As the agent finds it."""
        self._run = run
        self._entry: AgentEntry = agent(run.rollout.agent)
        self._trial: Trial | None = None
        self._is_quiet = self._entry.needs_solution
        self._failed_in: Stage | None = None
        self._begun: asyncio.Future[None] | None = None
        """Writing down that the agent began."""
        self._judging = Judging()
        self._paths = {str(run.work): "[work]", str(run.task): "[task]", str(local.folder): "[sandbox]"}
        self._scrub = self._scrubbing()
        self._watch = Watch(self._emit, run.rollout.model, quiet=self._is_quiet)
        self._place = Place(where.kind, told=self._hear_build, noted=self._note)
        self._line: Line | None = None
        self._gate = Gate(is_open=False)
        """To the agent's model: open while the agent works, in each step."""
        self._budget = Budget()
        self._desk = desk
        self._outside = outside

    async def play(self) -> Outcome:
        PLACE.set(self._place)
        try:
            with ExitStack() as stack:
                if self._where.import_path is None:
                    await asyncio.to_thread(check_outside, self._run, self._where.kind.name)
                self._judge(stack)
                self._furnish()
                stack.enter_context(seated(self._run, self._desk, self._emit, self._scrub))
                upstream = self._upstream(stack)
                result = await self._rollout(upstream)
            return await asyncio.to_thread(self._read, result)
        finally:
            await asyncio.shield(self._place.stop())

    def _upstream(self, stack: ExitStack) -> Upstream | None:
        """The line to the agent's model."""
        rollout = self._run.rollout
        if rollout.model is None:
            return None
        send = self._gate.through(sender(rollout.model, self._run.handed))
        ceiling, price = rollout.ceiling, price_of(rollout.model)
        if ceiling is not None and price is not None:
            send = Purse(ceiling, price, self._budget.end).through(send)
        if rollout.model.at_most:
            self._note(say("models.note_at_most"))
        self._line = line = Line(send, self._watch, self._gate)
        return self._connect(stack.enter_context(self._relay.line(line)), rollout.model.id, stack)

    def _judge(self, stack: ExitStack) -> None:
        """Of a task that wants one: its graders are told where it is, and every sandbox reaches the worker."""
        run, registry = self._run, self._capture.state.registry
        judging = judged(run.rollout, run.handed, run.task, relay=self._relay, registry=registry, connect=self._connect)
        self._judging = stack.enter_context(judging)
        bindings = {**self._judging.bindings, **run.handed.bindings}
        hooks.CURRENT.set(hooks.Reach(self._where.import_path, self._attach, bindings, self._judging.for_grader))
        if self._judging.meter is not None:
            self._scrub = self._scrubbing()
            self._place.forward = Address("127.0.0.1", int(self._url.rpartition(":")[2]))

    def _furnish(self) -> None:
        """What an agent that works inside of its sandbox finds there: its layer, and the way to its model."""
        kind, name = self._place.kind, self._entry.name
        if self._entry.installed is None:
            return
        if not isinstance(kind, Local):
            if self._outside is None:
                raise AgentError(
                    f"{name} cannot reach its model from the sandbox {kind.name}: no public address is set."
                )
            self._proxy = self._outside
            return
        layer = prepared(kind.layers, name)
        if layer is None:
            raise AgentError(f"The layer of {name} is not prepared here.", hint=f"Make it with {COMMAND} {name}.")
        self._place.agent_layers, self._place.agent_memory_mb = (layer.key,), layer.memory_mb
        self._place.forward = Address("127.0.0.1", int(self._url.rpartition(":")[2]))
        self._proxy = INSIDE

    def _scrubbing(self) -> Scrub:
        handed = self._run.handed
        known = (handed.api_key, handed.judge_key, handed.hub_token, *handed.bindings.values())
        return Scrub(secrets=(*known, *self._judging.secrets), paths=self._paths)

    def _connect(self, path: str, model: str, stack: ExitStack) -> Upstream:
        """How the capture proxy reaches a line: told, since it would probe with calls that somebody pays for."""
        upstream = Upstream(llm_url=f"{self._url}{path}", model=model)
        client = InferenceClient(base_url=upstream.llm_url, served_model=upstream.model, capture_level="text")
        pool = self._capture.state.upstreams
        with pool._lock:
            pool._by_engine[upstream.cache_key] = (client, "text")
        stack.callback(pool.forget, upstream)
        return upstream

    async def _rollout(self, upstream: Upstream | None) -> Any:
        fields = self._run.rollout.fields
        minutes, calls = fields.get("minutes"), fields.get("max_calls")
        limited = self._entry.needs_model and isinstance(calls, int)
        return await run_rollout(
            task_dir=self._run.task,
            harness=self._entry.name,
            sandbox=self._run.rollout.sandbox or "",
            registry=self._capture.state.registry,
            intercept_url=self._proxy,
            model=self._run.rollout.model.id if self._run.rollout.model else "none",
            trials_dir=self._run.work,
            reward_key=str(fields.get("reward_key") or ""),
            require_reward=False,
            agent_timeout_sec=float(minutes) * 60 if isinstance(minutes, int | float) else None,
            agent_step_limit=int(calls) if limited and isinstance(calls, int) else None,
            session_prefix="rlx",
            capture_level="text",
            purpose="eval",
            upstream=upstream,
        )

    # What the trial tells on its way

    def _attach(self, trial: Trial) -> None:
        self._trial = trial
        self._budget.bound(trial.agent)
        if SEAT.get(None) is not None:
            SEAT.get().seconds = trial.agent_timeout_sec
        stages = self._run.stages
        stages.limit("provision", trial.environment_build_timeout_sec)
        stages.limit("prepare", trial.agent_setup_timeout_sec)
        stages.limit("agent", trial.agent_timeout_sec)
        stages.limit("verify", trial.verifier_timeout_sec + trial.environment_build_timeout_sec + GRACE)
        trial.add_hook(TrialEvent.AGENT_START, self._on_agent)
        trial.add_hook(TrialEvent.AGENT_END, self._on_agent_end)
        trial.add_hook(TrialEvent.VERIFICATION_START, self._on_verification)
        trial.add_hook(TrialEvent.END, self._on_end)
        self._place.started = lambda: stages.begin("prepare") if stages.current == "provision" else None
        if not self._is_quiet:
            trial.add_log_callback(self._on_log)

    async def _on_agent(self, event: TrialHookEvent) -> None:
        self._gate.is_open = True
        self._run.stages.begin("agent")
        # A solution costs nobody anything and would start anew in a sandbox of its own: it need not wait for the disk.
        self._begun = asyncio.ensure_future(self._run.settle())
        if not self._is_quiet:
            await self._begun
        if not self._is_quiet and self._environment is not None:
            await aside(self._environment, "touch /.rlx-begun")

    async def _on_agent_end(self, event: TrialHookEvent) -> None:
        """No more calls; and which files it wrote: of no importance to its reward, and so never a reason to fail."""
        self._gate.is_open = False
        environment = self._environment
        if self._is_quiet or environment is None:
            return
        ours = isinstance(environment, SandboxEnvironment)
        folder = environment.sandbox.spec.workdir if ours else environment.task_env_config.workdir or "/app"
        folders = f"{shlex.quote(folder)} {_FOLDERS}" if folder != "/" else _FOLDERS
        try:
            _, told = await aside(environment, _CHANGED.format(folders=folders), seconds=20)
        except (SandboxError, RuntimeError) as error:
            _log.info("Changed files are not told: %s", error)
            return
        items = {}
        for line in told.splitlines():
            size, _, path = line.partition("\t")
            if size.isdigit() and path:
                items[path] = {"path": path, "change": "written", "size": int(size)}
        if items:
            self._emit("files", {"items": list(items.values())[:200]})

    async def _on_verification(self, event: TrialHookEvent) -> None:
        if self._begun is not None:
            await self._begun
        self._run.stages.begin("verify")
        if self._environment is not None and not self._is_separate:
            keep = bool(self._run.rollout.fields.get("keep_processes"))
            await before_verification(self._environment, keep_processes=keep)

    async def _on_end(self, event: TrialHookEvent) -> None:
        self._failed_in = self._run.stages.current
        self._run.stages.begin("close")

    async def _on_log(self, entry: LogEntry) -> None:
        """What installers and verifiers print; of an agent, its calls say it better."""
        if entry.phase == "agent_setup":
            self._emit("log", {"text": entry.text, "source": "setup"})

    @property
    def _environment(self) -> BaseEnvironment | None:
        """The agent's, while it runs."""
        environment = self._trial.agent_environment if self._trial is not None else None
        gone = isinstance(environment, SandboxEnvironment) and not environment.is_running
        return None if gone else environment

    @property
    def _is_separate(self) -> bool:
        return self._trial is not None and self._trial._is_agent_environment_stopped

    # What is recorded

    def _emit(self, kind: Any, data: Any) -> None:
        self._run.emit(kind, self._scrub.value(data))

    def _note(self, note: Say) -> None:
        self._run.note(words(note))

    def _hear_build(self, text: str) -> None:
        self._emit("log", {"text": text, "source": "build"})

    def _read(self, result: Any) -> Outcome:
        """Blocks."""
        fields = self._run.rollout.fields
        wanted = str(fields.get("reward_key") or "") or None
        versions = {"rlx": __version__, "harbor": version("harbor"), "openenv": version("openenv")}
        if self._trial is None or self._trial._result is None:
            raise TaskError(self._scrub.text(f"Harbor refuses the task: {result.error or result.exception_type}"))
        trial = self._trial.result
        info = trial.exception_info
        raised = outcome.Raised(info.exception_type, info.exception_message) if info is not None else None
        rewards = outcome.finite(trial.verifier_result.rewards if trial.verifier_result else None)
        reward, key, why = outcome.headline(rewards, wanted)
        if trial.verifier_result is None:
            why = None
        steps = outcome.step_scores(trial.step_results, self._scrub)
        usage = outcome.usage_of(trial.agent_result, self._watch.usage)
        self._keep()
        return Outcome(
            reward=reward,
            reward_key=key,
            rewards=rewards,
            failure=self._failure(raised, why, steps, graded=reward is not None),
            usage=usage,
            cost=cost_of(usage, self._run.rollout.model),
            steps=steps,
            **figures(self._judging),
            versions=versions,
            voided=outcome.voids(raised),
        )

    def _failure(self, raised: outcome.Raised | None, why: str | None, steps: Any, *, graded: bool) -> Failure | None:
        sandbox = self._trial.agent_environment if self._trial is not None else None
        code = sandbox.verifier_code if isinstance(sandbox, SandboxEnvironment) else None
        trouble = self._line.trouble if self._line is not None else None
        if raised is not None:
            return outcome.failure_of(
                raised, stage=self._failed_in, verifier_code=code, trouble=trouble, scrub=self._scrub
            )
        if why is not None:
            return Failure(cause="verifier", kind="no-headline", message=why)
        if graded and self._budget.spent is not None:
            return Failure(cause="limit", kind="cost", message=self._budget.spent.message)
        if not graded:
            failed = next((step for step in steps if step.error), None)
            message = f"Step {failed.name}: {failed.error}" if failed else "The verifier gave no reward."
            return Failure(cause="verifier", kind="no-reward", message=message)
        return None

    def _keep(self) -> None:
        """Of the oracle nothing but how many checks passed: what it does, says and leaves is the answer."""
        if self._trial is None:
            return
        folder = Path(self._trial.paths.trial_dir)
        checks = kept.checks_of(folder, named=not self._is_quiet)
        if checks is not None:
            self._emit("checks", checks)
        if self._is_quiet:
            return
        text = kept.verifier_text(folder, self._scrub)
        if text.strip():
            self._emit("log", {"text": text, "source": "verifier"})
        kept.keep_all(self._run, folder, self._scrub)
