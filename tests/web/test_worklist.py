"""What is to be put right in the catalog: found behind the visits, shown as it is found, and kept."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from rlx.errors import Upstream
from rlx.hub.repo import Repo
from rlx.ids import EnvKey, parse_key
from rlx.model import ANONYMOUS, EnvCard, EnvQuery
from rlx.publish.survey import AT_ONCE, TROUBLE, Survey
from rlx.publish.survey_file import read_kept
from rlx.services import Services, create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def site(hub: Path, place: Path) -> AsyncIterator[tuple[FastAPI, httpx2.AsyncClient]]:
    settings = Settings(hub=str(hub), store=place / "store", cache_dir=place / "cache")
    async with create_services(settings) as services:
        app = create_app(services, token=lambda settings: None)
        async with visitor(app) as client:
            yield app, client


async def all_looked_at(app: FastAPI, client: httpx2.AsyncClient) -> Survey:
    """The survey of the site, once its first look has ended."""
    assert (await client.get("/worklist")).status_code == 200
    survey: Survey = app.state.survey
    assert survey.job is not None
    await survey.job.ended.wait()
    return survey


async def test_a_visit_starts_the_look_and_the_list_is_read_afterwards(fixture_hub: Path, tmp_path: Path) -> None:
    async with site(fixture_hub, tmp_path) as (app, client):
        answer = await client.get("/worklist?format=json")
        assert answer.headers["cache-control"] == "private, no-store"
        first = answer.json()
        assert first["running"]
        assert first["looked_at"] == 0
        survey = await all_looked_at(app, client)
        told = (await client.get("/worklist?format=json")).json()
        assert not told["running"]
        assert told["looked_at"] == told["listed"] == len(survey.listed) > 20
        assert not told["pending"]
        groups = {item["group"] for item in told["items"]}
        assert groups == {"claimed", "untagged"}
        assert all(item["evidence"] for item in told["items"])
        counted = sum(row["claimed"] + row["untagged"] for row in told["counts"])
        assert counted == told["total"]

        page = (await client.get("/worklist")).text
        untagged = next(item for item in told["items"] if item["group"] == "untagged")
        assert f'href="{untagged["tags"]}"' in page
        assert f"rlx hub tag {untagged['id']} --pr" in page
        lacking = (await client.get(f"{untagged['tags']}?format=json")).json()
        assert set(untagged["missing"]) <= set(lacking["added"])
        twin = (await client.get("/worklist?format=md")).text
        assert all(item["id"] in twin for item in told["items"])
        assert (await client.get("/worklist?lang=ko")).text.count("불러올 수 있으나 태그 없음") > 1


async def test_filters_order_and_place_are_in_the_address(fixture_hub: Path, tmp_path: Path) -> None:
    async with site(fixture_hub, tmp_path) as (app, client):
        await all_looked_at(app, client)
        whole = (await client.get("/worklist?format=json")).json()
        for row in whole["counts"]:
            for group in ("claimed", "untagged"):
                asked = f"framework={row['framework']}&group={group}"
                found = (await client.get(f"/worklist?{asked}&format=json")).json()
                assert found["total"] == row[group]
                assert {(item["framework"], item["group"]) for item in found["items"]} <= {(row["framework"], group)}
        named = (await client.get("/worklist?sort=name&format=json")).json()["items"]
        assert [item["id"].lower() for item in named] == sorted(item["id"].lower() for item in named)
        past = (await client.get(f"/worklist?offset={whole['total']}&format=json")).json()
        assert past["items"] == []
        assert past["total"] == whole["total"]
        announced = (await client.get("/worklist?collection=announced&format=json")).json()
        assert announced["listed"] < whole["listed"]
        links = re.findall(r'href="(/worklist\?[^"]+)"', (await client.get("/worklist?sort=name")).text)
        assert any("sort=name" in link and "framework=" in link for link in links)
        for asked in ("framework=none", "group=none", "collection=none", "sort=none", "offset=-1"):
            assert (await client.get(f"/worklist?{asked}")).status_code == 400, asked


async def test_what_was_found_outlives_the_process_and_nothing_private_is_kept(
    fixture_hub: Path, tmp_path: Path
) -> None:
    async with site(fixture_hub, tmp_path) as (app, client):
        survey = await all_looked_at(app, client)
        before = (await client.get("/worklist?format=json")).json()
        kept = read_kept(survey.file)
    assert kept
    assert "acme/private-tasks" not in survey.file.read_text()
    async with site(fixture_hub, tmp_path) as (app, client):
        survey = await all_looked_at(app, client)
        assert (await client.get("/worklist?format=json")).json() == before
        assert not survey.detections._kept, "nothing was detected again"
        assert survey.looked(parse_key("acme/layout-tasks")) == kept["acme/layout-tasks"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": "0"}', '{"version": 1, "seen": {}}'])
async def test_a_damaged_file_is_not_used(tmp_path: Path, text: str) -> None:
    (tmp_path / "kept.json").write_text(text)
    assert read_kept(tmp_path / "kept.json") == {}


async def test_of_a_huge_catalog_the_first_are_looked_at_and_the_page_says_so(
    fixture_hub: Path, tmp_path: Path
) -> None:
    async with site(fixture_hub, tmp_path) as (app, client):
        app.state.survey.cap = 3
        survey = await all_looked_at(app, client)
        told = (await client.get("/worklist?format=json")).json()
        assert told["listed"] == told["looked_at"] == 3
        assert told["not_looked_at"] == survey.total - 3
        assert "Only the first 3 environments" in (await client.get("/worklist")).text


async def test_a_look_is_given_up_while_the_hub_is_in_trouble_and_gone_on_with_later(
    fixture_hub: Path, tmp_path: Path
) -> None:
    async with site(fixture_hub, tmp_path) as (app, _):
        survey: Survey = app.state.survey
        services: Services = app.state.site.services
        asked: list[EnvKey] = []

        async def cards(limit: int) -> tuple[Sequence[EnvCard], int]:
            page = await services.catalog.search(EnvQuery(limit=limit), ANONYMOUS)
            return page.items, page.total

        async def failing(key: EnvKey) -> Repo:
            asked.append(key)
            raise Upstream("The Hub is in trouble.")

        async def working(key: EnvKey) -> Repo:
            return await services.library.repo(key, ANONYMOUS)

        await survey.look(cards, failing)
        assert TROUBLE <= len(asked) < TROUBLE + AT_ONCE
        assert not any(survey.looked(key) for key in survey.listed)
        assert not survey.is_due()
        await survey.look(cards, working)
        assert all(survey.looked(key) for key in survey.listed)
