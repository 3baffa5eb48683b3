"""Harbor's environment over local sandboxes: the Dockerfile replayed as layers, or the image approximated."""

import asyncio
import logging
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from harbor.environments.base import BaseEnvironment, ExecResult, OutputCallback
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode

from rlx.errors import SandboxError, TaskError
from rlx.sandboxes.base import Address, Network, SandboxSpec
from rlx.sandboxes.dockerfile import Plan, Refusal, base_of, plan
from rlx.sandboxes.dockerfile.host import read_context
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.replay import Replay, replayable
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.sandboxes.local.terminal import Terminal
from rlx.sandboxes.local.tools import tool_environment, tools_key
from rlx.texts import Say, words

_log = logging.getLogger(__name__)

IMPORT_PATH: Final = "rlx.sandboxes.local.harbor:LocalEnvironment"
_REWARDS: Final = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")
_VERIFIER_OUTPUT: Final = "/logs/verifier/test-stdout.txt"
_COMMAND: Final = ("sh", "-c", "sleep infinity")
"""What Harbor's own containers run, by way of the image's ENTRYPOINT where it has one."""
_LONGEST_DOCKERFILE: Final = 1024 * 1024


@dataclass(slots=True)
class Place:
    """Where environments of one trial are made, and what became of them."""

    kind: Local
    told: Callable[[str], None] = lambda text: None
    """Hears what the building of an image writes."""
    noted: Callable[[Say], None] = lambda note: None
    """Hears what a reader should know of a sandbox."""
    started: Callable[[], None] = lambda: None
    """Told when a sandbox is ready."""
    forward: Address | None = None
    """What its sandboxes reach at a port of their own, whatever their network."""
    sandboxes: list[LocalSandbox] = field(default_factory=list)

    async def stop(self) -> None:
        """End whatever still runs."""
        for sandbox in self.sandboxes:
            try:
                await sandbox.stop()
            except SandboxError as error:
                _log.warning("A sandbox could not be stopped: %s", error.message)


PLACE: ContextVar[Place] = ContextVar("place")
"""Of the trial that runs in this context."""


class LocalEnvironment(BaseEnvironment):  # type: ignore[misc]  # harbor's types are not followed
    """Refuses what it cannot keep: an allow-list of hosts, compose, GPUs, images that the host's system is not like."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._place = PLACE.get()
        self._sandbox: LocalSandbox | None = None
        self._entrypoint: tuple[str, ...] = ()
        self.is_running = False
        self.verifier_code: int | None = None
        """What the last verifier's script exited with."""
        super().__init__(*args, **settings)

    @staticmethod
    def type() -> str:
        return "rlx-local"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(cpu_limit=True, memory_limit=True, fractional_cpus=True)

    def _validate_definition(self) -> None:
        """Raises `TaskError`; what the Dockerfile cannot is found out when it is planned."""
        if self._dockerfile is None and not self.task_env_config.docker_image:
            raise TaskError("The task has neither a Dockerfile nor an image.")

    @property
    def _dockerfile(self) -> Path | None:
        path = self.environment_dir / "Dockerfile"
        return path if path.is_file() else None

    async def start(self, force_build: bool) -> None:
        spec = await self._spec()
        sandbox = self._place.kind.make(spec)
        self._place.sandboxes.append(sandbox)
        self._sandbox = sandbox
        await sandbox.start()
        for note in sandbox.notes:
            self._place.noted(note)
        await self.ensure_dirs(self._mount_targets(writable_only=True) or _LOGS)
        if self._entrypoint:
            command = shlex.join((*self._entrypoint, *_COMMAND))
            await sandbox.exec(f"setsid {command} < /dev/null > /dev/null 2>&1 &")
        await self._upload_environment_dir_after_start()
        self.is_running = True
        self._place.started()

    async def _spec(self) -> SandboxSpec:
        config = self.task_env_config
        public = self._network_policy.network_mode == NetworkMode.PUBLIC
        network: Network = "public" if public else "none"
        layers: tuple[str, ...] = ()
        env: dict[str, str] = {}
        workdir, user = "/", None
        tools, helping = await asyncio.to_thread(_tools, self._place.kind, network)
        if self._dockerfile is not None:
            made = await asyncio.to_thread(_planned, self._place.kind, self._dockerfile, self.environment_dir)
            for note in made.notes:
                self._place.noted(note)
            base = await asyncio.to_thread(self._place.kind.base)
            building = tool_environment("public") if tools else {}
            replay = Replay(
                self._place.kind, made, self.environment_dir, tools=tools, env=building, tell=self._place.told
            )
            done = await replay.layers(base)
            layers, env = done.layers, dict(done.image.env)
            workdir, user = done.image.workdir, done.image.user
            self._entrypoint = done.image.entrypoint
        else:
            found = base_of(config.docker_image, self._place.kind.host())
            if isinstance(found, Refusal):
                raise TaskError(words(found.why))
            env = dict(found.env)
            for note in found.notes:
                self._place.noted(note)
        return SandboxSpec(
            layers=layers,
            tools=tools,
            env={**helping, **env, **self._persistent_env},
            workdir=config.workdir or workdir or "/",
            user=user,
            network=network,
            forward=self._place.forward,
            cpus=self._effective_cpus,
            memory_mb=self._effective_memory_mb,
            disk_mb=self._effective_storage_mb,
        )

    async def stop(self, delete: bool) -> None:
        self.is_running = False
        if self._sandbox is not None:
            await self._sandbox.stop()

    @property
    def sandbox(self) -> LocalSandbox:
        """The one that was started. Raises `SandboxError`."""
        if self._sandbox is None:
            raise SandboxError("The sandbox was not started.")
        return self._sandbox

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        whom = self._resolve_user(user)
        callback = self._output_callback()
        pieces: asyncio.Queue[tuple[Literal["stdout", "stderr"], bytes] | None] = asyncio.Queue()
        handing = asyncio.create_task(_hand_on(callback, pieces)) if callback is not None else None
        try:
            done = await self.sandbox.exec(
                command,
                cwd=cwd,
                env=self._merge_env(env),
                user=None if whom is None else str(whom),
                timeout=timeout_sec,
                on_output=(lambda stream, data: pieces.put_nowait((stream, data))) if handing is not None else None,
            )
        finally:
            if handing is not None:
                pieces.put_nowait(None)
                await asyncio.wait([handing])
        if _VERIFIER_OUTPUT in command:
            self.verifier_code = done.code
        if done.timed_out:
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds")  # as Harbor's own say it
        return ExecResult(
            stdout=done.stdout.decode("utf-8", "replace"),
            stderr=done.stderr.decode("utf-8", "replace"),
            return_code=done.code,
        )

    async def terminal(self, argv: Sequence[str], env: Mapping[str, str]) -> Terminal:
        """A command on a terminal, where and as whom an agent's commands run."""
        whom = self._resolve_user(None)
        return await self.sandbox.terminal(
            argv, env=self._merge_env(dict(env)), user=None if whom is None else str(whom)
        )

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await self.sandbox.upload(Path(source_path), target_path)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await self.sandbox.upload(Path(source_dir), target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        await self.sandbox.download(source_path, Path(target_path))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self.sandbox.download(source_dir, Path(target_dir))

    async def is_dir(self, path: str, user: str | int | None = None) -> bool:
        return await self.sandbox.is_dir(path)

    async def is_file(self, path: str, user: str | int | None = None) -> bool:
        return await self.sandbox.is_file(path)

    async def before_verification(self, *, keep_processes: bool) -> None:
        """Take away what could grade in the verifier's place: the agent's processes, and rewards it wrote."""
        if not keep_processes:
            await self.sandbox.kill_all()
        # Harbor removes files that are there, and fails at folders, with which an agent would escape its grading.
        if keep_processes or any([await self.sandbox.is_dir(path) for path in _REWARDS]):
            done = await self.sandbox.exec(["rm", "-rf", "--", *_REWARDS], cwd="/", user="root")
            if not done.ok:
                raise SandboxError("What the agent left in the place of the reward cannot be removed.")


_LOGS = ["/logs/agent", "/logs/verifier", "/logs/artifacts"]


def _tools(kind: Local, network: Network) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The tool layer where one was prepared, and the variables that make it be used. Blocks."""
    held = kind.layers.hold(tools_key())
    if held is None:
        return (), {}
    held.release()
    return (held.key,), tool_environment(network)


def _planned(kind: Local, dockerfile: Path, folder: Path) -> Plan:
    """Raises `TaskError` with the line that stands in the way. Blocks."""
    if dockerfile.stat().st_size > _LONGEST_DOCKERFILE:
        raise TaskError("The Dockerfile is larger than 1 MiB.")
    try:
        text = dockerfile.read_text("utf-8")
        ignored = folder / ".dockerignore"
        leaving = ignored.read_text("utf-8") if ignored.is_file() else None
    except UnicodeDecodeError as error:
        raise TaskError("The Dockerfile is not UTF-8.") from error
    made = plan(text, read_context(folder), host=kind.host(), dockerignore=leaving)
    if isinstance(made, Refusal):
        at = f"Line {made.line} of the Dockerfile: " if made.line else ""
        raise TaskError(f"{at}{words(made.why)}")
    lacking = replayable(made)
    if lacking is not None:
        raise TaskError(f"Line {lacking[1]} of the Dockerfile: {words(lacking[0])}")
    return made


async def _hand_on(
    callback: OutputCallback, pieces: "asyncio.Queue[tuple[Literal['stdout', 'stderr'], bytes] | None]"
) -> None:
    while (piece := await pieces.get()) is not None:
        await callback(piece[1].decode("utf-8", "replace"), piece[0])
