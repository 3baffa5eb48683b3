"""Listings: filters, search, sort, views and paging."""

import json
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.localhub import LocalHub, LocalHubServer
from tests.localhub.small_hub import client_of, writer

pytestmark = pytest.mark.anyio

MANY = 2345


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> LocalHub:
    """A hub of thousands of repositories."""
    root = tmp_path_factory.mktemp("many")
    write = writer(root)
    for number in range(MANY):
        tag = "harbor" if number % 2 else "verifiers"
        write(f"datasets/org-{number % 3}/Name-{number:04}/README.md", f"---\ntags: [{tag}]\n---\n")
    write("hub.json", json.dumps({f"datasets/org-0/Name-{n:04}": {"likes": n % 7} for n in range(0, MANY, 3)}))
    return LocalHub(root)


async def ids(hub: LocalHub, query: str, token: str | None = None) -> list[str]:
    """Ids of a listing, all pages."""
    found: list[str] = []
    url: str | None = f"/api/datasets?{query}"
    async with client_of(hub, token) as client:
        while url:
            answer = await client.get(url)
            assert answer.status_code == 200, answer.text
            found += [one["id"] for one in answer.json()]
            url = answer.links.get("next", {}).get("url")
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("filter=harbor", ["acme/gated", "acme/tasks"]),
        ("filter=rl-environment", ["acme/tasks", "acme/rows"]),
        ("filter=rl-environment&filter=harbor", ["acme/tasks"]),
        ("filter=harbor&filter=verifiers", []),
        ("filter=license:mit", ["acme/tasks"]),
        ("filter=Harbor", []),
        ("size_categories=n%3C1K", ["acme/tasks"]),
        ("language=ko", ["acme/tasks"]),
        ("benchmark=official", []),
        ("author=acme&filter=verifiers", ["acme/rows"]),
        ("author=nobody", []),
        ("search=TASK", ["acme/tasks"]),
        ("search=acme%20row", ["acme/rows"]),
        ("search=acme&search=row", ["acme/rows"]),
        ("gated=true", ["acme/gated"]),
        ("gated=false", ["acme/tasks", "acme/rows"]),
        ("sort=likes", ["acme/rows", "acme/tasks", "acme/gated"]),
        ("sort=downloads", ["acme/tasks", "acme/rows", "acme/gated"]),
        ("sort=trendingScore", ["acme/gated", "acme/tasks", "acme/rows"]),
        ("sort=mainSize&filter=rl-environment", ["acme/tasks", "acme/rows"]),
        ("sort=lastModified&filter=rl-environment", ["acme/rows", "acme/tasks"]),
        ("sort=id", ["acme/gated", "acme/rows", "acme/tasks"]),
        ("limit=1", ["acme/gated", "acme/tasks", "acme/rows"]),
    ],
)
async def test_lists_are_filtered_and_sorted(root: Path, query: str, expected: list[str]) -> None:
    assert await ids(LocalHub(root), query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "sort=colour",
        "expand=colour",
        "expand=sha&full=true",
        "limit=0",
        "limit=-1",
        "limit=many",
        "limit=9999999999",
        "cursor=nonsense",
        "cursor=WzFd",
        "cursor=%FF",
    ],
)
async def test_bad_parameters_are_refused(root: Path, query: str) -> None:
    async with client_of(LocalHub(root)) as client:
        answer = await client.get(f"/api/datasets?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]


async def test_unknown_parameters_are_ignored(root: Path) -> None:
    assert len(await ids(LocalHub(root), "colour=red&filter[]=rl-environment")) == 2


async def test_pages_are_absolute_links_that_keep_the_query(root: Path) -> None:
    async with client_of(LocalHub(root)) as client:
        first = await client.get("/api/datasets?expand=sha&expand=tags&limit=2")
        link = first.links["next"]["url"]
        assert link.startswith("http://hub.test/api/datasets?expand=sha&expand=tags&limit=2&cursor=")
        second = await client.get(link)
        assert [set(one) for one in second.json()] == [{"_id", "id", "sha", "tags"}]
        assert "next" not in second.links
        proxied = await client.get(
            "/api/datasets?limit=1", headers={"x-forwarded-host": "hub.example", "x-forwarded-proto": "https"}
        )
        assert proxied.links["next"]["url"].startswith("https://hub.example/api/datasets?limit=1&cursor=")


async def test_every_view_has_its_keys(root: Path) -> None:
    async with client_of(LocalHub(root)) as client:
        brief = (await client.get("/api/datasets?limit=1")).json()[0]
        full = (await client.get("/api/datasets?limit=1&full=true")).json()[0]
        assert "cardData" not in brief
        assert "sha" in brief
        assert {"cardData", "siblings"} <= set(full)
        space = (await client.get("/api/spaces?full=true")).json()[0]
        assert "runtime" not in space
        expanded = (await client.get("/api/spaces?expand[]=runtime&expand[]=subdomain")).json()[0]
        assert expanded["runtime"]["stage"] == "PAUSED"
        linked = await client.get("/api/spaces?datasets=acme/tasks")
        assert [one["id"] for one in linked.json()] == ["acme/echo"]
        assert (await client.get("/api/spaces?datasets=acme/rows")).json() == []


def test_the_client_filters_limits_and_expands(server: LocalHubServer) -> None:
    api = HfApi(endpoint=server.url, token=False)
    found = list(api.list_datasets(filter=["rl-environment", "harbor"], expand=["sha", "tags", "cardData"]))
    assert [one.id for one in found] == ["acme/tasks"]
    assert found[0].card_data is not None
    assert [one.id for one in api.list_datasets(sort="likes", limit=2)] == ["acme/rows", "acme/tasks"]
    assert [one.id for one in api.list_datasets(task_categories="text-generation", author="acme")] == ["acme/tasks"]
    assert [one.id for one in api.list_spaces(filter="openenv", search="ech")] == ["acme/echo"]


async def test_thousands_come_in_pages_without_gap_or_repeat(many: LocalHub) -> None:
    found = await ids(many, "")
    assert len(found) == len(set(found)) == MANY
    assert len(await ids(many, "filter=harbor&limit=100")) == MANY // 2
    by_likes = await ids(many, "sort=likes&limit=999")
    assert len(set(by_likes)) == MANY
    assert by_likes[0] == "org-0/Name-0006"


@settings(max_examples=25, deadline=None)
@given(
    sort=st.sampled_from(["likes", "id", "lastModified", "trendingScore"]),
    limit=st.integers(150, 1200),
    tags=st.lists(st.sampled_from(["harbor", "verifiers", "region:us"]), max_size=2),
    author=st.none() | st.sampled_from(["org-0", "org-1"]),
)
async def test_paging_gives_what_one_page_would(
    many: LocalHub, sort: str, limit: int, tags: list[str], author: str | None
) -> None:
    query = "".join(f"&filter={tag}" for tag in tags) + (f"&author={author}" if author else "")
    assert await ids(many, f"sort={sort}&limit={limit}{query}") == await ids(many, f"sort={sort}{query}")


async def test_a_repository_that_appears_while_paging_shifts_nothing(own_root: Path) -> None:
    hub = LocalHub(own_root, rescan=0)
    async with client_of(hub) as client:
        first = await client.get("/api/datasets?sort=id&limit=2")
        assert [one["id"] for one in first.json()] == ["acme/gated", "acme/rows"]
        (own_root / "datasets/acme/aardvark").mkdir()
        second = await client.get(first.links["next"]["url"])
        assert [one["id"] for one in second.json()] == ["acme/tasks"]
        everything = await client.get("/api/datasets?sort=id")
        assert everything.json()[0]["id"] == "acme/aardvark"
