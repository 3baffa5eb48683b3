"""Images of other sites are fetched within limits, from public addresses alone, and only those a document names."""

from collections.abc import AsyncIterator, Callable, Sequence

import anyio
import httpx2
import pytest
from fastapi import FastAPI

from rlx.errors import BadInput, Forbidden, NotFound, TooLarge, TooMany, Upstream, UserError
from rlx.settings import Settings
from rlx.web.app import create_app
from rlx.web.images import AT_ONCE, MAX_BYTES, ImageProxy, is_public, is_signed, look_up, signature, signing_key
from rlx.web.links import Links
from tests.toy import ToyServices
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
PUBLIC = "93.184.216.34"

type Answer = Callable[[httpx2.Request], httpx2.Response]


def image(data: bytes = PNG, kind: str = "image/png", status: int = 200, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, headers={"content-type": kind, **headers}, content=data)


def proxy(answer: Answer, addresses: Sequence[str] = (PUBLIC,)) -> ImageProxy:
    async def resolve(host: str) -> Sequence[str]:
        return {"inner.example": ("10.0.0.1",)}.get(host, addresses)

    return ImageProxy(resolve=resolve, transport=httpx2.MockTransport(answer))


async def test_an_image_is_fetched_from_the_address_that_was_checked_under_its_own_name() -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return image()

    found = await proxy(answer).fetch("https://cdn.example/a.png?b=1")
    assert (found.kind, found.data) == ("image/png", PNG)
    assert str(asked[0].url) == f"https://{PUBLIC}/a.png?b=1"
    assert asked[0].headers["host"] == "cdn.example"
    assert asked[0].extensions["sni_hostname"] == "cdn.example"
    assert "cookie" not in asked[0].headers
    assert "authorization" not in asked[0].headers


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://cdn.example/a.png", BadInput),
        ("https://cdn.example:8443/a.png", BadInput),
        ("https://user:secret@cdn.example/a.png", BadInput),
        ("file:///etc/passwd", BadInput),
        ("https:///a.png", BadInput),
        ("https://inner.example/a.png", Forbidden),
    ],
)
async def test_only_https_at_public_addresses_is_asked(url: str, error: type[UserError]) -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return image()

    with pytest.raises(error):
        await proxy(answer).fetch(url)
    assert asked == []


@pytest.mark.parametrize(
    "location", ["https://inner.example/a.png", "http://cdn.example/a.png", "//inner.example/a.png", "ftp://x.example/"]
)
async def test_a_redirect_is_checked_like_the_first_address(location: str) -> None:
    with pytest.raises((BadInput, Forbidden)):
        await proxy(lambda request: httpx2.Response(302, headers={"location": location})).fetch("https://a.example/")


async def test_redirects_are_followed_and_end() -> None:
    def once(request: httpx2.Request) -> httpx2.Response:
        return image() if request.url.path == "/b" else httpx2.Response(301, headers={"location": "/b"})

    assert (await proxy(once).fetch("https://a.example/a")).data == PNG
    with pytest.raises(Upstream, match="circles"):
        await proxy(lambda request: httpx2.Response(302, headers={"location": "/b"})).fetch("https://a.example/a")


@pytest.mark.parametrize("headers", [{}, {"location": "https://[::1"}, {"location": "//["}])
async def test_a_redirect_to_nowhere_is_the_sites_trouble(headers: dict[str, str]) -> None:
    with pytest.raises(Upstream):
        await proxy(lambda request: httpx2.Response(302, headers=headers)).fetch("https://a.example/a")


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (image(b"<svg/>", "image/svg+xml"), Upstream),
        (image(b"<html>", "text/html"), Upstream),
        (image(b"<html>", "image/png"), Upstream),
        (image(PNG, ""), Upstream),
        (image(status=500), Upstream),
        (image(status=404), NotFound),
        (image(PNG + b"\0" * MAX_BYTES), TooLarge),
    ],
)
async def test_what_is_no_picture_or_too_large_is_refused(response: httpx2.Response, error: type[UserError]) -> None:
    with pytest.raises(error):
        await proxy(lambda request: response).fetch("https://a.example/a.png")


async def test_a_host_with_one_private_address_among_public_ones_is_refused() -> None:
    with pytest.raises(Forbidden):
        await proxy(lambda request: image(), (PUBLIC, "127.0.0.1")).fetch("https://a.example/")
    with pytest.raises(Forbidden):
        await proxy(lambda request: image(), ()).fetch("https://a.example/")


async def test_only_some_are_fetched_at_once() -> None:
    started, release = anyio.Semaphore(0), anyio.Event()

    async def resolve(host: str) -> Sequence[str]:
        started.release()
        await release.wait()
        return (PUBLIC,)

    slow = ImageProxy(resolve=resolve, transport=httpx2.MockTransport(lambda request: image()))
    async with anyio.create_task_group() as group:
        for _ in range(AT_ONCE):
            group.start_soon(slow.fetch, "https://a.example/")
        for _ in range(AT_ONCE):
            await started.acquire()
        with pytest.raises(TooMany):
            await slow.fetch("https://a.example/")
        release.set()
    assert (await slow.fetch("https://a.example/")).data == PNG


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.1",
        "224.0.0.1",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "no address",
    ],
)
def test_addresses_of_this_machine_and_of_inner_networks_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_addresses_of_the_internet_are_public() -> None:
    assert is_public(PUBLIC)
    assert is_public("2606:2800:220:1::1")
    assert is_public("::ffff:93.184.216.34")


async def test_a_name_is_looked_up_and_an_unknown_one_has_no_address() -> None:
    assert "127.0.0.1" in await look_up("127.0.0.1")
    assert await look_up("host.invalid") == ()


def test_the_key_is_one_for_all_replicas_with_a_secret_and_of_the_process_without() -> None:
    told = Settings(session_secret="s3cret")
    assert signing_key(told) == signing_key(told)
    assert signing_key(told) != signing_key(Settings(session_secret="other"))
    assert signing_key(Settings(session_secret=None)) != signing_key(Settings(session_secret=None))
    assert not is_signed("https://a.example/", signature("https://a.example/", b"1"), b"2")
    assert not is_signed("https://a.example/", "é", b"2")


@pytest.fixture
def site(services: ToyServices) -> FastAPI:
    return create_app(services, token=lambda settings: None, images=proxy(lambda request: image()))


@pytest.fixture
async def reader(site: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with visitor(site) as found:
        yield found


async def test_only_signed_addresses_are_fetched_for_visitors(site: FastAPI, reader: httpx2.AsyncClient) -> None:
    links: Links = site.state.site.links
    found = await reader.get(links.image("https://cdn.example/a.png"))
    assert (found.status_code, found.content) == (200, PNG)
    assert found.headers["content-type"] == "image/png"
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["content-security-policy"] == "sandbox; default-src 'none'"
    forged = links.image("https://cdn.example/a.png").replace("cdn.example", "evil.example")
    for url in (forged, "/-/image", "/-/image?u=https%3A%2F%2Fcdn.example%2Fa.png&s="):
        assert (await reader.get(url)).status_code == 400
