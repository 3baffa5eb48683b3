"""The patterns page shows everything that pages are made of."""

import re
from pathlib import Path

import httpx2
import pytest

from rlx.web.blocks_html import MACROS
from rlx.web.kinds import KINDS_SHOWN
from rlx.web.samples import BLOCKS, ICONS

pytestmark = pytest.mark.anyio

WEB = Path(__file__).parents[2] / "src" / "rlx" / "web"
STATIC = WEB / "static"


async def test_every_icon_of_the_sprite_is_a_sample_or_a_framework_s() -> None:
    drawn = set(re.findall(r'<symbol id="([^"]+)"', STATIC.joinpath("icons.svg").read_text()))
    assert drawn == {*ICONS, *(id for id in drawn if id.startswith("fw-"))}
    assert {kind.icon for kind in KINDS_SHOWN.values()} <= drawn


async def test_every_icon_that_a_template_names_is_drawn() -> None:
    drawn = set(re.findall(r'<symbol id="([^"]+)"', STATIC.joinpath("icons.svg").read_text()))
    for template in WEB.joinpath("templates").rglob("*.html"):
        named = re.findall(r'icon\("([a-z-]+)"(?! ~)', template.read_text())
        assert [name for name in named if name not in drawn and not name.endswith("-")] == [], template.name


async def test_every_block_is_drawn_on_it(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/-/patterns")).text
    assert {block.type for block in BLOCKS} == set(MACROS)
    for kind in MACROS:
        assert f'<p class="tiny faint mono">{kind}</p>' in page


async def test_colours_are_told_in_the_tokens_alone() -> None:
    """Components read roles, so that both themes and higher contrast hold everywhere."""
    raw = re.compile(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(|\boklch\(", re.I)
    for sheet in STATIC.iterdir():
        if sheet.name.endswith(".css") and sheet.name != "tokens.css":
            rules = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.S)
            assert raw.findall(rules) == [], sheet.name


async def test_roles_are_made_of_the_first_tier_and_differ_by_theme() -> None:
    tokens = STATIC.joinpath("tokens.css").read_text()
    roles = dict(re.findall(r"(--[a-z0-9-]+): (light-dark\([^;]*\));", tokens))
    assert len(roles) > 25
    assert all(re.fullmatch(r"light-dark\(var\(--[a-z0-9-]+\), var\(--[a-z0-9-]+\)\)", told) for told in roles.values())
