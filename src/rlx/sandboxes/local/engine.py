"""The processes of one sandbox: made in one go, watched, and ended so that none is left. Runs in `loop`'s thread."""

import asyncio
import json
import os
import platform
import random
import signal
import socket
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from rlx.errors import SandboxError
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local import machine
from rlx.sandboxes.local.arguments import bubblewrap
from rlx.sandboxes.local.boxes import TREES, Box
from rlx.sandboxes.local.cgroups import Groups, Wanted, make_groups, possible_groups
from rlx.sandboxes.local.forward import FORWARD, PROXY, Outlet
from rlx.sandboxes.local.layers import Layer
from rlx.sandboxes.local.link import Link
from rlx.sandboxes.local.seccomp import program
from rlx.sandboxes.local.watch import Watch, Watched, below, processes
from rlx.texts import Say, say

MEGABYTE = 1024 * 1024
START = 60.0
"""Seconds for a sandbox to be ready."""
END = 20.0
"""Seconds for killed processes to be gone."""
MEMORY, DISK, PIDS = 4096, 10240, 1024
"""What a spec without limits gets: megabytes twice, and processes."""
PROXY_PORT = 3128
OWN_PROCESSES = 2
"""bubblewrap and the agent."""
ROUNDS = 100
"""Tries to remove a control group."""
SAID = 4000
"""Bytes told of what a sandbox's making wrote to standard error."""
_INSIDE = Path(__file__).parent / "inside"


class Engine:
    """Started once and ended once. `over` is told the name of a limit that something in the sandbox ran into."""

    def __init__(self, box: Box, spec: SandboxSpec, *, cgroups: bool, over: Callable[[str], None]) -> None:
        self.box = box
        self.spec = spec
        self.disk = (spec.disk_mb or DISK) * MEGABYTE
        self.notes: list[Say] = []
        self.link: Link | None = None
        self._wanted = Wanted(spec.pids or PIDS, (spec.memory_mb or MEMORY) * MEGABYTE, spec.cpus)
        self._groups = Groups((), frozenset())
        self._cgroups = cgroups
        self._over = over
        self._outlet = Outlet(spec.forward, public=spec.network == "public")
        self._process: Process | None = None
        self._inner: list[int] = []
        self._watching: asyncio.Task[None] | None = None

    async def start(self, layers: Sequence[Layer]) -> None:
        """Over the layers, the uppermost first. Raises `SandboxError` with what the making said."""
        if self._cgroups:
            name = f"rlx-{self.box.name}"
            self.box.note_groups(possible_groups(name))  # before there are any, lest a killed process forget them
            self._groups = make_groups(name, self._wanted)
        self.notes += self._fallbacks()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        said = os.memfd_create("said")
        try:
            self.link = Link(ours, self._outlet.take)
            with theirs:
                self._process = await self._spawn(layers, theirs, said)
            async with asyncio.timeout(START):
                await self.link.ready
                await self._listen()
        except (SandboxError, TimeoutError, OSError) as error:
            text = os.pread(said, SAID, 0).decode("utf-8", "replace").strip()
            raise SandboxError(f"The sandbox did not start: {text or type(error).__name__}.") from error
        finally:
            os.close(said)
        for each in _below(self._process):
            self._inner.append(os.pidfd_open(each))
        self._watching = asyncio.get_running_loop().create_task(self._watch().run())

    async def end(self) -> None:
        """Kill everything in it. When this returns nothing of it runs, and nothing is mounted."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._outlet.close()
        async with asyncio.timeout(END):
            while self._inner:
                await _kill_one(self._inner[-1])
                os.close(self._inner.pop())
            if self._process is not None:
                await _kill(self._process)
        if self.link is not None:
            self.link.close()
        for _ in range(ROUNDS):  # the dead stay in their group for a moment
            if self._groups.remove():
                break
            await asyncio.sleep(0.02)

    async def _spawn(self, layers: Sequence[Layer], control: socket.socket, said: int) -> Process:
        runtime, bwrap = machine.runtime(), machine.find_bubblewrap()
        if runtime is None or bwrap is None:
            raise SandboxError("There is no interpreter or no bubblewrap for it.")
        with ExitStack() as stack:
            filter_at = stack.enter_context(_memory(program(platform.machine(), pretend_ids=not machine.everybody())))
            options, agent = bubblewrap(
                root=self.box.path / "merged",
                filter_at=filter_at.fileno(),
                control=control.fileno(),
                runtime=runtime,
                inside=_INSIDE,
            )
            # By descriptor, or everybody in the sandbox would read them in the list of processes.
            options_at = stack.enter_context(_memory("\0".join([*options, ""]).encode()))
            settings = {
                "argv": [str(bwrap), "--args", str(options_at.fileno()), "--", *agent],
                "box": str(self.box.path),
                "trees": self._trees(layers),
                "everybody": machine.everybody(),
                "cgroups": self._groups.doors,
                "limits": self._rlimits(),
                "cores": self._cores(),
            }
            settings_at = stack.enter_context(_memory(json.dumps(settings).encode()))
            return await asyncio.create_subprocess_exec(
                str(runtime.program),
                *("-B", "-E", "-s", "-S", str(_INSIDE / "stage.py"), str(settings_at.fileno())),
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=said,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
                cwd="/",
                start_new_session=True,
                pass_fds=[control.fileno(), *(file.fileno() for file in (filter_at, options_at, settings_at))],
            )

    def _trees(self, layers: Sequence[Layer]) -> list[dict[str, object]]:
        """Names in the box stand for layers, so that many of them fit into one mount."""
        trees: list[dict[str, object]] = []
        for tree in TREES:
            sources = [layer.path / tree for layer in layers if (layer.path / tree).is_dir()]
            if tree == "usr":
                sources.append(Path("/usr"))
            lower = []
            for number, source in enumerate(sources):
                name = f"l/{tree[0]}{number}"
                (self.box.path / name).symlink_to(source)
                lower.append(name)
            at = "" if tree == "root" else tree
            trees.append({"at": at, "lower": lower, "upper": f"up/{tree}", "work": f"work/{tree}"})
        return trees

    def _rlimits(self) -> dict[str, int]:
        limits = {"RLIMIT_FSIZE": self.disk, "RLIMIT_CORE": 0}
        if "pids" not in self._groups.limits and not machine.everybody():
            limits["RLIMIT_NPROC"] = self._wanted.pids + OWN_PROCESSES
        return limits

    def _cores(self) -> list[int]:
        """Where processor time is not limited, at least the number of processors is."""
        known = sorted(os.sched_getaffinity(0))
        if self._wanted.cpus is None or "cpu" in self._groups.limits or self._wanted.cpus >= len(known):
            return []
        return sorted(random.sample(known, max(1, round(self._wanted.cpus))))  # to spread them, no secret

    def _fallbacks(self) -> list[Say]:
        kept, notes = self._groups.limits, [say("sandbox.note.host")]
        if not machine.everybody():
            notes.append(say("sandbox.note.one_user"))
        if "memory" not in kept:
            notes.append(say("sandbox.note.memory"))
        if "pids" not in kept and machine.everybody():
            notes.append(say("sandbox.note.pids"))
        if "cpu" not in kept and self._wanted.cpus is not None:
            notes.append(say("sandbox.note.cpus"))
        notes.append(say("sandbox.note.disk"))
        notes.append(say(f"sandbox.note.network.{self.spec.network}"))
        return notes

    async def _listen(self) -> None:
        ports = {}
        if self.spec.forward is not None:
            ports[FORWARD] = self.spec.forward_port
        if self.spec.network == "public":
            ports[PROXY] = PROXY_PORT
        if ports and self.link is not None:
            answer = await self.link.ask("listen", ports=ports)[1]
            if "error" in answer:
                raise SandboxError(str(answer["error"]))

    def _watch(self) -> Watch:
        outermost = self._process.pid if self._process is not None else 0
        kept = self._groups.limits
        watched = Watched(
            process=outermost,
            spared=min(OWN_PROCESSES, len(below(outermost, processes()))),
            memory=None if "memory" in kept else self._wanted.memory,
            pids=None if "pids" in kept or not machine.everybody() else self._wanted.pids,
            disk=self.disk,
            folders=self.box.uppers,
        )
        return Watch(watched, self.sweep, self._over)

    def pids(self) -> list[int]:
        """Of what runs in it now, seen from outside."""
        return [each.pid for each in below(self._process.pid, processes())] if self._process is not None else []

    def sweep(self) -> None:
        """Kill everything in it but itself, whoever waits for it being told."""
        if self.link is not None:
            with suppress(SandboxError):
                self.link.ask("sweep", user=None)


def _memory(data: bytes) -> IO[bytes]:
    """A file without a name, to be read from its start by whoever inherits it."""
    file = os.fdopen(os.memfd_create("told"), "w+b", buffering=0)
    file.write(data)
    file.seek(0)
    return file


def _below(process: Process) -> list[int]:
    return [each.pid for each in processes() if each.parent == process.pid]


async def _kill(process: Process) -> None:
    """From the inside: the first process in the namespace is gone when all the others are, then the one outside.

    The line to the agent stays open meanwhile: without it the one outside would not wait for those inside.
    """
    while process.returncode is None:
        for pid in _below(process) or [process.pid]:
            with suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                try:
                    await _kill_one(descriptor)
                finally:
                    os.close(descriptor)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), 0.5)


async def _kill_one(descriptor: int) -> None:
    """Kill a process, and wait until it is dead."""
    loop, dead = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, dead.set)
    try:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        await dead.wait()
    finally:
        loop.remove_reader(descriptor)
