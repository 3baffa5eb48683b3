"""The tasks of every environment with scripts: found as one types, narrowed and paged in place, by keyboard too."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser

BOX = "Search the tasks of every environment"


@pytest.fixture
def page(visit_site: Visitor) -> Page:
    page = visit_site("/tasks")
    page.evaluate("window.here = true")
    return page


def test_typing_finds_tasks_marks_their_words_and_tells_the_address(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_label(BOX)).to_be_focused()
    page.keyboard.type("parser", delay=20)
    page.wait_for_url("**/tasks?q=parser")
    expect(page.locator(".index .name").first).to_have_text(re.compile("fix-parser|parser", re.IGNORECASE))
    expect(page.locator(".index mark").first).to_have_text(re.compile("^parser", re.IGNORECASE))
    expect(page.locator("[data-status]")).to_have_text(re.compile(r"^1–\d+ of \d+$"))
    expect(page.get_by_label(BOX)).to_be_focused()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/tasks$"))
    expect(page.get_by_label(BOX)).to_have_value("")
    assert page.evaluate("window.here")


def test_filters_keep_the_focus_and_one_environment_is_entered_and_left_in_place(page: Page) -> None:
    box = page.get_by_label(re.compile("^One score "))
    box.check()
    page.wait_for_url("**/tasks?f=graded%3AOne%2520score")
    expect(box).to_be_focused()
    row = page.locator(".index li").first
    key = row.locator(".whence").inner_text()
    row.get_by_role("link", name="Only from here").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"[?&]env="))
    expect(page.get_by_role("link", name=f"In {key} remove")).to_be_visible()
    assert set(page.locator(".index .whence").all_inner_texts()) == {key}
    page.get_by_label(BOX).fill("a")
    page.wait_for_url(re.compile(r"q=a&env="))
    page.get_by_role("link", name=f"In {key} remove").click()
    page.wait_for_url(lambda url: "env=" not in url)
    assert page.evaluate("window.here")


def test_pages_turn_in_place_and_a_row_leads_to_its_task_or_environment(page: Page) -> None:
    first = page.locator(".index .name").all_inner_texts()
    page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name="Next").click()
    page.wait_for_url("**/tasks?offset=20")
    expect(page.locator(".index")).to_have_attribute("start", "21")
    assert page.locator(".index .name").all_inner_texts() != first
    assert page.evaluate("window.here")
    whence = page.locator(".whence").first
    environment = whence.get_attribute("href") or ""
    whence.click()
    page.wait_for_url(f"**{environment}")
    page.go_back()
    task = page.locator(".index .name a").first
    address = task.get_attribute("href") or ""
    task.click()
    page.wait_for_url(lambda url: url.endswith(address))


def test_explore_leads_to_every_task_that_matches(visit_site: Visitor) -> None:
    page = visit_site("/?q=parser")
    expect(page.locator("#hits")).to_be_visible()
    expect(page.locator(".index mark").first).to_be_visible()
    page.get_by_role("link", name=re.compile(r"tasks? that match")).last.click()
    page.wait_for_url("**/tasks?q=parser")


def test_the_search_box_of_other_pages_marks_what_it_found(visit_site: Visitor) -> None:
    page = visit_site("/d/acme/layout-tasks")
    page.keyboard.press("/")
    page.keyboard.type("layout")
    options = page.get_by_role("group", name="Environments")
    expect(options.locator("mark").first).to_have_text("layout")
    page.get_by_role("combobox", name="Find environments and tasks").fill("parser")
    expect(page.get_by_role("group", name="Tasks").locator("mark").first).to_have_text(re.compile("parser", re.I))


def test_searching_narrowing_and_paging_need_no_scripts(visit_site: Visitor) -> None:
    page = visit_site("/tasks", scripts=False)
    page.get_by_role("link", name="Next").click()
    expect(page).to_have_url(re.compile(r"/tasks\?offset=20$"))
    page.get_by_label(BOX).fill("parser")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile(r"/tasks\?q=parser$"))
    page.get_by_role("link", name="Only from here").first.click(force=True)
    expect(page).to_have_url(re.compile(r"/tasks\?q=parser&env="))
    page.locator("main input[name=f]").first.check(force=True)
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"q=parser&env=.*&f="))
