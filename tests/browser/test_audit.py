"""Every control of every type of page, at four widths, in both themes: in reach, large enough, and not dead."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.routing import compile_path

from rlx.web.pages import PAGES
from tests.browser.conftest import Visitor
from tests.browser.page_types import IDS, PAGE_TYPES, READING, PageType

pytestmark = pytest.mark.browser

WIDTHS = (360, 768, 1080, 1440)
BOXES = """() => Array.from(document.querySelectorAll("main a, main button, main summary, main input"), (item) => {
  const { x, y, width, height } = item.getBoundingClientRect();
  return [x, y + scrollY, width, height].map(Math.round).join(" ");
})"""
AUDIT = (Path(__file__).parent / "audit.js").read_text()
NO_PAGES = re.compile(
    r"/(random|raw/.*|logout|readyz|robots\.txt|sitemap\.xml|llms\.txt|static/.*|-/(?!patterns).*|.*/(random|progress))$"
)
"""Routes that answer with something other than a page to look at."""


def test_every_page_of_the_registry_is_audited() -> None:
    read = [route.path for route in PAGES if "GET" in route.methods and not NO_PAGES.fullmatch(route.path)]
    paths = [urlsplit(item.path).path for item in PAGE_TYPES]
    assert [path for path in read if not any(compile_path(path)[0].match(seen) for seen in paths)] == []


@pytest.mark.parametrize("kind", PAGE_TYPES, ids=IDS)
def test_every_control_works_at_every_width_in_both_themes(walk_site: Visitor, kind: PageType) -> None:
    page = walk_site(kind.path)
    walk_site.expect(kind.status)
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="light")
        boxes = page.evaluate(BOXES)
        page.emulate_media(color_scheme="dark")
        # A theme moves nothing, so that what is in reach in one is in reach in the other.
        assert len(page.evaluate(BOXES)) == len(boxes)
        found += [f"dark, {width} px: {item}" for item in page.evaluate(AUDIT, {"geometry": False})]
        page.emulate_media(color_scheme="light")
        found += [f"light, {width} px: {item}" for item in page.evaluate(AUDIT, {"geometry": True})]
    assert not found, "\n".join(found)


def test_every_control_works_while_an_environment_is_read(visit_held: Visitor) -> None:
    test_every_control_works_at_every_width_in_both_themes(visit_held, READING)
