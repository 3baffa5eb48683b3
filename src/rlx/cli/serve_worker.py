"""The worker that `rlx serve` keeps: a process of its own, started again when it ends, and ended with the server."""

import os
import subprocess
import sys
import time
from importlib.util import find_spec

import anyio
import anyio.abc

from rlx.settings import Settings

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a worker that ended is started again, doubled each time that it ends soon."""
ENDS = 60.0
"""Seconds that a worker has to end by itself."""
_VARIABLES = ("RLX_CACHE_DIR", "RLX_DATABASE_URL", "RLX_VIEWER_URL", "RLX_TRUST_LOCAL", "RLX_SANDBOXES")


def can_work() -> bool:
    """Whether what runs rollouts is installed here."""
    return sys.platform == "linux" and all(find_spec(name) is not None for name in ("harbor", "openenv"))


async def keep_working(settings: Settings, slots: int) -> None:
    """Until cancelled."""
    wait = FIRST_WAIT
    while True:
        began = time.monotonic()
        async with await anyio.open_process(
            command(settings, slots),
            env=variables(settings),
            stdin=subprocess.DEVNULL,
            stdout=None,
            stderr=None,
        ) as process:
            try:
                await process.wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)
        wait = FIRST_WAIT if time.monotonic() - began > LONGEST_WAIT else min(wait * 2, LONGEST_WAIT)
        await anyio.sleep(wait)


def command(settings: Settings, slots: int) -> list[str]:
    told = ["--hub", settings.hub, "--store", str(settings.store), "--slots", str(slots)]
    return [sys.executable, "-m", "rlx", "worker", *told, "--parent", str(os.getpid())]


def variables(settings: Settings) -> dict[str, str]:
    """Of this process's environment what a worker may know, and where it works."""
    from rlx.jobs.worker_process import KEPT_VARIABLES
    from rlx.sandboxes.named import variables_of

    known = {*KEPT_VARIABLES, *variables_of(settings.sandboxes), *_VARIABLES}
    kept = {name: value for name, value in os.environ.items() if name in known}
    return kept | {"RLX_CACHE_DIR": str(settings.cache_dir)}


async def _end(process: "anyio.abc.Process") -> None:
    if process.returncode is not None:
        return
    process.terminate()
    with anyio.move_on_after(ENDS):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
