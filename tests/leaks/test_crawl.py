"""The crawler: it reaches every page a site names, and finds what should not be there."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from rlx.errors import BadInput
from rlx.health.leaks import CANARY, Answer, CrawlReport, crawl, load, planted
from rlx.health.needles import Needles, forms

pytestmark = pytest.mark.anyio

HOME = """<a href="/page?x=1#part">page</a> <a href="https://elsewhere.example/">out</a> <a href="mailto:a@b.c">m</a>
<img src="/img.png"> <form action="/search"><input name="q" value="two words"><input type="hidden" name="h" value="1">
<select name="sort"><option value="new">New<option value="old">Old</select>
<input type="checkbox" name="only" value="yes"><button>Go</button></form>
<form method="post" action="/delete"><input name="q"></form> <a href="relative/here">r</a>"""


class Site:
    """A small site: addresses to what they answer, and what was asked."""

    def __init__(self, pages: dict[str, Response]) -> None:
        self.pages = {"/": HTMLResponse(HOME), **pages}
        self.asked: list[str] = []
        self.app = Starlette(routes=[Route("/{path:path}", self.answer)])

    async def answer(self, request: Request) -> Response:
        address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        self.asked.append(address)
        found = self.pages.get(address) or self.pages.get(request.url.path)
        return found or PlainTextResponse("nothing", 404)

    async def crawl(self, *answers: Answer, start: tuple[str, ...] = ("/",), limit: int | None = None) -> CrawlReport:
        transport = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://site.test") as client:
            return await crawl(client, answers, canary=CANARY, start=start, limit=limit)


OK = {path: HTMLResponse("ok") for path in ("/page", "/img.png", "/search", "/relative/here")}
SECRET = Answer("The <answer> is 'forty \"two\"' & more/less", "org/name", "row 1")


async def test_links_forms_and_sources_are_followed_once() -> None:
    site = Site(dict(OK))
    report = await site.crawl()
    assert sorted(site.asked) == sorted(
        [
            "/", "/robots.txt", "/sitemap.xml", "/llms.txt", "/page?x=1", "/img.png", "/relative/here",
            "/search?q=two+words&h=1", "/search?q=two+words&h=1&sort=new", "/search?q=two+words&h=1&sort=old",
            "/search?q=two+words&h=1&only=yes",
        ]
    )  # fmt: skip
    assert report.ok
    assert report.pages == 11


async def test_twins_json_redirects_sitemaps_and_markdown_are_followed() -> None:
    site = Site(
        {
            **OK,
            "/page": HTMLResponse("ok", headers={"link": '</page.md>; rel="alternate"; type="text/markdown"'}),
            "/page.md": PlainTextResponse("[more](/more) <x>", media_type="text/markdown"),
            "/more": JSONResponse({"next": "/more?p=2", "items": [{"url": "/item"}], "text": "/not-a-link"}),
            "/item": RedirectResponse("/moved"),
            "/moved": HTMLResponse("ok"),
            "/sitemap.xml": Response("<loc>http://site.test/mapped</loc>", media_type="application/xml"),
            "/mapped": HTMLResponse("ok"),
            "/llms.txt": PlainTextResponse("# Site\n- [a](/told)"),
            "/told": HTMLResponse("ok"),
        }
    )
    report = await site.crawl()
    assert report.ok
    assert {"/page.md", "/more", "/more?p=2", "/item", "/moved", "/mapped", "/told"} <= set(site.asked)
    assert "/not-a-link" not in site.asked


@pytest.mark.parametrize(
    "response",
    [
        PlainTextResponse(SECRET.text),
        HTMLResponse("<p>The &lt;answer&gt; is &#39;forty &#34;two&#34;&#39; &amp; more/less</p>"),
        HTMLResponse("<p>The &lt;answer&gt; is &#x27;forty &quot;two&quot;&#x27; &amp; more/less</p>"),
        HTMLResponse("<b>The</b> <i>&lt;answer&gt; is 'forty</i> \"two\"' <span>&amp;</span> more/less"),
        JSONResponse({"deep": [{"x": f"so: {SECRET.text}!"}]}),
        JSONResponse({"deep": json.dumps({"x": SECRET.text})}),
        PlainTextResponse("ok", headers={"x-note": quote(SECRET.text)}),
        HTMLResponse(f'<a title="{quote(SECRET.text, safe="")}">x</a>'),
        PlainTextResponse("a" * 5 + "RLX-CANARY-ABC123"),
        PlainTextResponse("ok", headers={"x-note": "RLX-CANARY-ABC123"}),
    ],
)
async def test_an_answer_is_found_in_every_form(response: Response) -> None:
    report = await Site({**OK, "/page": response}).crawl(SECRET, Answer("something else entirely"))
    assert not report.ok
    assert {leak.url for leak in report.leaks} == {"/page?x=1"}
    assert {leak.answer.text for leak in report.leaks} <= {SECRET.text, "RLX-CANARY-ABC123"}


async def test_a_clean_site_is_clean() -> None:
    report = await Site(dict(OK)).crawl(SECRET)
    assert report.ok
    assert report.leaks == []


async def test_a_plain_file_is_searched_but_names_no_addresses() -> None:
    page = PlainTextResponse("# see [x](/not-a-link)\n" + SECRET.text)
    report = await Site({**OK, "/page": page}).crawl(SECRET)
    assert report.dead == []
    assert len(report.leaks) == 1


async def test_dead_links_and_errors_are_told_with_the_page_they_stand_on() -> None:
    pages: dict[str, Response] = {**OK, "/page": HTMLResponse('<a href="/gone">x</a><a href="/bad">y</a>')}
    report = await Site({**pages, "/bad": PlainTextResponse("oops", 500)}).crawl()
    assert [(fault.url, fault.status, fault.source) for fault in report.dead] == [("/gone", 404, "/page?x=1")]
    assert [(fault.url, fault.status, fault.source) for fault in report.errors] == [("/bad", 500, "/page?x=1")]
    assert report.statuses[404] == 4


async def test_a_document_may_name_what_is_not_there_and_is_followed_all_the_same() -> None:
    site = Site(
        {
            "/": HTMLResponse('<a href="/no" rel="nofollow ugc">x</a><a href="/there" rel="ugc">y</a><a href="/twin">'),
            "/there": HTMLResponse("<p>RLX-CANARY-ABC123</p>"),
            "/twin": Response("[no](/nowhere)", media_type="text/markdown"),
        }
    )
    report = await site.crawl()
    assert report.dead == []
    assert [leak.url for leak in report.leaks if leak.part == "body"] == ["/there"]


async def test_filters_that_combine_without_end_are_followed_in_part() -> None:
    class Endless(Site):
        async def answer(self, request: Request) -> Response:
            here = request.url.query
            return HTMLResponse("".join(f'<a href="/?{here}&f{n}=1">x</a>' for n in range(30)))

    report = await Endless({}).crawl()
    assert 30 < report.pages < 80


async def test_a_site_without_robots_and_sitemap_is_no_fault() -> None:
    assert (await Site(dict(OK)).crawl()).dead == []


async def test_a_limit_ends_an_endless_site_and_says_so() -> None:
    class Endless(Site):
        async def answer(self, request: Request) -> Response:
            self.asked.append(request.url.path)
            return HTMLResponse(f'<a href="{request.url.path}x">next</a>')

    report = await Endless({}).crawl(limit=30)
    assert report.truncated
    assert report.pages <= 30
    assert not report.ok


async def test_progress_is_told_and_addresses_can_be_left_out() -> None:
    site = Site(dict(OK))
    told: list[tuple[int, int]] = []
    transport = httpx2.ASGITransport(app=site.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://site.test") as client:
        await crawl(
            client,
            [],
            skip=lambda path: path.startswith("/search"),
            on_progress=lambda done, known: told.append((done, known)),
        )
    assert told[-1][0] == len(site.asked)
    assert not any(path.startswith("/search") for path in site.asked)


def test_canaries_are_collected_from_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "datasets" / "org" / "name" / "tests"
    folder.mkdir(parents=True)
    (folder / "expected.txt").write_text("RLX-CANARY-ONE111 and RLX-CANARY-TWO222 and RLX-CANARY-ONE111")
    (folder / "binary").write_bytes(b"\x00\xffRLX-CANARY-BIN333\x00")
    assert planted(tmp_path) == [
        Answer("RLX-CANARY-BIN333", "org/name", "tests/binary"),
        Answer("RLX-CANARY-ONE111", "org/name", "tests/expected.txt"),
        Answer("RLX-CANARY-TWO222", "org/name", "tests/expected.txt"),
    ]


@pytest.mark.parametrize("text", ["", "{}", '["a"]', '[{"repo": "x"}]', "\x00"])
def test_a_list_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "list.json"
    path.write_text(text)
    if text == "{}":
        assert load(path) == []
    else:
        with pytest.raises(BadInput):
            load(path)


@given(st.text(st.characters(codec="utf-8"), min_size=8, max_size=60), st.text(max_size=40), st.text(max_size=40))
def test_a_needle_is_found_wherever_it_stands(needle: str, before: str, after: str) -> None:
    answer = Answer(needle)
    needles = Needles([Answer("an answer that is not there at all"), answer])
    for form in forms(needle):
        assert answer in needles.find(f"{before}{form}{after}") or len(form) < 8


@given(st.text(max_size=200))
def test_nothing_is_found_where_nothing_is(text: str) -> None:
    assert Needles([Answer("RLX-CANARY-NOTHERE9")]).find(text.replace("RLX", "")) == []
