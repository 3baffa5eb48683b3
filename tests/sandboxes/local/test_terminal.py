"""A terminal in a sandbox: what is typed, what is shown, its size, its end."""

import asyncio
import os

import pytest

from rlx.errors import SandboxError
from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.local.terminal import Terminal
from tests.sandboxes.conftest import MakeSandbox

pytestmark = pytest.mark.anyio
SHELL = ("/bin/sh", "-c", "stty -echo; echo ready; exec sh")


async def told(terminal: Terminal, until: bytes) -> bytes:
    """What it shows, until it shows this."""
    shown = b""
    while until not in shown:
        piece = await terminal.read()
        assert piece, shown
        shown += piece
    return shown


async def test_a_command_has_a_terminal_of_the_sandbox_with_a_size(sandbox: MakeSandbox) -> None:
    async with sandbox(SandboxSpec(workdir="/app", env={"TERM": "xterm"})) as made:
        terminal = await made.terminal(SHELL, env={"MORE": "told"})
        try:
            terminal.resize(91, 17)
            await told(terminal, b"ready")
            await terminal.write(b"tty; stty size; pwd; echo $MORE $TERM; id -u; echo e-nd\n")
            shown = await told(terminal, b"e-nd")
            assert b"/dev/pts/0\r\n17 91\r\n/app\r\ntold xterm\r\n0\r\n" in shown
            await terminal.write(b"exit 7\n")
            assert await terminal.ended() == 7
            while await terminal.read():  # its prompt may come late; then there is an end
                pass
        finally:
            terminal.close()


async def test_keys_reach_what_runs_and_the_end_of_it_can_be_asked_for(sandbox: MakeSandbox) -> None:
    async with sandbox() as made:
        terminal = await made.terminal(("/bin/sh", "-c", "trap 'echo interr-upted' INT; echo on; sleep 60; sleep 60"))
        try:
            await told(terminal, b"on")
            await terminal.write(b"\x03")
            await told(terminal, b"interr-upted")
            await terminal.end()
            assert await terminal.ended() != 0
            await terminal.write(b"nobody takes this")
        finally:
            terminal.close()


async def test_more_than_a_command_takes_waits_and_is_not_lost(sandbox: MakeSandbox) -> None:
    async with sandbox() as made:
        terminal = await made.terminal(("/bin/sh", "-c", "stty raw -echo; echo on; head -c 300000 | wc -c; sleep 60"))
        try:
            await told(terminal, b"on")
            await terminal.write(os.urandom(300_000))
            assert b"300000" in await told(terminal, b"300000")
        finally:
            terminal.close()


async def test_a_user_owns_the_terminal_and_a_command_that_is_not_there_is_told(sandbox: MakeSandbox) -> None:
    async with sandbox() as made:
        terminal = await made.terminal(("/bin/sh", "-c", "echo > $(tty) && stat -c %U $(tty)"), user="daemon")
        try:
            await told(terminal, b"daemon")
        finally:
            terminal.close()
        missing = await made.terminal(("/no/such/program",))
        assert await missing.ended() == 127
        missing.close()
        with pytest.raises(SandboxError, match="no user"):
            await made.terminal(("/bin/true",), user="nobody-known")


async def test_whoever_reads_is_told_when_the_sandbox_goes(sandbox: MakeSandbox) -> None:
    async with sandbox() as made:
        terminal = await made.terminal(SHELL)
        await told(terminal, b"# ")
        reading = asyncio.create_task(terminal.read())
        await made.stop()
        assert await reading == b""
        with pytest.raises(SandboxError):
            await terminal.ended()
        terminal.close()
