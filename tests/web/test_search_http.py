"""Search over HTTP: what caches may keep, what is one visitor's alone, what is refused, and that nothing is a fault."""

import itertools
import re
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from rlx.ids import EnvKey
from rlx.services import create_services
from rlx.settings import Settings
from rlx.store.instance import ANNOUNCED, Collection, Instance, InstanceFile
from rlx.web.api import schemas
from rlx.web.app import create_app
from tests.toy import PRIVATE, TOKEN, ToyServices
from tests.web.built import PARSERS, Built
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

PUBLIC = (
    "/",
    "/?q=toy&mine=1",
    "/?part=results",
    "/tasks",
    "/tasks?q=a",
    "/tasks?format=md",
    "/api/search",
    "/api/search?q=toy&trending=8&mine=1",
    "/api/search/tasks?q=a",
    "/api/search/rank?key=toy/main",
    "/api/search/status",
)
BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def signed(client: httpx2.AsyncClient) -> dict[str, str]:
    """Headers of somebody who signed in."""
    answer = await client.post("/login", data={"token": TOKEN})
    client.cookies.clear()
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


def took(answer: httpx2.Response) -> float:
    """Milliseconds of the search, as the server tells them."""
    found = re.search(r"\bsearch;dur=([\d.]+)", answer.headers["server-timing"])
    assert found, answer.headers["server-timing"]
    return float(found[1])


@pytest.mark.parametrize("url", PUBLIC)
async def test_what_everybody_sees_is_kept_for_half_a_minute_and_asked_for_by_its_tag(
    client: httpx2.AsyncClient, url: str
) -> None:
    first = await client.get(url)
    assert first.status_code == 200
    assert first.headers["cache-control"] == "public, max-age=30"
    assert first.headers["etag"].startswith('W/"')
    assert {"Cookie", "Authorization"} <= set(first.headers["vary"].split(", "))
    assert took(first) >= 0
    again = await client.get(url, headers={"if-none-match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["cache-control"] == first.headers["cache-control"]
    assert set(first.headers["vary"].split(", ")) <= set(again.headers["vary"].split(", "))
    assert took(again) >= 0


@pytest.mark.parametrize("url", PUBLIC)
async def test_what_somebody_with_a_token_is_told_is_kept_by_nobody(
    client: httpx2.AsyncClient, signed: dict[str, str], url: str
) -> None:
    public = await client.get(url)
    for headers in (signed, *([BEARER] if url.startswith("/api") else [])):
        answer = await client.get(url, headers={**headers, "if-none-match": public.headers["etag"]})
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "private, no-store"
        assert "etag" not in answer.headers
        assert "last-modified" not in answer.headers
        assert took(answer) >= 0


@pytest.mark.parametrize(("page", "twin"), [("/", "/?format=json"), ("/?part=results", "/api/search?a=b")])
async def test_private_environments_are_told_to_their_owner_alone(
    client: httpx2.AsyncClient, signed: dict[str, str], page: str, twin: str
) -> None:
    def mine(url: str) -> str:
        return f"{url}{'&' if '?' in url else '?'}mine=1"

    for _ in range(2):  # also after the owner has asked
        for url in (page, mine(page), twin, mine(twin)):
            assert "toy/private" not in (await client.get(url)).text
        assert "toy/private" not in (await client.get(page, headers=signed)).text
        own = await client.get(mine(page), headers=signed)
        assert 'href="/d/toy/private"' in own.text
        told = (await client.get(mine(twin), headers=signed)).json()["cards"]
        assert [card["id"] for card in told if card["private"]] == [str(PRIVATE)]
        assert len(told) == 4


async def test_a_private_row_says_so_and_only_those_with_a_token_are_asked(
    client: httpx2.AsyncClient, signed: dict[str, str]
) -> None:
    assert 'name="mine"' not in (await client.get("/?mine=1")).text
    page = (await client.get("/?mine=1", headers=signed)).text
    assert '<input type="checkbox" name="mine" value="1" checked' in page
    assert '<a class="pill" href="/">With my private ones' in page
    assert page.count('lock"/></svg>private</span>') == 1
    private = page.partition('href="/d/toy/private"')[2].partition("</li>")[0]
    assert "private</span>" in private
    assert "data-look" not in private
    assert 'href="/?kind=harbor&amp;mine=1"' in page
    assert 'value="1" checked' not in (await client.get("/", headers=signed)).text


async def test_this_machines_own_user_may_ask_for_private_ones(services: ToyServices) -> None:
    async with visitor(create_app(services, token=lambda settings: TOKEN), peer="127.0.0.1") as own:
        page = await own.get("/?mine=1")
        assert 'href="/d/toy/private"' in page.text
        assert page.headers["cache-control"] == "private, no-store"


async def test_private_environments_of_a_hub_are_found_by_who_signed_in(fixture_hub: Path, tmp_path: Path) -> None:
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings, keep_catalog=False) as made:
        app = create_app(made, token=lambda settings: None)
        alice, other = visitor(app), visitor(app)
        assert (await alice.post("/login", data={"token": "hf_alice"})).status_code == 303
        everybody = (await other.get("/api/search?limit=100")).json()
        mine = (await alice.get("/?mine=1&limit=100&format=json")).json()
        private = [card["id"] for card in mine["cards"] if card["private"]]
        assert private
        assert {card["id"] for card in mine["cards"]} - {card["id"] for card in everybody["cards"]} == set(private)
        assert mine["total"] == everybody["total"] + len(private)
        assert (await alice.get("/?mine=1")).text.count("private</span>") == len(private)
        told = (await other.get("/?mine=1&limit=100")).text + (await other.get("/api/search?mine=1&limit=100")).text
        assert not [key for key in private if key.removeprefix("space:") in told]
        await alice.aclose()
        await other.aclose()


async def test_trending_and_the_numbers_come_in_the_answer_itself(client: httpx2.AsyncClient) -> None:
    told = await client.get("/api/search?q=server&trending=2")
    schemas.EnvListAnswer.model_validate_json(told.content, strict=True)
    answer = told.json()
    assert [card["id"] for card in answer["cards"]] == ["space:toy/server"]
    assert [card["id"] for card in answer["trending"]] == ["toy/main", "space:toy/server"]
    assert answer["stats"] == {"harbor": 1, "openenv": 1, "rows": 1, "environments": 3, "tasks": 13}
    of_kind = (await client.get("/api/search?kind=rows&trending=2")).json()
    assert [card["id"] for card in of_kind["trending"]] == ["toy/files-only"]
    assert not {"trending", "stats"} & (await client.get("/api/search")).json().keys()


async def test_only_collections_that_hold_something_listed_are_offered(
    client: httpx2.AsyncClient, services: ToyServices, tmp_path: Path
) -> None:
    services.catalog = Built(tmp_path, services.instance)
    assert ANNOUNCED.title not in (await client.get("/")).text
    assert "collection=" not in (await client.get("/")).text
    starters = Collection(id="starters", title="Good first ones", environments=(str(PARSERS), "acme/gone"))
    services.instance.told = Instance(collections=(ANNOUNCED, starters))
    page = (await client.get("/")).text
    assert '<a href="/?collection=starters">Good first ones <span class="faint num push">1</span></a>' in page
    assert ANNOUNCED.title not in page
    chosen = (await client.get("/?collection=announced")).text
    assert 'aria-current="true">Named in the announcement <span class="faint num push">0</span>' in chosen


async def test_scripts_and_models_are_told_the_collections_and_an_unknown_one_names_those_that_are(
    client: httpx2.AsyncClient, services: ToyServices, tmp_path: Path
) -> None:
    services.catalog = Built(tmp_path, services.instance)
    starters = Collection(id="starters", title="Good *first* ones", environments=(str(PARSERS), "acme/gone"))
    services.instance.told = Instance(collections=(ANNOUNCED, starters))
    for url in ("/api/search?limit=1", "/?format=json"):
        told = (await client.get(url)).json()["collections"]
        assert told == [{"id": "starters", "title": "Good *first* ones", "n": 1}]
    assert "- `starters`: Good \\*first\\* ones (1)" in (await client.get("/?format=md")).text
    assert (await client.get("/api/search?collection=announced")).json()["total"] == 0
    for url in ("/api/search?collection=secret", "/?collection=secret", "/?collection=secret&format=md"):
        answer = await client.get(url)
        assert answer.status_code == 400
        assert "is not a collection of this site" in answer.text
        assert "announced, starters" in answer.text


async def test_a_filter_that_nothing_has_is_told_and_capitals_do_not_matter(
    client: httpx2.AsyncClient, services: ToyServices, tmp_path: Path
) -> None:
    services.catalog = Built(tmp_path, services.instance)
    facets = "difficulty, category, language, graded, sandbox, framework"
    told = (await client.get("/api/search/tasks?f=hardness:Hard")).json()
    assert (told["total"], told["note"]) == (0, f"There is no facet “hardness”. The facets are {facets}.")
    told = (await client.get("/api/search/tasks?f=difficulty:Awful|hard&q=nothing")).json()
    assert told["note"] == "Nothing has the value “Awful” of the facet “difficulty”."
    told = (await client.get("/api/search/tasks?f=difficulty:hARD")).json()
    assert (told["total"], told["note"]) == (2, None)
    values = {facet["key"]: facet["values"] for facet in told["facets"]}
    assert {"value": "Hard", "n": 2, "selected": True} in values["difficulty"]
    told = (await client.get("/api/search?f=framework:HARBOR")).json()
    assert (told["total"], told["note"]) == (1, None)
    assert "“no-such”. The facets are tag," in (await client.get("/api/search?f=no-such:x")).json()["note"]
    for url in ("/?f=tag:nope", "/tasks?f=language:nope", "/?f=tag:nope&format=md", "/tasks?f=language:nope&format=md"):
        assert "Nothing has the value “nope” of the facet" in (await client.get(url)).text
    assert "Nothing here is what was asked for" in (await client.get("/tasks?f=language:nope&format=md")).text


@pytest.mark.parametrize("url", ["/api/search?limit=1", "/api/search/tasks?limit=1", "/tasks?format=json&limit=1"])
async def test_a_page_is_asked_for_by_its_number_which_goes_before_an_offset(
    client: httpx2.AsyncClient, url: str
) -> None:
    by_offset = (await client.get(f"{url}&offset=2")).json()
    by_page = (await client.get(f"{url}&page=3&offset=1")).json()
    assert by_page == by_offset
    assert (by_page["page"], by_page["offset"]) == (3, 2)
    assert (await client.get(f"{url}&page=0")).status_code == 400
    assert (await client.get(f"{url[:-1]}100&page=9999999")).status_code == 400


async def test_the_announced_collection_is_offered_where_one_of_it_is_listed(
    client: httpx2.AsyncClient, services: ToyServices, tmp_path: Path
) -> None:
    services.catalog = Built(
        tmp_path, services.instance, others=[EnvKey("dataset", "PrimeIntellect", "Reverse-Text-RL")]
    )
    assert '<a href="/?collection=announced">Named in the announcement' in (await client.get("/")).text


@pytest.mark.parametrize(
    "url",
    [
        "/api/search?kind=no-kind",
        "/api/search?sort=best",
        "/api/search?limit=0",
        "/api/search?offset=-1",
        "/api/search?offset=10000001",
        "/api/search?trending=49",
        "/api/search?mine=perhaps",
        "/api/search?q=%00",
        "/api/search?f=graded",
        "/api/search?f=graded:%2501",
        "/api/search?collection=" + "x" * 41,
        "/api/search/tasks?env=nonsense",
        "/api/search/tasks?env=a/..",
        "/api/search/tasks?env=" + "x" * 300,
        "/api/search/tasks?limit=101",
        "/api/search/tasks?q=%1b",
        "/api/search/tasks?q=" + "x" * 201,
        "/api/search/rank",
        "/api/search/rank?key=nonsense",
        "/tasks?env=nonsense",
        "/tasks?part=all",
        "/tasks?offset=10000001",
        "/tasks?format=xml",
        "/?kind=no-kind",
    ],
)
async def test_what_cannot_be_asked_is_refused_in_words(client: httpx2.AsyncClient, url: str) -> None:
    answer = await client.get(url)
    assert answer.status_code == 400
    assert answer.headers["cache-control"] == "private, no-store"
    assert "etag" not in answer.headers
    if url.startswith("/api"):
        assert answer.json()["error"]["code"] == "bad_input"
        assert len(answer.json()["error"]["message"]) > 10


ODD = (
    *('"', "'", "*", "a*", "NEAR(a b)", "title:parser", "a OR b", "(", "-", "{", "\\", "%", "_", "' OR 1=1 --"),
    *("\u202e", "\ue000env0", "환", "🏳️‍🌈", "ﬁx", "a" * 200, "<script>", "\ufffd", "\U0010ffff", "ß", "İ"),
)
FILTERS = ("", "difficulty:Hard", "nothing:at|all", "difficulty:%22|'", "env0:x", "framework:%F0%9F%8F%B3", ":", ";")
ENVS = ("", "acme/parsers", "space:acme/servers", "acme/gone")


async def test_nothing_that_is_asked_is_a_fault_of_ours(app: FastAPI, services: ToyServices, tmp_path: Path) -> None:
    """Every odd word with every filter, on every way to search."""
    services.catalog = Built(tmp_path, services.instance)
    async with visitor(app) as client:
        for words, f in itertools.product(ODD, FILTERS):
            for url, more in (
                ("/api/search", {"collection": "announced", "trending": "1"}),
                ("/api/search/tasks", {"env": ENVS[len(words) % len(ENVS)], "offset": "9999999"}),
                ("/api/search/tasks", {"limit": "100"}),
            ):
                answer = await client.get(url, params={"q": words, "f": f, **more})
                assert answer.status_code in {200, 400}, (url, words, f, answer.text)
                assert answer.status_code == 200 or f == ":", (url, words, f, answer.text)
        for words in ODD:
            assert (await client.get("/api/search", params={"collection": words})).status_code == 400
            for url in ("/", "/tasks"):
                page = await client.get(url, params={"q": words, "f": "difficulty:Hard"})
                assert page.status_code == 200
                assert "<script>" not in page.text


async def test_what_a_folder_lacks_or_operators_hide_is_told_without_a_hub(fixture_hub: Path, tmp_path: Path) -> None:
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    InstanceFile(settings.store).save(Instance(hidden=frozenset({"acme/layout-flat"})))
    async with create_services(settings) as made:
        client = visitor(create_app(made, token=lambda settings: None))
        for key, said in (
            ("acme/gone", "No acme/gone in the folder that is read here, or it is private."),
            ("acme/layout-flat", "acme/layout-flat is not shown on this site."),
        ):
            for url in (f"/d/{key}?format=md", f"/api/env/{key}", f"/envs?env={key}&format=json"):
                answer = await client.get(url)
                assert said in answer.text.replace("\\", "")
                assert "on the Hub" not in answer.text
                assert "sign in" not in answer.text.lower()
            page = await client.get(f"/envs?env={key}&env=acme/layout-tasks")
            assert f'<span lang="en">{said}</span>' in page.text
        await client.aclose()
