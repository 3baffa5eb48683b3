"""Nothing that axe-core finds, on any type of page, in either theme and either language."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visitor
from tests.browser.page_types import IDS, PAGE_TYPES, READING, PageType

pytestmark = pytest.mark.browser

AXE = (Path(__file__).parent.parent / "vendor" / "axe-core-4.14.1" / "axe.min.js").read_text()
RUN = """async (rules) => {
  const options = { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) };
  const { violations } = await axe.run(document, options);
  const told = (id, node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`;
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => told(id, node)));
}"""


OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
"""Rules that a theme or a width can break; the others see the same document in both."""


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN, rules)
    return found


@pytest.mark.parametrize("kind", PAGE_TYPES, ids=IDS)
def test_axe_finds_nothing_in_either_theme(walk_site: Visitor, kind: PageType) -> None:
    """Light as a phone shows it, dark as a wide screen does."""
    page = walk_site(kind.path, width=360)
    walk_site.expect(kind.status)
    found = [f"light: {item}" for item in violations(page)]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {item}" for item in violations(page, OF_LOOKS)]
    assert not found, "\n".join(found)


def test_axe_finds_nothing_while_an_environment_is_read(visit_held: Visitor) -> None:
    test_axe_finds_nothing_in_either_theme(visit_held, READING)
    assert visit_held.pages[-1].locator("[data-progress]").count() == 1


def test_axe_finds_nothing_on_a_korean_page(visit: Visitor) -> None:
    page = visit("/d/rl-explorer/first-steps", locale="ko")
    assert page.locator("html").get_attribute("lang") == "ko"
    assert not violations(page)


def test_axe_finds_nothing_where_more_contrast_and_less_motion_are_asked_for(visit: Visitor) -> None:
    page = visit("/t/rl-explorer/first-steps/tasks/fix-median")
    page.emulate_media(contrast="more", reduced_motion="reduce")
    assert not violations(page)


def test_axe_would_find_something(visit: Visitor) -> None:
    page = visit("/login")
    page.locator("label[for=token]").evaluate("(label) => label.remove()")
    assert any(item.startswith("label: ") for item in violations(page))
