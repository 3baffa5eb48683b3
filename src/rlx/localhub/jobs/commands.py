"""Commands of the Sandbox API: run while their output is sent, or left in the background."""

import asyncio
import codecs
import secrets
import tempfile
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from rlx.errors import LimitError, SandboxError
from rlx.localhub.jobs.job import Job, Process, Values
from rlx.localhub.wire import Refusal, json_bytes
from rlx.sandboxes.base import ExecResult, OnOutput, Sandbox

PING: Final = 10.0
"""Seconds after which a silent command says that it still runs."""
MOST_WAITING: Final = 32 * 1024 * 1024
"""Bytes of output that nobody has taken yet."""
MOST_PROCESSES: Final = 64
_MOST_STDIN: Final = 4 * 1024 * 1024
_WITH_STDIN: Final = 'input=$1; shift; exec 3< "$input"; rm -f -- "$input"; exec "$@" <&3 3<&-'
_WITH_PID: Final = 'echo $$; exec "$@"'


class Command(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    cmd: str | Annotated[list[str], Field(min_length=1)]
    shell: bool | None = None
    env: Values = {}
    cwd: str | None = None
    timeout: float | None = Field(default=None, gt=0)
    stdin: str | None = Field(default=None, max_length=_MOST_STDIN)

    @property
    def argv(self) -> list[str]:
        return ["/bin/sh", "-c", self.cmd] if isinstance(self.cmd, str) else self.cmd

    @property
    def variables(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.env.items()}


async def execute(sandbox: Sandbox, command: Command) -> AsyncGenerator[bytes]:
    """Lines of JSON: what the command writes, signs of life, and how it ended. Left early, the command ends."""
    decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
    async with aclosing(_stream(sandbox, command)) as stream:
        async for piece in stream:
            match piece:
                case ExecResult():
                    for name, decoder in decoders.items():
                        if rest := decoder.decode(b"", final=True):
                            yield _line(event=name, data=rest)
                    yield _line(event="exit", exit_code=piece.code, timed_out=piece.timed_out)
                case None:
                    yield _line(event="ping")
                case name, data:
                    yield _line(event=name, data=decoders[name].decode(data))


async def output(sandbox: Sandbox, command: Command) -> AsyncGenerator[bytes]:
    """What the command writes to its standard output."""
    async with aclosing(_stream(sandbox, command)) as stream:
        async for piece in stream:
            if isinstance(piece, tuple) and piece[0] == "stdout":
                yield piece[1]


type _Piece = tuple[str, bytes] | ExecResult | None


async def _stream(sandbox: Sandbox, command: Command) -> AsyncGenerator[_Piece]:
    """What comes of a command: pieces of its streams, None where it was silent for a while, and its end."""
    pieces: deque[tuple[str, bytes]] = deque()
    news = asyncio.Event()
    waiting = 0

    def hear(name: str, data: bytes) -> None:
        nonlocal waiting
        pieces.append((name, data))
        waiting += len(data)
        if waiting > MOST_WAITING:
            running.cancel()  # whoever asked takes too little of it
        news.set()

    running = asyncio.create_task(_run(sandbox, command, hear))
    running.add_done_callback(lambda _: news.set())
    try:
        while True:
            while pieces:
                piece = pieces.popleft()
                waiting -= len(piece[1])
                yield piece
            if running.done():
                break
            news.clear()
            try:
                await asyncio.wait_for(news.wait(), PING)
            except TimeoutError:
                yield None
        if not running.cancelled():
            yield running.result()
    finally:
        running.cancel()
        await asyncio.wait([running])


async def _run(sandbox: Sandbox, command: Command, hear: OnOutput) -> ExecResult:
    argv = command.argv
    if command.stdin is not None:
        place = await _stdin(sandbox, command.stdin)
        argv = ["/bin/sh", "-c", _WITH_STDIN, "sh", place, *argv]
    try:
        return await sandbox.exec(argv, cwd=command.cwd, env=command.variables, timeout=command.timeout, on_output=hear)
    except LimitError as error:
        hear("stderr", f"{error.message}\n".encode())
        return ExecResult(137, b"", b"")
    except SandboxError as error:
        hear("stderr", f"{error.message}\n".encode())
        return ExecResult(126, b"", b"")


async def _stdin(sandbox: Sandbox, text: str) -> str:
    place = f"/tmp/.sbx-stdin-{secrets.token_hex(8)}"  # noqa: S108  # inside
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "stdin"
        source.write_text(text)
        await sandbox.upload(source, place)
    return place


async def background(job: Job, sandbox: Sandbox, command: Command) -> dict[str, object]:
    """Start a command that is not waited for. Raises `Refusal` where too many run."""
    for id in [id for id, process in job.processes.items() if process.task.done()][: -MOST_PROCESSES // 2]:
        del job.processes[id]
    if len(job.processes) >= MOST_PROCESSES:
        raise Refusal(429, "", f"{MOST_PROCESSES} processes run in this sandbox.")
    first: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    told = bytearray()

    def hear(stream: str, data: bytes) -> None:
        if not first.done() and stream == "stdout":
            told.extend(data)
            line, end, _ = bytes(told).partition(b"\n")
            if end:
                first.set_result(int(line))

    async def run() -> int:
        argv = ["/bin/sh", "-c", _WITH_PID, "sh", *command.argv]
        try:
            done = await sandbox.exec(argv, cwd=command.cwd, env=command.variables, on_output=hear)
        except (SandboxError, LimitError):
            return 137
        return done.code

    task = asyncio.create_task(run())
    await asyncio.wait([first, task], return_when=asyncio.FIRST_COMPLETED)
    if not first.done():
        raise Refusal(400, "", f"The command could not be started: exit code {task.result()}.")
    process = Process(secrets.token_hex(8), first.result(), command.cmd, datetime.now(UTC), task)
    job.processes[process.id] = process
    return {"id": process.id, "pid": process.pid}


async def stop_process(job: Job, id: str) -> bool:
    """Whether this ended it. Raises `Refusal` for one that is not there."""
    process = job.processes.get(id)
    if process is None:
        raise Refusal(404, "", "No such process.")
    if process.task.done():
        return False
    process.task.cancel()
    await asyncio.wait([process.task])
    return True


def _line(**event: object) -> bytes:
    return json_bytes(event) + b"\n"
