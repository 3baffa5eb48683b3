"""The Hub client against servers that are down, slow, rate limited, gated or lying."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx2
import pytest
from httpx2 import Request, Response

from rlx.errors import Forbidden, NotFound, TooLarge, Upstream, UserError
from rlx.hub.budget import MAX_WAIT, retry_after
from rlx.hub.client import HubClient
from rlx.ids import EnvKey

pytestmark = pytest.mark.anyio

KEY = EnvKey("dataset", "org", "name")
SHA = "a" * 40

type Handler = Callable[[Request], Response]


@asynccontextmanager
async def hub(handler: Handler) -> AsyncIterator[HubClient]:
    client = HubClient("http://hub.test", transport=httpx2.MockTransport(handler), clock=lambda: 0.0, pause=0.0001)
    try:
        yield client
    finally:
        await client.aclose()


@pytest.mark.parametrize(
    ("status", "headers", "token", "kind"),
    [
        (401, {"x-error-code": "RepoNotFound"}, False, NotFound),
        (404, {"x-error-code": "RepoNotFound"}, "hf_alice", NotFound),
        (401, {}, False, NotFound),
        (401, {}, "hf_stale", Forbidden),
        (403, {"x-error-code": "GatedRepo"}, "hf_alice", Forbidden),
        (404, {"x-error-code": "RevisionNotFound"}, False, NotFound),
        (429, {}, False, Upstream),
        (500, {}, False, Upstream),
        (418, {}, False, Upstream),
    ],
)
async def test_statuses_become_typed_errors(
    status: int, headers: dict[str, str], token: str, kind: type[UserError]
) -> None:
    async with hub(lambda _: Response(status, headers=headers)) as client:
        with pytest.raises(kind) as caught:
            await client.info(KEY, token=token)
    assert "hf_" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "headers", [{"retry-after": "86400"}, {"retry-after": "999999999"}, {"ratelimit": '"api";r=0;t=99999'}]
)
def test_no_hub_makes_people_wait_for_hours(headers: dict[str, str]) -> None:
    assert retry_after(headers) == MAX_WAIT


@pytest.mark.parametrize("told", ["soon", "-5", "1e3", "²", "9" * 400, ""])
def test_a_wait_that_is_no_number_of_seconds_is_not_believed(told: str) -> None:
    assert retry_after({"retry-after": told}) is None


async def test_a_rate_limit_says_when_to_come_back_and_is_not_retried() -> None:
    seen: list[Request] = []

    def limited(request: Request) -> Response:
        seen.append(request)
        return Response(
            429, headers={"ratelimit": '"api";r=0;t=41', "ratelimit-policy": '"fixed window";"api";q=500;w=300'}
        )

    async with hub(limited) as client:
        with pytest.raises(Upstream, match="rate limit") as caught:
            await client.info(KEY, token=False)
        assert caught.value.retry_after == 42
        assert client.budget.low("api")
        assert [budget.quota for budget in client.budget.all()] == [500]
    assert len(seen) == 1


async def test_trouble_is_tried_again_and_then_told() -> None:
    answers = iter([Response(503), Response(500), Response(200, json={"id": "org/name", "sha": SHA})])
    async with hub(lambda _: next(answers)) as client:
        assert (await client.info(KEY, token=False)).sha == SHA

    def down(request: Request) -> Response:
        raise httpx2.ConnectError("refused", request=request)

    async with hub(down) as client:
        with pytest.raises(Upstream, match="could not be reached"):
            await client.info(KEY, token=False)

    def slow(request: Request) -> Response:
        raise httpx2.ReadTimeout("slow", request=request)

    async with hub(slow) as client:
        with pytest.raises(Upstream, match="took too long"):
            await client.info(KEY, token=False)


async def test_a_hub_that_never_answered_is_not_tried_again() -> None:
    asked = 0

    def away(request: Request) -> Response:
        nonlocal asked
        asked += 1
        raise httpx2.ConnectError("no such host", request=request)

    async with hub(away) as client:
        with pytest.raises(Upstream, match="could not be reached") as caught:
            await client.info(KEY, token=False)
    assert asked == 1
    assert "online" in str(caught.value.hint)


async def test_a_hub_that_answered_before_is_tried_again() -> None:
    turns = iter([True, False, True])

    def flaky(request: Request) -> Response:
        if next(turns):
            return Response(200, json={"id": "org/name", "sha": SHA})
        raise httpx2.ConnectError("refused", request=request)

    async with hub(flaky) as client:
        for _ in range(2):
            assert (await client.info(KEY, token=False)).sha == SHA


async def test_the_token_is_sent_only_when_given_and_only_to_the_hub() -> None:
    seen: list[Request] = []

    def redirecting(request: Request) -> Response:
        seen.append(request)
        if request.url.host == "hub.test":
            return Response(302, headers={"location": "https://cdn.test/blob"})
        return Response(200, content=b"data")

    async with hub(redirecting) as client:
        assert await client.read(KEY, SHA, "a b#c.txt", token="hf_alice", limit=100) == b"data"
        await client.read(KEY, SHA, "x", token=False, limit=100)
    assert [request.headers.get("authorization") for request in seen] == ["Bearer hf_alice", None, None, None]
    assert seen[0].url.raw_path == f"/datasets/org/name/resolve/{SHA}/a%20b%23c.txt".encode()


@pytest.mark.parametrize("location", ["http://internal.test/secret", "ftp://x/y", "http://hub.test/again"])
async def test_redirects_to_plain_http_elsewhere_or_in_circles_are_refused(location: str) -> None:
    async with hub(lambda _: Response(302, headers={"location": location})) as client:
        with pytest.raises(Upstream, match=r"not https|circles"):
            await client.read(KEY, SHA, "x", token=False, limit=100)


@pytest.mark.parametrize("location", ["http://[::1", "https://[x]/y", "https://hub.test:port/"])
async def test_an_address_that_is_none_is_the_hubs_trouble(location: str) -> None:
    async with hub(lambda _: Response(302, headers={"location": location})) as client:
        with pytest.raises(Upstream, match="an address that is none"):
            await client.read(KEY, SHA, "x", token=False, limit=100)
    async with hub(lambda _: Response(200, json=[], headers={"link": f'<{location}>; rel="next"'})) as client:
        with pytest.raises(Upstream, match="an address that is none"):
            await client.repos("dataset", token=False)


@pytest.mark.parametrize("status", [300, 302, 304])
async def test_a_redirect_to_nowhere_is_the_hubs_trouble(status: int) -> None:
    async with hub(lambda _: Response(status)) as client:
        with pytest.raises(Upstream, match=f"answered {status}"):
            await client.info(KEY, token=False)


@pytest.mark.parametrize("code", ["", "RepoNotFound", "EntryNotFound"])
async def test_a_hub_without_a_list_is_in_trouble_not_a_missing_repository(code: str) -> None:
    async with hub(lambda _: Response(404, headers={"x-error-code": code})) as client:
        with pytest.raises(Upstream, match="gave no list of datasets"):
            await client.repos("dataset", token=False)


@pytest.mark.parametrize("path", ["", "/", "a/../b", "../x", "./x", "a//b", "a\0b", "a\ud800"])
async def test_a_file_name_that_git_could_not_hold_is_left_out_of_the_tree(path: str) -> None:
    entries = [{"type": "file", "path": name, "size": 1, "oid": "0"} for name in (path, "..b/c..d")]
    async with hub(lambda _: Response(200, content=json.dumps(entries))) as client:
        assert [entry.path async for entry in client.tree(KEY, SHA, token=False, limit=9)] == ["..b/c..d"]


async def test_a_file_of_another_size_than_listed_is_not_taken() -> None:
    async with hub(lambda _: Response(200, content=b"12345")) as client:
        with pytest.raises(Upstream, match="listed with 9 bytes and came with 5"):
            await client.read(KEY, SHA, "x", token=False, limit=100, expected=9)
        with pytest.raises(TooLarge):
            await client.read(KEY, SHA, "x", token=False, limit=4)


async def test_a_range_that_is_ignored_is_an_error_not_wrong_bytes() -> None:
    async with hub(lambda _: Response(200, content=b"0123456789")) as client:
        with pytest.raises(Upstream, match="answered 200 where 206 was due"):
            await client.read_range(KEY, SHA, "x", token=False, start=2, end=12)


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b"not json", b'{"id": 3}', b'{"id": "a/b/c"}', b'{"id": "org/name", "sha": "main"}', b"null"],
)
async def test_an_answer_that_is_not_a_repository_is_upstream_trouble(body: bytes) -> None:
    async with hub(lambda _: Response(200, content=body)) as client:
        with pytest.raises(Upstream):
            await client.info(KEY, token=False)


async def test_absurd_fields_are_read_as_unknown() -> None:
    absurd = {
        "id": "org/name",
        "sha": SHA,
        "tags": [1, None, "harbor", "x" * 500],
        "cardData": [],
        "downloads": -3,
        "likes": True,
        "trendingScore": "many",
        "lastModified": "yesterday",
        "description": {"a": 1},
        "gated": "auto",
    }
    async with hub(lambda _: Response(200, json=absurd)) as client:
        info = await client.info(KEY, token=False)
    assert info.tags == ("harbor", "x" * 200)
    assert (info.downloads, info.likes, info.trending, info.modified, info.description) == (None, None, None, None, "")
    assert info.gated
    assert info.restricted


async def test_pages_are_followed_on_the_same_server_only() -> None:
    def paged(request: Request) -> Response:
        if "cursor" in str(request.url):
            return Response(200, json=[{"id": "b/b"}, {"id": "broken"}])
        return Response(
            200, json=[{"id": "a/a"}], headers={"link": '<http://hub.test/api/datasets?cursor=1>; rel="next"'}
        )

    async with hub(paged) as client:
        found = await client.repos("dataset", token=False, filters=("harbor",))
    assert [str(info.key) for info in found] == ["a/a", "b/b"]

    evil = {"link": '<http://evil.test/api>; rel="next"'}
    async with hub(lambda _: Response(200, json=[], headers=evil)) as client:
        with pytest.raises(Upstream, match="another server"):
            await client.repos("dataset", token=False)

    loop = {"link": '<http://hub.test/api/datasets?cursor=1>; rel="next"'}
    async with hub(lambda _: Response(200, json=[], headers=loop)) as client:
        assert await client.repos("dataset", token=False) == []


async def test_a_tree_past_the_limit_is_too_large() -> None:
    entries = [{"type": "file", "path": f"{n}", "size": 1, "oid": "x"} for n in range(5)]
    async with hub(lambda _: Response(200, json=[*entries, {"type": "directory", "path": "d"}, "?"])) as client:
        assert len([entry async for entry in client.tree(KEY, SHA, token=False, limit=6)]) == 6
        with pytest.raises(TooLarge, match="more than 5 files and folders"):
            [entry async for entry in client.tree(KEY, SHA, token=False, limit=5)]
