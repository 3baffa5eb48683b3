"""Every control of every type of page, at four widths, in both themes: in reach, large enough, and not dead."""

import re
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

import pytest
from starlette.routing import compile_path

from rlx.web.pages import PAGES
from tests.browser.conftest import Visitor
from tests.browser.page_types import IDS, PAGE_TYPES, PageType

pytestmark = pytest.mark.browser

WIDTHS = (360, 768, 1080, 1440)
REAL = [kind for kind in PAGE_TYPES if kind.name != "patterns"]
AUDIT = (Path(__file__).parent / "audit.js").read_text()
NO_PAGES = re.compile(
    r"/(random|raw/.*|logout|readyz|robots\.txt|sitemap\.xml|llms\.txt|static/.*|-/(?!patterns).*|.*/random)$"
)
"""Routes that answer with something other than a page to look at."""
LIVE = {200, 202, 403}
"""A gated environment says so with 403."""

_answered: dict[str, int] = {}


def test_every_page_of_the_registry_is_audited() -> None:
    read = [route.path for route in PAGES if "GET" in route.methods and not NO_PAGES.fullmatch(route.path)]
    paths = [urlsplit(item.path).path for item in PAGE_TYPES]
    assert [path for path in read if not any(compile_path(path)[0].match(seen) for seen in paths)] == []


@pytest.mark.parametrize("kind", PAGE_TYPES, ids=IDS)
def test_every_control_works_at_every_width_in_both_themes(visit_site: Visitor, kind: PageType) -> None:
    page = visit_site(kind.path)
    visit_site.expect(kind.status)
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{theme}, {width} px: {item}" for item in page.evaluate(AUDIT)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", REAL, ids=[kind.name for kind in REAL])
def test_every_link_of_ours_leads_somewhere(visit_site: Visitor, kind: PageType) -> None:
    """Links in a repository's own words may be dead, and those of samples are."""
    page = visit_site(kind.path, scripts=False)
    visit_site.expect(kind.status)
    links = page.evaluate("Array.from(document.querySelectorAll('a[href]:not(.md *)'), (link) => link.href)")
    here = {urljoin(visit_site.url, link).partition("#")[0] for link in links}
    others = sorted(link for link in here if urlsplit(link).path != urlsplit(page.url).path)
    dead = {link: status for link in others if (status := _status(link, visit_site.url)) not in LIVE}
    assert not dead, dead


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
