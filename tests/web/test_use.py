"""How an environment is used, on its page, in its twins and in the API."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio


@pytest.fixture
async def reader(fixture_hub: Path, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with (
        create_services(settings) as services,
        visitor(create_app(services, token=lambda settings: None)) as client,
    ):
        yield client


async def test_commands_are_shown_for_one_framework_at_a_time(reader: httpx2.AsyncClient) -> None:
    page = (await reader.get("/d/acme/layout-tasks/use")).text
    assert 'aria-current="true">Harbor' in page
    assert "harbor run --path" in page
    assert "harbor rollout" not in page
    other = re.search(r'href="([^"]+)">OpenEnv</a>', page)
    assert other is not None
    assert "harbor rollout" in (await reader.get(other[1].replace("&amp;", "&"))).text


async def test_a_task_s_page_leads_to_commands_for_it_alone(reader: httpx2.AsyncClient) -> None:
    task = (await reader.get("/t/acme/layout-tasks/tasks/fix-parser")).text
    there = re.search(r'href="(/d/acme/layout-tasks/use\?task=[^"]+)"', task)
    assert there is not None
    page = (await reader.get(there[1])).text
    assert "layout-tasks/tasks/fix-parser" in page
    assert "For the task tasks/fix-parser" in page
    assert (await reader.get("/d/acme/layout-tasks/use?task=tasks/none")).status_code == 404


async def test_every_form_tells_the_same_commands(reader: httpx2.AsyncClient) -> None:
    asked = "task=tasks/fix-parser&model=a%20b&sandbox=e2b&framework=harbor"
    told = (await reader.get(f"/api/env/acme/layout-tasks/snippets?{asked}")).json()
    twin = (await reader.get(f"/d/acme/layout-tasks/use?{asked}&format=json")).json()
    assert told == twin
    text = told["snippets"][0]["steps"][-1]["text"]
    assert "--model 'a b' --env e2b" in text
    assert text in (await reader.get(f"/d/acme/layout-tasks/use?{asked}&format=md")).text


async def test_what_cannot_be_meant_is_refused(reader: httpx2.AsyncClient) -> None:
    for asked in ("framework=verl", "sandbox=$(id)", "sandbox=a%20b", "task=../x"):
        answer = await reader.get(f"/api/env/acme/layout-tasks/snippets?{asked}")
        assert answer.status_code in {400, 404}, asked


async def test_a_private_environment_s_commands_are_for_those_who_may_read_it(reader: httpx2.AsyncClient) -> None:
    assert (await reader.get("/api/env/acme/private-tasks/snippets")).status_code == 404
