"""What is asked of the dataset viewer, and what of its answers is believed."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import httpx2
import pytest

from rlx.errors import BadInput, NotFound, TooLarge, Upstream, UserError
from rlx.hub.rows import ViewerClient, equal
from rlx.ids import EnvKey
from rlx.localhub import LocalHub

pytestmark = pytest.mark.anyio

KEY = EnvKey("dataset", "acme", "rows")
ROWS = [{"id": n, "kind": "it's" if n % 2 else 'a "b"', "ok": n > 100, "text": f"row {n}"} for n in range(150)]


class Answers:
    """Answers one after another, the last one for ever, and what was asked."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.left = list(answers)
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def client_of(answer: Callable[[httpx2.Request], httpx2.Response]) -> ViewerClient:
    return ViewerClient("http://viewer.test", transport=httpx2.MockTransport(answer), pause=0.0)


def told(body: object, status: int = 200, **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, json=body, headers=named)


PAGE = {
    "features": [{"feature_idx": 0, "name": "a", "type": {"dtype": "string", "_type": "Value"}}],
    "rows": [{"row_idx": 7, "row": {"a": "x"}, "truncated_cells": ["a"]}],
    "num_rows_total": 8,
    "num_rows_per_page": 100,
    "partial": True,
}


@pytest.fixture
def local(tmp_path: Path) -> ViewerClient:
    folder = tmp_path / "datasets/acme/rows"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    hub = LocalHub(tmp_path, rescan=0)
    return ViewerClient("http://hub.test/viewer", transport=httpx2.ASGITransport(app=hub.app))


async def test_a_local_hub_answers_every_question(local: ViewerClient) -> None:
    splits = await local.splits(KEY, token=False)
    assert splits.splits == (("default", "train"),)
    assert splits.revision is not None
    assert len(splits.revision) == 40
    page = await local.rows(KEY, "default", "train", token=False, offset=95)
    assert [row.number for row in page.rows] == list(range(95, 150))
    assert [row.cells for row in page.rows] == ROWS[95:]
    assert (list(page.features), page.total, page.partial) == (["id", "kind", "ok", "text"], 150, False)
    found = await local.search(KEY, "default", "train", "149", token=False)
    assert [row.number for row in found.rows] == [149]
    statistics = await local.statistics(KEY, "default", "train", token=False)
    assert {column.name: column.type for column in statistics.columns} == {
        "id": "int",
        "kind": "string_label",
        "ok": "bool",
        "text": "string_text",
    }
    assert statistics.examples == 150
    valid = await local.valid(KEY, token=False)
    assert (valid.viewer, valid.search, valid.filter, valid.statistics) == (True, True, True, True)


@pytest.mark.parametrize(
    ("column", "value", "count"), [("kind", "it's", 75), ("kind", 'a "b"', 75), ("ok", True, 49), ("id", 3, 1)]
)
async def test_conditions_are_written_as_the_viewer_reads_them(
    local: ViewerClient, column: str, value: str | int | bool, count: int
) -> None:
    where = equal(column, value)
    found = await local.filter(KEY, "default", "train", where, token=False, order='"id" DESC')
    assert found.total == count
    numbers = [row.number for row in found.rows]
    assert numbers == sorted(numbers, reverse=True)


async def test_a_condition_that_cannot_be_followed_and_a_split_that_is_not_there(local: ViewerClient) -> None:
    with pytest.raises(BadInput):
        await local.filter(KEY, "default", "train", '"none"=1', token=False)
    with pytest.raises(NotFound):
        await local.rows(KEY, "default", "test", token=False, offset=0)
    with pytest.raises(NotFound):
        await local.splits(EnvKey("dataset", "acme", "nothing"), token=False)


async def test_the_token_goes_to_the_viewer_and_only_where_one_was_given() -> None:
    answers = Answers(told(PAGE, x_revision="a" * 40))
    client = client_of(answers)
    page = await client.rows(KEY, "c", "s", token="hf_one", offset=7, length=500)
    await client.rows(KEY, "c", "s", token=False, offset=7)
    assert [request.headers.get("authorization") for request in answers.asked] == ["Bearer hf_one", None]
    assert dict(answers.asked[0].url.params) == {
        "dataset": "acme/rows",
        "config": "c",
        "split": "s",
        "offset": "7",
        "length": "100",
    }
    assert page.rows[0].truncated == ("a",)
    assert (page.partial, page.revision) == (True, "a" * 40)


async def test_a_redirect_is_not_followed() -> None:
    answers = Answers(httpx2.Response(302, headers={"location": "http://elsewhere.test/"}))
    with pytest.raises(Upstream):
        await client_of(answers).rows(KEY, "c", "s", token="hf_one", offset=0)
    assert len(answers.asked) == 1


@pytest.mark.parametrize(
    "passing",
    [
        httpx2.ConnectError("away"),
        httpx2.Response(503, headers={"retry-after": "0"}),
        httpx2.Response(500),
        httpx2.Response(500, headers={"x-error-code": "UnexpectedError"}),
        httpx2.Response(429, headers={"retry-after": "0"}),
    ],
)
async def test_what_may_pass_is_asked_for_again(passing: httpx2.Response | Exception) -> None:
    answers = Answers(passing, passing, told(PAGE))
    assert (await client_of(answers).rows(KEY, "c", "s", token=False, offset=0)).total == 8
    assert len(answers.asked) == 3
    searches = Answers(passing)
    with pytest.raises(Upstream):
        await client_of(searches).search(KEY, "c", "s", "x", token=False)
    assert len(searches.asked) == 2


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "ExternalUnauthenticatedError", NotFound),
        (404, "ExternalAuthenticatedError", NotFound),
        (404, "ResponseNotFound", NotFound),
        (404, "", NotFound),
        (500, "ConfigNamesError", NotFound),
        (500, "StreamingRowsError", NotFound),
        (501, "DatasetInBlockListError", NotFound),
        (422, "InvalidParameter", BadInput),
        (302, "", Upstream),
    ],
)
async def test_what_will_not_pass_is_asked_once_and_typed(status: int, code: str, kind: type[UserError]) -> None:
    answers = Answers(told({"error": "SECRET"}, status, **({"x_error_code": code} if code else {})))
    with pytest.raises(kind) as refused:
        await client_of(answers).rows(KEY, "c", "s", token=False, offset=0)
    assert len(answers.asked) == 1
    assert "SECRET" not in refused.value.message


async def test_what_is_not_ready_says_when_to_come_back() -> None:
    answers = Answers(told({"error": "x"}, 500, x_error_code="ResponseNotReadyError"))
    with pytest.raises(Upstream, match="still preparing") as refused:
        await client_of(answers).rows(KEY, "c", "s", token=False, offset=0)
    assert refused.value.retry_after == 30


async def test_nothing_is_asked_till_a_long_wait_is_over_by_the_same_account() -> None:
    now = [0.0]
    answers = Answers(told({"error": "x"}, 429, retry_after="60"), told(PAGE))
    client = ViewerClient(
        "http://viewer.test", transport=httpx2.MockTransport(answers), clock=lambda: now[0], pause=0.0
    )
    with pytest.raises(Upstream) as refused:
        await client.rows(KEY, "c", "s", token="hf_one", offset=0)
    assert refused.value.retry_after == 60
    now[0] = 59.0
    with pytest.raises(Upstream, match="rate limit"):
        await client.rows(KEY, "c", "s", token="hf_one", offset=0)
    assert len(answers.asked) == 1
    await client.rows(KEY, "c", "s", token="hf_two", offset=0)
    now[0] = 61.0
    await client.rows(KEY, "c", "s", token="hf_one", offset=0)
    assert len(answers.asked) == 3


async def test_a_viewer_that_does_not_answer_is_given_up() -> None:
    class Silent(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await anyio.sleep_forever()
            raise AssertionError

    client = ViewerClient("http://viewer.test", transport=Silent(), seconds=0.01, short=0.01)
    for asked in (client.splits(KEY, token=False), client.search(KEY, "c", "s", "x", token=False)):
        with pytest.raises(Upstream, match="longer than"):
            await asked


@pytest.mark.parametrize(
    "body",
    [
        b"no JSON",
        b"[1]",
        b"[" * 100_000,
        b"{}",
        b'{"num_rows_total": -1}',
        b'{"num_rows_total": "9"}',
        b'{"num_rows_total": true}',
    ],
)
async def test_an_answer_that_is_none_is_told(body: bytes) -> None:
    with pytest.raises(Upstream):
        await client_of(Answers(httpx2.Response(200, content=body))).rows(KEY, "c", "s", token=False, offset=0)


async def test_what_is_garbled_in_an_answer_is_left_out() -> None:
    odd = {
        "features": [7, {"name": "a"}, {}],
        "rows": [None, {"row_idx": "1", "row": {}}, {"row_idx": 1, "row": []}, {"row_idx": 2, "row": {"a": 1}}],
        "num_rows_total": 3,
    }
    page = await client_of(Answers(told(odd))).rows(KEY, "c", "s", token=False, offset=0)
    assert [(row.number, row.cells, row.truncated) for row in page.rows] == [(2, {"a": 1}, ())]
    assert list(page.features) == ["a"]
    splits = await client_of(
        Answers(told({"splits": [{"config": 1, "split": "x"}, {"config": "c", "split": "s"}]}))
    ).splits(KEY, token=False)
    assert splits.splits == (("c", "s"),)


async def test_an_endless_answer_is_cut() -> None:
    class Endless(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 1_000_000

    with pytest.raises(TooLarge):
        await client_of(Answers(httpx2.Response(200, stream=Endless()))).splits(KEY, token=False)


async def test_the_rate_limit_is_remembered() -> None:
    answers = Answers(told(PAGE, ratelimit='"api";r=10;t=100', ratelimit_policy='"fixed window";"api";q=500;w=300'))
    client = client_of(answers)
    await client.rows(KEY, "c", "s", token=False, offset=0)
    assert client.budget.low("api")
