"""Who may ask, what every answer carries, and what stays out of cookies, logs and errors."""

import logging
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from rlx.settings import Settings
from rlx.web.app import create_app
from rlx.web.viewer import COOKIE, host_name, hub_token
from tests.toy import OWNER, PRIVATE, TOKEN, ToyServices
from tests.web.conftest import BASE, visitor

pytestmark = pytest.mark.anyio

SOME_OF_EVERY_KIND = (
    "/",
    "/d/toy/main",
    "/t/toy/main/plain",
    "/d/toy/main/files/run.py",
    "/raw/d/toy/main/files/page.html",
    "/raw/t/toy/main/plain?path=dot.png",
    "/api/search",
    "/api/openapi.json",
    "/login",
    "/robots.txt",
    "/readyz",
    "/nowhere",
    "/d/toy/broken",
    "/random",
    "/static/x/app.css",
)


@pytest.mark.parametrize("url", SOME_OF_EVERY_KIND)
async def test_every_answer_carries_the_headers_that_keep_it_to_itself(client: httpx2.AsyncClient, url: str) -> None:
    headers = (await client.get(url)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert url.startswith("/raw/") or "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"]
    assert headers["permissions-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["x-request-id"]
    assert "total;dur=" in headers["server-timing"]


async def test_no_route_sets_a_cookie_or_opens_itself_to_other_sites(client: httpx2.AsyncClient) -> None:
    for url in SOME_OF_EVERY_KIND:
        headers = (await client.get(url, headers={"origin": "https://evil.example"})).headers
        assert "set-cookie" not in headers
        assert not [name for name in headers if name.startswith("access-control-")]


async def test_the_frame_ancestors_come_from_the_settings(services: ToyServices) -> None:
    services.settings = Settings(hub="https://hub.example", frame_ancestors=("https://huggingface.co",))
    async with visitor(create_app(services)) as client:
        assert "frame-ancestors https://huggingface.co" in (await client.get("/")).headers["content-security-policy"]


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:1", "127.0.0.1:80", "[::1]:7860", "explorer.example", "OTHER.example", "a.localhost"],
)
async def test_names_of_ours_are_answered(client: httpx2.AsyncClient, host: str) -> None:
    assert (await client.get("/", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "10.0.0.1"],
)
async def test_a_name_that_is_not_ours_is_refused(client: httpx2.AsyncClient, host: str) -> None:
    for url in ("/", "/api/search", "/static/x/app.css", "/-/healthz"):
        response = await client.get(url, headers={"host": host})
        assert response.status_code == 400
        assert response.headers["content-security-policy"]


def test_a_host_name_is_read_strictly() -> None:
    assert host_name("LOCALHOST.:80") == "localhost"
    assert host_name("[::1]") == "::1"
    for odd in ("a/b", "a b", "user@localhost", "localhost:x", "[::1", "a" * 300):
        assert host_name(odd) == ""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"sec-fetch-site": "same-origin"}, 400),
        ({"sec-fetch-site": "none"}, 400),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "origin": BASE}, 403),
        ({"origin": BASE}, 400),
        ({"origin": "https://explorer.example"}, 400),
        ({"origin": "http://explorer.example"}, 403),
        ({"origin": "http://localhost:7861"}, 403),
        ({"origin": "https://localhost:7860"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[bad"}, 403),
    ],
)
async def test_writes_of_other_sites_are_refused(
    client: httpx2.AsyncClient, headers: dict[str, str], status: int
) -> None:
    """400 is what the form itself says of a bad token: the request got that far."""
    response = await client.post("/login", data={"token": "hf_unknown"}, headers=headers)
    assert response.status_code == status


async def test_a_long_body_is_refused_told_or_not(app: FastAPI, settings: Settings) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(settings.max_body // 65536 + 2):
            yield b"x" * 65536

    form = {"content-type": "application/x-www-form-urlencoded"}
    async with visitor(app) as client:
        told = await client.post("/login", content=b"x" * (settings.max_body + 1), headers=form)
        lied = await client.post("/login", content=b"token=x", headers={**form, "content-length": "many"})
        streamed = await client.post("/login", content=parts(), headers=form)
    assert (told.status_code, lied.status_code, streamed.status_code) == (413, 413, 413)


async def test_signing_in_keeps_the_token_out_of_the_browser(client: httpx2.AsyncClient) -> None:
    assert (await client.get(PRIVATE.page)).status_code == 404
    answer = await client.post("/login", data={"token": TOKEN, "next": "/d/toy/private"})
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303
    assert answer.headers["location"] == "/d/toy/private"
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert TOKEN not in cookie
    assert "Secure" in cookie  # the public address is https
    client.cookies.set(COOKIE, cookie.partition("=")[2].partition(";")[0])
    page = await client.get(PRIVATE.page)
    assert page.status_code == 200
    assert page.headers["cache-control"] == "private, no-store"
    assert "etag" not in page.headers
    assert OWNER in page.text
    assert TOKEN not in page.text
    assert (await client.get("/api/me")).json() == {"kind": "session", "name": OWNER}


async def test_signing_out_ends_the_session_for_everybody_who_has_the_cookie(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/login", data={"token": TOKEN})
    value = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
    cookie = {"cookie": f"{COOKIE}={value}"}
    client.cookies.clear()
    assert (await client.get(PRIVATE.page, headers=cookie)).status_code == 200
    out = await client.post("/logout", headers=cookie)
    assert out.status_code == 303
    assert (await client.get(PRIVATE.page, headers=cookie)).status_code == 404


async def test_a_session_ends_with_its_time(services: ToyServices) -> None:
    now = [0.0]
    async with visitor(create_app(services, clock=lambda: now[0], token=lambda settings: None)) as client:
        answer = await client.post("/login", data={"token": TOKEN})
        client.cookies.set(COOKIE, answer.headers["set-cookie"].partition("=")[2].partition(";")[0])
        now[0] = 7 * 24 * 3600 - 1.0
        assert (await client.get(PRIVATE.page)).status_code == 200
        now[0] += 2
        assert (await client.get(PRIVATE.page)).status_code == 404


@pytest.mark.parametrize("token", ["", "hf_unknown", "x" * 500, "hf_é", "hf_a\nb"])
async def test_a_bad_token_is_told_at_the_field(client: httpx2.AsyncClient, token: str) -> None:
    response = await client.post("/login", data={"token": token})
    assert response.status_code == 400
    assert 'role="alert"' in response.text
    assert "set-cookie" not in response.headers
    assert not token or token not in response.text


@pytest.mark.parametrize(
    "target", ["https://evil.example", "//evil.example", "/\\evil.example", "/\tx", "javascript:alert(1)", ""]
)
async def test_signing_in_never_leads_to_another_site(client: httpx2.AsyncClient, target: str) -> None:
    response = await client.post("/login", data={"token": TOKEN, "next": target})
    assert response.headers["location"] == "/"


async def test_a_bearer_token_is_a_viewer_of_the_api_alone(client: httpx2.AsyncClient) -> None:
    bearer = {"authorization": f"Bearer {TOKEN}"}
    answer = await client.get("/api/env/toy/private", headers=bearer)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "private, no-store"
    assert TOKEN not in answer.text
    assert (await client.get("/d/toy/private", headers=bearer)).status_code == 404
    assert (await client.get("/api/env/toy/private", headers={"authorization": "Bearer hf_other"})).status_code == 404


@pytest.mark.parametrize("token", ["\xff", "h\xe9", "a" * 500, "hf_a\x7f"])
async def test_a_bearer_token_that_cannot_be_one_is_bad_input(client: httpx2.AsyncClient, token: str) -> None:
    odd = [(b"authorization", f"Bearer {token}".encode("latin-1"))]
    for url in ("/api/me", "/api/env/toy/private", "/api/env/toy/private/tasks?format=md"):
        answer = await client.get(url, headers=odd)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_input")
        assert token not in answer.text
    assert (await client.get("/", headers=odd)).status_code == 200


FORWARDED = [
    {"x-forwarded-for": "198.51.100.7"},
    {"forwarded": "for=198.51.100.7"},
    {"x-real-ip": "198.51.100.7"},
    {"via": "1.1 proxy"},
    {"x-forwarded-host": "explorer.example"},
    {"x-forwarded-proto": "https"},
    {"host": "explorer.example"},
]


async def test_this_machines_token_serves_its_own_user_alone(services: ToyServices) -> None:
    app = create_app(services, token=lambda settings: TOKEN)
    async with visitor(app, peer="127.0.0.1") as own, visitor(app) as other:
        assert (await own.get(PRIVATE.page)).status_code == 200
        assert (await own.get("/api/me")).json() == {"kind": "local", "name": OWNER}
        assert (await other.get(PRIVATE.page)).status_code == 404
        for headers in FORWARDED:
            assert (await own.get(PRIVATE.page, headers=headers)).status_code == 404


async def test_this_machines_token_is_not_used_when_told_so(services: ToyServices) -> None:
    services.settings = Settings(hub="https://hub.example", trust_local=False)
    async with visitor(create_app(services, token=lambda settings: TOKEN), peer="127.0.0.1") as own:
        assert (await own.get(PRIVATE.page)).status_code == 404


def test_a_folder_gets_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert hub_token(Settings(hub="/some/folder")) is None
    assert hub_token(Settings(hub="https://hub.example")) == TOKEN


async def test_the_log_names_requests_without_tokens_or_queries(
    client: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="rlx.web.access"):
        response = await client.get(f"/t/toy/main/{TOKEN}%0Ainjected?q={TOKEN}")
    line = caplog.records[-1].getMessage()
    assert TOKEN not in line
    assert "\n" not in line
    assert response.headers["x-request-id"] in line
    assert "/t/toy/main/[token]" in line


def test_the_api_has_no_page_that_loads_from_elsewhere(app: FastAPI) -> None:
    assert app.docs_url is None
    assert app.redoc_url is None
