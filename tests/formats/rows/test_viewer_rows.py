"""Rows of the dataset viewer, where files are not read here."""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa
import pytest

from rlx.errors import NotFound, Upstream
from rlx.formats.rows.splits import Found, SplitPage, find_splits, may_be_viewed
from rlx.hub.client import HubClient
from rlx.hub.repo import Repo
from rlx.hub.rows import ViewerClient
from rlx.model import ANONYMOUS, TaskQuery
from rlx.services import create_services
from rlx.settings import Settings
from rlx.texts import Say, words
from tests.formats.rows.conftest import KEY, Hub

pytestmark = pytest.mark.anyio

type Make = Callable[[Mapping[str, bytes]], Hub]
SHA = "a" * 40
OTHER = "b" * 40
CANARY = "RLX-CANARY-VIEWER-0001"
ENOUGH = 60.0
TEXT = {"dtype": "string", "_type": "Value"}


def arrow(first: int, count: int) -> bytes:
    out = io.BytesIO()
    table = pa.table({"n": range(first, first + count), "question": [f"What is {n}?" for n in range(count)]})
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


async def found_in(client: HubClient, sha: str | None = None) -> Found:
    info = await client.info(KEY, token=False)
    return await find_splits(Repo(client, info if sha is None else replace(info, sha=sha), False))


def numbers(page: SplitPage) -> list[object]:
    return [place.row.value["n"] for place in page.rows if isinstance(place.row.value, dict)]


async def test_rows_of_files_that_are_not_read_here_are_the_viewers(hub: Make) -> None:
    made = hub({"train.arrow": arrow(0, 250), "test.arrow": arrow(250, 3), "README.md": b"# Rows\n"})
    async with made.opened(viewer=True) as client:
        found = await found_in(client)
        assert [(split.config, split.name, split.paths) for split in found.layout.splits] == [
            ("default", "train", ()),
            ("default", "test", ()),
        ]
        rows = await found.open(found.layout.splits[0])
        assert rows.files == ()
        page = await rows.page(95, 110)
        assert numbers(page) == list(range(95, 205))
        assert [(place.path, place.at) for place in page.rows[:2]] == [("default/train", 95), ("default/train", 96)]
        assert (page.columns, page.count, page.known, page.refused) == (("n", "question"), 250, 250, ())
        assert await rows.count() == 250
        assert numbers(await rows.page(249, 10)) == [249]
        past = await rows.page(250, 10)
        assert (past.rows, past.count) == ((), 250)
        assert numbers(await (await found.open(found.layout.splits[1])).page(0, 100)) == [250, 251, 252]


async def test_rows_looked_at_one_by_one_cost_a_call_a_page(hub: Make) -> None:
    made = hub({"prompts.txt": "".join(f"Prompt {n}\n" for n in range(150)).encode()})
    async with made.opened(viewer=True) as client:
        found = await found_in(client)
        rows = await found.open(found.layout.splits[0])
        made.counted.paths.clear()
        for at in range(150):
            (place,) = (await rows.page(at, 1)).rows
            assert place.row.value == {"text": f"Prompt {at}"}
        assert made.counted.paths == ["/viewer/rows"] * 2


async def test_the_viewer_is_not_asked_about_a_repository_of_other_files(hub: Make) -> None:
    made = hub({"tasks/a/task.toml": b"", "tasks/a/instruction.md": b"Do", "tasks/a/requirements.txt": b"x"})
    async with made.opened(viewer=True) as client:
        found = await found_in(client)
    assert (found.layout.splits, found.note) == ((), None)
    assert not [path for path in made.counted.paths if path.startswith("/viewer")]


def test_most_files_decide_whether_the_viewer_may_have_rows() -> None:
    assert may_be_viewed(["README.md", ".gitattributes", "LICENSE", "prompts.txt"])
    assert may_be_viewed(["a/data-00000-of-00002.arrow", "state.json"])
    assert not may_be_viewed(["a.txt", "b.py", "c.py"])
    assert not may_be_viewed([])


async def test_without_rows_there_it_is_said_why_there_are_none(hub: Make) -> None:
    made = hub({"train.arrow": b"no arrow", "README.md": b"---\nviewer: false\n---\n"})
    async with made.opened(viewer=True) as client:
        found = await found_in(client)
        assert found.layout.splits == ()
        assert isinstance(found.note, Say)
        assert words(found.note).startswith("The dataset viewer was asked as well: The dataset viewer has no splits of")
    async with made.opened() as client:
        assert (await found_in(client)).note is None


async def test_another_commit_than_the_viewers_is_not_mixed_with_its_rows() -> None:
    async with viewed(rows=[{"n": 1}]) as client:
        found = await found_in(client, OTHER)
    assert found.layout.splits == ()
    assert isinstance(found.note, Say)
    assert words(found.note).startswith("The dataset viewer tells of another commit (aaaaaaa) than")
    assert "the one shown here (bbbbbbb)" in words(found.note)


async def test_files_that_cannot_be_read_are_told_and_their_rows_are_the_viewers() -> None:
    async with viewed(rows=[{"n": 1}], files={"train.parquet": b"PAR1 broken"}) as client:
        found = await found_in(client)
        rows = await found.open(found.layout.splits[0])
        page = await rows.page(0, 10)
        assert numbers(page) == [1]
        assert [path for path, _ in page.refused] == ["train.parquet"]
        assert (
            words(page.trouble or "")
            == "These rows are the dataset viewer's, since none of their files can be read here."
        )
        assert await rows.count() == 1


async def test_where_the_viewer_cannot_help_files_are_refused_as_ever() -> None:
    for refusal in ((404, "ResponseNotFound"), (503, "")):
        async with viewed(refusal=refusal, files={"train.parquet": b"PAR1 broken"}) as client:
            found = await found_in(client)
            rows = await found.open(found.layout.splits[0])
            for _ in range(2):
                page = await rows.page(0, 10)
                assert (page.rows, page.count, [path for path, _ in page.refused]) == ((), 0, ["train.parquet"])


async def test_a_viewer_that_fails_later_is_told() -> None:
    for refusal, kind in (((404, "ResponseNotFound"), NotFound), ((503, ""), Upstream)):
        async with viewed(refusal=refusal) as client:
            found = await found_in(client)
            with pytest.raises(kind):
                await (await found.open(found.layout.splits[0])).page(0, 10)


async def test_rows_that_changed_since_are_refused() -> None:
    async with viewed(rows=[{"n": 1}], revision=OTHER) as client:
        found = await found_in(client)
        page = await (await found.open(found.layout.splits[0])).page(0, 10)
    assert page.rows == ()
    assert [(path, why.key) for path, why in page.refused] == [("default/train", "row_sources.viewer_other")]


async def test_a_viewer_that_names_no_commit_has_the_newest() -> None:
    async with viewed(rows=[{"n": 1}], revision=None) as client:
        found = await found_in(client)
        assert numbers(await (await found.open(found.layout.splits[0])).page(0, 10)) == [1]


async def test_what_was_cut_out_of_a_record_is_not_shown() -> None:
    types = {"text": TEXT, "info": {"answer": TEXT}, "packed": TEXT}
    cut = {"text": "A long sto", "info": '{"answer": "' + CANARY, "packed": '{"answer": "' + CANARY}
    async with viewed(rows=[cut], types=types, truncated=["text", "info", "packed"]) as client:
        found = await found_in(client)
        (place,) = (await (await found.open(found.layout.splits[0])).page(0, 10)).rows
    assert place.row.value == {"text": "A long sto", "info": None, "packed": None}
    assert words(place.row.note or "") == "The dataset viewer sent these cells cut: text, info, packed."
    assert CANARY not in repr(place)


async def test_media_are_told_and_their_addresses_are_not() -> None:
    types = {"image": {"_type": "Image"}, "sounds": {"_type": "List", "feature": {"_type": "Audio"}}, "q": TEXT}
    row = {
        "image": {"src": "https://elsewhere.test/x.png", "width": 3, "height": 4},
        "sounds": [[{"src": "https://elsewhere.test/x.wav", "type": "audio/wav"}]],
        "q": "What?",
    }
    async with viewed(rows=[row], types=types) as client:
        found = await found_in(client)
        (place,) = (await (await found.open(found.layout.splits[0])).page(0, 10)).rows
    assert place.row.value == {"image": {"width": 3, "height": 4}, "sounds": [[{"type": "audio/wav"}]], "q": "What?"}
    assert words(place.row.note or "").endswith("and not fetched: image, sounds.")


async def test_rows_that_the_viewer_leaves_out_stand_in_their_place() -> None:
    async with viewed(rows=[{"n": 0}, None, {"n": 2}], total=3) as client:
        found = await found_in(client)
        page = await (await found.open(found.layout.splits[0])).page(0, 10)
    assert [place.row.broken is not None for place in page.rows] == [False, True, False]


async def test_the_beginning_of_a_split_is_told_as_such() -> None:
    async with viewed(rows=[{"n": 0}], partial=True) as client:
        found = await found_in(client)
        page = await (await found.open(found.layout.splits[0])).page(0, 10)
    assert (page.count, page.known, words(page.trouble or "")) == (
        None,
        1,
        "The dataset viewer holds the first row alone.",
    )


async def test_an_environment_of_the_viewers_rows_is_like_any_other(tmp_path: Path) -> None:
    folder = tmp_path / "hub/datasets/acme/rows"
    folder.mkdir(parents=True)
    table = pa.table({"question": [f"What is {n} plus {n}?" for n in range(120)], "answer": [CANARY] * 120})
    with pa.ipc.new_file(folder / "train.arrow", table.schema) as out:
        out.write_table(table)
    settings = Settings(hub=str(tmp_path / "hub"), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        environment = await services.library.open(KEY, ANONYMOUS, wait=None)
        summary = await environment.summary()
        page = await environment.tasks(TaskQuery(offset=100, limit=50))
        task = await environment.task("train/119")
    assert (summary.format, summary.tasks, len(page.items)) == ("rows", 120, 20)
    assert str(task.title) == "What is 119 plus 119?"
    assert CANARY not in repr((summary, page, task))


class viewed:
    """A hub whose viewer tells `rows`, or refuses them."""

    def __init__(
        self,
        *,
        rows: list[dict[str, Any] | None] | None = None,
        types: Mapping[str, object] | None = None,
        total: int | None = None,
        truncated: list[str] | None = None,
        partial: bool = False,
        revision: str | None = SHA,
        refusal: tuple[int, str] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.rows = rows or []
        self.types = types or {"n": {"dtype": "int64", "_type": "Value"}}
        self.total = len(self.rows) if total is None else total
        self.truncated = truncated or []
        self.partial = partial
        self.revision = revision
        self.refusal = refusal
        self.files = files or {"train.arrow": b"ARROW1"}

    async def __aenter__(self) -> HubClient:
        transport = httpx2.MockTransport(self.answer)
        self.client = HubClient("http://hub.test", transport=transport)
        self.client.viewer = ViewerClient("http://hub.test/viewer", transport=transport, pause=0.0)
        return self.client

    async def __aexit__(self, *_: object) -> None:
        await self.client.aclose()

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        assert request.url.host == "hub.test"
        if path.startswith("/viewer/splits"):
            splits = [{"dataset": KEY.repo_id, "config": "default", "split": "train"}]
            return httpx2.Response(200, json={"splits": splits}, headers={"x-revision": SHA})
        if path.startswith("/viewer/rows"):
            return self.page()
        if path.endswith("/refs"):
            return httpx2.Response(200, json={"branches": [], "converts": [], "tags": []})
        if "/tree/" in path:
            entries = [
                {"type": "file", "path": name, "oid": "1", "size": len(data)} for name, data in self.files.items()
            ]
            return httpx2.Response(200, json=entries)
        if "/resolve/" in path:
            start, _, end = request.headers["range"].removeprefix("bytes=").partition("-")
            return httpx2.Response(206, content=self.files[path.rpartition("/")[2]][int(start) : int(end) + 1])
        return httpx2.Response(200, json={"id": KEY.repo_id, "sha": SHA})

    def page(self) -> httpx2.Response:
        if self.refusal is not None:
            status, code = self.refusal
            return httpx2.Response(status, json={"error": "x"}, headers={"x-error-code": code} if code else {})
        told = {
            "features": [
                {"feature_idx": at, "name": name, "type": of} for at, (name, of) in enumerate(self.types.items())
            ],
            "rows": [
                {"row_idx": at, "row": row, "truncated_cells": self.truncated}
                for at, row in enumerate(self.rows)
                if row is not None
            ],
            "num_rows_total": self.total,
            "num_rows_per_page": 100,
            "partial": self.partial,
        }
        headers = {} if self.revision is None else {"x-revision": self.revision}
        return httpx2.Response(200, content=json.dumps(told).encode(), headers=headers)
