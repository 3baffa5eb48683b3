"""The contract of a sandbox: a place where commands of strangers run, made from a spec and gone when it is stopped.

Everything blocks nobody: calls are coroutines of asyncio, and a call that is cancelled leaves nothing running of what
it started. What fails in a sandbox's own machinery raises `SandboxError`, what is past a limit `LimitError`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from rlx.texts import Say

type Network = Literal["none", "public"]
type OnOutput = Callable[[Literal["stdout", "stderr"], bytes], None]
"""Told what a command writes while it runs, in the loop of whoever called. It may not block or raise."""

KEPT = 1024 * 1024
"""Bytes kept of each end of each stream of a command."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What a sandbox is to be. Limits that are None are the kind's own."""

    layers: Sequence[str] = ()
    """Keys of layers over the base, the lowest first."""
    tools: Sequence[str] = ()
    """Keys of prepared layers with programs, over the base and under `layers`."""
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "/"
    """Absolute. Made when it is missing."""
    user: str | None = None
    """Whom commands run as that name nobody: `name`, `uid` or either with `:group`. None: root."""
    network: Network = "none"
    forward: Address | None = None
    """What the sandbox reaches at this port of its own loopback, whatever `network` says."""
    forward_port: int = 8484
    cpus: float | None = None
    memory_mb: int | None = None
    disk_mb: int | None = None
    """In all: what it writes, however many files that is."""
    pids: int | None = None


@dataclass(frozen=True, slots=True)
class ExecResult:
    code: int
    """Of the command; 128 and the signal's number when one ended it; 126 or 127 when it could not be started."""
    stdout: bytes
    stderr: bytes
    timed_out: bool = False
    truncated: int = 0
    """Bytes left out between the kept ends of both streams."""

    @property
    def ok(self) -> bool:
        return self.code == 0 and not self.timed_out


@dataclass(frozen=True, slots=True)
class Possible:
    """This machine can run such a sandbox, with what a reader should know of it."""

    notes: Sequence[Say] = ()


@dataclass(frozen=True, slots=True)
class Impossible:
    """This machine cannot: why, and what to do about it."""

    why: Say
    hint: Say | None = None


class Sandbox(Protocol):
    """One sandbox. `start` once, `stop` always; in between as many calls at once as one likes."""

    name: str
    """Of its kind."""
    spec: SandboxSpec
    """What it was made from."""
    notes: Sequence[Say]
    """What a reader should know of this one, once it is started: what is approximated, which limits fell back."""

    async def start(self) -> None:
        """Make it. When this returns, commands run in the finished root. Raises `SandboxError`."""
        ...

    async def exec(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # not of the call: what then ends is in the sandbox
        on_output: OnOutput | None = None,
    ) -> ExecResult:
        """Run a command: a text with the shell, a sequence as it is.

        Past `timeout` seconds everything it started is killed and `timed_out` set. What it leaves running otherwise
        goes on until the sandbox stops. Raises `SandboxError` when the sandbox is gone, `LimitError` when a limit of
        the sandbox ended the command.
        """
        ...

    async def upload(self, source: Path, target: str) -> None:
        """A file to the path `target`, or what a folder holds into the folder `target`; all of it is root's."""
        ...

    async def download(self, source: str, target: Path) -> None:
        """The same the other way. Nothing is written outside of `target`, and no link out of it is kept."""
        ...

    async def is_file(self, path: str) -> bool: ...

    async def is_dir(self, path: str) -> bool: ...

    async def kill_all(self, user: str | None = None) -> None:
        """End every process in the sandbox, or every one of `user`; it can be used on."""
        ...

    async def stop(self) -> None:
        """End it and remove what it wrote. May be called at any time and again."""
        ...

    def remains(self) -> Sequence[str]:
        """What of it is still on this machine: folders and processes. Nothing once it is stopped."""
        ...


class SandboxKind(Protocol):
    """A way to make sandboxes."""

    @property
    def name(self) -> str: ...

    def can_run(self) -> Possible | Impossible:
        """Whether this machine can, found out by trying. Blocks for up to some seconds."""
        ...

    def make(self, spec: SandboxSpec) -> Sandbox:
        """One that is not started yet. Raises `BadInput` for a spec that it cannot keep."""
        ...
