"""Explore with scripts: results in place, the address as the state, quick look, the search box of other pages."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from rlx.store.instance import Banner, Instance, InstanceFile
from tests.browser.conftest import Visitor, read, served

pytestmark = pytest.mark.browser


@pytest.fixture
def page(visit_site: Visitor) -> Page:
    """Explore over the fixture hub, its environments read."""
    return visit_site("/")


def rows(page: Page) -> list[str]:
    return [name.strip() for name in page.locator(".index .name").all_inner_texts()]


def hold(page: Page, url: str) -> list[Route]:
    """Requests of `url`, from now on left waiting."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(url, keep)
    return held


def finder(page: Page) -> Locator:
    """The search box of every page but explore."""
    return page.get_by_role("combobox", name="Find environments and tasks")


def test_typing_replaces_the_results_and_the_address_tells_it(page: Page) -> None:
    page.evaluate("window.here = true")
    page.keyboard.press("/")
    expect(page.get_by_label("Search environments and tasks")).to_be_focused()
    page.keyboard.type("echo", delay=20)
    page.wait_for_url("**/?q=echo")
    expect(page.locator(".index .name").first).to_have_text("acme/echo-env")
    expect(page.locator("[data-status]")).to_have_text(re.compile(r"^1–\d+ of \d+$"))
    expect(page.get_by_label("Search environments and tasks")).to_be_focused()
    assert page.evaluate("window.here")
    page.go_back()
    expect(page).to_have_url(re.compile(r"/$"))
    expect(page.get_by_label("Search environments and tasks")).to_have_value("")
    assert page.evaluate("window.here")


def test_filters_keep_the_focus_and_what_is_unfolded(page: Page) -> None:
    page.evaluate("window.here = true")
    licence = page.locator("[data-fold=licence]")
    licence.locator("summary").first.click()
    page.get_by_label(re.compile("^Harbor ")).check()
    page.wait_for_url("**/?f=framework%3AHarbor")
    expect(page.get_by_label(re.compile("^Harbor "))).to_be_focused()
    expect(page.locator("[data-fold=licence]")).to_have_attribute("open", "")
    page.get_by_role("link", name="Harbor remove").click()
    page.wait_for_url(re.compile(r"/$"))
    expect(page.get_by_label(re.compile("^Harbor "))).not_to_be_checked()
    page.go_back()
    expect(page.get_by_label(re.compile("^Harbor "))).to_be_checked()
    assert page.evaluate("window.here")


def test_kinds_sort_and_pages_are_links_that_replace_in_place(page: Page) -> None:
    page.evaluate("window.here = true")
    page.get_by_label("Sort").select_option("name")
    page.wait_for_url("**/?sort=name")
    page.get_by_role("navigation", name="Kind").get_by_role("link", name="Harbor tasks").click()
    page.wait_for_url("**/?kind=harbor&sort=name")
    names = rows(page)
    assert names == sorted(names, key=str.lower)
    page.get_by_role("link", name="Next").first.click()
    page.wait_for_url("**/?kind=harbor&sort=name&trend=2")
    assert rows(page) == names
    assert page.evaluate("window.here")


def test_an_older_answer_never_replaces_a_newer_one(page: Page) -> None:
    held = hold(page, "**/?q=chess*")
    box = page.get_by_label("Search environments and tasks")
    with page.expect_request("**/?q=chess*"):
        box.fill("chess")
    box.fill("echo")
    expect(page.locator(".index .name").first).to_have_text("acme/echo-env")
    for route in held:
        route.abort()
    page.get_by_label("Sort").select_option("name")
    page.wait_for_url("**/?q=echo&sort=name")
    expect(page.locator(".index .name").first).to_have_text("acme/echo-env")


def test_slow_results_turn_to_bones_of_the_same_height(page: Page) -> None:
    held = hold(page, "**/?*part=results*")
    before = page.locator(".index").bounding_box()
    page.get_by_label("Sort").select_option("likes")
    expect(page.locator("[data-part=list]")).to_have_attribute("aria-busy", "true")
    assert page.locator(".index").bounding_box() == before
    assert page.locator(".index .brief").first.evaluate("e => getComputedStyle(e).color") == "rgba(0, 0, 0, 0)"
    held[0].continue_()
    page.wait_for_url("**/?sort=likes")
    expect(page.locator("[data-part=list]")).not_to_have_attribute("aria-busy", "true")


def test_quick_look_opens_closes_and_gives_the_focus_back(page: Page) -> None:
    row = page.locator(".index li").filter(has_text="layout-tasks").first
    look = row.get_by_role("link", name="Quick look")
    look.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", level=2)).to_have_text(re.compile("layout-tasks"))
    expect(dialog.get_by_role("link", name="Open", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    expect(look).to_be_focused()
    look.click()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).not_to_be_visible()


def test_the_search_box_lists_trending_then_environments_and_tasks(visit_site: Visitor) -> None:
    page = visit_site("/d/acme/layout-tasks")
    page.keyboard.press("/")
    box = finder(page)
    expect(box).to_be_focused()
    expect(page.get_by_role("group", name="Trending").get_by_role("option")).to_have_count(6)
    expect(box).to_have_attribute("aria-expanded", "true")
    page.keyboard.type("alpha")
    expect(page.get_by_role("group", name="Trending")).to_have_count(0)
    expect(page.get_by_role("option", name="All results for “alpha”")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("listbox").get_by_role("option", selected=True)).to_have_text("All results for “alpha”")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listbox").get_by_role("option", selected=True)).to_have_count(0)
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("listbox").get_by_role("option", selected=True)
    expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    target = chosen.get_attribute("href") or ""
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{target}")


def test_the_box_of_the_comparison_adds_what_it_suggests(visit_site: Visitor) -> None:
    page = visit_site("/envs?env=acme/settings")
    box = page.get_by_role("combobox", name="Name of an environment")
    box.fill("layout")
    first = page.locator("#suggest-add").get_by_role("option").first
    expect(first).to_be_visible()
    expect(first.locator("mark")).to_have_text("layout")
    box.press("ArrowDown")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"/envs\?env=acme%2Fsettings&env=acme%2F[\w-]*layout"))


def test_an_answer_that_comes_late_keeps_what_was_chosen(visit_site: Visitor) -> None:
    page = visit_site("/envs?env=acme/settings")
    box = page.get_by_role("combobox", name="Name of an environment")
    first = page.locator("#suggest-add").get_by_role("option").first
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/search?q=layout*", hold)
    box.focus()
    expect(first).to_be_visible()
    with page.expect_request("**/api/search?q=layout*"):
        box.fill("layout")
    box.press("ArrowDown")
    chosen = page.locator("#suggest-add").get_by_role("option", selected=True)
    target = chosen.get_attribute("href") or ""
    held[0].continue_()
    expect(first.locator("mark")).to_have_text("layout")
    expect(chosen).to_have_attribute("href", target)


def test_the_search_box_closes_by_escape_and_sends_what_was_typed(visit_site: Visitor) -> None:
    page = visit_site("/d/acme/layout-tasks")
    finder(page).fill("echo")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).not_to_be_visible()
    expect(finder(page)).to_have_value("echo")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=echo")


def test_everything_on_explore_works_without_scripts(visit_site: Visitor) -> None:
    page = visit_site("/", scripts=False)
    page.get_by_role("link", name="Next").first.click()
    expect(page).to_have_url(re.compile(r"/\?trend=2$"))
    page.get_by_label(re.compile("^Harbor ")).check()
    page.get_by_label("Search environments and tasks").fill("layout")
    page.get_by_label("Sort").select_option("name")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("link", name="Harbor remove")).to_be_visible()
    assert "acme/layout-tasks" in rows(page)
    assert "acme/settings" not in rows(page)
    page.get_by_role("link", name="Quick look layout-tasks").first.click(force=True)
    expect(page).to_have_url(re.compile(r"/d/acme/layout-tasks$"))
    page.get_by_role("searchbox", name="Find environments and tasks").fill("echo")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/\?q=echo$"))


@pytest.fixture
def announced(tmp_path: Path) -> Iterator[str]:
    """The address of a server whose operators announce something."""
    banner = Banner(id="news", text="Something new.", label="Read it", url="/llms.txt")
    InstanceFile(tmp_path / "store").save(Instance(banner=banner))
    with served("--demo", store=tmp_path) as url:
        read(url, "/d/rl-explorer/first-steps")
        yield url


def test_a_closed_banner_stays_closed(browser: Browser, announced: str) -> None:
    visitor = Visitor(browser, announced)
    page = visitor("/")
    page.get_by_role("button", name="Close for a week").click()
    expect(page.get_by_text("Something new.")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("Something new.")).to_have_count(0)
    visitor.close()
    assert visitor.problems == []
    with urlopen(Request(announced, headers={"Cookie": "banner=other"}), timeout=30) as answer:  # noqa: S310 - loopback
        assert b"Something new." in answer.read()


def test_who_signs_in_adds_their_private_ones_in_place(visit_site: Visitor) -> None:
    page = visit_site("/login")
    expect(page.get_by_label("With my private ones")).to_have_count(0)
    page.locator("input[name=token]").fill("hf_alice")
    page.locator("main button").first.click()
    page.wait_for_url(re.compile(r"/$"))
    page.evaluate("window.here = true")
    box = page.get_by_label("With my private ones")
    box.check()
    page.wait_for_url("**/?mine=1")
    expect(page.locator(".index li").first).to_contain_text("private")
    expect(box).to_be_checked()
    page.get_by_role("link", name="With my private ones remove").click()
    page.wait_for_url(re.compile(r"/$"))
    expect(box).not_to_be_checked()
    expect(page.locator(".index")).not_to_contain_text("private-tasks")
    assert page.evaluate("window.here")
