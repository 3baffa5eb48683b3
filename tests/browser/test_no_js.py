"""Every page is complete without scripts."""

import pytest

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser


def test_the_first_page_shows_environments_without_scripts(visit: Visitor) -> None:
    page = visit("/", scripts=False)
    assert page.get_by_role("link", name="first-steps").count()
