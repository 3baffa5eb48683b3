"""The list of environments: found, narrowed, looked at, and told apart from what is not known."""

import gzip
import random
import re
from dataclasses import dataclass, replace

import httpx2
import pytest
from fastapi import FastAPI

from rlx.answers import name
from rlx.errors import Upstream
from rlx.ids import EnvKey
from rlx.model import Count, EnvPage, EnvQuery, Facet, FacetValue, Viewer
from rlx.store.instance import Banner, Collection, Instance
from rlx.texts import say
from rlx.web.pages.explore import BANNER_LIFE, TREND
from tests.toy import MAIN, REFS, SERVER, ToyCatalog, ToyInstance, ToyServices, env_card

pytestmark = pytest.mark.anyio

BANNER = Banner(id="autumn", text="New here.", label="Read more", url="https://example.org/news")
WORDS = [f"w{n:x}{n * 7919 % 9973:x}" for n in range(3000)]
MANY = tuple(env_card(EnvKey("dataset", "toy", f"env-{n:03}")) for n in range(30))


@dataclass(slots=True)
class Altered(ToyCatalog):
    """The toy catalog with a page that is told otherwise."""

    facets: tuple[Facet, ...] = ()
    building: bool = False

    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
        page = await ToyCatalog.search(self, query, viewer)
        return replace(page, facets=self.facets or page.facets, building=self.building)


@dataclass(slots=True)
class Away(ToyCatalog):
    hint: str | None = "Look at its status page."

    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
        raise Upstream("The Hub does not answer.", hint=self.hint, retry_after=7)


def names(html: str) -> list[str]:
    """What the rows of the list are called, in order."""
    return re.findall(r'<h3 class="name"><a [^>]*><span>[^<]*</span>([^<]+)</a>', html)


def cards(html: str) -> list[str]:
    """What the trending cards are called, in order."""
    return re.findall(r'/</span><span class="cut">([^<]+)</span></a></h3>', html)


@pytest.fixture
def many(services: ToyServices) -> ToyServices:
    services.catalog = ToyCatalog(MANY)
    return services


async def test_the_numbers_count_everything_whatever_was_searched(client: httpx2.AsyncClient) -> None:
    figures = re.compile(r"<dt>(Datasets|Servers|Tasks)</dt><dd>(\d+)</dd>")
    whole = figures.findall((await client.get("/")).text)
    assert whole == [("Datasets", "2"), ("Servers", "1"), ("Tasks", "13")]
    assert figures.findall((await client.get("/?q=server&f=graded:Tests")).text) == whole


async def test_trending_turns_its_pages_by_links(client: httpx2.AsyncClient, many: ToyServices) -> None:
    first = (await client.get("/")).text
    second = (await client.get("/?trend=2")).text
    last = (await client.get("/?trend=4")).text
    assert cards(first) == [card.key.name for card in MANY[:TREND]]
    assert cards(second) == [card.key.name for card in MANY[TREND : 2 * TREND]]
    assert cards(last) == [card.key.name for card in MANY[3 * TREND :]]
    assert 'href="/?trend=2"' in first
    assert 'rel="prev" id="trend-prev" href="/"' in second
    assert 'id="trend-next"' not in last
    assert cards((await client.get("/?trend=5")).text) == cards(last)
    assert (await client.get("/?trend=6")).status_code == 400


async def test_trending_keeps_the_kind_and_steps_aside_for_a_search(
    client: httpx2.AsyncClient, many: ToyServices
) -> None:
    assert 'href="/?kind=harbor&amp;trend=2"' in (await client.get("/?kind=harbor")).text
    assert 'href="/?sort=name&amp;trend=3"' in (await client.get("/?sort=name&trend=2")).text
    for url in ("/?q=env", "/?f=graded:Tests", "/?offset=10&limit=10"):
        assert cards((await client.get(url)).text) == []


async def test_trending_says_when_no_trend_is_told(client: httpx2.AsyncClient, many: ToyServices) -> None:
    assert "No trend is told here" in (await client.get("/")).text
    many.catalog = ToyCatalog((replace(MANY[0], trending=3.0), *MANY[1:]))
    assert "No trend is told here" not in (await client.get("/")).text


async def test_the_results_alone_are_those_of_the_page(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/?q=toy&sort=name")).text
    part = (await client.get("/?q=toy&sort=name&part=results")).text
    assert "<html" in page
    assert "<html" not in part
    assert re.findall(r'data-part="(\w+)"', part) == ["kinds", "facets", "list"]
    assert names(part) == names(page) == ["main", "server", "files-only"]
    assert "part=" not in part.replace("data-part=", "")


async def test_a_row_says_at_a_glance_what_an_environment_is(client: httpx2.AsyncClient, services: ToyServices) -> None:
    card = replace(
        env_card(MAIN), runs=(name("Dockerfile"), name("Compose")), likes=3, levels=(Count(name("Hard"), 4),)
    )
    services.catalog = ToyCatalog((card,))
    row = (await client.get("/")).text.partition('<ol class="index">')[2].partition("</ol>")[0]
    for told in ("Harbor tasks", "Brief of main", "Dockerfile, Compose", "Tests", "1,204", "3 likes", "ago</time>"):
        assert told in row
    assert 'aria-label="Hard 4"' in row
    assert 'class="d3" x="0%" width="30.77%"' in row
    assert 'title="5 July 2026"' in row


async def test_what_is_not_known_is_said_only_where_one_would_look(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    quiet = replace(
        env_card(SERVER, "openenv"), tasks=None, why=say("index.not_read"), graded=(), levels=(), downloads=None
    )
    services.catalog = ToyCatalog((quiet, replace(quiet, key=MAIN, kind="harbor", state="listed")))
    page = (await client.get("/")).text
    assert "no task list" in page
    assert "not read yet" in page
    assert "not told" not in page
    services.catalog = ToyCatalog((replace(env_card(MAIN), graded=()),))
    assert "not told" in (await client.get("/")).text


async def test_a_long_facet_folds_but_never_what_is_selected(client: httpx2.AsyncClient, services: ToyServices) -> None:
    values = tuple(FacetValue(name(f"tag {n}"), 40 - n, n == 17) for n in range(20))
    services.catalog = Altered(facets=(Facet("tag", say("facet.tag"), values, more=5),))
    page = (await client.get("/")).text
    open_part, _, folded = page.partition('data-fold="tag+"')
    assert "<summary>11 more</summary>" in folded
    assert 'value="tag:tag%2017" checked' in open_part
    assert "tag 7<" in open_part
    assert "tag 8<" in folded
    assert page.count('value="tag:tag%2017"') == 1


async def test_every_filter_in_force_can_be_taken_away_alone(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/?q=toy&f=graded:Tests|One%2520score;runs:Image")).text
    pills = re.findall(r'<a class="pill" href="([^"]+)">([^<]+)<', page)
    assert [text for _, text in pills] == ["“toy”", "Tests", "One score", "Image"]
    assert pills[0][0] == "/?f=graded%3ATests%7COne%2520score%3Bruns%3AImage"
    assert pills[1][0] == "/?q=toy&amp;f=graded%3AOne%2520score%3Bruns%3AImage"
    assert pills[3][0] == "/?q=toy&amp;f=graded%3ATests%7COne%2520score"
    assert "3 filters" in page


async def test_collections_of_the_operators_are_offered(client: httpx2.AsyncClient, services: ToyServices) -> None:
    services.instance = ToyInstance(Instance(collections=(Collection(id="starters", title="Good first ones"),)))
    page = (await client.get("/?collection=starters&q=toy")).text
    assert 'href="/?q=toy&amp;collection=starters" aria-current="true">Good first ones' in page
    assert '<input type="hidden" name="collection" value="starters">' in page


async def test_what_the_operators_feature_is_marked(client: httpx2.AsyncClient, services: ToyServices) -> None:
    services.instance = ToyInstance(Instance(featured=("toy/main",)))
    for url in ("/", "/?look=toy/main"):
        assert (await client.get(url)).text.count("Featured</span>") == 1
    assert "Featured" not in (await client.get("/?q=server")).text


async def test_words_find_tasks_of_any_environment_too(client: httpx2.AsyncClient) -> None:
    page = await client.get("/?q=plain")
    assert "No environment matches “plain”" in page.text
    assert '<h2 id="hits">' in page.text
    assert 'href="/t/toy/main/plain"' in page.text
    twin = (await client.get("/?q=plain&format=json")).json()
    assert [task["ref"] for task in twin["matching_tasks"]] == ["plain"]
    assert "plain" in (await client.get("/?q=plain&format=md")).text.partition("## Tasks that match")[2]
    assert '<h2 id="hits">' not in (await client.get("/")).text


@pytest.mark.parametrize(
    ("url", "said", "offered"),
    [
        ("/?q=zzz", "No environment matches “zzz”", 'href="/">Clear everything'),
        (
            "/?q=zzz&kind=harbor",
            "No environment that passes the filters matches “zzz”",
            'href="/?q=zzz">Search without',
        ),
        ("/?kind=mimo", "No environment passes every filter", 'href="/">Clear everything'),
        ("/?q=no/such", "No environment matches “no/such”", 'href="/d/no/such">Open no/such by its name'),
        ("/?offset=900", "The list ends before this page", 'href="/">To the first page'),
    ],
)
async def test_an_empty_list_says_what_was_asked_and_how_to_go_on(
    client: httpx2.AsyncClient, url: str, said: str, offered: str
) -> None:
    page = await client.get(url)
    assert page.status_code == 200
    assert said in page.text
    assert offered in page.text


async def test_a_hub_without_environments_says_how_it_is_laid_out(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    services.catalog = ToyCatalog(())
    page = (await client.get("/")).text
    assert "This Hub lists no environment" in page
    assert "datasets/&lt;org&gt;/&lt;name&gt;" in page


async def test_a_hub_that_does_not_answer_is_told_with_when_to_try_again(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    services.catalog = Away()
    page = await client.get("/?q=a%26b&sort=name")
    assert page.status_code == 503
    assert page.headers["retry-after"] == "7"
    for said in (
        "The Hub does not answer.",
        "Look at its status page.",
        'href="/?q=a%26b&amp;sort=name"',
    ):
        assert said in page.text
    twin = await client.get("/?format=json")
    assert twin.status_code == 503
    assert twin.json()["error"]["message"] == "The Hub does not answer."
    assert (await client.get("/?part=results")).status_code == 503
    services.catalog = Away(hint=None)
    assert "It is worth trying again in 7 seconds." in (await client.get("/")).text


async def test_counts_that_will_grow_are_said_to(client: httpx2.AsyncClient, services: ToyServices) -> None:
    assert "data-building" not in (await client.get("/")).text
    assert (await client.get("/api/search")).json()["note"] is None
    services.catalog = Altered(building=True)
    page = (await client.get("/")).text
    assert "data-building" in page
    assert "the counts will grow" in page
    assert "the counts will grow" in (await client.get("/api/search")).json()["note"]


async def test_quick_look_is_a_fragment_with_facts_and_first_tasks(client: httpx2.AsyncClient) -> None:
    look = await client.get("/", params={"look": "toy/main"})
    assert look.status_code == 200
    assert look.text.startswith("<article")
    assert 'href="/d/toy/main"' in look.text
    assert look.text.count('href="/t/toy/main') == 5
    assert 'href="https://hub.example/datasets/toy/main"' in look.text
    assert (await client.get("/?look=toy/main&format=json")).json()["id"] == "toy/main"
    server = await client.get("/", params={"look": "space:toy/server"})
    assert 'href="/s/toy/server"' in server.text


@pytest.mark.parametrize(("key", "status"), [("toy/mai", 404), ("toy/private", 404), ("nonsense", 400), ("a/..", 400)])
async def test_quick_look_refuses_what_is_not_listed(client: httpx2.AsyncClient, key: str, status: int) -> None:
    assert (await client.get("/", params={"look": key})).status_code == status


async def test_every_row_leads_to_the_page_and_offers_a_quick_look(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/")).text
    looks = re.findall(r'<a class="look" href="([^"]+)" data-look="([^"]+)">', page)
    assert looks[:2] == [("/d/toy/main", "/?look=toy%2Fmain"), ("/s/toy/server", "/?look=space%3Atoy%2Fserver")]


async def test_a_banner_stays_closed_for_a_week_without_scripts(app: FastAPI, services: ToyServices) -> None:
    services.instance = ToyInstance(Instance(banner=BANNER))
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="https://localhost:7860") as reader:
        page = (await reader.get("/?q=toy")).text
        assert '<a href="https://example.org/news">Read more</a>' in page
        assert 'name="back" value="/?q=toy"' in page
        closed = await reader.post("/-/banner", data={"id": "autumn", "back": "/?q=toy"})
        assert (closed.status_code, closed.headers["location"]) == (303, "/?q=toy")
        assert f"max-age={BANNER_LIFE}" in closed.headers["set-cookie"].lower()
        assert "Read more" not in (await reader.get("/?q=toy")).text
        services.instance.told = Instance(banner=BANNER.model_copy(update={"id": "winter"}))
        assert "Read more" in (await reader.get("/")).text


async def test_closing_a_banner_leads_nowhere_else_and_keeps_nothing_odd(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    services.instance = ToyInstance(Instance(banner=BANNER))
    gone = await client.post("/-/banner", data={"id": "x; path=/evil", "back": "https://evil.example/"})
    assert gone.headers["location"] == "/"
    assert "set-cookie" not in gone.headers
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert (await client.post("/-/banner", data={"id": "autumn"}, headers=elsewhere)).status_code == 403


async def test_the_api_finds_tasks_across_environments(client: httpx2.AsyncClient) -> None:
    found = (await client.get("/api/search/tasks", params={"q": "a", "limit": 2})).json()
    assert [(card["id"], card["ref"]) for card in found["cards"]] == [
        ("toy/main", "plain"),
        ("toy/main", "tasks/with space"),
    ]
    assert found["cards"][1]["url"] == "/t/toy/main/tasks/with%20space"
    assert (found["total"], found["more"], found["note"]) == (6, False, None)
    assert [facet["key"] for facet in found["facets"]] == ["difficulty"]
    assert (await client.get("/api/search/tasks")).json()["total"] == len(REFS)


@pytest.mark.parametrize("url", ["/api/search/tasks?limit=0", "/api/search/tasks?limit=101", "/api/search/tasks?q=%01"])
async def test_the_api_refuses_odd_task_searches(client: httpx2.AsyncClient, url: str) -> None:
    assert (await client.get(url)).status_code == 400


async def test_other_pages_bring_what_their_search_box_says(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main")).text
    assert "data-suggest" in page
    assert 'data-all="All results for “{text}”"' in page
    assert "data-suggest" not in (await client.get("/")).text


async def test_the_first_response_is_small(client: httpx2.AsyncClient, services: ToyServices) -> None:
    """Over 136 environments with briefs that share no word, which real ones do."""
    chance = random.Random(7)  # noqa: S311 - words, not secrets
    services.catalog = ToyCatalog(
        tuple(
            replace(
                env_card(EnvKey("dataset", chance.choice(WORDS), f"{chance.choice(WORDS)}-{chance.choice(WORDS)}")),
                brief=name(" ".join(chance.choices(WORDS, k=24))),
                likes=chance.randrange(500),
                downloads=chance.randrange(100_000),
            )
            for _ in range(136)
        )
    )
    answer = await client.get("/", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert len(names(answer.text)) == 40
    assert len(gzip.compress(answer.content, 5)) <= 14 * 1024


async def test_only_what_gains_from_it_is_compressed(client: httpx2.AsyncClient) -> None:
    asked = {"accept-encoding": "gzip"}
    assert "content-encoding" in (await client.get("/-/patterns", headers=asked)).headers
    for url in ("/api/env/toy/main/progress", "/raw/d/toy/main/files/data.bin", "/raw/d/toy/main/files/dot.png"):
        assert "content-encoding" not in (await client.get(url, headers=asked)).headers
