"""A rollout that goes on, as a reader sees it: what happens comes by itself, what was opened stays open."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Visitor, recording, served
from tests.browser.test_axe import violations
from tests.recorded import TALK, Recorder

pytestmark = pytest.mark.browser


@pytest.fixture
def going(tmp_path: Path, fixture_hub: Path) -> Iterator[tuple[str, Recorder]]:
    """The address of a server, and who writes into its store."""
    with recording(tmp_path) as recorder, served("--hub", str(fixture_hub), store=tmp_path) as url:
        yield url, recorder


@pytest.fixture
def visit_going(browser: Browser, going: tuple[str, Recorder]) -> Iterator[Visitor]:
    visitor = Visitor(browser, going[0])
    yield visitor
    visitor.close()
    assert not visitor.problems, "\n".join(visitor.problems)


def test_what_happens_appears_and_the_end_shows_the_reward(visit_going: Visitor, going: tuple[str, Recorder]) -> None:
    recorder = going[1]
    held = recorder.held(TALK[:4])
    page = visit_going(f"/run/{held.rollout.id}")
    turns = page.locator("#timeline").locator("xpath=ancestor::section").locator(".turns > li")
    expect(turns).to_have_count(2)
    thought = page.locator(".think")
    thought.locator("summary").click()
    page.get_by_label("Follow").check()
    for kind, data in TALK[4:]:
        held.emit(kind, data)
    expect(turns).to_have_count(3)
    expect(turns.last).to_contain_text("boom")
    expect(thought).to_have_attribute("open", "")
    expect(page.get_by_role("button", name="Stop this rollout")).to_be_visible()
    assert not violations(page)
    held.update(status="verifying")
    expect(page.locator("[data-live=state]")).to_contain_text("Being graded")
    held.update(status="done", reward=1.0, rewards={"reward": 1.0}, graded=True)
    expect(page.locator(".score")).to_have_text("1")
    expect(page.get_by_role("button", name="Stop this rollout")).to_have_count(0)


def test_a_rollout_is_stopped_by_keyboard_and_without_scripts(
    visit_going: Visitor, going: tuple[str, Recorder]
) -> None:
    queued = going[1].queued()
    page = visit_going(f"/run/{queued.id}", scripts=False)
    expect(page.locator("main")).to_contain_text("It waits for a worker")
    page.get_by_role("button", name="Stop this rollout").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Somebody stopped it.")
    page.get_by_role("button", name="Make public").press("Enter")
    expect(page.get_by_role("button", name="Make private")).to_be_visible()
