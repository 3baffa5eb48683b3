"""The file viewer and raw files: whole, inert, and silent about what is withheld."""

import re

import httpx2
import pytest

from tests.toy import FILES

pytestmark = pytest.mark.anyio


def lines(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="L(\d+)"', page)]


async def test_a_folder_lists_its_entries_and_names_what_is_withheld(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/files")).text
    assert 'href="/d/toy/main/files/run.py"' in page
    assert 'href="/d/toy/main/files/100%25%20of%20%231%3F"' in page
    assert "secret/" in page
    assert "/files/secret" not in page


async def test_a_file_stands_beside_its_folder(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/t/toy/main/plain?path=docs/a b.md")).text
    assert 'aria-current="true"' in page
    assert "docs%2Fmore.md" in page
    assert 'href="/t/toy/main/plain?path="' in page


async def test_lines_are_numbered_and_the_masked_ones_marked(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/files/run.py")).text
    assert lines(page) == [1, 2, 3]
    assert re.findall(r'class="l mask" id="L(\d+)"', page) == ["3"]
    assert "1 answer in this file is withheld." in page
    assert '<span class="k">import</span>' in page


async def test_a_long_file_is_shown_page_by_page(client: httpx2.AsyncClient) -> None:
    first = (await client.get("/d/toy/main/files/long.txt")).text
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = (await client.get(following[1])).text
    assert lines(first) == list(range(1, 1501))
    assert lines(second) == list(range(1501, 2001))
    assert 'rel="prev"' in second
    assert lines((await client.get("/d/toy/main/files/long.txt?from=99999")).text) == [2000]


async def test_wrapping_is_a_link(client: httpx2.AsyncClient) -> None:
    assert 'class="code nowrap"' in (await client.get("/d/toy/main/files/run.py?wrap=off")).text
    assert "wrap=off" in (await client.get("/d/toy/main/files/run.py")).text


@pytest.mark.parametrize("url", ["/d/toy/main/files/secret/answer.txt", "/t/toy/main/plain?path=secret/answer.txt"])
async def test_a_withheld_file_is_named_with_the_reason(client: httpx2.AsyncClient, url: str) -> None:
    page = await client.get(url)
    twin = await client.get(url + ("&" if "?" in url else "?") + "format=json")
    assert page.status_code == twin.status_code == 403
    assert "secret/answer.txt holds the answer." in page.text
    assert twin.json()["error"]["code"] == "forbidden"
    assert "RLX-CANARY" not in page.text + twin.text


async def test_an_empty_file_and_one_that_is_no_text_say_so(client: httpx2.AsyncClient) -> None:
    assert "This file is empty." in (await client.get("/d/toy/main/files/empty.txt")).text
    page = (await client.get("/d/toy/main/files/data.bin")).text
    assert "This is no text" in page
    assert "00000010  10 11 12 13 14 15 16 17  18" in re.sub(r"<[^>]+>", "", page)
    assert '<img src="/raw/d/toy/main/files/dot.png"' in (await client.get("/d/toy/main/files/dot.png")).text


async def test_a_file_shown_in_part_says_so_and_has_no_raw_link(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/files/huge.txt")).text
    assert "Only the beginning is shown" in page
    assert "/raw/" not in page


@pytest.mark.parametrize("path", ["page.html", "drawing.svg", "run.py"])
async def test_raw_text_is_plain_text_in_a_sandbox(client: httpx2.AsyncClient, path: str) -> None:
    for url in (
        f"/raw/d/toy/main/files/{path}",
        f"/raw/t/toy/main/plain?path={path}",
        f"/api/env/toy/main/raw?path={path}",
    ):
        response = await client.get(url)
        assert response.text == FILES[path]
        assert response.headers["content-type"] == "text/plain; charset=utf-8"
        assert response.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert response.headers["x-content-type-options"] == "nosniff"


async def test_raw_media_is_itself_and_all_else_a_download(client: httpx2.AsyncClient) -> None:
    image = await client.get("/raw/d/toy/main/files/dot.png")
    other = await client.get("/raw/d/toy/main/files/data.bin")
    assert image.headers["content-type"] == "image/png"
    assert image.content == FILES["dot.png"]
    assert other.headers["content-type"] == "application/octet-stream"
    assert other.headers["content-disposition"] == "attachment; filename*=UTF-8''data.bin"


async def test_relative_links_of_a_readme_open_the_file_viewer(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/card")).text
    assert 'href="/d/toy/main/files/docs/a%20b.md"' in page
