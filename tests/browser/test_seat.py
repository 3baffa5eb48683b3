"""A person works on a task in the browser: a real worker, a real sandbox, a real terminal."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visitor, read, served
from tests.browser.test_axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.run_extra, pytest.mark.timeout(300)]
TASK = "/t/rl-explorer/first-steps/tasks/tidy-config"
PATIENCE = 150_000
SOLUTION = (
    r"sed 's/#.*//; s/[ \t]*=[ \t]*/=/; s/^[ \t]*//; s/[ \t]*$//' service.conf | "
    r"""awk -F= '/=/ {at = index($0, "="); kept[tolower($1)] = substr($0, at + 1)} """
    r"""END {for (key in kept) print key " = " kept[key]}' | LC_ALL=C sort > /tmp/new; cat /tmp/new > service.conf"""
)


@pytest.fixture
def visit_working(browser: Browser, tmp_path: Path, require_tool: Callable[[str], str]) -> Iterator[Visitor]:
    require_tool("bwrap")
    with served("--demo", store=tmp_path, worker=True) as url:
        read(url, "/d/rl-explorer/first-steps", TASK)
        visitor = Visitor(browser, url)
        yield visitor
        visitor.close()
        assert not visitor.problems, "\n".join(visitor.problems)


def test_a_person_solves_the_demo_task_in_the_browser(visit_working: Visitor) -> None:
    page = visit_working(TASK)
    page.get_by_role("button", name="Try it yourself").click(timeout=PATIENCE)
    expect(page).to_have_url(re.compile(r"/run/\w+/seat$"))
    state = page.locator("[data-state]")
    expect(state).to_contain_text("The terminal is open. Minutes left: 5", timeout=PATIENCE)
    expect(page.locator("[data-instruction]")).to_contain_text("Tidy a configuration file")
    screen = page.locator(".xterm-rows")
    expect(screen).to_contain_text("sandbox:/app#")
    page.keyboard.type("printf '\\e[38;2;9;99;9mt%se\\e[0m %s\\n' ru 한글\n")
    expect(screen).to_contain_text("true 한글")
    page.keyboard.type("ls serv")
    page.keyboard.press("Tab")
    expect(screen).to_contain_text("ls service.conf")
    page.keyboard.press("F6")
    expect(page.get_by_role("button", name="Grade it")).to_be_focused()
    assert not violations(page)

    other = visit_working(page.url.removeprefix(visit_working.url))
    expect(other.locator(".xterm-rows")).to_contain_text("true 한글", timeout=PATIENCE)
    expect(state).to_contain_text("Somebody took this seat")
    other.keyboard.press("Control+C")
    other.keyboard.type(f"{SOLUTION}; echo solv''ed\n")
    expect(other.locator(".xterm-rows")).to_contain_text("solved", timeout=PATIENCE)
    other.get_by_role("button", name="Grade it").click()
    expect(other).to_have_url(re.compile(r"/run/\w+$"))
    expect(other.locator(".score")).to_have_text("1", timeout=PATIENCE)
    expect(other.locator("main")).to_contain_text("sed 's/#.*//")
