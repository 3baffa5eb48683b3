"""Two tasks side by side: what is the same is told once, what differs beside each other; attempts find each other."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.web.test_task import opened, reader

pytestmark = pytest.mark.anyio
FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"


async def test_what_differs_stands_side_by_side_and_the_rest_once(tmp_path: Path) -> None:
    async with reader(FIXTURES, tmp_path) as client:
        one, other = (await refs(client))[:2]
        page = await opened(client, f"/d/acme/settings/pair?a={one}&b={other}")
        assert page.count('class="pair-side"') >= 3
        twin = (await client.get(f"/d/acme/settings/pair?a={one}&b={other}&format=json")).json()
        assert [task["ref"] for task in twin["tasks"]] == [one, other]
        told = (await client.get(f"/d/acme/settings/pair?a={one}&b={other}&format=md")).text
        assert one in told
        assert other in told


async def test_one_task_alone_offers_others(tmp_path: Path) -> None:
    async with reader(FIXTURES, tmp_path) as client:
        first, second = (await refs(client))[:2]
        page = await opened(client, f"/d/acme/settings/pair?a={first}")
        assert f"b={quote(second, safe='')}" in page
        assert (await client.get("/d/acme/settings/pair")).status_code == 400
        assert (await client.get("/d/acme/settings/pair?a=no/such")).status_code == 404
        assert (await client.get(f"/d/acme/settings/pair?a={first}&b=no/such")).status_code == 404


async def refs(client: httpx2.AsyncClient) -> list[str]:
    listed = await opened(client, "/d/acme/settings?format=json")
    return [card["ref"] for card in json.loads(listed)["list"]["cards"]]
