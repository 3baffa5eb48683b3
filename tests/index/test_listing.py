"""The listing of the Hub: what belongs in it, how it is kept, and when it is not believed."""

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.hub.client import HubClient
from rlx.hub.info import RepoInfo, read_info
from rlx.index.env_cards import listed_card
from rlx.index.listing import (
    FILE,
    Listing,
    Shrunk,
    check_size,
    is_open,
    list_hub,
    listing_bytes,
    listing_in,
    read_listing,
)
from rlx.localhub import LocalHub
from rlx.model import ANONYMOUS, EnvQuery
from rlx.services import LOCAL_HUB, create_services
from rlx.settings import Settings
from tests.index.snapshot.stores import refuses

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def info(name: str, *, space: bool = False, **more: object) -> RepoInfo:
    raw: dict[str, object] = {"id": f"acme/{name}", "sha": "a" * 40, "tags": ["harbor"], "likes": 3, **more}
    return read_info("space" if space else "dataset", raw)


def hub_client(hub: LocalHub) -> HubClient:
    return HubClient(LOCAL_HUB, transport=httpx2.ASGITransport(app=hub.app))


@pytest.mark.anyio
async def test_what_carries_a_tag_of_an_environment_is_listed_and_no_article_or_other_space() -> None:
    hub = LocalHub(FIXTURES)
    client = hub_client(hub)
    tagged = await list_hub(client, everything=False)
    everything = await list_hub(client, everything=True)
    await client.aclose()
    keys = [str(info.key) for info in tagged]
    assert len(set(keys)) == len(keys)
    assert {"acme/layout-tasks", "space:acme/echo-env", "acme/rows-verifiers"} <= set(keys)
    assert not {"acme/private-tasks", "space:acme/not-an-environment", "acme/plain-files"} & set(keys)
    assert set(keys) < {str(info.key) for info in everything}
    trends = [info.trending or 0 for info in tagged]
    assert trends == sorted(trends, reverse=True)


@pytest.mark.anyio
async def test_each_tag_is_asked_for_once() -> None:
    hub = LocalHub(FIXTURES)
    client = hub_client(hub)
    await list_hub(client, everything=False)
    await client.aclose()
    asked = [httpx2.URL(f"{LOCAL_HUB}{path}") for _, path in hub.requests]
    filters = {(url.path, url.params.get("filter")) for url in asked}
    assert len(asked) == len(filters) == 8 + 3
    assert ("/api/datasets", "ors") in filters
    assert ("/api/spaces", "ors") in filters


@pytest.mark.anyio
async def test_a_kept_listing_makes_the_cards_that_the_hub_would() -> None:
    hub = LocalHub(FIXTURES)
    client = hub_client(hub)
    infos = await list_hub(client, everything=True)
    await client.aclose()
    kept = listing_in(listing_bytes(Listing(infos, NOW)))
    assert kept.at == NOW
    assert [listed_card(info) for info in kept.infos] == [listed_card(info) for info in infos if is_open(info)]


def test_what_is_not_open_to_everybody_is_neither_kept_nor_believed() -> None:
    closed = [info("private", private=True), info("gated", gated="auto"), info("disabled", disabled=True)]
    data = listing_bytes(Listing((info("open"), *closed), NOW))
    assert [item.key.name for item in listing_in(data).infos] == ["open"]
    assert all(word not in gzip.decompress(data) for word in (b"acme/private", b"acme/gated", b"acme/disabled"))
    planted = {"version": 1, "at": NOW.isoformat(), "rows": [{"kind": "dataset", "id": "acme/x", "private": True}]}
    assert listing_in(gzip.compress(json.dumps(planted).encode())).infos == ()


def test_front_matter_is_kept_as_far_as_cards_need_it() -> None:
    card = {"pretty_name": "Name", "short_description": "Short.", "secret": "RLX", "title": ["no", "text"]}
    (kept,) = listing_in(listing_bytes(Listing((info("x", cardData=card),), NOW))).infos
    assert kept.card == {"pretty_name": "Name", "short_description": "Short."}


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_are_more_than_refused(data: bytes, packed: bool) -> None:
    assert refuses(listing_in, gzip.compress(data) if packed else data)


@pytest.mark.parametrize(
    "raw", [[], {"version": 2}, {"version": 1, "at": 3, "rows": []}, {"version": 1, "at": "2026", "rows": [{}]}]
)
def test_other_json_is_refused(raw: object) -> None:
    with pytest.raises(ValueError, match="listing"):
        listing_in(gzip.compress(json.dumps(raw).encode()))


def listing(datasets: int, spaces: int) -> Listing:
    infos = [info(f"d{n}") for n in range(datasets)] + [info(f"s{n}", space=True) for n in range(spaces)]
    return Listing(tuple(infos), NOW)


@pytest.mark.parametrize(
    ("last", "now", "what"),
    [
        ((10, 10), (8, 8), None),
        ((10, 10), (7, 10), "datasets"),
        ((10, 10), (20, 7), "spaces"),
        ((100, 1), (79, 1), "environments"),
        ((0, 0), (1, 0), None),
        ((5, 0), (0, 0), "environments"),
    ],
)
def test_a_listing_under_four_fifths_of_the_last_is_not_believed(
    last: tuple[int, int], now: tuple[int, int], what: str | None
) -> None:
    if what is None:
        check_size(listing(*now), listing(*last).sizes)
    else:
        with pytest.raises(Shrunk, match=what):
            check_size(listing(*now), listing(*last).sizes)


@pytest.mark.anyio
@pytest.mark.parametrize(("age", "told", "asked"), [(1, True, False), (4, True, True), (1, False, True)])
async def test_the_app_uses_a_fresh_listing_of_the_store_when_told_so(
    tmp_path: Path, age: int, told: bool, asked: bool
) -> None:
    hub = LocalHub(FIXTURES)
    (tmp_path / FILE).write_bytes(listing_bytes(replace(listing(2, 1), at=datetime.now(UTC) - timedelta(hours=age))))
    settings = Settings(hub=str(FIXTURES), store=tmp_path, cache_dir=tmp_path / "cache", listing_from_store=told)
    async with create_services(settings, transport=httpx2.ASGITransport(app=hub.app)) as services:
        page = await services.catalog.search(EnvQuery(), ANONYMOUS)
    assert bool(hub.requests) is asked
    assert (page.total == 3) is not asked


@pytest.mark.anyio
async def test_a_damaged_listing_of_the_store_is_done_without(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"half")
    assert read_listing(tmp_path / FILE) is None
    settings = Settings(hub=str(FIXTURES), store=tmp_path, cache_dir=tmp_path / "cache", listing_from_store=True)
    async with create_services(settings) as services:
        assert (await services.catalog.search(EnvQuery(), ANONYMOUS)).total > 3
