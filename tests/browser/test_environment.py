"""An environment with scripts: its tasks in place, paging, figures that filter, a first reading that fills in."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import Visitor, read, served

pytestmark = pytest.mark.browser

MANY = "/d/acme/many"


def write_tasks(hub: Path, count: int) -> None:
    for n in range(count):
        task = hub / "datasets" / "acme" / "many" / "tasks" / f"task-{n:03}"
        (task / "tests").mkdir(parents=True)
        (task / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
        (task / "instruction.md").write_text(f"Solve puzzle {n}. " + "word " * (n % 5 * 60))
        level = ("easy", "hard")[n % 2]
        (task / "task.toml").write_text(f'[metadata]\ndifficulty = "{level}"\ncategory = "category {n % 7}"\n')


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over an environment of 330 tasks, which is read."""
    folder = tmp_path_factory.mktemp("many")
    write_tasks(folder / "hub", 330)
    with served("--hub", str(folder / "hub"), store=folder / "store") as url:
        read(url, MANY)
        yield url


@pytest.fixture
def visit_many(browser: Browser, many: str) -> Iterator[Visitor]:
    visitor = Visitor(browser, many)
    yield visitor
    visitor.close()
    assert visitor.problems == []


@pytest.fixture
def page(visit_many: Visitor) -> Page:
    page = visit_many(MANY)
    page.evaluate("window.here = true")
    return page


def first(page: Page) -> str:
    return page.locator(".index .name").first.inner_text()


def in_place(page: Page) -> bool:
    """Whether the page was never loaded anew."""
    return bool(page.evaluate("window.here === true"))


def test_words_replace_the_list_and_the_address_tells_them(page: Page) -> None:
    page.get_by_role("searchbox", name="Search the prompts and names").fill("task-007")
    expect(page.locator(".index > li")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?q=task-007$"))
    expect(page.locator("[data-status]")).to_have_text("1–1 of 1")
    page.go_back()
    expect(page.locator(".index > li")).to_have_count(50)
    expect(page.get_by_role("searchbox", name="Search the prompts and names")).to_have_value("")
    assert in_place(page)


def test_pages_are_reached_by_number_and_by_a_jump(page: Page) -> None:
    page.get_by_role("link", name="Page 7").click()
    expect(page.locator(".index .name").first).to_have_text("task-300")
    expect(page.get_by_role("link", name="Page 7")).to_have_attribute("aria-current", "page")
    page.get_by_label("Page", exact=True).fill("3")
    page.get_by_label("Page", exact=True).press("Enter")
    expect(page.locator(".index .name").first).to_have_text("task-100")
    expect(page).to_have_url(re.compile(r"\?page=3$"))
    page.go_back()
    expect(page.locator(".index .name").first).to_have_text("task-300")
    assert in_place(page)


def test_sorts_and_filters_keep_one_another(page: Page) -> None:
    page.get_by_label("Sort").select_option("-difficulty")
    expect(page.locator(".index .name").first).to_have_text("task-001")
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label(re.compile("^category 3")).check()
    expect(page.locator(".index .name").first).to_have_text("task-003")
    expect(page.get_by_label(re.compile("^category 3"))).to_be_focused()
    expect(page).to_have_url(re.compile(r"sort=-difficulty&f=category"))
    page.locator(".pill").click()
    expect(page.locator(".index .name").first).to_have_text("task-001")
    assert in_place(page)


def test_a_bar_of_a_figure_filters_the_list_in_place(page: Page) -> None:
    page.locator(".hist a").last.click()
    expect(page.locator(".pill")).to_have_count(1)
    expect(page.locator(".index .name").first).to_have_text(re.compile("^task-00"))
    assert page.locator(".index > li").count() == 50
    assert in_place(page)


def test_only_the_last_words_are_shown_however_late_others_answer(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/*q=task-1&*", hold)
    box = page.get_by_role("searchbox", name="Search the prompts and names")
    box.fill("task-1")
    expect(page.locator("[data-part=list]")).to_have_attribute("aria-busy", "true")
    box.fill("task-12")
    expect(page.locator(".index > li")).to_have_count(10)
    for route in held:
        route.abort()
    expect(page.locator(".index > li")).to_have_count(10)


def test_everything_is_reached_without_scripts(visit_many: Visitor) -> None:
    page = visit_many(MANY, scripts=False)
    page.get_by_role("searchbox", name="Search the prompts and names").fill("task-007")
    page.get_by_role("button", name="Apply").click()
    assert first(page) == "task-007"
    page.goto(MANY)
    page.get_by_label("Page", exact=True).fill("7")
    page.get_by_role("button", name="Go").click()
    assert first(page) == "task-300"
    page.locator(".hist a").first.click()
    assert page.locator(".pill").count() == 1


@pytest.mark.parametrize("width", [360, 768, 1080, 1440])
def test_an_older_revision_and_the_revisions_fit_every_width(visit_many: Visitor, width: int) -> None:
    for path in (f"{MANY}/revisions", f"{MANY}?limit=1&page=200"):
        page = visit_many(path, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_first_reading_shows_its_steps_and_the_page_fills_in(browser: Browser, tmp_path: Path) -> None:
    write_tasks(tmp_path / "hub", 900)
    with served("--hub", str(tmp_path / "hub"), store=tmp_path / "store") as url:
        visitor = Visitor(browser, url)
        page = visitor(MANY)
        if page.locator("[data-progress]").count():
            expect(page.locator("span[data-tasks]")).to_have_text("900 tasks found")
        expect(page.locator(".index > li")).to_have_count(50, timeout=60_000)
        expect(page.get_by_role("heading", name="many")).to_be_visible()
        visitor.close()
        assert visitor.problems == []


def test_a_first_reading_that_fails_says_so_and_waits_to_be_asked(visit_many: Visitor) -> None:
    page = visit_many("/", scripts=True)
    told = "".join(
        f"id: {number}\nevent: progress\ndata: {json.dumps({'step': step, 'message': message, 'said': {}})}\n\n"
        for number, step, message in ((1, "reading", None), (2, "failed", "The Hub is away."))
    )
    told += "id: 3\nevent: end\ndata: null\n\n"
    page.route("**/told", lambda route: route.fulfill(body=told, content_type="text/event-stream"))
    script = page.locator("script[src^='/static/']").first.get_attribute("src") or ""
    page.evaluate(
        """async (script) => {
          document.querySelector("main").innerHTML = `<section data-progress="/told">
            <ol><li data-step="reading"></li></ol>
            <p><span data-tasks></span><span data-left></span></p><svg><rect data-bar/></svg>
            <div data-failed hidden><p data-why></p></div><p data-hint></p>
            </section>`;
          const { follow } = await import(script.replace(/[^/]+$/, "progress.js"));
          follow(document.querySelector("[data-progress]"));
        }""",
        script,
    )
    expect(page.locator("[data-why]")).to_have_text("The Hub is away.")
    expect(page.locator("div[data-failed]")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/$"))
