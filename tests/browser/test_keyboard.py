"""The task page by keyboard alone, and what its scripts add: keys, contents that follow, copies, folds."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser

TASK = "/t/rl-explorer/first-steps/tasks/fix-median"
STEPS = "/t/rl-explorer/first-steps/tasks/stock-take"
FOCUSED = """() => {
  const at = document.activeElement;
  const shown = at.getBoundingClientRect();
  const ringed = [at, at.closest(".find, label")].some((box) => box && getComputedStyle(box).outlineStyle !== "none");
  return {
    name: (at.getAttribute("aria-label") || at.textContent).trim(),
    href: at.getAttribute("href") || "",
    seen: shown.width > 0 && shown.height > 0 && ringed,
  };
}"""


def tab_to(page: Page, href: str, name: str = "", most: int = 150) -> None:
    """Press Tab until a link is reached whose address and name match. Every stop on the way can be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        assert at["seen"], at
        if re.search(href, at["href"]) and name in at["name"]:
            return
    raise AssertionError(f"no {href} within {most} tabs")


def follow(page: Page, url: str) -> None:
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(url))


def test_one_walks_from_explore_to_a_file_of_a_task_by_keyboard_alone(visit: Visitor) -> None:
    page = visit("/")
    tab_to(page, "#main", most=1)
    page.keyboard.press("Enter")
    tab_to(page, r"^/d/rl-explorer/first-steps$")
    follow(page, "/d/rl-explorer/first-steps$")
    tab_to(page, f"^{TASK}$")
    follow(page, f"{TASK}$")
    tab_to(page, r"path=tests/test\.sh|path=tests%2Ftest\.sh", "Open file")
    follow(page, "path=tests")
    expect(page.locator("pre.lines").first).to_be_visible()


def test_keys_lead_to_the_neighbours_and_to_the_environment(visit: Visitor) -> None:
    page = visit(TASK)
    first = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("k")
    page.wait_for_url(first)
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(first)
    page.keyboard.press("u")
    page.wait_for_url("**/d/rl-explorer/first-steps")


def test_keys_do_nothing_while_somebody_types(visit: Visitor) -> None:
    page = visit(TASK)
    page.keyboard.press("/")
    page.keyboard.type("juk?")
    expect(page.locator("[data-find]")).to_have_value("juk?")
    expect(page.locator("dialog.keys")).to_have_count(0)
    assert page.url.endswith(TASK)


def test_a_question_mark_lists_the_keys_and_escape_leaves(visit: Visitor) -> None:
    page = visit(TASK)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("Next task:")
    page.keyboard.press("j")
    assert page.url.endswith(TASK)
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(dialog).to_be_visible()


@pytest.mark.parametrize("width", [360, 1440])
def test_the_contents_mark_the_section_one_reads(visit: Visitor, width: int) -> None:
    page = visit(TASK, width=width)
    contents = page.get_by_role("navigation", name="On this page")
    current = contents.locator("[aria-current=location]")
    expect(current).to_have_text("Prompt")
    contents.get_by_role("link", name="Files", exact=True).click()
    expect(current).to_have_text("Files")
    expect(current).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    expect(current).to_have_text("Prompt")


def test_the_side_is_reached_from_anywhere_on_a_phone(visit: Visitor) -> None:
    page = visit(f"{TASK}#files", width=360, height=740)
    contents = page.get_by_role("navigation", name="On this page")
    expect(contents).to_be_in_viewport()
    for name in ("Ways to run it", "At a glance", "Withheld"):
        contents.get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", name=name)).to_be_in_viewport()


def test_prompts_code_and_addresses_are_copied_as_they_are(visit: Visitor) -> None:
    page = visit(TASK)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = "navigator.clipboard.readText()"
    page.locator("section[aria-labelledby=prompt]").get_by_role("button", name="Copy").click()
    told = page.request.get(f"{TASK}?format=json").json()
    prompt = next(
        block["text"] for section in told["sections"] for block in section["blocks"] if block["type"] == "prompt"
    )
    assert page.evaluate(copied) == prompt
    page.get_by_role("button", name="Copy link").click()
    assert page.evaluate(copied) == page.url
    page.get_by_role("button", name="Copy the ref").click()
    assert page.evaluate(copied) == "tasks/fix-median"
    code = page.locator("figure.code").first
    code.get_by_role("button", name="Copy").click()
    assert page.evaluate(copied).startswith("#!/")


def test_an_address_inside_something_folded_opens_it(visit: Visitor) -> None:
    page = visit(STEPS)
    folded = page.locator("details.fold .l").last
    expect(folded).not_to_be_visible()
    id = folded.get_attribute("id")
    page.goto(f"{STEPS}#{id}")
    page.reload()
    expect(folded).to_be_visible()
    expect(folded).to_be_in_viewport()


def test_the_page_is_whole_without_scripts(visit: Visitor) -> None:
    page = visit(f"{TASK}?view=rendered#prompt", scripts=False)
    expect(page.locator(".prompt-md")).to_be_visible()
    page.get_by_role("link", name="Text", exact=True).click()
    expect(page.locator(".prompt pre")).to_be_visible()
    assert page.locator("button.copy").count() == 0
    page.get_by_role("link", name=re.compile("^Next task")).click()
    assert not page.url.endswith(TASK)
