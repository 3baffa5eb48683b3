"""Programs of frameworks: started in a group of their own, and ended with all that they started."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_LEASH = Path(__file__).with_name("leash.py")
_GRACE = 10.0
"""Seconds for the leash to end its program. What killed the leash itself may have left that running."""
_OUTPUT = 20_000
"""Characters of what a command writes to standard error that are kept, its end."""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    output: str
    """Standard output, then standard error."""


@asynccontextmanager
async def started(
    command: Sequence[str],
    folder: Path,
    variables: Mapping[str, str],
    *,
    stdin: int = asyncio.subprocess.DEVNULL,
    output: int | IO[bytes] = asyncio.subprocess.PIPE,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program that runs while the block does, and no longer than this process, however that ends."""
    reading, ours = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(_LEASH),
            str(reading),
            *command,
            cwd=folder,
            env=dict(variables),
            stdin=stdin,
            stdout=output,
            stderr=output,
            pass_fds=(reading,),
            start_new_session=True,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(reading)
    try:
        yield process
    finally:
        os.close(ours)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE)
        with suppress(ProcessLookupError, PermissionError):  # nothing of the group is left
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def execute(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], *, seconds: float, given: bytes = b""
) -> Done:
    """Run a program to its end. One that takes longer is killed with all that it started, and has code 124."""
    async with started(command, folder, variables, stdin=asyncio.subprocess.PIPE) as process:
        try:
            out, err = await asyncio.wait_for(process.communicate(given), seconds)
        except TimeoutError:
            return Done(124, f"It took longer than {seconds:g} seconds.")
    return Done(process.returncode or 0, _told(out, err))


def _told(out: bytes, err: bytes) -> str:
    text = out.decode(errors="replace")
    rest = err.decode(errors="replace")[-_OUTPUT:]
    return f"{text}\n{rest}".strip() if rest else text
