"""Harbor's own verdict on tasks, from one process for a whole dataset. Absent where harbor is not installed."""

import importlib.util
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from rlx.store.passing import passing

_log = logging.getLogger(__name__)

START_SECONDS = 30.0
"""For the first answer, which waits for the import."""
TASK_SECONDS = 10.0
"""For each answer after it."""
IGNORES = (".harborignore", "tests/.harborignore", "solution/.harborignore")
"""Files whose contents Harbor looks at beside settings and instructions; of others it asks whether they are there."""
_NAMED = ("instruction.md", "Dockerfile", "docker-compose.yaml", "test.sh", "test.bat")


@dataclass(frozen=True, slots=True)
class Question:
    """A task as Harbor would find it."""

    ref: str
    paths: tuple[str, ...]
    """Everything listed, task-relative."""
    contents: Mapping[str, bytes]
    """Of settings, instructions and ignore files."""

    def line(self) -> bytes:
        """Only the files Harbor looks for; one stands for all others of its folder."""
        named = [path for path in self.paths if path.rpartition("/")[2] in _NAMED]
        folders = {path.partition("/")[0]: path for path in self.paths if "/" in path}
        files: dict[str, str] = dict.fromkeys((*named, *folders.values()), "")
        files |= {path: data.decode("utf-8", "surrogateescape") for path, data in self.contents.items()}
        return json.dumps({"ref": self.ref, "files": files}).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Verdict:
    ref: str
    harbor: str
    """Harbor's version."""
    loads: bool
    why: str | None


def available() -> bool:
    """Whether harbor is installed; looks without importing it."""
    return importlib.util.find_spec("harbor") is not None


async def verdicts(questions: Sequence[Question]) -> Mapping[str, Verdict]:
    """By ref. What a crash or a limit left unanswered is missing, and logged."""
    if not questions or not available():
        return {}
    found: dict[str, Verdict] = {}
    command = [sys.executable, "-m", "rlx.formats.harbor.verdict_worker"]
    with passing("harbor-verdict-") as folder:
        await _judged(command, folder, questions, found)
    if len(found) < len(questions):
        _log.warning("Harbor judged %d of %d tasks before it stopped.", len(found), len(questions))
    return found


async def _judged(
    command: Sequence[str], folder: Path, questions: Sequence[Question], found: dict[str, Verdict]
) -> None:
    """Ask a process of its own, which lays tasks out in `folder`."""
    environment = _environment() | {"TMPDIR": str(folder)}
    with anyio.CancelScope(shield=True):  # cancelled half-way, asyncio would leave the pipes open
        started = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)
    async with started as process:
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("The process was opened without its pipes.")
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_ask, stdin, questions)
                with suppress(anyio.BrokenResourceError, anyio.EndOfStream, TimeoutError):
                    await _listen(stdout, len(questions), found)
                group.cancel_scope.cancel()
        finally:
            if process.returncode is None:
                process.kill()


async def _ask(stdin: ByteSendStream, questions: Sequence[Question]) -> None:
    try:
        for question in questions:
            await stdin.send(question.line())
        await stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the process is gone; the listener tells


async def _listen(stdout: ByteReceiveStream, wanted: int, found: dict[str, Verdict]) -> None:
    rest = b""
    while len(found) < wanted:
        with anyio.fail_after(TASK_SECONDS if found else START_SECONDS):
            rest += await stdout.receive()
        *lines, rest = rest.split(b"\n")
        for line in lines:
            raw: Any = json.loads(line)
            found[raw["ref"]] = Verdict(raw["ref"], raw["harbor"], raw["loads"], raw["why"])


def _environment() -> dict[str, str]:
    """Nothing of this process but what Python needs to start: no token, no key."""
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"HARBOR_TELEMETRY": "0"}
