"""However it ends, nothing of a sandbox is left: no process, no mount, and no folder once it is reaped."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.watch import is_alive
from rlx.settings import Settings
from tests.sandboxes.conftest import MakeSandbox

pytestmark = pytest.mark.anyio

WORKER = """
import asyncio, json, sys
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings

async def main():
    sandbox = Local(Settings(cache_dir=sys.argv[1])).make(SandboxSpec())
    await sandbox.start()
    await sandbox.exec("(setsid sleep 1010 >/dev/null 2>&1 &)")
    print(json.dumps(sandbox._engine.pids()), flush=True)
    await sandbox.exec("sleep 1011")

asyncio.run(main())
"""


def mounts() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()


def groups(boxes: list[str]) -> list[Path]:
    return [path for box in boxes for path in Path("/sys/fs/cgroup").glob(f"**/rlx-{box}")]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_worker_leaves_no_process_and_no_mount(how: int, local: Local, sandbox_settings: Settings) -> None:
    before = mounts()
    command = [sys.executable, "-c", WORKER, str(sandbox_settings.cache_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        pids = json.loads(worker.stdout.readline())
        assert len(pids) >= 3
        waiting = [os.pidfd_open(pid) for pid in pids if is_alive(pid)]
        os.kill(worker.pid, how)
    for descriptor in waiting:
        ready, _, _ = select.select([descriptor], [], [], 60)
        os.close(descriptor)
        assert ready
    assert mounts() == before
    boxes = os.listdir(local.folder / "boxes")
    assert local.reap() == len(boxes) == 1
    assert os.listdir(local.folder / "boxes") == []
    assert groups(boxes) == []


async def test_reaping_spares_sandboxes_that_run(sandbox: MakeSandbox, local: Local) -> None:
    async with sandbox() as here:
        assert local.reap() == 0
        assert (await here.exec("echo usable > /file && cat /file")).stdout == b"usable\n"


async def test_stopping_twice_or_before_the_start_is_harmless(local: Local) -> None:
    made = local.make(SandboxSpec())
    await made.stop()
    await made.start()
    await made.stop()
    await made.stop()
    assert made.remains() == []


async def test_files_that_nobody_may_enter_are_removed_too(sandbox: MakeSandbox) -> None:
    async with sandbox() as here:
        await here.exec("mkdir -p /a/b/c && touch /a/b/c/d && chmod 0 /a/b/c /a/b /a; mkdir -m 0 /z")
    assert here.remains() == []


async def test_eight_sandboxes_stopped_while_they_start_leave_nothing(local: Local) -> None:
    made = [local.make(SandboxSpec()) for _ in range(8)]
    starting = [asyncio.create_task(one.start()) for one in made]
    await asyncio.wait(starting, return_when=asyncio.FIRST_COMPLETED)
    for task in starting:
        task.cancel()
    await asyncio.gather(*starting, return_exceptions=True)
    await asyncio.gather(*(one.stop() for one in made))
    assert [left for one in made for left in one.remains()] == []
    assert groups([path.name for one in made for path in one._made]) == []


async def test_a_stop_goes_through_though_its_caller_is_cancelled(local: Local) -> None:
    made = local.make(SandboxSpec())
    await made.start()
    stopping = asyncio.create_task(made.stop())
    await asyncio.wait([stopping], timeout=0)
    stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert made.remains() == []


async def test_limits_are_watched_while_the_caller_is_busy(sandbox: MakeSandbox) -> None:
    async with sandbox(SandboxSpec(memory_mb=64)) as here:
        running = asyncio.create_task(
            here.exec("head -c 3000000000 /dev/zero | tail | wc -c >/dev/null; exit ${PIPESTATUS[1]}", timeout=60)
        )
        await asyncio.wait([running], timeout=0)
        deadline = time.monotonic() + 60
        while not any(note.key == "sandbox.note.over.memory" for note in here.notes) and time.monotonic() < deadline:
            pass  # as a library does that blocks its loop
        done = await running
    assert done.code == 128 + signal.SIGKILL
    assert not done.timed_out


def test_what_was_left_half_removed_is_reaped_once_it_is_old(local: Local) -> None:
    half = local.folder / "boxes" / "half"
    (half / "work").mkdir(parents=True)
    assert local.reap() == 0
    os.utime(half, (0, 0))
    assert local.reap() == 1
    assert not half.exists()
