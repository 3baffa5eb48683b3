"""One local sandbox, as whoever uses it sees it. The work is done in the thread of `loop`."""

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rlx.errors import LimitError, SandboxError
from rlx.sandboxes.base import ExecResult, OnOutput, SandboxSpec
from rlx.sandboxes.local import machine
from rlx.sandboxes.local.boxes import Box, make_box
from rlx.sandboxes.local.engine import END, PROXY_PORT, Engine
from rlx.sandboxes.local.inside import trees
from rlx.sandboxes.local.layers import Layer
from rlx.sandboxes.local.link import Answer, Link
from rlx.sandboxes.local.loop import tended
from rlx.sandboxes.local.output import Capture
from rlx.sandboxes.local.terminal import Terminal
from rlx.sandboxes.local.watch import is_alive
from rlx.texts import Say, say

if TYPE_CHECKING:
    from rlx.sandboxes.local.kind import Local

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PROXY = f"http://127.0.0.1:{PROXY_PORT}"
PROXIES = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _PROXY)
DIRECT = dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1")
CANNOT_RUN = 126

type _Tell = Callable[[bytes], None]


class LocalSandbox:
    """Made by `Local.make`. See `rlx.sandboxes.base.Sandbox`."""

    name = "local"

    def __init__(self, kind: "Local", spec: SandboxSpec) -> None:
        self.spec = spec
        self.notes: Sequence[Say] = ()
        self._kind = kind
        self._box: Box | None = None
        self._layers: list[Layer] = []
        self._engine: Engine | None = None
        self._captures: set[Capture] = set()
        self._over: list[str] = []
        self._made: list[Path] = []
        self._pids: list[int] = []

    async def start(self) -> None:
        try:
            await tended(self._start)
        except BaseException:
            await self._surely(self._stop)
            raise

    async def exec(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # as the contract has it
        on_output: OnOutput | None = None,
    ) -> ExecResult:
        argv = [_shell(), "-c", command] if isinstance(command, str) else list(command)
        request = {
            "argv": argv,
            "cwd": cwd or self.spec.workdir,
            "env": self._environment(env or {}),
            "user": user or self.spec.user,
            "pretend": not machine.everybody(),
        }
        tells: list[_Tell | None] = [None, None]
        if on_output is not None:
            loop = asyncio.get_running_loop()
            tells = [partial(_hand_over, loop, on_output, "stdout"), partial(_hand_over, loop, on_output, "stderr")]
        return await tended(lambda: self._exec(request, timeout, tells))

    async def terminal(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
    ) -> Terminal:
        """Start a command on a terminal of the sandbox; the caller closes it. Raises `SandboxError`."""
        request = {
            "argv": list(argv),
            "cwd": cwd or self.spec.workdir,
            "env": self._environment(env or {}),
            "user": user or self.spec.user,
            "pretend": not machine.everybody(),
        }
        number, descriptor, answer = await tended(lambda: self._terminal(request))

        async def ended() -> Answer:
            return await asyncio.shield(answer)

        async def end() -> None:
            await tended(lambda: self._kill(number))

        async def code() -> int:
            return int((await tended(ended)).get("code", CANNOT_RUN))

        return Terminal(descriptor, code, end)

    async def upload(self, source: Path, target: str) -> None:
        await tended(lambda: self._upload(source, target))

    async def download(self, source: str, target: Path) -> None:
        await tended(lambda: self._download(source, target))

    async def is_file(self, path: str) -> bool:
        return await tended(lambda: self._look(path)) == "file"

    async def is_dir(self, path: str) -> bool:
        return await tended(lambda: self._look(path)) == "folder"

    async def kill_all(self, user: str | None = None) -> None:
        await tended(lambda: self._kill_all(user))

    async def commit(self, key: str) -> None:
        """End the sandbox and keep what it wrote as the layer `key`. Raises `SandboxError`, `LimitError`."""
        await self._surely(lambda: self._commit(key))

    async def stop(self) -> None:
        await self._surely(self._stop)

    def remains(self) -> Sequence[str]:
        here = [str(path) for path in self._made if path.exists()]
        return here + [f"process {pid}" for pid in self._pids if is_alive(pid)]

    async def _surely[T](self, work: "Callable[[], Awaitable[T]]") -> T:
        """To its end, also where whoever waits is cancelled, who is told afterwards."""

        async def run() -> T:
            return await work()

        running = asyncio.ensure_future(tended(run))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([running])
            if not running.cancelled():
                running.exception()
            raise

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        network = PROXIES | DIRECT if self.spec.network == "public" else {}
        return {"PATH": PATH, **network, **self.spec.env, **more}

    async def _start(self) -> None:
        if self._engine is not None:
            raise SandboxError("The sandbox was started before.")
        try:
            await asyncio.to_thread(self._prepare)
        except OSError as error:
            raise SandboxError(f"The sandbox's folder cannot be made: {error.strerror}.") from error
        if self._box is None:
            raise SandboxError("The sandbox has no folder.")
        self._engine = Engine(self._box, self.spec, cgroups=self._kind.options.cgroups, over=self._ran_over)
        await self._engine.start(self._layers)
        self.notes = tuple(self._engine.notes)
        self._pids = self._engine.pids()
        made = await self._ask("exec", self._folder_request())
        if made.get("code") != 0:
            raise SandboxError(f"The working folder {self.spec.workdir} cannot be made.")

    def _folder_request(self) -> dict[str, object]:
        argv = ["mkdir", "-p", self.spec.workdir]
        return {"argv": argv, "cwd": "/", "env": {"PATH": PATH}, "user": None, "pretend": not machine.everybody()}

    def _prepare(self) -> None:
        """Hold every layer, the uppermost first, and make a folder. Blocks."""
        wanted = [*reversed(self.spec.layers), *reversed(self.spec.tools), self._kind.base()]
        for key in wanted:
            layer = self._kind.layers.hold(key)
            if layer is None:
                raise SandboxError(f"The layer {key} is not here.", hint="It is made again by the next run.")
            self._layers.append(layer)
        self._box = make_box(self._kind.folder / "boxes")
        self._made.append(self._box.path)

    async def _exec(
        self, request: Mapping[str, object], seconds: float | None, tells: Sequence[_Tell | None]
    ) -> ExecResult:
        if "disk" in self._over:
            raise self._limit("disk")
        before = len(self._over)
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(2)]
        captures = [Capture(reading, tell) for (reading, _), tell in zip(pipes, tells, strict=True)]
        self._captures.update(captures)
        try:
            number, answer = self._link().ask("exec", [null, *(writing for _, writing in pipes)], **request)
        finally:
            for descriptor in (null, *(writing for _, writing in pipes)):
                os.close(descriptor)
        timed_out = False
        try:
            async with asyncio.timeout(seconds):
                reply = await asyncio.shield(answer)
        except TimeoutError:
            timed_out = True
            await self._kill(number)
            reply = await self._soon(answer)
        except asyncio.CancelledError:
            with suppress(SandboxError):
                await self._kill(number)
            raise
        finally:
            kept = [capture.finish() for capture in captures]
            self._captures = {capture for capture in self._captures if not capture.closed}
        limits = [name for name in self._over[before:] if name != "memory"]
        if limits:
            raise self._limit(limits[0])
        if reply.get("error"):
            kept[1] += f"{shlex.join(map(str, request['argv'][:1]))}: {reply['error']}\n".encode()  # type: ignore[index]
        left_out = sum(capture.left_out for capture in captures)
        return ExecResult(int(reply.get("code", CANNOT_RUN)), kept[0], kept[1], timed_out, left_out)

    async def _terminal(self, request: Mapping[str, object]) -> tuple[int, int, asyncio.Future[Answer]]:
        """Its number, our side of it, and the end of its command to come."""
        number, opened, answer = self._link().ask_terminal(**request)
        try:
            return number, await opened, answer
        except asyncio.CancelledError:
            if answer.done():
                raise SandboxError(f"No terminal could be opened: {answer.result().get('error')}.") from None
            with suppress(SandboxError):
                await self._kill(number)
            raise

    async def _kill(self, number: int) -> None:
        await self._soon(self._link().ask("kill", target=number)[1])

    async def _soon(self, answer: asyncio.Future[Answer]) -> Answer:
        """What comes at once unless the sandbox is broken."""
        try:
            async with asyncio.timeout(END):
                return await answer
        except TimeoutError as error:
            raise SandboxError("The sandbox does not answer.", hint="Stop it.") from error

    async def _kill_all(self, user: str | None) -> None:
        if user is not None and not machine.everybody():
            user = None  # everybody is root here
        answer = await self._ask("sweep", {"user": user})
        if answer.get("error"):
            raise SandboxError(str(answer["error"]))

    async def _upload(self, source: Path, target: str) -> None:
        reading, writing = os.pipe2(os.O_CLOEXEC)

        def send() -> None:
            with suppress(BrokenPipeError), os.fdopen(writing, "wb", trees.CHUNK) as stream:
                trees.send(os.fspath(source), stream)

        await self._transfer("receive", target, (reading, writing), send, f"{source.name} to {target}")

    async def _download(self, source: str, target: Path) -> None:
        reading, writing = os.pipe2(os.O_CLOEXEC)
        limit = self._engine.disk if self._engine is not None else 0

        def receive() -> None:
            with os.fdopen(reading, "rb", trees.CHUNK) as stream:
                trees.receive(stream, os.fspath(target), limit=limit, inward=True, plain=True)

        await self._transfer("send", source, (writing, reading), receive, source)

    async def _transfer(self, do: str, path: str, ends: tuple[int, int], work: Callable[[], None], what: str) -> None:
        """The first end of a stream for the agent, the other for `work`, which in a thread uses and closes it."""
        try:
            number, answer = self._link().ask(do, ends[:1], path=path)
        except SandboxError:
            os.close(ends[1])
            raise
        finally:
            os.close(ends[0])
        working = asyncio.create_task(asyncio.to_thread(work))
        try:
            await asyncio.wait([working])
            if working.exception() is not None:
                # Its stream is closed, so the other end stops too; and where that failed first, it says why.
                reply = await answer
                raise SandboxError(f"Cannot transfer {what}: {reply.get('error') or _reason(working.exception())}.")
            reply = await answer
        except asyncio.CancelledError:
            with suppress(SandboxError):
                await self._kill(number)
            await asyncio.wait([working])
            raise
        if reply.get("error") or reply.get("code"):
            raise SandboxError(f"Cannot transfer {what}: {reply.get('error') or 'it was killed'}.")

    async def _look(self, path: str) -> str:
        return str((await self._ask("look", {"path": path})).get("kind", ""))

    async def _ask(self, do: str, message: Mapping[str, object]) -> Answer:
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            answer = self._link().ask(do, [null] * 3 if do == "exec" else (), **message)[1]
        finally:
            os.close(null)
        return await answer

    def _link(self) -> Link:
        if self._engine is None or self._engine.link is None:
            raise SandboxError("The sandbox is not running.")
        return self._engine.link

    def _ran_over(self, limit: str) -> None:
        self._over.append(limit)
        note = say(f"sandbox.note.over.{limit}")
        if note not in self.notes:
            self.notes = (*self.notes, note)

    def _limit(self, name: str) -> LimitError:
        units = {"disk": f"{(self._engine.disk if self._engine else 0) // 2**20:,} MB of disk", "pids": "processes"}
        return LimitError(f"The sandbox used more than its limit of {units[name]}; what ran in it was ended.")

    async def _commit(self, key: str) -> None:
        if self._engine is None or self._box is None:
            raise SandboxError("The sandbox is not running.")
        await self._engine.end()
        if "disk" in self._over:
            raise self._limit("disk")
        box = self._box

        def keep() -> None:
            with self._kind.layers.making(key) as folder:
                for upper in box.uppers:
                    upper.rename(folder / upper.name)

        await asyncio.to_thread(keep)
        await self._stop()

    async def _stop(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.end()
        for capture in self._captures:
            capture.close()
        self._captures.clear()
        box, self._box = self._box, None
        if box is not None:
            await asyncio.to_thread(box.remove)
        while self._layers:
            self._layers.pop().release()


def _shell() -> str:
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"


def _hand_over(
    loop: asyncio.AbstractEventLoop, on_output: OnOutput, stream: Literal["stdout", "stderr"], data: bytes
) -> None:
    loop.call_soon_threadsafe(on_output, stream, data)


def _reason(error: BaseException | None) -> str:
    return error.strerror or "failed" if isinstance(error, OSError) else str(error)
