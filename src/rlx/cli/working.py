"""A worker for as long as a command needs one: this machine's, or one of its own where there is none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread

from rlx.cli.output import note
from rlx.cli.serve_worker import can_work, keep_working
from rlx.errors import BadInput, RlxError, Upstream
from rlx.runners.launch import Launcher
from rlx.runners.workers import living
from rlx.services import Services

POLL = 0.25
READY = 300.0
"""Seconds that a worker may take to be ready: it imports much."""


@asynccontextmanager
async def at_work(services: Services, launcher: Launcher, slots: int) -> AsyncIterator[None]:
    """Raises `BadInput` where nothing can run rollouts, `Upstream` for a worker that does not get ready."""
    if await anyio.to_thread.run_sync(living, launcher.workers):
        yield
        return
    if not can_work():
        raise BadInput(
            "No worker runs on this machine, and what runs rollouts is not installed.",
            hint="pip install 'rl-explorer[run]', or start rlx worker elsewhere over this store.",
        )
    note("No worker runs on this machine: one is started for as long as this takes.")
    failed: RlxError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(keep_working, services.settings, slots)
        try:
            await _until_ready(launcher)
            yield
        except RlxError as error:  # carried out by hand: the task group would wrap it
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed


async def _until_ready(launcher: Launcher) -> None:
    for _ in range(int(READY / POLL)):
        if await anyio.to_thread.run_sync(living, launcher.workers):
            return
        await anyio.sleep(POLL)
    raise Upstream(f"A worker was not ready within {READY:.0f} seconds.", hint="Start one with rlx worker, and see.")
