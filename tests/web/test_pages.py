"""Pages and their twins: complete without scripts, cacheable when public, clear when something is wrong."""

import json
import re
from html.parser import HTMLParser

import httpx2
import pytest
from fastapi import FastAPI

from rlx.web.assets import SHEETS, assets
from rlx.web.pages import PAGES
from tests.toy import DOWN, REFS, TOKEN, ToyServices
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

PAGES_WITH_TWINS = (
    "/",
    "/?q=toy&kind=harbor&sort=name&limit=1",
    "/envs",
    "/envs?env=toy/main&env=space:toy/server",
    "/d/toy/main",
    "/d/toy/main?f=level:easy",
    "/d/toy/main/card",
    "/d/toy/main/revisions",
    f"/d/toy/main/revisions?old={'2' * 40}&new={'1' * 40}&task=.",
    f"/d/toy/main?revision={'1' * 40}",
    "/d/toy/main/files",
    "/d/toy/main/files/run.py",
    "/d/toy/files-only",
    "/s/toy/server",
    "/s/toy/server/t/plain",
    "/t/toy/main",
    "/t/toy/main/plain",
    "/t/toy/main/plain?view=rendered",
    "/t/toy/main/plain?path=docs",
    "/-/patterns",
)


class Page(HTMLParser):
    """What a page holds: ids, links, scripts, styles, headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.inline: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.append(tag)
        if told.get("id"):
            self.ids.append(str(told["id"]))
        if "href" in told:
            self.links.append(str(told["href"]))
        if tag == "style" or "style" in told or (tag == "script" and not told.get("src")):
            self.inline.append(tag)
        self.inline += [name for name in told if name.startswith("on")]


@pytest.mark.parametrize("url", PAGES_WITH_TWINS)
async def test_a_page_is_well_formed_and_has_nothing_inline(client: httpx2.AsyncClient, url: str) -> None:
    response = await client.get(url)
    page = Page(response.text)
    assert response.status_code == 200
    assert page.tags.count("h1") == 1
    assert page.tags.count("main") == 1
    assert page.inline == []
    assert len(page.ids) == len(set(page.ids))
    assert "<script>" not in response.text.replace("&lt;", "")
    assert not set(page.tags) & {"iframe", "object", "embed"}


@pytest.mark.parametrize("url", PAGES_WITH_TWINS)
async def test_a_page_has_twins_that_it_names(client: httpx2.AsyncClient, url: str) -> None:
    response = await client.get(url)
    twins = re.findall(r'<([^>]+)>; rel="alternate"; type="([^"]+)"', response.headers["link"])
    assert [kind for _, kind in twins] == ["application/json", "text/markdown"]
    for twin, kind in twins:
        answer = await client.get(twin)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
    assert json.loads((await client.get(twins[0][0])).text)


async def test_every_internal_link_of_every_page_leads_somewhere(client: httpx2.AsyncClient) -> None:
    links = {
        link.partition("#")[0]
        for url in PAGES_WITH_TWINS
        for link in Page((await client.get(url)).text).links
        if link.startswith("/") and "/example/" not in link
    }
    links -= {"/runs"}  # the toy keeps no rollouts; tests of those follow their links
    links = {
        link for link in links if not link.partition("?")[0].endswith(("/use", "/report", "/tags"))
    }  # nor repositories: tests/web/test_use.py
    dead = {link for link in links if (await client.get(link)).status_code not in {200, 202, 303}}
    assert len(links) > 60
    assert dead == set()


async def test_explore_finds_by_word_and_kind(client: httpx2.AsyncClient) -> None:
    everything = (await client.get("/")).text
    assert "toy/</span>main" in everything
    assert "toy/</span>server" in everything
    some = (await client.get("/?q=main&kind=harbor")).text
    assert "toy/</span>main" in some
    assert "toy/</span>server" not in some
    assert "No environment matches" in (await client.get("/?q=nothing-like-it")).text


async def test_lists_are_paged_by_links(client: httpx2.AsyncClient) -> None:
    first = await client.get("/d/toy/main?limit=4")
    following = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert following is not None
    second = await client.get(following[1].replace("&amp;", "&"))
    assert "5–8 of 13" in second.text
    assert 'rel="prev"' in second.text


async def test_facets_filter_tasks_and_can_be_taken_back(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main", params=[("f", "level:easy"), ("q", "")])).text
    assert 'value="level:easy" checked' in page
    assert 'class="pill" href="/d/toy/main"' in page
    listed = (await client.get("/d/toy/main?format=json&f=level:easy")).json()["list"]
    assert {card["facets"]["level"][0] for card in listed["cards"]} == {"easy"}


async def test_a_repository_no_format_reads_shows_its_files_and_says_why(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/files-only")).text
    twin = (await client.get("/d/toy/files-only?format=json")).json()
    assert "Nothing here reads it." in page
    assert "/d/toy/files-only/files/run.py" in page
    assert twin["tasks"] is None
    assert twin["list"] is None


async def test_repository_text_is_escaped(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/t/toy/main/plain")).text
    assert "Do &lt;it&gt;." in page
    assert "Toy &lt;b&gt;tasks&lt;/b&gt;" in (await client.get("/d/toy/main")).text


async def test_an_old_ref_redirects_for_good_and_keeps_the_query(client: httpx2.AsyncClient) -> None:
    response = await client.get("/t/toy/main/old/a%252Fb?format=md")
    assert response.status_code == 308
    assert response.headers["location"] == "/t/toy/main/a%252Fb?format=md"


async def test_a_random_task_is_a_redirect_to_one(client: httpx2.AsyncClient) -> None:
    for url in ("/random", "/d/toy/main/random"):
        response = await client.get(url)
        assert response.status_code == 303
        assert response.headers["location"].startswith("/t/toy/main/")
    assert (await client.get("/d/toy/files-only/random")).status_code == 404


@pytest.mark.parametrize("form", ["json", "md"])
async def test_a_random_task_comes_in_the_form_it_was_asked_for_in(client: httpx2.AsyncClient, form: str) -> None:
    for url in ("/random", "/d/toy/main/random"):
        response = await client.get(f"{url}?format={form}")
        assert response.headers["location"].endswith(f"?format={form}")
        assert (await client.get(response.headers["location"])).status_code == 200
    assert (await client.get("/random?format=pdf")).status_code == 400


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("/nowhere", 404),
        ("/d/toy/absent", 404),
        ("/d/toy/..", 404),
        ("/d/a%2Fb/c", 404),
        ("/d/toy/bad name", 400),
        ("/t/toy/main/absent", 404),
        ("/t/toy/main/%00", 400),
        ("/t/toy/main/" + "x" * 4000, 400),
        ("/t/toy/main/plain?path=absent.txt", 404),
        ("/t/toy/main/plain?path=%00", 400),
        ("/t/toy/main/plain?format=xml", 400),
        ("/d/toy/main/files/long.txt?from=-1", 400),
        ("/?sort=sideways", 400),
        ("/?kind=sideways", 400),
        ("/?limit=101", 400),
        ("/?offset=-1", 400),
        ("/?offset=99999999999999999999", 400),
        ("/?q=" + "x" * 201, 400),
        ("/?q=%00", 400),
        ("/d/toy/main?f=nocolon", 400),
        ("/d/toy/main?f=" + ";".join(f"k{n}:v" for n in range(13)), 400),
        ("/d/toy/main?f=k:" + "|".join(f"v{n}" for n in range(31)), 400),
        ("/d/toy/private", 404),
        ("/d/toy/down", 503),
        ("/d/toy/slow", 202),
        ("/d/toy/broken", 500),
        ("/raw/d/toy/main/files/secret/answer.txt", 403),
        ("/raw/d/toy/main/files/docs", 404),
        ("/raw/d/toy/main/files/huge.txt", 413),
    ],
)
async def test_what_cannot_be_had_is_told_with_the_right_status(
    client: httpx2.AsyncClient, url: str, status: int
) -> None:
    page = await client.get(url)
    asked = await client.get(url, headers={"accept": "application/json"})
    assert page.status_code == asked.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    assert "<h1" in page.text
    assert set(asked.json()["error"]) == {"code", "message", "hint"}
    assert page.headers["cache-control"] == "private, no-store"


async def test_a_bug_is_a_page_with_an_id_and_without_a_trace(client: httpx2.AsyncClient) -> None:
    response = await client.get("/d/toy/broken")
    assert response.headers["x-request-id"] in response.text
    assert "RuntimeError" not in response.text
    assert TOKEN not in response.text


async def test_a_hub_that_is_down_says_when_to_come_back(client: httpx2.AsyncClient) -> None:
    response = await client.get(DOWN.page)
    assert response.headers["retry-after"] == "7"


async def test_an_environment_that_is_being_read_shows_how_far_it_is(client: httpx2.AsyncClient) -> None:
    page = await client.get("/t/toy/slow/some/task")
    twin = await client.get("/d/toy/slow?format=json")
    assert '<noscript><meta http-equiv="refresh"' in page.text
    assert 'data-progress="/d/toy/slow/progress"' in page.text
    assert 'data-step="reading" aria-current="step"' in page.text
    assert "3 of 10" in page.text
    assert twin.json()["error"]["code"] == "indexing"
    assert twin.json()["progress"]["total"] == 10
    assert twin.headers["retry-after"] == "2"


async def test_the_wrong_method_is_405(client: httpx2.AsyncClient) -> None:
    response = await client.post("/d/toy/main")
    assert response.status_code == 405
    assert response.headers["allow"]


async def test_a_public_page_may_be_kept_and_is_asked_for_by_tag(client: httpx2.AsyncClient) -> None:
    first = await client.get("/t/toy/main/plain")
    again = await client.get("/t/toy/main/plain", headers={"if-none-match": first.headers["etag"]})
    other = await client.get("/t/toy/main/plain", headers={"if-none-match": 'W/"other"'})
    assert first.headers["cache-control"] == "public, max-age=30"
    assert "Cookie" in first.headers["vary"]
    assert again.status_code == 304
    assert again.text == ""
    assert other.status_code == 200


async def test_the_theme_of_the_cookie_is_painted_at_once(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/", headers={"cookie": "theme=dark"})).text
    odd = (await client.get("/", headers={"cookie": "theme=javascript"})).text
    assert '<html lang="en" data-theme="dark">' in page
    assert '<html lang="en">' in odd


async def test_the_language_of_the_url_is_remembered(client: httpx2.AsyncClient) -> None:
    response = await client.get("/?lang=ko")
    assert '<html lang="ko"' in response.text
    assert "lang=ko" in response.headers["set-cookie"]
    assert '<html lang="en"' in (await client.get("/?lang=xx")).text


async def test_machines_find_their_way(client: httpx2.AsyncClient, services: ToyServices) -> None:
    assert "Sitemap: https://explorer.example/sitemap.xml" in (await client.get("/robots.txt")).text
    sitemap = (await client.get("/sitemap.xml")).text
    assert "<loc>https://explorer.example/d/toy/main</loc>" in sitemap
    assert "<loc>https://explorer.example/tasks</loc>" in sitemap
    assert sitemap.count("<loc>") == 5
    told = (await client.get("/llms.txt")).text
    assert "https://explorer.example/?format=md" in told
    assert "https://explorer.example/tasks?q=WORDS&format=md" in told
    for path in ("/envs?env=", "/d/ORG/NAME/card?", "/d/ORG/NAME/files?", "/d/ORG/NAME/revisions?"):
        assert f"https://explorer.example{path}" in told
    assert told.count("\n") <= 60
    assert (await client.get("/-/healthz")).json() == {"ok": True}
    assert (await client.get("/readyz")).status_code == 200
    services.catalog.is_ready = False
    assert (await client.get("/readyz")).status_code == 503


@pytest.mark.parametrize("revision", ["", f"revision={'2' * 40}&"])
async def test_an_environments_markdown_leads_to_its_other_pages(client: httpx2.AsyncClient, revision: str) -> None:
    told = (await client.get(f"/d/toy/main?{revision}format=md")).text
    pages = [f"/d/toy/main/{part}?{revision}format=md" for part in ("card", "files")]
    for page in [*pages, "/d/toy/main/revisions?format=md"]:
        assert f"](https://explorer.example{page})" in told
        answer = await client.get(page)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/markdown")


async def test_static_files_are_kept_for_good_under_their_own_name(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/")).text
    found = set(re.findall(r'"(/static/[^"#]+)', page))
    assert {url.rpartition("/")[2] for url in found} == {"explore.js", "favicon.svg", "page-explore.css"}
    for url in found:
        answer = await client.get(url)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert (await client.get("/static/old/app.css")).headers["cache-control"] == "no-cache"
    assert (await client.get("/static/old/nothing.css")).status_code == 404


@pytest.mark.parametrize("path", ["/", "/login", "/-/patterns"])
async def test_a_page_carries_the_icons_that_it_shows(client: httpx2.AsyncClient, path: str) -> None:
    page = (await client.get(path)).text
    carried = set(re.findall(r'<symbol id="(icon-[^"]+)"', page))
    assert set(re.findall(r'<use href="#([^"]+)"', page)) <= carried
    assert '<use href="/' not in page


async def test_a_page_has_one_style_sheet_of_all_its_parts(client: httpx2.AsyncClient) -> None:
    for path in ("/", "/login", "/-/patterns"):
        page = (await client.get(path)).text
        (sheet,) = re.findall(r'<link rel="stylesheet" href="/static/[^/]+/([^"]+)"', page)
        told = (await client.get(f"/static/x/{sheet}")).text
        for part in SHEETS[sheet]:
            assert assets().contents[f"{part}.css"].content.decode() in told


async def test_static_files_come_packed_to_who_can_unpack_them(client: httpx2.AsyncClient) -> None:
    packed = await client.get("/static/x/page.css", headers={"accept-encoding": "gzip"})
    plain = await client.get("/static/x/page.css", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 3
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


async def test_every_page_answers_head(app: FastAPI) -> None:
    async with visitor(app) as client:
        for url in PAGES_WITH_TWINS:
            assert (await client.head(url)).status_code == 200


def test_every_page_is_registered_once() -> None:
    routes = [(route.path, method) for route in PAGES for method in route.methods]
    assert len(routes) == len(set(routes))


async def test_neighbours_are_links(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/t/toy/main/plain")).text
    assert 'rel="prev" href="/t/toy/main"' in page
    assert 'rel="next" href="/t/toy/main/tasks/with%20space"' in page
    assert f"2 of {len(REFS)}" in page


async def test_nothing_withheld_is_on_any_page(client: httpx2.AsyncClient) -> None:
    for url in (*PAGES_WITH_TWINS, "/t/toy/main/plain?path=secret/answer.txt", "/d/toy/main/files/secret"):
        for form in ("html", "json", "md"):
            response = await client.get(url, params={"format": form} if "?" not in url else None)
            assert "RLX-CANARY" not in response.text


async def test_a_hint_in_markdown_has_its_code_as_code(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/d/toy/main/files/run.py?view=upside-down&format=md")
    assert answer.status_code == 400
    assert "Leave `view` out." in answer.text
