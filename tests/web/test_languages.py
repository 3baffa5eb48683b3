"""Languages and themes: chosen, kept, and complete."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio.lowlevel
import httpx2
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import compile_path

from rlx.services import create_services
from rlx.settings import Settings
from rlx.texts import catalog, figures, say, words
from rlx.texts.values import facet_value
from rlx.web.api import API_ROUTES
from rlx.web.app import create_app
from tests.browser.page_types import DONE, PAGE_TYPES
from tests.recorded import Recorder
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

TEMPLATES = Path(__file__).parents[2] / "src" / "rlx" / "web" / "templates"
SAID_IN_ENGLISH = {"patterns.html"}
"""A page for those who build the others."""
NAMES = {"RL Explorer", "· RL Explorer", "llms.txt", "README", "PDF", "CRLF", 'aria-current="page"'}


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("ko", "ko"),
        ("ko-KR,ko;q=0.9,en-US;q=0.8", "ko"),
        ("en-GB,ko;q=0.9", "en"),
        ("fr,ko;q=0.2", "ko"),
        ("fr", "en"),
        ("ko;q=0", "en"),
        ("ko;q=much", "en"),
    ],
)
async def test_a_browser_s_language_counts_when_there_is_no_choice(
    client: httpx2.AsyncClient, header: str, language: str
) -> None:
    answer = await client.get("/", headers={"accept-language": header})
    assert f'<html lang="{language}"' in answer.text
    assert answer.headers["content-language"] == language
    assert "Accept-Language" in answer.headers["vary"]


@given(header=st.text(max_size=600).filter(lambda text: text.isascii() and text.isprintable()))
async def test_no_language_header_is_an_error(header: str) -> None:
    from starlette.requests import Request

    from rlx.web.site import language_of

    scope = {"type": "http", "query_string": b"", "headers": [(b"accept-language", header.encode())]}
    assert language_of(Request(scope)) in {"en", "ko"}


async def test_a_language_chosen_once_is_kept_over_the_browser_s(app: FastAPI) -> None:
    async with visitor(app, base="https://explorer.example") as client:
        chosen = await client.get("/?lang=ko")
        assert '<html lang="ko"' in chosen.text
        assert chosen.headers["cache-control"] == "private, no-store"
        later = await client.get("/d/toy/main", headers={"accept-language": "en"})
        assert '<html lang="ko"' in later.text
        assert later.headers["cache-control"].startswith("public")
        assert '<html lang="en"' in (await client.get("/?lang=en")).text


async def test_an_unknown_language_is_not_kept(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/?lang=tlh")
    assert '<html lang="en"' in answer.text
    assert "set-cookie" not in answer.headers


async def test_the_switch_leads_to_the_same_page_with_its_query(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/?q=toy&sort=name")).text
    assert 'href="/?q=toy&amp;sort=name&amp;lang=ko"' in page
    assert '<link rel="alternate" hreflang="ko" href="/?q=toy&amp;sort=name&amp;lang=ko">' in page


async def test_scripts_read_english_whatever_the_language(client: httpx2.AsyncClient) -> None:
    korean = {"accept-language": "ko"}
    for url in ("/d/toy/main?format=json", "/api/env/toy/main", "/t/toy/main/plain?format=json", "/api/search"):
        told = json.dumps((await client.get(url, headers=korean)).json(), ensure_ascii=False)
        assert not re.search("[가-힣]", told), url


_ENV = "/api/env/acme/layout-tasks"
_SPACE = "/api/space/acme/chess-env"
API_ADDRESSES = (
    "/api/search",
    "/api/search?limit=x",
    "/api/search/tasks?q=fix&limit=1",
    "/api/search/rank?key=acme/layout-tasks",
    "/api/me",
    *(
        f"{base}{rest}"
        for base in (_ENV, _SPACE)
        for rest in (
            "",
            "/tasks",
            "/folder",
            "/file?path=README.md",
            "/raw?path=README.md",
            "/revisions",
            "/progress",
            "/health",
            "/snippets",
        )
    ),
    f"{_ENV}/task?ref=tasks/fix-parser",
    f"{_ENV}/file?ref=tasks/fix-parser&path=solution/solve.sh",
    f"{_SPACE}/task?ref=0",
    "/api/env/acme/single-task/random",
    f"{_SPACE}/random",
    "/api/models",
    "/api/models?q=solve&sort=price&limit=1",
    "/api/endpoints/models",
    "/api/endpoints/test",
    "/api/runs",
    "/api/runs/export",
    "/api/runs/estimate?env=acme/layout-tasks&ref=tasks/fix-parser&agent=simple&model=router:scripted/solve",
    *(f"/api/runs/{DONE}{rest}" for rest in ("", "/events", "/cancel", "/grade", "/visibility", "/export")),
    f"/api/runs/{DONE}/artifacts/verifier/ctrf.json",
)
BY_CHANCE = {"/api/random", "/api/search/status"}
"""And what tells of the moment."""


async def test_scripts_are_told_the_same_whatever_the_reader_s_language(fixture_hub: Path, tmp_path: Path) -> None:
    """Over every API route and the JSON twin of every type of page."""
    paths = {route.path for route in API_ROUTES} - BY_CHANCE
    asked = {url.partition("?")[0] for url in API_ADDRESSES}
    assert [path for path in paths if not any(compile_path(path)[0].match(url) for url in asked)] == []
    twinned = [kind.path for kind in PAGE_TYPES if kind.path != "/login"]
    pages = [f"{path}{'&' if '?' in path else '?'}format=json" for path in twinned]
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with (
        create_services(settings) as services,
        visitor(create_app(services, token=lambda settings: None)) as client,
    ):
        Recorder(services.rollouts()).done(id=DONE, visibility="public")
        while (await client.get("/api/search")).json()["building"]:
            await anyio.lowlevel.checkpoint()
        while (told := (await client.get("/worklist?format=json")).json())["pending"] or told["running"]:
            await anyio.lowlevel.checkpoint()  # every environment is being looked at
        for url in (*API_ADDRESSES, *pages):
            found = await client.get(url)
            while found.status_code == 202:
                found = await client.get(url)
            for how in ({"cookie": "lang=ko"}, {"accept-language": "ko"}):
                assert (await client.get(url, headers=how)).content == found.content, url
            chosen = await client.get(f"{url}{'&' if '?' in url else '?'}lang=ko", headers={"cookie": ""})
            client.cookies.clear()
            assert chosen.content == found.content, url


async def test_the_markdown_twin_follows_the_language(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/d/toy/main?format=md", headers={"accept-language": "ko"})
    assert words(say("twins.how"), "ko") in answer.text
    assert answer.headers["content-language"] == "ko"


async def test_what_a_cache_holds_of_one_language_does_not_answer_for_another(client: httpx2.AsyncClient) -> None:
    english = await client.get("/", headers={"accept-language": "en"})
    known = {"if-none-match": english.headers["etag"]}
    again = await client.get("/", headers={**known, "accept-language": "en"})
    korean = await client.get("/", headers={**known, "accept-language": "ko"})
    assert (again.status_code, korean.status_code) == (304, 200)
    assert again.headers["vary"] in english.headers["vary"]


@pytest.mark.parametrize(("url", "status"), [("/d/no/such", 404), ("/no/such", 404), ("/?limit=x", 400)])
async def test_an_error_is_told_in_korean_with_the_message_marked_as_english(
    client: httpx2.AsyncClient, url: str, status: int
) -> None:
    answer = await client.get(url, headers={"accept-language": "ko", "accept": "text/html"})
    assert answer.status_code == status
    heading = re.search(r"<h1>(.*?)</h1>", answer.text)
    assert heading
    assert re.search("[가-힣]", heading[1])
    assert '<p class="small faint" lang="en">' in answer.text


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_a_theme_chosen_without_scripts_is_in_the_next_page(app: FastAPI, theme: str) -> None:
    async with visitor(app, base="https://explorer.example") as client:
        chosen = await client.post("/-/theme", data={"theme": theme, "back": "/d/toy/main?q=a"})
        assert (chosen.status_code, chosen.headers["location"]) == (303, "/d/toy/main?q=a")
        page = await client.get("/")
        assert f'data-theme="{theme}"' in page.text
        other = await client.get("/", headers={"cookie": "", "if-none-match": page.headers["etag"]})
        assert other.status_code == 200
        await client.post("/-/theme", data={"theme": "system", "back": "/"})
        assert "data-theme=" not in (await client.get("/")).text


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil.example", ""])
async def test_a_theme_form_returns_nowhere_else(client: httpx2.AsyncClient, back: str) -> None:
    chosen = await client.post("/-/theme", data={"theme": "odd", "back": back})
    assert chosen.headers["location"] == "/"
    assert "theme=system" in chosen.headers["set-cookie"]


async def test_another_site_cannot_choose_a_theme(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/-/theme", data={"theme": "dark"}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403


PAGES_IN_KOREAN = (
    "/",
    "/?q=acme&sort=name",
    "/envs",
    "/envs?env=acme/settings&env=space:acme/chess-env&env=acme/nowhere",
    "/?q=nothing-is-called-this",
    "/d/acme/settings",
    "/d/acme/settings/revisions",
    "/d/acme/broken-toml",
    "/d/acme/rows-text",
    "/s/acme/chess-env",
    "/d/acme/settings/files",
    "/d/acme/settings/files/README.md",
    "/t/acme/layout-tasks/tasks/fix-parser",
    "/t/acme/multi-step/tasks/build-then-serve",
    "/t/acme/odd-bytes/tasks/crlf",
    "/t/acme/layout-tasks/tasks/fix-parser?path=environment/parser.py",
    "/login",
    "/d/acme/none",
)


async def test_no_english_text_of_ours_is_left_on_a_korean_page(fixture_hub: Path, tmp_path: Path) -> None:
    """Whole texts only: one that was said before the page's language was known would stand there."""
    english, korean = catalog("en"), catalog("ko")
    ours = {text for key, text in english.items() if len(text) > 3 and korean.get(key, text) != text}
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with (
        create_services(settings) as services,
        visitor(create_app(services, token=lambda settings: None)) as client,
    ):
        for url in PAGES_IN_KOREAN:
            page = ""
            while not page or 'data-progress="' in page:
                page = (await client.get(url, headers={"accept-language": "ko", "accept": "text/html"})).text
            own = re.sub(r'<(pre|code|title|h1|h3)\b.*?</\1>|<div class="md.*?</div>', "", page, flags=re.S)
            shown = {part.strip() for part in re.split(r"<[^>]*>", own)}
            shown |= set(re.findall(r'(?:aria-label|title|placeholder|data-[a-z]+)="([^"]*)"', own))
            assert shown & ours == set(), url


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
async def test_templates_hold_no_words_of_their_own(path: Path) -> None:
    if path.name in SAID_IN_ENGLISH:
        return
    markup = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", path.read_text(), flags=re.S)
    attributes = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', markup)
    texts = re.split(r"<[^>]*>", re.sub(r"<!--.*?-->", "", markup, flags=re.S))
    found = [text.strip() for text in (*attributes, *texts)]
    assert [text for text in found if re.search(r"[A-Za-z]{2}", text) and text not in NAMES] == []


NOW = datetime(2026, 7, 25, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "english", "korean"),
    [
        (timedelta(seconds=-5), "just now", "방금"),
        (timedelta(seconds=59), "just now", "방금"),
        (timedelta(minutes=1), "1 minute ago", "1분 전"),
        (timedelta(hours=23, minutes=59), "23 hours ago", "23시간 전"),
        (timedelta(days=20), "20 days ago", "20일 전"),
        (timedelta(days=59), "1 month ago", "1개월 전"),
        (timedelta(days=364), "12 months ago", "12개월 전"),
        (timedelta(days=800), "2 years ago", "2년 전"),
    ],
)
async def test_times_are_told_as_long_ago(before: timedelta, english: str, korean: str) -> None:
    told = figures.ago(NOW - before, NOW)
    assert (words(told, "en"), words(told, "ko")) == (english, korean)


async def test_days_are_written_as_each_language_does() -> None:
    assert (figures.date(NOW, "en"), figures.date(NOW, "ko")) == ("25 July 2026", "2026년 7월 25일")


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (5 * 10**9, "5.0 GB")]
)
async def test_sizes_are_told_in_decimal_units(count: int, told: str) -> None:
    assert figures.size(count) == told


async def test_facet_values_of_a_fixed_list_are_translated_and_others_are_not() -> None:
    assert words(facet_value("Named scores", "graded"), "ko") == "항목별 점수"
    assert words(facet_value("1,000 and more", "size"), "en") == "1,000 and more"
    assert facet_value("quantum chemistry", "category") == "quantum chemistry"
    assert facet_value("Named scores", "meta:graded") == "Named scores"


async def test_every_fixed_facet_value_reads_in_english_as_its_id() -> None:
    """Ids stand in URLs; a reader of English sees the same word."""
    for key, text in catalog("en").items():
        area, _, rest = key.partition(".")
        if area == "value":
            assert words(facet_value(text, rest.partition(".")[0])) == text, key
