"""Tables of any size are paged on their pages and in the twins, answers withheld on every page of them."""

import io
import json
import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlx.formats.reading import PAGED
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

ROOT = "/d/acme/long/files"
CANARY = "RLX-CANARY-TABLES-0001"
COUNT = 12_345


def rows() -> list[dict[str, object]]:
    return [{"n": n, "question": f"what is {n}?", "answer": CANARY, "info": {"solution": CANARY}} for n in range(COUNT)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    packed = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows()), packed, row_group_size=5_000)
    lines = "".join(json.dumps(row) + "\n" for row in rows())
    cells = "".join(f'{n},"what, is\n{n}?",{CANARY}\n' for n in range(COUNT))
    broken = lines.replace('{"n": 300,', '{"n": 300 oops,', 1)
    empty = io.BytesIO()
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), empty)
    picture = "data:image/png;base64," + "iVBORw0KGgo" * 2_000
    short = [json.dumps({"id": 1, "picture": picture}), '{"id": "cut', json.dumps({"id": "two"})]
    files: dict[str, bytes] = {
        "short.jsonl": "\n".join(short).encode(),
        "empty.parquet": empty.getvalue(),
        "README.md": b"---\nlicense: mit\n---\n# Long\n",
        "a.parquet": packed.getvalue(),
        "a.jsonl": lines.encode(),
        "a.json": json.dumps(rows()).encode(),
        "a.csv": f"n,question,answer\n{cells}".encode(),
        "a.jsonl.gz": _gzip(lines.encode()),
        "a.jsonl.zst": pa.compress(lines.encode(), codec="zstd", asbytes=True),
        "broken.jsonl": broken.encode(),
        "placeholder.jsonl": b"<PLACEHOLDER ROW>\n" * (PAGED // 10),
    }
    for path, content in files.items():
        file = root / "datasets/acme/long" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root


def _gzip(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.output_stream(sink, compression="gzip") as out:
        out.write(data)
    return bytes(sink.getvalue().to_pybytes())


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


def words_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def shown_rows(html: str) -> list[int]:
    return [
        int(n.replace(",", "")) for n in re.findall(r'<tr><th scope="row" class="num">(?:<a [^>]*>)?([\d,]+)<', html)
    ]


TABLES = ("a.parquet", "a.jsonl", "a.json", "a.csv", "a.jsonl.gz", "a.jsonl.zst")


@pytest.mark.parametrize("path", TABLES)
async def test_every_page_of_a_table_is_there_and_leads_to_the_others(reader: httpx2.AsyncClient, path: str) -> None:
    last = await page(reader, f"{path}?from=12301")
    assert shown_rows(last) == list(range(12_301, COUNT + 1))
    assert "12,301–12,345 of 12,345" in words_of(last)
    assert re.search(rf'rel="prev" href="{ROOT}/{path}\?from=12201"', last)
    assert 'rel="next"' not in last
    middle = await page(reader, f"{path}?from=6789")
    assert shown_rows(middle) == list(range(6_789, 6_889))
    assert f'href="{ROOT}/{path}?from=12301"' in middle
    assert f'href="{ROOT}/{path}"' in middle
    assert "what is 6788?" in words_of(middle) or "what, is 6788?" in words_of(middle)
    assert middle.count('class="held"') >= 100
    assert 'name="from" min="1" max="12345"' in middle
    assert "There is no row 99,999; the last one is row 12,345." in words_of(await page(reader, f"{path}?from=99999"))


@pytest.mark.parametrize("path", TABLES)
async def test_twins_tell_the_same_page(reader: httpx2.AsyncClient, path: str) -> None:
    told = json.loads(await page(reader, f"{path}?from=9001&format=json"))["rows"]
    assert (told["total"], told["known"], len(told["rows"])) == (COUNT, COUNT, 100)
    assert told["rows"][0]["number"] == 9_001
    assert str(told["rows"][0]["value"]["n"]) == "9000"
    assert told["rows"][0]["value"]["answer"] == "‹withheld›"
    assert any(item["where"].endswith("answer") for item in told["withheld"])
    text = await page(reader, f"{path}?from=9001&format=md")
    assert "9,001–9,100 of 12,345" in text
    assert text.count("‹withheld›") >= 100


async def test_rows_lead_to_their_lines_while_the_text_has_them(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "a.jsonl?from=101")
    assert f'<a href="{ROOT}/a.jsonl?view=text#L101">101</a>' in html
    assert "#L" in await page(reader, "a.csv?from=101")
    text = await page(reader, "a.jsonl?view=text")
    assert "Here are" not in words_of(text)
    assert "Here are the first 1,000 of 12,345 rows." in words_of(await page(reader, "a.parquet?view=text"))


async def test_a_row_that_cannot_be_read_says_why_among_the_others(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "broken.jsonl?from=250")
    assert shown_rows(html) == list(range(250, 350))
    assert "Not JSON from its character 11 on" in html
    assert "One row of this page cannot be read" in html
    assert "oops" not in html


async def test_a_file_that_is_no_table_is_text_with_the_reason(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "placeholder.jsonl")
    assert "None of its first lines is a JSON record" in words_of(html)
    assert "<table><thead>" not in html


async def test_the_form_that_leads_to_a_row_keeps_the_way_it_is_shown(reader: httpx2.AsyncClient) -> None:
    html = await page(reader, "a.jsonl?view=table&full=1")
    form = re.search(r'<form class="[^"]*" action="([^"]*)">(.*?)</form>', html, re.DOTALL)
    assert form is not None
    assert form[1] == f"{ROOT}/a.jsonl"
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', form[2]))
    assert hidden == {"view": "table", "full": "1"}


async def test_a_short_table_tells_what_is_odd_about_it_too(reader: httpx2.AsyncClient) -> None:
    html = words_of(await page(reader, "short.jsonl"))
    assert "One column holds values of different kinds: id." in html
    assert "‹image/png, 16,500 bytes›" in html
    assert "iVBORw0KGgo" not in html
    assert "JSON that ends too soon" in html
    assert "It holds no rows." in words_of(await page(reader, "empty.parquet"))
