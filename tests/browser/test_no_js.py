"""Every page is complete without scripts: what it says, where it leads, what can be done on it."""

import re
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor
from tests.browser.page_types import IDS, PAGE_TYPES, PageType

pytestmark = pytest.mark.browser

TOLD = """() => ({
  headings: Array.from(document.querySelectorAll("main :is(h1, h2, h3)"), (item) => item.textContent.trim()),
  links: Array.from(document.querySelectorAll("main a[href]"), (link) => link.getAttribute("href")),
  fields: Array.from(document.querySelectorAll("main :is(input, select, textarea)[name]"), (field) => field.name),
})"""
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=\"|\son[a-z]+=\"", re.I)
LIVE = {200, 202, 403}
"""A gated environment says so with 403."""

_answered: dict[str, int] = {}


@pytest.mark.parametrize("kind", PAGE_TYPES, ids=IDS)
def test_a_page_says_the_same_without_scripts_and_its_links_lead_somewhere(walk_site: Visitor, kind: PageType) -> None:
    with_scripts, without = walk_site(kind.path), walk_site(kind.path, scripts=False)
    walk_site.expect(kind.status)
    more, told = with_scripts.evaluate(TOLD), without.evaluate(TOLD)
    assert set(more["headings"]) - set(told["headings"]) == set()
    assert set(more["links"]) - set(told["links"]) == set()
    assert set(more["fields"]) - set(told["fields"]) == set()
    assert INLINE.findall(without.evaluate("document.documentElement.outerHTML")) == []
    dead = {link: status for link in _links(without) if (status := _status(link, walk_site.url)) not in LIVE}
    if kind.name != "patterns":
        assert not dead, dead


def _links(page: Page) -> list[str]:
    """Of ours, to other pages. Links in a repository's own words may be dead, and those of samples are."""
    links = page.evaluate("Array.from(document.querySelectorAll('a[href]:not(.md *)'), (link) => link.href)")
    own = {urljoin(page.url, link).partition("#")[0] for link in links}
    return sorted(link for link in own if urlsplit(link).path != urlsplit(page.url).path)


def _status(link: str, site: str) -> int:
    """The answer to a link of ours, asked for once; others are only checked to be https."""
    if not link.startswith(site):
        return 200 if link.startswith("https://") else 499
    if link not in _answered:
        try:
            with urlopen(Request(link, headers={"accept": "text/html"}), timeout=30) as answer:  # noqa: S310 - loopback
                _answered[link] = answer.status
        except HTTPError as error:
            _answered[link] = error.code
            error.close()
    return _answered[link]


def test_searching_filtering_and_paging_need_no_scripts(visit_site: Visitor) -> None:
    page = visit_site("/?limit=5", scripts=False)
    page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name="Next").click()
    assert "offset=5" in page.url
    page = visit_site("/", scripts=False)
    page.locator("main input[name=q]").fill("layout")
    page.locator("main input[name=q]").press("Enter")
    assert "q=layout" in page.url
    page.locator("main select[name=sort]").select_option("name")
    page.locator("main input[name=f]").first.check(force=True)
    page.get_by_role("button", name="Apply").first.click()
    assert "sort=name" in page.url
    assert "f=" in page.url
    expect(page.get_by_role("link", name="layout-tasks").first).to_be_visible()


def test_one_walks_from_explore_to_a_task_s_file_without_scripts(visit: Visitor) -> None:
    page = visit("/", scripts=False)
    page.get_by_role("link", name="first-steps").first.click()
    page.locator("main ol.index a[href^='/t/']").first.click()
    assert "/t/rl-explorer/first-steps/" in page.url
    page.locator("main a[href*='path=']").first.click()
    assert "path=" in page.url


def test_a_theme_and_a_language_are_chosen_without_scripts(visit: Visitor) -> None:
    page = visit("/d/rl-explorer/first-steps", scripts=False)
    button = page.locator("[data-theme-form] button")
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.url.endswith("/d/rl-explorer/first-steps")
    page.get_by_role("link", name="한국어").click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_theme_changes_at_once_with_scripts_and_is_kept(visit: Visitor) -> None:
    page = visit("/d/rl-explorer/first-steps", theme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    button = page.locator("[data-theme-form] button")
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.evaluate(ground) != dark
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    button.click()
    button.click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", re.compile("."))
    assert page.evaluate(ground) == dark
