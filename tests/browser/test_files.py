"""The file viewer in a browser: long files, ranges of lines, folders beside a file, tables, images on a click."""

import json
import struct
import zlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Visitor, served

pytestmark = pytest.mark.browser

ROOT = "/d/acme/viewer/files"
LINES = 6000


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("viewer")
    rows = [{"id": n, "question": f"{n}? " + "word " * 80, "answer": "held"} for n in range(120)]
    files: dict[str, str | bytes] = {
        "README.md": "# Hi\n\n![A chart](docs/chart.png)\n\n![Gone](docs/gone.png)\n",
        "docs/chart.png": png(64, 32),
        "docs/deep/one.txt": "one\n",
        "docs/deep/two.txt": "two\n",
        "long.py": "".join(f"value_{n} = {n}  # line {n}\n" for n in range(1, LINES + 1)),
        "rows.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "odd.py": "a\u202eb = 1\n",
    }
    for path, content in files.items():
        file = folder / "hub/datasets/acme/viewer" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with served("--hub", str(folder / "hub"), store=folder) as url:
        yield url


@pytest.fixture
def visit(browser: Browser, viewer: str) -> Iterator[Visitor]:
    visitor = Visitor(browser, viewer)
    yield visitor
    visitor.close()
    assert visitor.problems == []


def in_view(page: Page, selector: str) -> bool:
    box = page.locator(selector).bounding_box()
    return box is not None and 0 <= box["y"] < 900


def test_all_lines_of_a_long_file_come_and_are_found_by_their_address(visit: Visitor) -> None:
    page = visit(f"{ROOT}/long.py#L4500-L4503")
    page.locator(f"#L{LINES}").wait_for(state="attached")
    expect(page.locator(".l")).to_have_count(LINES)
    expect(page.locator(".l.mark")).to_have_count(4)
    assert in_view(page, "#L4500")
    expect(page.locator(".pager")).to_have_count(0)
    assert page.evaluate(f"window.find('line {LINES - 1}')")
    windows = page.locator("pre.lines .win")
    assert windows.count() == LINES // 300
    assert windows.first.evaluate("window => getComputedStyle(window).contentVisibility") == "auto"


def test_without_scripts_a_long_file_has_pages(visit: Visitor) -> None:
    page = visit(f"{ROOT}/long.py", scripts=False)
    expect(page.locator(".l")).to_have_count(1500)
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#L1501")).to_be_visible()
    expect(page.locator("#L1500")).to_have_count(0)


def test_lines_are_marked_by_clicks_and_copied_as_they_are(visit: Visitor) -> None:
    page = visit(f"{ROOT}/long.py")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#L10 > a").click()
    page.locator("#L12 > a").click(modifiers=["Shift"])
    assert page.url.endswith("#L10-L12")
    expect(page.locator(".l.mark")).to_have_count(3)
    page.get_by_role("button", name="Copy lines").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(
        f"value_{n} = {n}  # line {n}" for n in (10, 11, 12)
    )
    page.get_by_role("button", name="Copy link").click()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_characters_that_are_spelled_out_are_copied_as_what_they_are(visit: Visitor) -> None:
    page = visit(f"{ROOT}/odd.py#L1")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.locator(".inv")).to_have_text("U+202E")
    page.get_by_role("button", name="Copy lines").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "a\u202eb = 1"


def test_a_folder_beside_a_file_opens_in_place_and_folds_again(visit: Visitor) -> None:
    page = visit(f"{ROOT}/long.py")
    tree = page.get_by_role("navigation", name="Files")
    page.get_by_role("button", name="Show what is in docs").click()
    expect(tree.get_by_role("link", name="chart.png")).to_be_visible()
    page.get_by_role("button", name="Show what is in deep").press("Enter")
    expect(tree.get_by_role("link", name="two.txt")).to_be_visible()
    page.get_by_role("button", name="Hide what is in docs").click()
    expect(tree.get_by_role("link", name="two.txt")).to_be_hidden()
    page.get_by_role("button", name="Show what is in docs").click()
    tree.get_by_role("link", name="two.txt").click()
    expect(page.get_by_role("heading", name="two.txt")).to_be_visible()
    expect(page.locator("[aria-current=true]")).to_have_text("two.txt")


def test_on_a_narrow_screen_the_file_comes_before_the_tree(visit: Visitor) -> None:
    page = visit(f"{ROOT}/docs/deep/one.txt", width=360)
    assert in_view(page, "#L1")
    expect(page.get_by_role("link", name="two.txt")).to_be_hidden()
    page.locator(".side-tree summary").click()
    expect(page.get_by_role("link", name="two.txt")).to_be_visible()


def test_a_link_to_a_line_of_a_table_opens_the_text(visit: Visitor) -> None:
    page = visit(f"{ROOT}/rows.jsonl#L7")
    page.wait_for_url("**/rows.jsonl?view=text#L7")
    expect(page.locator("#L7")).to_be_visible()


def test_a_wide_cell_unfolds_and_a_row_leads_to_its_line(visit: Visitor) -> None:
    page = visit(f"{ROOT}/rows.jsonl")
    expect(page.locator("tbody tr")).to_have_count(100)
    fold = page.locator("tbody details").first
    fold.locator("summary").click()
    expect(fold.locator("div")).to_be_visible()
    page.get_by_role("row").nth(3).get_by_role("rowheader").get_by_role("link").click()
    expect(page.locator("#L3")).to_be_visible()


def test_an_image_of_a_document_comes_on_a_click_and_in_its_place(visit: Visitor) -> None:
    page = visit(f"{ROOT}/README.md?view=rendered")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.locator(".md img")).to_have_count(0)
    page.get_by_role("link", name="Show image: A chart").click()
    image = page.locator(".md img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.naturalWidth") == 64
    assert [url for url in asked if "chart" in url] == [f"{visit.url}/raw{ROOT}/docs/chart.png"]


def test_an_image_that_does_not_come_says_so(visit: Visitor) -> None:
    page = visit(f"{ROOT}/README.md?view=rendered")
    page.get_by_role("link", name="Show image: Gone").click()
    expect(page.get_by_role("status").filter(has_text="cannot be shown")).to_be_visible()
    assert len(visit.problems) == 1  # the browser's own line
    assert "status of 404" in visit.problems.pop()


def test_without_scripts_an_image_is_a_link(visit: Visitor) -> None:
    page = visit(f"{ROOT}/README.md?view=rendered", scripts=False)
    target = page.get_by_role("link", name="Show image: A chart").get_attribute("href")
    assert target == f"/raw{ROOT}/docs/chart.png"
    assert page.request.get(target).headers["content-type"] == "image/png"


@pytest.mark.parametrize("width", [360, 768, 1080, 1440])
def test_nothing_moves_sideways_at_any_width(visit: Visitor, width: int) -> None:
    page = visit(ROOT, width=width)
    for path in (
        "long.py",
        "long.py?wrap=off",
        "rows.jsonl",
        "README.md?view=rendered",
        "docs/chart.png",
        "docs/deep/one.txt?full=1",
    ):
        page.goto(f"{ROOT}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
