"""The jobs of a local hub: each in a local sandbox, bounded in number and time, and gone when the hub ends."""

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from rlx.errors import LimitError, SandboxError
from rlx.localhub.access import Visitor
from rlx.localhub.jobs.job import Job, JobSpec
from rlx.localhub.wire import Refusal
from rlx.sandboxes.base import Network, SandboxSpec
from rlx.sandboxes.dockerfile import Refusal as ImageRefusal
from rlx.sandboxes.dockerfile import base_of
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.tools import tool_environment, tools_key
from rlx.texts import words

_KEPT: Final = 200
"""Jobs that have ended and are still told of."""


@dataclass(slots=True)
class Jobs:
    """Used from one event loop, whose end ends every job."""

    kind: Local
    most: int = 8
    """Jobs at once."""
    longest: float = 6 * 3600.0
    """Seconds that a job may take, whatever it asks for."""
    _jobs: dict[str, Job] = field(default_factory=dict)

    def start(self, owner: str, spec: JobSpec) -> Job:
        """Raises `Refusal` where there are too many."""
        running = sum(not job.ended for job in self._jobs.values())
        if running >= self.most:
            raise Refusal(429, "", f"{running} jobs run on this local hub, and no more may.", [(b"retry-after", b"30")])
        job = Job(secrets.token_hex(12), owner, spec, datetime.now(UTC))
        self._jobs[job.id] = job
        job.touched = asyncio.get_running_loop().time()
        job.task = asyncio.create_task(self._play(job), name=f"job {job.id}")
        for old in [each.id for each in self._jobs.values() if each.ended][:-_KEPT]:
            del self._jobs[old]
        return job

    def find(self, id: str, visitor: Visitor) -> Job:
        """Raises `Refusal` for one that is not there or another's."""
        job = self._jobs.get(id)
        if job is None or not owns(visitor, job.owner):
            raise Refusal(404, "", "Job not found")
        return job

    def of(self, owner: str) -> Iterator[Job]:
        """The latest first."""
        return (job for job in reversed(self._jobs.values()) if job.owner == owner)

    async def cancel(self, job: Job) -> None:
        """End a job, and wait until nothing of it is left."""
        if job.task is not None and not job.task.done():
            job.task.cancel()
            await asyncio.wait([job.task])

    async def _play(self, job: Job) -> None:
        try:
            async with asyncio.timeout(min(job.spec.timeoutSeconds, self.longest)):
                await self._run(job)
        except TimeoutError:
            job.end("ERROR", "Job timeout")
        except (SandboxError, LimitError) as error:
            job.end("ERROR", error.message)
        except asyncio.CancelledError:
            job.end("CANCELED")
        finally:
            for process in job.processes.values():
                process.task.cancel()
            if job.sandbox is not None:
                with suppress(SandboxError):  # what then remains is removed by whoever reaps
                    await job.sandbox.stop()

    async def _run(self, job: Job) -> None:
        job.sandbox = self.kind.make(await asyncio.to_thread(self._spec, job.spec))
        await job.sandbox.start()
        job.stage, job.started = "RUNNING", datetime.now(UTC)
        if job.spec.is_sandbox:
            await _until_idle(job)
            job.end("COMPLETED")
            return
        command = [*job.spec.command, *job.spec.arguments]
        done = await job.sandbox.exec(command, on_output=lambda _, data: job.log(data))
        if done.ok:
            job.end("COMPLETED")
        else:
            job.end("ERROR", f"Job failed with exit code: {done.code}")

    def _spec(self, spec: JobSpec) -> SandboxSpec:
        """Raises `SandboxError` for an image that this machine cannot stand in for. Blocks."""
        if spec.dockerImage is None:
            raise SandboxError("This local hub runs no images of Spaces.")
        base = base_of(spec.dockerImage, self.kind.host())
        if isinstance(base, ImageRefusal):
            raise SandboxError(words(base.why))
        network: Network = "public" if self.kind.options.public_network else "none"
        held = self.kind.layers.hold(tools_key())
        env = {**base.env, **spec.variables}
        if held is None:
            return SandboxSpec(env=env, network=network)
        held.release()
        return SandboxSpec(tools=(held.key,), env={**tool_environment(network), **env}, network=network)


def owns(visitor: Visitor, name: str) -> bool:
    return visitor.user is not None and name in (visitor.user.name, *visitor.user.orgs)


async def _until_idle(job: Job) -> None:
    """Until nobody called for as long as it was told, and nothing runs in the background. A command is no call."""
    told = str(job.spec.environment.get("SBX_IDLE_TIMEOUT", ""))
    if not told.isascii() or not told.isdigit():
        await asyncio.Event().wait()
    loop = asyncio.get_running_loop()
    while (left := job.touched + float(told) - loop.time()) > 0:
        await asyncio.sleep(left)
        if any(not process.task.done() for process in job.processes.values()):
            job.touched = loop.time()
