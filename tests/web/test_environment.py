"""An environment: its list with sorts and pages, its card, its revisions, its first reading."""

import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.base import Environment
from rlx.ids import EnvKey, parse_key
from rlx.localhub import LocalHub
from rlx.model import Progress, Summary, Viewer
from rlx.services import create_services
from rlx.settings import Settings
from rlx.texts import say, words
from rlx.web.app import create_app
from rlx.web.contents import contents
from rlx.web.links import Links
from rlx.web.pager import pager
from rlx.web.progress import time_left, told
from tests.toy import REVISIONS, ToyEnvironment, ToyLibrary, ToyServices
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

KEY = parse_key("acme/tasks")
NEW, MIDDLE, OLD = (item.sha for item in REVISIONS)


@asynccontextmanager
async def site(folder: Path, hub: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache")
    transport = httpx2.ASGITransport(app=LocalHub(hub, rescan=0).app)
    async with create_services(settings, transport=transport) as services, visitor(create_app(services)) as client:
        yield client


def write_task(hub: Path, name: str, *, level: str = "easy", words: int = 5, minutes: int = 10) -> Path:
    task = hub / "datasets" / KEY.repo_id / "tasks" / name
    (task / "tests").mkdir(parents=True)
    (task / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
    (task / "instruction.md").write_text("word " * words)
    settings = f'version = "1.0"\n[metadata]\ndifficulty = "{level}"\n[agent]\ntimeout_sec = {60 * minutes}\n'
    (task / "task.toml").write_text(settings)
    return task


async def read(client: httpx2.AsyncClient, url: str) -> str:
    """A page, asked for again while the environment is read."""
    for _ in range(20):
        answer = await client.get(url)
        if answer.status_code != 202:
            return answer.text
    raise AssertionError(f"{url} was never read")


def listed(page: str) -> list[str]:
    return re.findall(r'<h3 class="name"><a href="/t/acme/tasks/tasks/([^"?]+)', page)


async def test_tasks_are_sorted_by_what_tells_them_apart(tmp_path: Path) -> None:
    write_task(tmp_path / "hub", "a", level="hard", words=300, minutes=5)
    write_task(tmp_path / "hub", "b", level="easy", words=20, minutes=60)
    write_task(tmp_path / "hub", "c", level="medium", words=40, minutes=20)
    async with site(tmp_path, tmp_path / "hub") as client:
        page = await read(client, KEY.page)
        offered = re.findall(r'<option value="([^"]+)"', page)
        assert offered == ["order", "title", *(s + k for k in ("difficulty", "length", "timeout") for s in ("", "-"))]
        orders = {sort: listed((await client.get(f"{KEY.page}?sort={sort}")).text) for sort in offered}
    assert orders["order"] == ["a", "b", "c"]
    assert orders["difficulty"] == ["b", "c", "a"]
    assert orders["-difficulty"] == ["a", "c", "b"]
    assert orders["length"] == ["b", "c", "a"]
    assert orders["-timeout"] == ["b", "c", "a"]


async def test_figures_link_to_the_filter_and_have_a_table_each(tmp_path: Path) -> None:
    for n in range(4):
        write_task(tmp_path / "hub", f"t{n}", level="hard" if n else "easy", words=4 if n % 2 else 80)
    async with site(tmp_path, tmp_path / "hub") as client:
        page = await read(client, KEY.page)
        drawn = re.findall(r'<a href="(/d/acme/tasks\?f=[^"]+)#tasks"', page)
        assert "/d/acme/tasks?f=length%3A50-199" in drawn
        assert page.count("<figure") == page.count("<table")
        for url in dict.fromkeys(drawn):
            assert listed((await client.get(url)).text)


async def test_long_lists_are_paged_by_number_and_the_last_page_is_one_step_away(tmp_path: Path) -> None:
    for n in range(23):
        write_task(tmp_path / "hub", f"t{n:02}")
    async with site(tmp_path, tmp_path / "hub") as client:
        await read(client, KEY.page)
        page = (await client.get(f"{KEY.page}?limit=2&page=6")).text
        assert listed(page) == ["t10", "t11"]
        assert re.findall(r'aria-label="Page (\d+)"', page) == ["1", "5", "6", "7", "12"]
        assert re.search(r'name="page" type="number"[^>]* max="12" value="6"', page)
        assert 'name="limit" value="2"' in page
        past = (await client.get(f"{KEY.page}?limit=2&page=90")).text
        assert "The list ends before this page" in past
        (last,) = re.findall(r'href="([^"]+)">Go to the last page', past)
        assert listed((await client.get(last.replace("&amp;", "&"))).text) == ["t22"]


async def test_a_lonely_task_needs_no_search_and_no_filters(tmp_path: Path) -> None:
    write_task(tmp_path / "hub", "only")
    async with site(tmp_path, tmp_path / "hub") as client:
        page = await read(client, KEY.page)
    assert listed(page) == ["only"]
    assert 'type="search"' not in page.partition("<main")[2]


async def test_an_environment_without_a_single_task_says_so_and_offers_its_files(services: ToyServices) -> None:
    class Emptied(ToyLibrary):
        async def open(
            self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
        ) -> Environment:
            return Emptiness(key, ())

    async with visitor(create_app(replace(services, library=Emptied()))) as client:
        page = (await client.get("/d/toy/main")).text
        searched = (await client.get("/d/toy/main?q=anything")).text
    assert "This environment holds no tasks" in page
    assert 'href="/d/toy/main/files"' in page
    assert 'type="search"' not in page.partition("<main")[2]
    assert "Nothing matches “anything”" in searched


class Emptiness(ToyEnvironment):
    """Read, with nothing in it."""

    async def summary(self, subset: str | None = None) -> Summary:
        return replace(await ToyEnvironment.summary(self), tasks=0, why=None, tiles=None, sections=())


async def test_the_list_alone_is_a_part_of_the_page(tmp_path: Path) -> None:
    for n in range(3):
        write_task(tmp_path / "hub", f"t{n}")
    async with site(tmp_path, tmp_path / "hub") as client:
        await read(client, KEY.page)
        part = (await client.get(f"{KEY.page}?q=t1&part=results")).text
    assert listed(part) == ["t1"]
    assert "<html" not in part
    assert re.findall(r'data-part="(\w+)"', part) == ["facets", "list"]


async def test_an_older_revision_is_read_at_its_own_address_and_says_so(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    write_task(hub, "gone")
    write_task(hub, "kept")
    async with site(tmp_path, hub) as client:
        await read(client, KEY.page)
        shutil.rmtree(hub / "datasets" / KEY.repo_id / "tasks" / "gone")
        (hub / "datasets" / KEY.repo_id / "tasks" / "kept" / "instruction.md").write_text("Something <else>.")
        assert listed(await read(client, KEY.page)) == ["kept"]
        told = (await client.get(f"{KEY.page}/revisions?format=json")).json()["revisions"]
        new, old = (item["sha"] for item in told)
        older = await read(client, f"{KEY.page}?revision={old}")
        assert listed(older) == ["gone", "kept"]
        assert f"This is revision {old[:12]}" in older
        assert f"/t/acme/tasks/tasks/gone?revision={old}" in older
        task = await client.get(f"/t/acme/tasks/tasks/gone?revision={old}")
        assert task.status_code == 200
        assert (await client.get("/t/acme/tasks/tasks/gone")).status_code == 404

        compared = await read(client, f"{KEY.page}/revisions?old={old}&new={new}&task=tasks/kept")
        assert "Removed tasks" in compared
        assert f'href="/t/acme/tasks/tasks/gone?revision={old}"' in compared
        assert "+Something &lt;else&gt;." in compared
        assert "Added tasks" not in compared


async def test_revisions_are_chosen_two_and_their_twins_tell_the_same(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/revisions")).text
    assert re.findall(r'name="old" value="(\w+)"[^>]* checked', page) == [MIDDLE]
    assert re.findall(r'name="new" value="(\w+)"[^>]* checked', page) == [NEW]
    assert "Commit &lt;1&gt;" in page
    compared = f"/d/toy/main/revisions?old={MIDDLE}&new={NEW}&task=."
    page = (await client.get(compared)).text
    assert "-Do &lt;it&gt;." in page
    assert f"/t/toy/main/plain?revision={MIDDLE}" in page
    told = (await client.get(f"{compared}&format=json")).json()
    assert told["changes"]["changed"] == [".", "what?"]
    assert [item["kind"] for item in told["task"]["files"]] == ["changed", "added"]
    markdown = (await client.get(f"{compared}&format=md")).text
    assert "+Do <that>." in markdown
    assert "`plain`" in markdown


async def test_every_task_that_is_not_the_same_leads_to_its_files_in_page_and_twin(client: httpx2.AsyncClient) -> None:
    compared = f"/d/toy/main/revisions?old={MIDDLE}&new={NEW}"
    page, markdown = (await client.get(compared)).text, (await client.get(f"{compared}&format=md")).text
    for ref in (".", "what%3F", "50%25", "plain"):
        assert f'href="{compared.replace("&", "&amp;")}&amp;task={ref}#task"' in page
        assert f"{compared}&task={ref}&format=md)" in markdown
    assert f"/t/toy/main/plain?revision={MIDDLE}&format=md)" in markdown
    assert f"/d/toy/main?revision={NEW}&format=md)" in markdown


@pytest.mark.parametrize(("ref", "path"), [("plain", "run.py"), ("50%25", "tests/new.py")])
async def test_files_of_a_task_that_one_revision_lacks_stand_below_it(
    client: httpx2.AsyncClient, ref: str, path: str
) -> None:
    page = (await client.get(f"/d/toy/main/revisions?old={MIDDLE}&new={NEW}&task={ref}")).text
    (below,) = re.findall(r'<li id="task">(.*?)</li>', page, re.S)
    assert path in below


@pytest.mark.parametrize("query", ["old=a b&new=c", "old=../x&new=y", f"old={NEW}&new={'9' * 40}"])
async def test_revisions_that_are_none_are_refused(client: httpx2.AsyncClient, query: str) -> None:
    assert (await client.get(f"/d/toy/main/revisions?{query}")).status_code in {400, 404}


async def test_both_ends_may_be_one_revision(client: httpx2.AsyncClient) -> None:
    page = (await client.get(f"/d/toy/main/revisions?old={NEW}&new={NEW}")).text
    assert "Both are the same revision." in page


async def test_a_revision_that_is_read_first_shows_its_own_progress(client: httpx2.AsyncClient) -> None:
    for url in (f"/d/toy/main?revision={OLD}", f"/d/toy/main/revisions?old={OLD}&new={NEW}"):
        answer = await client.get(url)
        assert answer.status_code == 202
        assert f'data-progress="/d/toy/main/progress?revision={OLD}"' in answer.text


async def test_what_is_no_revision_is_told_and_leads_back(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/d/toy/main?revision=..%2F..")
    assert answer.status_code == 400
    assert "revision=.." not in answer.text.partition("<main")[2]


async def test_a_first_reading_tells_its_step_counts_and_time_left(
    client: httpx2.AsyncClient, services: ToyServices
) -> None:
    services.library.steps = (
        Progress("listing", 2000),
        Progress("reading", 300, 1200, tasks=40, left=12.3),
        Progress("done", 1200, 1200, tasks=40),
    )
    page = (await client.get("/d/toy/slow")).text
    assert re.search(r'<li data-step="listing" class="done">', page)
    assert "300 of 1,200 files" in page
    assert "about 12 seconds left" in page
    assert "40 tasks found" in page
    assert '<noscript><meta http-equiv="refresh"' in page
    events = (await client.get("/d/toy/slow/progress")).text
    assert '"count": "2,000 files so far"' in events
    korean = (await client.get("/d/toy/slow/progress", headers={"accept-language": "ko"})).text
    assert json.dumps(words(say("env.files_listed", n=2000), "ko")) in korean
    assert events.rstrip().endswith("event: end\ndata: null")
    assert '"count": "1,200' not in events


def test_time_left_is_said_no_finer_than_it_is_known() -> None:
    said = [words(time_left(seconds)) for seconds in (0.4, 7.9, 43, 61, 100, 3600)]
    assert said == [
        "a moment left",
        "about 7 seconds left",
        "about 45 seconds left",
        "about 60 seconds left",
        "about 2 minutes left",
        "about 60 minutes left",
    ]
    assert told(replace(Progress("saving"), left=None)) == {}


@given(st.integers(0, 100_000), st.integers(0, 200_000), st.integers(1, 100))
def test_a_pager_offers_the_ends_and_the_neighbours_in_order(total: int, offset: int, limit: int) -> None:
    found = pager(total, offset, limit)
    numbers = [number for number in found.numbers if number is not None]
    assert numbers == sorted(set(numbers))
    assert {1, found.pages} <= set(numbers)
    assert all(1 <= number <= found.pages for number in numbers)
    assert (found.pages - 1) * limit < max(total, 1) <= found.pages * limit
    if found.here <= found.pages:
        assert {found.here - 1, found.here, found.here + 1} & set(range(1, found.pages + 1)) <= set(numbers)
    for place, number in enumerate(found.numbers):
        if number is None:
            before, after = found.numbers[place - 1], found.numbers[place + 1]
            assert before is not None
            assert after is not None
            assert after - before > 2


@given(st.text(), st.sampled_from(["a" * 40, None]))
def test_links_keep_the_revision_and_lose_it_where_it_is_taken_back(ref: str, sha: str | None) -> None:
    links = Links("x").at(sha)
    for url in (links.env(KEY), links.task(KEY, ref or "."), links.file(KEY, None, "a"), links.card(KEY)):
        assert ("revision=" in url) == (sha is not None)
        assert url.count("?") <= 1
    assert "revision=" not in links.at(None).env(KEY)


def test_contents_are_two_levels_of_a_long_document_and_nothing_of_a_short_one() -> None:
    heading = '<h{0} id="md-{1}">{1} <code>x</code></h{0}>'
    long = "".join(heading.format(level, name) for level, name in ((2, "a"), (3, "b"), (4, "c"), (2, "d"), (3, "e")))
    assert [(item.depth, item.id, item.text) for item in contents(long)] == [
        (0, "md-a", "a x"),
        (1, "md-b", "b x"),
        (0, "md-d", "d x"),
        (1, "md-e", "e x"),
    ]
    assert contents(heading.format(2, "only")) == ()


async def test_a_first_reading_offers_the_revision_read_before(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/slow?q=a&lang=en")).text
    assert f"/d/toy/slow?q=a&amp;lang=en&amp;revision={REVISIONS[0].sha}" in page
    assert "meanwhile" in page
    asked = (await client.get(f"/d/toy/main?revision={REVISIONS[-1].sha}")).text
    assert "meanwhile" not in asked
