"""What a hostile program in a sandbox tries. Each attempt is real and has to fail for the attacker."""

import asyncio
import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

from rlx.errors import LimitError, SandboxError
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.sandbox import LocalSandbox
from tests.sandboxes.conftest import MakeSandbox

pytestmark = pytest.mark.anyio

PYTHON = 'PYTHONHOME=/.rlx/py LD_LIBRARY_PATH=/.rlx/py/lib /.rlx/py/bin/init -S -c "$CODE"'
"""The interpreter that is always there, for system calls that no program makes."""

SYSTEM_CALLS = {
    "mount": 'libc.mount(b"none", b"/mnt", b"tmpfs", 0, None)',
    "unmount": 'libc.umount2(b"/proc", 2)',
    "new user namespace": "libc.unshare(0x10000000)",
    "clone into a namespace": "libc.syscall(56, 0x10000011, 0, 0, 0, 0)",
    "chase namespaces": 'libc.setns(os.open("/proc/1/ns/mnt", 0), 0)',
    "pivot": 'libc.syscall(155, b"/mnt", b"/mnt")',
    "keys": 'libc.syscall(248, b"user", b"a", b"b", 1, -3)',
    "bpf": "libc.syscall(321, 0, 0, 0)",
    "perf": "libc.syscall(298, 0, 0, -1, -1, 0)",
    "userfaultfd": "libc.syscall(323, 1)",
    "io_uring": "libc.syscall(425, 1, 0)",
    "kexec": "libc.syscall(246, 0, 0, 0, 0)",
    "modules": 'libc.syscall(175, b"", 0, b"")',
    "the clock": "libc.settimeofday(b'\\0' * 16, None)",
    "the host's name": 'libc.syscall(170, b"x", 1)',
    "handles of files": 'libc.syscall(304, -100, b"\\0" * 64, 0)',
    "the machine below": "libc.socket(40, 1, 0)",
    "the kernel's ciphers": "libc.socket(38, 5, 0)",
    "typing into a terminal": 'libc.ioctl(0, 0x5412, b"x")',
    "tracing the agent": "libc.ptrace(16, 1, 0, 0)",
    "seizing the agent": "libc.ptrace(0x4206, 1, 0, 0)",
    "memory of the agent": "libc.syscall(310, 1, 0, 0, 0, 0, 0)",
    "a device": 'libc.mknod(b"/tmp/disk", 0o60666, 0xFE00)',
    "new mount calls": 'libc.syscall(430, b"tmpfs", 0)',
    "reboot": "libc.reboot(0)",
}

ATTEMPT = """
import ctypes, os
libc = ctypes.CDLL(None)
def attempt(name, call):
    try:
        print(name, "fails" if call() == -1 else "WORKS", flush=True)
    except OSError:
        print(name, "fails", flush=True)
"""


async def run(sandbox: LocalSandbox, code: str) -> str:
    done = await sandbox.exec(PYTHON, env={"CODE": code}, timeout=60)
    return (done.stdout + done.stderr).decode("utf-8", "replace")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls are those of x86-64")
async def test_no_system_call_leads_out(sandbox: MakeSandbox) -> None:
    tries = "\n".join(f"attempt({name!r}, lambda: {call})" for name, call in SYSTEM_CALLS.items())
    async with sandbox() as here:
        found = await run(here, f"{ATTEMPT}\n{tries}")
    assert found.splitlines() == [f"{name} fails" for name in SYSTEM_CALLS]


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sysrq-trigger",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/uevent_helper",
        "/dev/new",
        "/.rlx/inside/agent.py",
        "/.rlx/py/bin/new",
        "/proc/1/oom_score_adj",
        "/proc/1/mem",
    ],
)
async def test_nothing_of_the_kernel_or_the_host_can_be_written(path: str, sandbox: MakeSandbox) -> None:
    before = Path(path).read_text() if path.startswith(("/proc/sys/", "/sys/")) and Path(path).is_file() else ""
    async with sandbox() as here:
        done = await here.exec(f"echo escaped > {path}")
        assert done.code != 0
    if before:
        assert Path(path).read_text() == before


async def test_files_of_the_host_are_not_there(secret: Path, sandbox: MakeSandbox, local: Local) -> None:
    async with sandbox() as here, sandbox() as other:
        await other.exec("echo theirs > /theirs.txt")
        boxes = local.folder / "boxes"
        places = [secret, Path("/root"), Path("/work"), boxes, local.folder / "layers", Path.cwd(), Path.home()]
        for place in places:
            for prefix in ("", "/proc/1/root", "/proc/1/cwd", "/proc/self/root", "/../../.."):
                done = await here.exec(["find", f"{prefix}{place}", "-mindepth", "1", "-maxdepth", "1"])
                assert done.stdout == b"", f"{prefix}{place}"
        done = await here.exec(
            "grep -rl RLX-HOST-SECRET / --exclude-dir=proc --exclude-dir=usr 2>/dev/null; ls /theirs.txt"
        )
        assert done.stdout == b""
        disks = await here.exec("find /dev -type b; ls /dev | tr '\\n' ' '")
        usual = "core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero"
        assert disks.stdout.decode().split() == usual.split()


async def test_passwords_and_persons_of_the_host_are_not_there(sandbox: MakeSandbox) -> None:
    async with sandbox() as here:
        shadow = await here.exec("cut -d: -f2 /etc/shadow | sort -u; ls /etc/ssh /etc/machine-id /etc/ssl/private")
        assert shadow.stdout == b"*\n"
        persons = await here.exec("awk -F: '$3 >= 1000 && $3 != 65534' /etc/passwd")
        assert persons.stdout == b""


async def test_processes_of_the_host_cannot_be_seen_or_ended(sandbox: MakeSandbox) -> None:
    with subprocess.Popen(["sleep", "1005"]) as victim:
        try:
            async with sandbox() as here:
                await here.exec(f"kill -9 {victim.pid} {os.getpid()}; kill -9 -- -{victim.pid}")
                seen = await here.exec("ps -eo args | grep -c '^sleep 1005' || true")
                assert seen.stdout == b"0\n"
                await here.exec("kill -9 -1")
            assert victim.poll() is None
        finally:
            victim.kill()


async def test_the_agent_inside_tells_nothing_and_cannot_be_ended(sandbox: MakeSandbox) -> None:
    async with sandbox() as here:
        for part in ("environ", "mem", "maps", "map_files/", "root/", "cwd/", "exe", "fd/3"):
            done = await here.exec(f"ls /proc/1/{part} >/dev/null && cat /proc/1/{part} || exit 1")
            assert done.stdout == b"", part
        assert (await here.exec("readlink /proc/1/fd/* /proc/1/exe")).stdout == b""
        for attempt in ("kill -9 1", "kill -STOP 1", "pkill -9 -f python", "pkill -9 python", "killall -9 python3"):
            await here.exec(f"{attempt}; true")
            assert (await here.exec("echo usable", timeout=60)).ok, attempt
        await here.exec("kill -9 -1")
        assert (await here.exec("echo usable", timeout=60)).ok


async def test_a_program_cannot_become_somebody_with_more_rights(sandbox: MakeSandbox) -> None:
    async with sandbox() as here:
        await here.exec("cp /bin/bash /tmp/rooted && chmod 4755 /tmp/rooted")
        same = await here.exec("/tmp/rooted -p -c 'id -u'; su root -c 'id -u' </dev/null", user="nobody")
        first = (await here.exec("id -u", user="nobody")).stdout
        assert same.stdout.splitlines()[:1] == first.splitlines()
        raised = await here.exec("grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status | cut -f2 | sort -u")
        assert raised.stdout == b"00000000a80425fb\n"


async def test_abstract_sockets_of_the_host_are_not_reached(abstract: str, sandbox: MakeSandbox) -> None:
    code = f'import socket; s = socket.socket(socket.AF_UNIX); print(s.connect_ex("\\0{abstract}"))'
    async with sandbox() as here:
        assert (await run(here, code)).strip() != "0"
    async with sandbox(SandboxSpec(network="public")) as here:
        assert (await run(here, code)).strip() != "0"


async def test_what_an_agent_left_running_does_not_overwrite_the_reward(sandbox: MakeSandbox) -> None:
    async with sandbox(SandboxSpec(workdir="/logs/verifier")) as here:
        forger = "(setsid sh -c 'while :; do echo 1 > /logs/verifier/reward.txt; done' >/dev/null 2>&1 &)"
        await here.exec(forger)
        await here.exec("until [ -s reward.txt ]; do :; done", timeout=60)
        await here.kill_all()
        graded = await here.exec("echo 0 > reward.txt; for i in 1 2 3 4 5 6 7 8 9; do cat reward.txt; done")
        assert graded.stdout == b"0\n" * 9
        assert (await here.exec("ps -e | grep -vc -e sandbox -e ps -e grep -e bash -e PID || true")).stdout == b"0\n"


async def test_links_in_what_is_downloaded_lead_nowhere(secret: Path, sandbox: MakeSandbox, tmp_path: Path) -> None:
    target = tmp_path / "out"
    async with sandbox() as here:
        await here.exec(
            f"mkdir -p /d/sub && cd /d && ln -s {secret} file && ln -s {tmp_path} folder && ln -s ../../.. up"
            f" && ln -s {tmp_path} sub/inner && ln -s sub inward && mkfifo pipe && ln {'/etc/passwd'} hard"
        )
        await here.download("/d", target)
        assert sorted(path.name for path in target.iterdir()) == ["hard", "inward", "sub"]
        # The second time a folder stands where the host has a link from the first, and the other way round.
        await here.exec("cd /d && rm -r inward sub && mkdir inward && echo x > inward/evil && ln -s inward sub")
        await here.download("/d", target)
        assert (target / "inward/evil").read_text() == "x\n"
        assert not (target / "inward").is_symlink()
        assert (target / "sub").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "secret.txt"]
    assert secret.read_text() == "RLX-HOST-SECRET"


async def test_races_with_links_are_lost_by_the_sandbox(secret: Path, sandbox: MakeSandbox, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "a/b").mkdir(parents=True)
    (source / "a/b/file").write_text("ours")
    swap = (
        f"while :; do rm -rf /t/a; ln -s {secret.parent} /t/a; rm -f /t/a; mkdir -p /t/a/b; echo x > /t/a/b/file; done"
    )
    async with sandbox() as here:
        await here.exec(f"mkdir -p /t; (while :; do {swap}; done) >/dev/null 2>&1 &")
        for number in range(15):
            with contextlib.suppress(SandboxError):
                await here.upload(source, "/t")
            with contextlib.suppress(SandboxError):
                await here.download("/t", tmp_path / f"out{number % 2}")
    assert secret.read_text() == "RLX-HOST-SECRET"
    names = {path.name for path in tmp_path.iterdir()}
    assert names <= {"secret.txt", "source", "out0", "out1"}
    assert not list(tmp_path.glob("out*/**/secret.txt"))


async def test_a_disk_is_not_filled_by_sparse_or_shared_memory_files(sandbox: MakeSandbox) -> None:
    async with sandbox(SandboxSpec(disk_mb=64)) as here:
        assert (await here.exec("truncate -s 1T /tmp/huge")).code != 0
        assert (await here.exec("head -c 100M /dev/zero > /dev/shm/full")).code != 0
        assert (await here.exec("echo usable")).ok


async def test_empty_files_without_end_are_too_many(sandbox: MakeSandbox) -> None:
    code = 'i = 0\nwhile True:\n    i += 1\n    open(f"/tmp/{i}", "w").close()'
    async with sandbox(SandboxSpec(disk_mb=4)) as here:
        with pytest.raises(LimitError, match="disk"):
            await run(here, code)


async def test_past_its_disk_limit_a_sandbox_says_so_until_it_is_stopped(sandbox: MakeSandbox) -> None:
    async with sandbox(SandboxSpec(disk_mb=32)) as here:
        fill = "i=0; while :; do i=$((i+1)); head -c 4M /dev/zero > /tmp/$i; sleep 0.02; done"
        with pytest.raises(LimitError, match="32 MB of disk"):
            await here.exec(fill, timeout=60)
        with pytest.raises(LimitError):
            await here.exec("true")
        assert "sandbox.note.over.disk" in {note.key for note in here.notes}


async def test_ending_from_outside_is_told_and_leaves_nothing(sandbox: MakeSandbox) -> None:
    async with sandbox() as here:
        running = asyncio.create_task(here.exec("sleep 1007"))
        while not (await here.exec("ps -eo args | grep '^sleep 1007'")).ok:
            pass
        outermost = next(int(name.removeprefix("process ")) for name in here.remains() if name.startswith("process "))
        os.kill(outermost, signal.SIGKILL)
        with pytest.raises(SandboxError, match="ended"):
            await running
    assert here.remains() == []
