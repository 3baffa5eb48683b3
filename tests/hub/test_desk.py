"""The desk keeps what was asked for last, and runs what goes on beside the requests once."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from rlx.errors import Upstream
from rlx.hub.desk import HEAVY, KEPT, MAX_DRAWERS, Desk

pytestmark = pytest.mark.anyio


def test_what_was_asked_for_last_is_remembered(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.keep("first", 1) == desk.keep("first", 2) == desk.find("first") == 1
    for number in range(KEPT - 1):
        desk.keep(str(number), number)
    assert desk.find("first") == 1
    desk.keep("one more", 0)
    assert (desk.find("first"), desk.find("0")) == (1, None)


def test_of_what_is_heavy_little_is_remembered(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.keep("light", "x")
    for number in range(HEAVY + 1):
        desk.keep(str(number), number, heavy=True)
    assert [desk.find(str(number)) for number in range(HEAVY + 1)] == [None, *range(1, HEAVY + 1)]
    assert desk.find("light") == "x"


def test_drawers_make_room_for_others(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for number in range(MAX_DRAWERS + 5):
        drawer = desk.drawer(str(number))
        (drawer / "x").write_text("x")
        os.utime(drawer, (number, number))
    assert {path.name for path in tmp_path.iterdir()} == {str(number) for number in range(5, MAX_DRAWERS + 5)}
    assert (desk.drawer("204") / "x").read_text() == "x"


def test_drawers_are_opened_by_many_at_once(tmp_path: Path) -> None:
    desks = [Desk(tmp_path), Desk(tmp_path)]
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda n: desks[n % 2].drawer(str(n)), range(3 * MAX_DRAWERS)))
    assert len(opened) == 3 * MAX_DRAWERS
    assert len(list(tmp_path.iterdir())) <= MAX_DRAWERS + 8


def test_what_a_killed_process_left_over_goes(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    old, new = desk.scratch(".db"), desk.scratch(".db")
    old.write_text("x")
    new.write_text("x")
    os.utime(old, (0, 0))
    desk.drawer("a")
    assert (old.exists(), new.exists()) == (False, True)


async def test_work_runs_once_and_its_failure_is_its_own(tmp_path: Path) -> None:
    ran: list[str] = []
    go_on = anyio.Event()

    async def work() -> None:
        ran.append("work")
        await go_on.wait()
        raise Upstream("The Hub is down.")

    async def bug() -> None:
        ran.append("bug")
        raise LookupError("unforeseen")

    async with anyio.create_task_group() as group:
        desk = Desk(tmp_path, group)
        assert desk.start("a", work)
        assert desk.start("a", work)
        assert desk.start("b", bug)
        await anyio.wait_all_tasks_blocked()
        go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert sorted(ran) == ["bug", "work"]
        desk.start("a", work)
    assert ran.count("work") == 2
    assert not Desk(tmp_path).start("a", work)
