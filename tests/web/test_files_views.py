"""Each kind of file is shown in the way that suits it, with nothing in it that could act."""

import io
import json
import re
import zipfile
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlx.answers import prose
from rlx.ids import EnvKey
from rlx.model import Blob
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from rlx.web.links import Links
from rlx.web.views import VIEWS, draw
from rlx.web.views.base import Asked
from rlx.web.views.media import Media
from rlx.web.views.notebook import Notebook
from rlx.web.views.table import PAGE, Table
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

ASKED = Asked(EnvKey("dataset", "o", "n"), None, Links("build"), "en")
ROOT = "/d/acme/files/files"
CANARY = "RLX-CANARY-VIEWS-0001"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (320).to_bytes(4, "big") + (200).to_bytes(4, "big") + b"\0" * 64


def text_blob(path: str, text: str) -> Blob:
    return Blob(path, len(text), prose(text), media_type="text/plain")


def words_of(html: object) -> str:
    return unescape(re.sub(r"<[^>]+>", "", str(html)))


def table(path: str, text: str, start: int = 1) -> Table:
    drawn = draw(text_blob(path, text), None, Asked(ASKED.key, None, ASKED.links, "en", start))
    assert isinstance(drawn.shown, Table), drawn.view.name
    return drawn.shown


@pytest.mark.parametrize("cell", [200_000, 131_073, 10])
def test_a_cell_of_any_size_is_a_cell(cell: int) -> None:
    assert len(table("a.csv", f"name,n\n{'x' * cell},1\n").rows) == 1


def cells(shown: Table) -> list[list[str]]:
    return [[words_of(cell.html) for cell in row.cells] for row in shown.rows]


def test_records_become_a_table_whose_rows_lead_to_their_lines() -> None:
    shown = table("a.jsonl", '{"id": 1, "q": "one"}\n\n{"q": "two", "more": {"k": [1, 2]}, "id": null}\n')
    assert shown.columns == ("id", "q", "more")
    assert cells(shown) == [["1", "one", ""], ["null", "two", '{"k": [1, 2]}']]
    assert [row.url for row in shown.rows] == [
        "/d/o/n/files/a.jsonl?view=text#L1",
        "/d/o/n/files/a.jsonl?view=text#L3",
    ]


def test_a_long_table_is_shown_page_by_page() -> None:
    text = "".join(f'{{"n": {n}}}\n' for n in range(2 * PAGE + 50))
    last = table("a.jsonl", text, 2 * PAGE + 1)
    assert (last.page.first, last.page.last, last.page.total, last.page.next) == (201, 250, 250, None)
    assert cells(last)[0] == ["200"]
    assert table("a.jsonl", text, 10_000).page.first == 250


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.csv", 'name,n\n"a\nb",1\n,2.5\n'),
        ("a.tsv", 'name\tn\n"a\nb"\t1\n\t2.5\n'),
        ("a.csv", '\ufeffname;n\n"a\nb";1\n\n;2.5\n'),
    ],
)
def test_text_tables_are_read_whatever_parts_their_cells(path: str, text: str) -> None:
    shown = table(path, text)
    assert shown.columns == ("name", "n")
    assert cells(shown) == [["a\nb", "1"], ["", "2.5"]]
    assert shown.numeric == {1}
    assert (shown.rows[1].url or "").endswith("#L5" if "\n\n" in text else "#L4")


def test_columns_without_a_name_or_with_a_used_one_are_told_apart() -> None:
    assert table("a.csv", "x,x,\n1,2,3,4\n").columns == ("x", "x (2)", "(3)", "(4)")


def test_json_is_a_table_when_it_is_a_list_of_records_and_text_otherwise() -> None:
    assert table("a.json", '[{"a": 1}, {"b": [1]}]').columns == ("a", "b")
    assert table("a.json", '{"x": {"a": 1}, "y": {"a": 2}, "z": {}}').columns == ("", "a")
    for text in ('{"a": 1}', "[1, 2]", '[{"a": 1}, 2]', '{"a": {"b": 1}}', "[{broken"):
        drawn = draw(text_blob("a.json", text), None, ASKED)
        assert (drawn.view.name, drawn.note) == ("text", None)


def test_a_file_that_is_not_what_its_name_says_is_text_with_the_reason() -> None:
    for path, text in (("a.jsonl", "<PLACEHOLDER ROW>\n"), ("a.ipynb", "{}")):
        drawn = draw(text_blob(path, text), None, ASKED)
        assert drawn.view.name == "text"
        assert drawn.note is not None


def test_wide_cells_fold_what_is_withheld_is_drawn_and_markup_is_inert() -> None:
    value = {"long": "word " * 100, "held": "the ‹withheld› one", "bad": "<script>alert(1)</script>\u202e"}
    row = table("a.jsonl", json.dumps(value) + "\n").rows[0]
    assert row.cells[0].more is not None
    assert len(words_of(row.cells[0].html)) < 150
    assert words_of(row.cells[0].more) == "word " * 100
    assert 'class="held"' in row.cells[1].html
    assert "‹" not in row.cells[1].html
    assert "<script" not in row.cells[2].html
    assert "U+202E" in row.cells[2].html


def test_a_page_of_huge_cells_stays_within_bounds() -> None:
    text = "".join(json.dumps({"a": "x" * 50_000, "b": ["y" * 50_000]}) + "\n" for _ in range(40))
    size = sum(len(cell.html) + len(cell.more or "") for row in table("a.jsonl", text).rows for cell in row.cells)
    assert size < 600_000


def test_a_table_of_very_many_columns_leaves_some_off() -> None:
    shown = table("a.jsonl", json.dumps({str(n): n for n in range(100)}) + "\n")
    assert (len(shown.columns), shown.left_off) == (60, 40)


def test_a_notebook_is_shown_cell_by_cell() -> None:
    book = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "<script>alert(1)</script>"]},
            {"cell_type": "code", "execution_count": 2, "source": "import os\nprint('<b>')", "outputs": "‹withheld›"},
            {
                "cell_type": "code",
                "source": ["x"],
                "outputs": [
                    {"output_type": "stream", "text": ["a\n", "b\x1b[31m"]},
                    {"output_type": "display_data", "data": {"image/png": "aaaa", "text/plain": "<Figure>"}},
                    {"output_type": "error", "traceback": ["boom"]},
                ],
            },
            {"cell_type": "raw", "source": "<i>raw</i>"},
        ],
        "metadata": {"language_info": {"name": "python"}},
    }
    shown = draw(text_blob("a.ipynb", json.dumps(book)), None, ASKED).shown
    assert isinstance(shown, Notebook)
    first, second, third, fourth = shown.cells
    assert "<h3" in first.html
    assert "<script" not in first.html
    assert (second.count, second.withheld, second.printed) == (2, True, None)
    assert '<span class="k">import</span>' in second.html
    assert third.printed is not None
    assert words_of(third.printed) == "a\nbESC[31m\n<Figure>\nboom\n"
    assert third.pictures == 1
    assert (fourth.kind, str(fourth.html)) == ("raw", "&lt;i&gt;raw&lt;/i&gt;")


@pytest.mark.parametrize(
    ("kind", "data", "size"),
    [
        ("image/png", PNG, (320, 200)),
        ("image/gif", b"GIF89a" + (3).to_bytes(2, "little") + (4).to_bytes(2, "little") + b"\0" * 8, (3, 4)),
        ("image/jpeg", b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08\0\x05\0\x06" + b"\0" * 8, (6, 5)),
        ("image/jpeg", b"\xff\xd8\xff\xe0\0", (None, None)),
        ("image/png", b"\x89PNG\r\n\x1a\n", (None, None)),
        ("image/webp", b"RIFF", (None, None)),
    ],
)
def test_a_picture_tells_its_size_so_that_room_is_kept(
    kind: str, data: bytes, size: tuple[int | None, int | None]
) -> None:
    shown = draw(Blob("a", len(data), None, data, kind), None, ASKED).shown
    assert isinstance(shown, Media)
    assert (shown.width, shown.height) == size


def test_every_view_has_a_word_of_its_own() -> None:
    assert len({view.name for view in VIEWS}) == len(VIEWS)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("views")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner/secret.txt", CANARY)
    rows = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"question": f"{n}?", "answer": CANARY} for n in range(3)]), rows)
    files: dict[str, str | bytes] = {
        "README.md": "---\nlicense: mit\n---\n# Hi\n\n![chart](docs/chart.png)\n",
        "docs/chart.png": PNG,
        "docs/sound.wav": b"RIFF" + bytes(range(256)),
        "docs/film.mp4": b"\0\0\0\x18ftypmp42" + bytes(100),
        "docs/paper.pdf": b"%PDF-1.7\n\0",
        "long.py": "".join(f"x_{n} = {n}\n" for n in range(4000)),
        "odd.py": "# \u202ereversed\u202c \u200b\nprint('\x1b[31mred\x1b[0m')\r\n",
        "page.html": "<script>alert(1)</script>\n",
        "pointer.txt": f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 123456789\n",
        "latin.txt": "café".encode("latin-1"),
        "packed.zip": packed.getvalue(),
        "rows.parquet": rows.getvalue(),
        "many/deep/er/and/deeper/x.txt": "x\n",
        **{f"many/{n:04}.txt": f"{n}\n" for n in range(1203)},
        'a b/100% of #1?/it\'s "quoted".txt': "odd\n",
        "tasks/t/task.toml": 'version = "1.0"\n',
        "tasks/t/instruction.md": "Do it.\n",
        "tasks/t/environment/app.zip": packed.getvalue(),
        "tasks/t/environment/prog": b"\x7fELF" + bytes(range(256)) * 4,
        "tasks/t/solution/solve.sh": CANARY,
    }
    for path, content in files.items():
        file = root / "datasets/acme/files" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


@pytest.fixture
async def reader(hub: Path, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(hub=str(hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services, visitor(create_app(services, token=lambda told: None)) as found:
        yield found


async def page(reader: httpx2.AsyncClient, path: str) -> str:
    answer = await reader.get(f"{ROOT}/{path}")
    assert answer.status_code == 200, answer.text[:300]
    assert CANARY not in answer.text
    return answer.text


async def test_pictures_sound_and_video_are_played_from_our_own_address(reader: httpx2.AsyncClient) -> None:
    assert f'<img src="/raw{ROOT}/docs/chart.png" alt="chart.png" width="320" height="200">' in await page(
        reader, "docs/chart.png"
    )
    assert f'<audio controls preload="metadata" src="/raw{ROOT}/docs/sound.wav">' in await page(
        reader, "docs/sound.wav"
    )
    assert f'<video controls preload="metadata" src="/raw{ROOT}/docs/film.mp4">' in await page(reader, "docs/film.mp4")
    policy = (await reader.get(f"{ROOT}/docs/film.mp4")).headers["content-security-policy"]
    assert "media-src 'self'" in policy
    assert "img-src 'self';" in policy


async def test_a_pdf_is_named_and_offered_and_never_opened(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "docs/paper.pdf")
    assert "A document of 10 B." in html
    assert not re.search(r"<(?:iframe|embed|object)", html)
    raw = await reader.get(f"/raw{ROOT}/docs/paper.pdf")
    assert raw.headers["content-type"] == "application/octet-stream"
    assert raw.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-3", 206, slice(0, 4)),
        ("bytes=100-", 206, slice(100, None)),
        ("bytes=-5", 206, slice(-5, None)),
        ("bytes=0-99999", 206, slice(0, None)),
        ("bytes=0-1,4-5", 200, slice(0, None)),
        ("bytes=-", 200, slice(0, None)),
        ("bytes=9-3", 416, slice(0, 0)),
        ("bytes=99999-", 416, slice(0, 0)),
        ("lines=1-2", 200, slice(0, None)),
    ],
)
async def test_media_come_in_the_parts_that_players_ask_for(
    reader: httpx2.AsyncClient, hub: Path, asked: str, status: int, part: slice
) -> None:
    whole = (hub / "datasets/acme/files/docs/sound.wav").read_bytes()
    answer = await reader.get(f"/raw{ROOT}/docs/sound.wav", headers={"range": asked})
    assert answer.status_code == status
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.content == whole[part]
    if status == 206:
        start = range(len(whole))[part][0]
        assert answer.headers["content-range"] == f"bytes {start}-{start + len(answer.content) - 1}/{len(whole)}"


async def test_a_parquet_file_is_a_table_whose_answers_are_withheld_and_whose_bytes_are_not_served(
    reader: httpx2.AsyncClient,
) -> None:
    html = await page(reader, "rows.parquet")
    assert html.count('class="held"') == 3
    assert f"/raw{ROOT}/rows.parquet" not in html
    assert (await reader.get(f"/raw{ROOT}/rows.parquet")).status_code == 403
    assert "withheld" in words_of(await page(reader, "rows.parquet?view=text"))
    twin = await reader.get(f"{ROOT}/rows.parquet?format=json")
    assert twin.json()["raw"] is None
    assert CANARY not in twin.text + (await reader.get(f"{ROOT}/rows.parquet?format=md")).text


async def test_an_archive_is_listed_and_only_the_agents_own_is_served(reader: httpx2.AsyncClient) -> None:
    assert "inner/secret.txt" in words_of(await page(reader, "packed.zip"))
    assert (await reader.get(f"/raw{ROOT}/packed.zip")).status_code == 403
    mine = await reader.get("/t/acme/files/tasks/t?path=environment/app.zip")
    assert "inner/secret.txt" in words_of(mine.text)
    raw = await reader.get("/raw/t/acme/files/tasks/t?path=environment/app.zip")
    assert raw.content[:2] == b"PK"
    assert raw.headers["content-disposition"] == "attachment; filename*=UTF-8''app.zip"


async def test_a_program_is_shown_by_its_first_bytes(reader: httpx2.AsyncClient) -> None:
    html = words_of(await page(reader, "tasks/t/environment/prog"))
    assert "00000000  7f 45 4c 46 00 01 02 03" in html
    assert "·ELF····" in html
    assert "These are the first 512 bytes." in html


async def test_what_hides_reorders_or_commands_is_spelled_out_and_counted(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "odd.py")
    assert "5 characters here are invisible" in html
    assert not re.search("[\u202e\u202c\u200b\x1b]", html)
    assert html.count('class="inv"') == 5
    assert ">CRLF<" in html


async def test_notes_say_what_a_file_is_when_it_is_not_what_it_seems(reader: httpx2.AsyncClient) -> None:
    assert "the file itself, of 123,456,789 bytes" in await page(reader, "pointer.txt")
    assert "nothing in it runs here" in await page(reader, "page.html")
    assert "Not UTF-8" in await page(reader, "latin.txt")


async def test_markdown_is_shown_as_text_and_rendered_when_asked(reader: httpx2.AsyncClient) -> None:
    assert 'id="L5"' in await page(reader, "README.md")
    html = await page(reader, "README.md?view=rendered")
    assert f'class="shot" href="/raw{ROOT}/docs/chart.png"' in html
    assert '<span class="k">license</span>' in html
    assert "<h2" in html
    assert (await reader.get(f"{ROOT}/README.md?view=table")).status_code == 400


async def test_the_rest_of_a_long_file_comes_in_parts(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "long.py")
    assert 'data-from="1501" data-total="4000" data-size="1500"' in html
    part = await page(reader, "long.py?part=lines&from=3001")
    assert [int(number) for number in re.findall(r'id="L(\d+)"', part)] == list(range(3001, 4001))
    assert "<html" not in part
    assert (await reader.get(f"{ROOT}/long.py?part=tree")).status_code == 400
    assert (await reader.get(f"{ROOT}/many?part=lines")).status_code == 400
    assert (await reader.get("/t/acme/files/tasks/t?path=solution/solve.sh&part=lines")).status_code == 403


async def test_a_folder_of_very_many_files_has_pages(reader: httpx2.AsyncClient) -> None:
    first = await page(reader, "many")
    assert "1,204 entries" in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    last = await reader.get(following[1])
    assert f'href="{ROOT}/many/1202.txt"' in last.text
    assert f'href="{ROOT}/many"' in last.text
    assert (await reader.get(f"{ROOT}/many?from=5000")).status_code == 404


async def test_the_way_down_to_a_file_stands_beside_it(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "docs/chart.png")
    assert re.search(r'data-folder="docs" data-open', html)
    assert f'href="{ROOT}/docs/sound.wav"' in html
    assert f'href="{ROOT}/README.md"' in html
    full = await page(reader, "docs/chart.png?full=1")
    assert "data-tree" not in full
    many = await page(reader, "many/1202.txt")
    assert 'aria-current="true"' in many
    assert many.count("<li>") < 300
    assert "1,003 more" in many
    deep = await page(reader, "many/deep/er/and/deeper/x.txt")
    assert f'href="{ROOT}/many/deep"' in deep
    assert 'data-folder="many"' not in deep


async def test_a_folder_opens_beside_a_file_as_a_part(reader: httpx2.AsyncClient) -> None:
    part = await page(reader, "docs?part=tree")
    assert part.count("<li>") == 4
    assert "<html" not in part
    assert "1,004 more" in await page(reader, "many?part=tree")


async def test_paths_of_every_kind_round_trip(reader: httpx2.AsyncClient) -> None:
    url = f"{ROOT}/a%20b/100%25%20of%20%231%3F"
    listed = await reader.get(url)
    link = re.search(r'href="([^"]+quoted[^"]+)"', listed.text)
    assert link is not None
    found = await reader.get(unescape(link[1]))
    assert 'id="L1"' in found.text
    assert "100% of #1?" in words_of(found.text)
