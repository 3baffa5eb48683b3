"""What a page weighs on the wire, and that nothing holds up its first picture."""

from collections import defaultdict

import pytest
from playwright.sync_api import Page, Response

from tests.browser.conftest import Visitor
from tests.browser.page_types import PAGE_TYPES, PageType

pytestmark = pytest.mark.browser

KB = 1024
CONTENT = [kind for kind in PAGE_TYPES if kind.status == 200 and kind.name != "patterns"]
"""`/-/patterns` shows every part at once and is for those who build the pages."""


class Weighed:
    """A page's responses by kind, in bytes as they came over the wire."""

    def __init__(self) -> None:
        self.bytes: dict[str, int] = defaultdict(int)

    def add(self, response: Response) -> None:
        self.bytes[response.request.resource_type] += response.request.sizes()["responseBodySize"]


def weigh(page: Page, path: str) -> Weighed:
    """Load `path` and weigh all that comes."""
    seen: list[Response] = []
    page.on("response", lambda response: seen.append(response))  # noqa: PLW0108 - Playwright needs a function
    page.goto(path)
    found = Weighed()
    for response in seen:
        found.add(response)
    return found


@pytest.mark.parametrize("kind", CONTENT, ids=[kind.name for kind in CONTENT])
def test_a_content_page_keeps_its_budget(walk_site: Visitor, kind: PageType) -> None:
    page = walk_site("about:blank")
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    weighed = weigh(page, kind.path)
    assert weighed.bytes["stylesheet"] <= 20 * KB
    assert weighed.bytes["script"] <= 20 * KB
    assert weighed.bytes["document"] <= 60 * KB
    blocking = "performance.getEntriesByType('resource').filter((item) => item.renderBlockingStatus === 'blocking')"
    held = page.evaluate(f"{blocking}.map((item) => item.initiatorType + ' ' + item.name)")
    assert [item for item in held if not item.startswith("link ")] == []


def test_the_first_response_of_explore_is_small(visit: Visitor) -> None:
    page = visit("/login")
    with page.expect_response("**/") as answered:
        page.goto("/")
    assert answered.value.headers["content-encoding"] == "gzip"
    assert answered.value.request.sizes()["responseBodySize"] <= 14 * KB


def test_files_of_the_site_are_kept_by_the_browser(visit: Visitor) -> None:
    page = visit("/d/rl-explorer/first-steps")
    page.goto("/d/rl-explorer/word-puzzles")
    files = "performance.getEntriesByType('resource').filter((item) => /[.](css|js)$/.test(item.name))"
    kept = page.evaluate(f"{files}.map((item) => item.transferSize)")
    assert len(kept) >= 2
    assert set(kept) == {0}
