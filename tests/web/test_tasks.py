"""The tasks of every environment: found, marked, narrowed, paged, and told apart from what cannot be."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from rlx.errors import NotReady, TooMany, Upstream, UserError
from rlx.ids import EnvKey
from rlx.model import EnvPage, EnvQuery, TaskHits, TaskSearch, Viewer
from rlx.store.instance import Instance
from rlx.web.api import schemas
from tests.toy import ToyServices
from tests.web.built import PARSERS, SERVERS, TASKS, Built

pytestmark = pytest.mark.anyio

EVERY = sum(map(len, TASKS.values()))
ROW = re.compile(r'<h3 class="name"><a href="([^"]+)">(.*?)</a></h3>')


@pytest.fixture(autouse=True)
def built(services: ToyServices, tmp_path: Path) -> Built:
    services.catalog = made = Built(tmp_path, services.instance)
    return made


def rows(html: str) -> list[str]:
    """Where the rows lead, in order."""
    return [href for href, _ in ROW.findall(html)]


async def test_the_best_match_comes_first_and_words_are_marked(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=fix+parser")).text
    assert rows(page) == ["/t/acme/parsers/tasks/fix-parser"]
    assert "<mark>Fix</mark> the <mark>parser</mark>" in page
    assert "It fails on &lt;tags&gt;." in page
    assert "Best match first" in page
    found = rows((await client.get("/tasks?q=parser")).text)
    assert found[0] == "/t/acme/parsers/tasks/fix-parser"
    assert found[-2:] == ["/t/acme/parsers/tasks/late", "/t/acme/parsers/tasks/korean"]
    assert set(found) >= {"/s/acme/servers/t/0", "/t/acme/parsers/tasks/hostile"}


async def test_a_hostile_title_is_marked_and_stays_inert(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=parser+reversed")).text
    title = dict(ROW.findall(page))["/t/acme/parsers/tasks/hostile"]
    assert title.startswith("A &lt;b&gt;<mark>parser</mark>&lt;/b&gt; &amp; ⟨U+202E⟩<mark>reversed</mark>⟨U+202C⟩")
    assert "{{ 7 * 7 }}" in title
    assert "\u202e" not in page


async def test_a_brief_is_shown_from_where_the_word_stands(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=then+parser")).text
    assert re.search(r'<p class="brief">… word [^<]*<mark>then</mark> the <mark>parser</mark></p>', page)


@pytest.mark.parametrize("words", ["환경", "파서", "고치"])
async def test_korean_words_are_found_inside_longer_ones(client: httpx2.AsyncClient, words: str) -> None:
    page = (await client.get("/tasks", params={"q": words})).text
    assert rows(page) == ["/t/acme/parsers/tasks/korean"]
    assert f"<mark>{words}</mark>" in page


async def test_without_words_every_task_is_listed_by_popularity_and_all_can_be_reached(
    client: httpx2.AsyncClient,
) -> None:
    first, second = [(await client.get(url)).text for url in ("/tasks", "/tasks?offset=20")]
    found = rows(first) + rows(second)
    assert len(set(found)) == len(found) == EVERY
    assert found[:2] == ["/t/acme/parsers/tasks/fix-parser", "/s/acme/servers/t/0"]
    assert f"1–20 of {EVERY}" in first
    assert 'rel="next" href="/tasks?offset=20"' in first
    assert 'rel="next"' not in second
    assert "By popularity" in first
    assert "<mark>" not in first


async def test_more_than_can_be_told_is_told_as_more_and_nothing_past_it_is_paged_to(
    client: httpx2.AsyncClient,
) -> None:
    page = (await client.get("/tasks?q=chore&limit=10")).text
    assert "1–10 of 20+" in page
    assert "More than 20 tasks match: 20 are listed and counted, those called so first" in page
    last = (await client.get("/tasks?q=chore&limit=10&offset=10")).text
    assert len(rows(last)) == 10
    assert 'rel="next"' not in last
    past = (await client.get("/tasks?q=chore&offset=20")).text
    assert rows(past) == []
    assert "The list ends before this page" in past
    assert "More than 20" not in (await client.get("/tasks?q=chore+number+29")).text


async def test_facets_count_what_the_others_leave_and_each_filter_can_be_taken_away(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=parser&f=difficulty:Hard")).text
    boxes = dict(re.findall(r'value="(difficulty:\w+)"[^>]*><span>[^<]*</span> <span class="faint num">(\d+)', page))
    assert boxes == {"difficulty:Easy": "2", "difficulty:Hard": "2"}
    assert 'value="difficulty:Hard" checked' in page
    assert len(rows(page)) == 2
    pills = re.findall(r'<a class="pill" href="([^"]+)">([^<]+)<', page)
    assert pills == [("/tasks?f=difficulty%3AHard", "“parser”"), ("/tasks?q=parser", "Hard")]
    assert 'href="/tasks?q=parser&amp;env=acme%2Fparsers&amp;f=difficulty%3AHard"' in page


async def test_one_environment_alone_is_searched_and_left_again(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=parser&env=space:acme/servers")).text
    assert rows(page) == ["/s/acme/servers/t/0"]
    assert '<input type="hidden" name="env" value="space:acme/servers">' in page
    assert '<a class="pill" href="/tasks?q=parser">In space:acme/servers<' in page
    assert "Only from here" not in page
    assert rows((await client.get("/tasks?env=acme/nowhere")).text) == []


async def test_hidden_environments_are_not_searched(client: httpx2.AsyncClient, services: ToyServices) -> None:
    services.instance.told = Instance(hidden=frozenset({str(PARSERS)}))
    page = (await client.get("/tasks")).text
    assert rows(page) == ["/s/acme/servers/t/0"]
    assert "acme/parsers" not in page
    assert rows((await client.get("/tasks?q=parser&env=acme/parsers")).text) == []


@pytest.mark.parametrize(
    ("url", "said", "offered"),
    [
        ("/tasks?q=zzz", "No task matches “zzz”", 'href="/tasks">Clear everything'),
        ("/tasks?q=%21%21", "No task matches “!!”", 'href="/tasks">Clear everything'),
        ("/tasks?q=zzz&f=difficulty:Hard", "No task that passes", 'href="/tasks?q=zzz">Search without filters'),
        ("/tasks?f=nothing:at|all", "No task passes every filter", 'href="/tasks">Clear everything'),
        ("/tasks?env=acme/nowhere", "No task passes every filter", 'href="/d/acme/nowhere">Open acme/nowhere'),
        ("/tasks?offset=9000000", f"It holds {EVERY} tasks.", 'href="/tasks">To the first page'),
    ],
)
async def test_an_empty_list_says_what_was_asked_and_how_to_go_on(
    client: httpx2.AsyncClient, url: str, said: str, offered: str
) -> None:
    page = await client.get(url)
    assert page.status_code == 200
    assert said in page.text
    assert offered in page.text


async def test_a_catalog_without_tasks_says_when_there_will_be_some(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    services.instance.told = Instance(hidden=frozenset(map(str, TASKS)))
    page = (await client.get("/tasks")).text
    assert "No tasks can be searched yet" in page
    assert "data-building" not in page


async def test_a_list_that_will_grow_says_so(client: httpx2.AsyncClient, services: ToyServices, tmp_path: Path) -> None:
    class Growing(Built):
        async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage:
            return replace(await super().search(query, viewer), building=True)

    (tmp_path / "growing").mkdir()
    services.catalog = Growing(tmp_path / "growing", services.instance)
    page = (await client.get("/tasks")).text
    assert "data-building" in page
    assert "the counts will grow" in page


@pytest.mark.parametrize(
    ("error", "status", "wait"),
    [
        (Upstream("The Hub does not answer.", retry_after=7), 503, "7"),
        (TooMany("The search took too long.", retry_after=3), 429, "3"),
        (NotReady("The list is being made."), 202, "2"),
    ],
)
async def test_a_search_that_cannot_be_had_is_told_with_when_to_try_again(
    client: httpx2.AsyncClient, services: ToyServices, tmp_path: Path, error: UserError, status: int, wait: str
) -> None:
    class Away(Built):
        async def tasks(self, search: TaskSearch) -> TaskHits:
            raise error

    (tmp_path / "away").mkdir()
    services.catalog = Away(tmp_path / "away", services.instance)
    page = await client.get("/tasks?q=a%26b")
    assert (page.status_code, page.headers["retry-after"]) == (status, wait)
    assert page.headers["cache-control"] == "private, no-store"
    for said in (
        "Tasks cannot be searched now",
        error.message,
        'href="/tasks?q=a%26b"',
        f"trying again in {wait} second",
    ):
        assert said in page.text
    assert (await client.get("/?q=a")).status_code == status
    for url in ("/tasks?format=json", "/api/search/tasks"):
        told = await client.get(url)
        assert (told.status_code, told.json()["error"]["message"]) == (status, error.message)


async def test_the_twins_tell_what_the_page_tells(client: httpx2.AsyncClient) -> None:
    told = await client.get("/tasks?q=parser&limit=2&format=json")
    assert told.json() == (await client.get("/api/search/tasks?q=parser&limit=2")).json()
    schemas.TaskHitListAnswer.model_validate_json(told.content, strict=True)
    text = (await client.get("/tasks?q=parser&limit=2&format=md")).text
    assert text.startswith("# Tasks of every environment\n\n1 to 2 of 5\n")
    assert "](https://explorer.example/t/acme/parsers/tasks/fix-parser?format=md) in [`acme/parsers`](" in text
    assert "<https://explorer.example/tasks?q=parser&offset=2&limit=2&format=md>" in text
    assert "- Difficulty (`difficulty`): `Easy` 2, `Hard` 2" in text
    cut = (await client.get("/tasks?q=chore&format=md")).text
    assert "of 20+" in cut
    assert "More than 20 tasks match:" in cut
    assert "1 to 0" not in (await client.get("/tasks?q=chore&offset=60&format=md")).text


async def test_marks_of_the_api_are_places_in_what_it_tells(client: httpx2.AsyncClient) -> None:
    for card in (await client.get("/api/search/tasks?q=parser")).json()["cards"]:
        places = [card["title"][start:end] for start, end in card["marks"]["title"]]
        places += [card["brief"][start:end] for start, end in card["marks"]["brief"]]
        assert places
        assert {place.lower() for place in places} == {"parser"}


async def test_the_results_alone_are_those_of_the_page(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=parser")).text
    part = (await client.get("/tasks?q=parser&part=results")).text
    assert "<html" not in part
    assert re.findall(r'data-part="(\w+)"', part) == ["facets", "list"]
    assert rows(part) == rows(page)
    assert "part=" not in part.replace("data-part=", "")


async def test_explore_leads_on_to_every_task_and_tasks_lead_back_to_environments(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/?q=parser")).text
    assert '<a class="small push" href="/tasks?q=parser">All 5 tasks that match</a>' in page
    assert "Fix the <mark>parser</mark>" in page
    assert (
        '<a class="small" href="/?q=parser">One environment matches too</a>'
        in (await client.get("/tasks?q=parser")).text
    )
    more = (await client.get("/?q=chore")).text
    assert "All tasks that match, more than 20" in more
    told = (await client.get("/?q=chore&format=json")).json()
    assert (len(told["matching_tasks"]), told["matching_total"], told["matching_more"]) == (5, 20, True)


async def test_every_page_leads_to_the_tasks_and_says_where_one_is(client: httpx2.AsyncClient) -> None:
    assert '<a href="/tasks">Tasks</a>' in (await client.get("/d/toy/main")).text
    page = (await client.get("/tasks")).text
    assert '<a href="/tasks" aria-current="page">Tasks</a>' in page
    assert "data-suggest" not in page


async def test_the_page_is_whole_in_korean(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tasks?q=chore&lang=ko")).text
    for said in ("찾은 과제", "가장 잘 맞는 순", "맞는 과제가 20개보다 많습니다"):
        assert said in page


async def test_the_first_response_is_small(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/tasks", headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert len(gzip.compress(answer.content, 5)) <= 14 * 1024


async def test_a_place_by_trend_is_told(client: httpx2.AsyncClient) -> None:
    told = (await client.get("/api/search/rank", params={"key": str(SERVERS)})).json()
    assert told == {"id": str(SERVERS), "n": 1, "of": 1}
    gone = await client.get("/api/search/rank", params={"key": str(EnvKey("dataset", "acme", "nowhere"))})
    assert gone.status_code == 404
