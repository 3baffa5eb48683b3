"""A seat without a sandbox: its terminal is a pair of this machine's."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from rlx.runners.seats.record import Record
from rlx.runners.seats.seat import WINDOW, Patience, Seat, SeatIdle, Visitor
from rlx.sandboxes.local.terminal import Terminal

pytestmark = pytest.mark.anyio


class Shell:
    """What runs at a terminal, played by a test."""

    def __init__(self) -> None:
        self.side = -1
        self.opened = asyncio.Event()

    async def __call__(self, argv: Sequence[str], env: Mapping[str, str]) -> Terminal:
        ours, self.side = os.openpty()

        async def nothing() -> Any:
            return 0

        self.opened.set()
        return Terminal(ours, nothing, nothing)

    def end(self) -> None:
        os.close(self.side)


def seat(patience: Patience | None = None) -> Seat:
    return Seat(Record(lambda kind, data: None, str, lambda: datetime.now(UTC)), patience=patience)


async def shown(visitor: Visitor, text: bytes) -> bytes:
    found = b""
    while text not in found:
        found += await visitor.take()
        visitor.saw(visitor.sent)
    return found


async def test_whoever_leaves_a_shell_may_have_another_or_be_graded() -> None:
    made, shell = seat(), Shell()
    sitting = asyncio.create_task(made.sit(shell, "Do it.", bash=True))
    await shell.opened.wait()
    visitor = made.attend()
    shell.opened.clear()
    shell.end()
    await shown(visitor, b"The shell has ended.")
    made.type(b"x")
    made.type(b"\r")
    await shell.opened.wait()
    shell.end()
    await shown(visitor, b"The shell has ended.")
    made.type(b"g")
    await sitting
    assert visitor.gone
    assert not made.is_open


async def test_a_seat_that_nobody_takes_or_types_at_ends() -> None:
    for patience in (Patience(away=0.01), Patience(away=60, idle=0.01)):
        shell = Shell()
        with pytest.raises(SeatIdle):
            await seat(patience).sit(shell, "Do it.", bash=True)
        shell.end()


async def test_no_more_is_on_its_way_than_the_visitor_takes() -> None:
    made, shell = seat(), Shell()
    sitting = asyncio.create_task(made.sit(shell, "Do it.", bash=True))
    await shell.opened.wait()
    visitor = made.attend()
    os.set_blocking(shell.side, False)
    written = 0
    for _ in range(400):
        with suppress(BlockingIOError):
            written += os.write(shell.side, b"x" * 4000)
        await asyncio.sleep(0)
    assert len(visitor.waiting) <= WINDOW + 64 * 1024
    assert written <= WINDOW + 128 * 1024
    taken = 0
    while taken < written:
        taken += len(await visitor.take())
        visitor.saw(taken)
    made.grade()
    await sitting
    shell.end()


async def test_what_was_shown_is_shown_again_to_whoever_comes_back() -> None:
    made, shell = seat(), Shell()
    sitting = asyncio.create_task(made.sit(shell, "Do it.", bash=True))
    await shell.opened.wait()
    first = made.attend()
    os.write(shell.side, b"hello\n")
    await shown(first, b"hello")
    second = made.attend()
    assert first.gone
    assert b"hello" in await second.take()
    sitting.cancel()
    await asyncio.gather(sitting, return_exceptions=True)
    assert second.gone
    shell.end()
