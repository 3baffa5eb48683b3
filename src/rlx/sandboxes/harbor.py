"""Harbor's environments over sandboxes of ours: what they share, and what is done in any of them beside the agent."""

import asyncio
import logging
import shlex
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from harbor.environments.base import BaseEnvironment, ExecResult, OutputCallback

from rlx.errors import SandboxError, TaskError
from rlx.sandboxes.base import Address, Sandbox, SandboxKind
from rlx.texts import Say

_log = logging.getLogger(__name__)

_COMMAND: Final = ("sh", "-c", "sleep infinity")
"""What Harbor's own containers run, by way of the image's ENTRYPOINT where it has one."""
LOGS: Final = ["/logs/agent", "/logs/verifier", "/logs/artifacts"]
_REWARDS: Final = ("/logs/verifier/reward.txt", "/logs/verifier/reward.json")
_VERIFIER_OUTPUT: Final = "/logs/verifier/test-stdout.txt"
_END_ALL: Final = "kill -9 -1; exit 0"
"""Everything but the first process of a container and the shell itself."""
CONTAINERS: Final = frozenset({"docker", "podman"})
"""Of Harbor's own, those where no process inside serves the sandbox itself."""


@dataclass(slots=True)
class Place:
    """Where environments of one trial are made, and what became of them."""

    kind: SandboxKind
    told: Callable[[str], None] = lambda text: None
    """Hears what the building of an image writes."""
    noted: Callable[[Say], None] = lambda note: None
    """Hears what a reader should know of a sandbox."""
    started: Callable[[], None] = lambda: None
    """Told when a sandbox is ready."""
    agent_layers: Sequence[str] = ()
    """Keys of layers that the agent needs in its sandbox; a verifier's own has none of them."""
    agent_memory_mb: int = 0
    """What it takes there itself, on top of what the task may take."""
    forward: Address | None = None
    """What its sandboxes reach at a port of their own, whatever their network."""
    sandboxes: list[Sandbox] = field(default_factory=list)

    async def stop(self) -> None:
        """End whatever still runs."""
        for sandbox in self.sandboxes:
            try:
                await sandbox.stop()
            except SandboxError as error:
                _log.warning("A sandbox could not be stopped: %s", error.message)


PLACE: ContextVar[Place] = ContextVar("place")
"""Of the trial that runs in this context."""


class SandboxEnvironment(BaseEnvironment):  # type: ignore[misc]  # harbor's types are not followed
    """Over any sandbox of the contract; `_made` of a subclass says how one is made."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._place = PLACE.get()
        self._sandbox: Sandbox | None = None
        self._entrypoint: tuple[str, ...] = ()
        self.is_running = False
        self.verifier_code: int | None = None
        """What the last verifier's script exited with."""
        super().__init__(*args, **settings)

    def _validate_definition(self) -> None:
        """Raises `TaskError`; what the Dockerfile cannot is found out when it is planned."""
        if self._dockerfile is None and not self.task_env_config.docker_image:
            raise TaskError("The task has neither a Dockerfile nor an image.")

    @property
    def _dockerfile(self) -> Path | None:
        path = self.environment_dir / "Dockerfile"
        return path if path.is_file() else None

    @abstractmethod
    async def _made(self) -> Sandbox:
        """One that is started, and was handed to `_keep` before that."""

    def _keep(self, sandbox: Sandbox) -> None:
        """It is ended with the trial, whatever happens."""
        self._place.sandboxes.append(sandbox)
        self._sandbox = sandbox

    async def start(self, force_build: bool) -> None:
        sandbox = await self._made()
        for note in sandbox.notes:
            self._place.noted(note)
        await self.ensure_dirs(self._mount_targets(writable_only=True) or LOGS)
        if self._entrypoint:
            command = shlex.join((*self._entrypoint, *_COMMAND))
            await sandbox.exec(f"setsid {command} < /dev/null > /dev/null 2>&1 &")
        await self._upload_environment_dir_after_start()
        self.is_running = True
        self._place.started()

    async def stop(self, delete: bool) -> None:
        self.is_running = False
        if self._sandbox is not None:
            await self._sandbox.stop()

    @property
    def sandbox(self) -> Sandbox:
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


async def aside(environment: BaseEnvironment, command: str, *, seconds: int | None = None) -> tuple[int, str]:
    """Run a command of ours as root, of which the trial's logs hear nothing. Its exit code and output."""
    if isinstance(environment, SandboxEnvironment):
        done = await environment.sandbox.exec(command, cwd="/", user="root", timeout=seconds)
        return done.code, done.stdout.decode("utf-8", "replace")
    told = await environment.exec(command, cwd="/", user="root", timeout_sec=seconds)
    return told.return_code, told.stdout or ""


async def before_verification(environment: BaseEnvironment, *, keep_processes: bool) -> None:
    """Take away what could grade in the verifier's place: the agent's processes, and rewards it wrote.

    In sandboxes of others a process may be what serves the sandbox, and so all are left there.
    """
    if isinstance(environment, SandboxEnvironment):
        await environment.before_verification(keep_processes=keep_processes)
        return
    if not keep_processes and str(environment.type()) in CONTAINERS:
        await aside(environment, _END_ALL)
    code, _ = await aside(environment, f"rm -rf -- {' '.join(_REWARDS)}")
    if code != 0:
        raise SandboxError("What the agent left in the place of the reward cannot be removed.")


async def _hand_on(
    callback: OutputCallback, pieces: "asyncio.Queue[tuple[Literal['stdout', 'stderr'], bytes] | None]"
) -> None:
    while (piece := await pieces.get()) is not None:
        await callback(piece[1].decode("utf-8", "replace"), piece[0])
