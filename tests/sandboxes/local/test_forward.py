"""Where connections out of a sandbox may lead."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rlx.sandboxes.base import Address, SandboxSpec
from rlx.sandboxes.local.forward import Refused, connect, may_reach
from tests.sandboxes.conftest import MakeSandbox

pytestmark = pytest.mark.anyio

PUBLIC = SandboxSpec(network="public")


@asynccontextmanager
async def server(answer: bytes, heard: list[bytes]) -> AsyncIterator[int]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    made = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield made.sockets[0].getsockname()[1]
    finally:
        made.close()


HERE = (
    *("127.0.0.1", "127.9.9.9", "::1", "::", "169.254.169.254", "fe80::1%lo", "::ffff:127.0.0.1", "224.0.0.1"),
    "0.0.0.0",  # noqa: S104  # which is loopback to whoever connects to it
)


@pytest.mark.parametrize("address", HERE)
def test_addresses_of_this_host_and_its_link_are_not_reached(address: str) -> None:
    assert not may_reach(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "10.1.2.3", "192.168.0.1", "2606:2800::1"])
def test_other_addresses_are_reached(address: str) -> None:
    assert may_reach(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "::1", "0"])
async def test_no_spelling_of_loopback_is_connected(host: str) -> None:
    with pytest.raises(Refused):
        await connect(host, 80)


async def test_a_service_on_loopback_is_not_reached_through_the_proxy(sandbox: MakeSandbox) -> None:
    heard: list[bytes] = []
    async with server(b"HTTP/1.0 200 OK\r\n\r\nsecret", heard) as port, sandbox(PUBLIC) as here:
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"2130706433:{port}", f"[::1]:{port}"):
            for ask in (f"GET http://{host}/ HTTP/1.1", f"CONNECT {host} HTTP/1.1"):
                talk = f"exec 3<>/dev/tcp/127.0.0.1/3128; printf '{ask}\\r\\n\\r\\n' >&3; head -1 <&3"
                done = await here.exec(talk, timeout=60)
                assert done.stdout.startswith(b"HTTP/1.1 403"), (ask, done.stdout)
        direct = await here.exec(f"exec 3<>/dev/tcp/127.0.0.1/{port}", timeout=60)
        assert direct.code != 0
    assert heard == []


async def test_requests_go_by_the_proxy_that_the_host_uses(
    sandbox: MakeSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[bytes] = []
    async with server(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", heard) as port:
        monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{port}")
        ask = "GET http://203.0.113.7/path HTTP/1.1\\r\\nProxy-Authorization: Basic eA==\\r\\nX-Own: 1"
        talk = f"exec 3<>/dev/tcp/127.0.0.1/3128; printf '{ask}\\r\\n\\r\\n' >&3; cat <&3"
        async with sandbox(PUBLIC) as here:
            done = await here.exec(talk, timeout=60)
            loop = await here.exec(talk.replace("203.0.113.7", "127.0.0.1"), timeout=60)
    assert done.stdout.endswith(b"hello")
    assert loop.stdout.startswith(b"HTTP/1.1 403")
    [asked] = heard
    assert asked.startswith(b"GET http://203.0.113.7/path HTTP/1.1\r\nX-Own: 1\r\n")
    assert asked.count(b"Proxy-Authorization") == 1
    assert b"dXNlcjpwYXNz" in asked


@pytest.mark.parametrize("ask", ["", "x", "GET / HTTP/1.1", "GET ftp://a/ HTTP/1.1", "CONNECT :1 HTTP/1.1", "a b c"])
async def test_what_is_no_request_is_answered_and_closed(ask: str, sandbox: MakeSandbox) -> None:
    async with sandbox(PUBLIC) as here:
        talk = f"exec 3<>/dev/tcp/127.0.0.1/3128; printf '{ask}\\r\\n\\r\\n' >&3; cat <&3 | head -c 10"
        done = await here.exec(talk, timeout=60)
        assert done.stdout in (b"HTTP/1.1 4", b"HTTP/1.1 5")


async def test_only_a_sandbox_with_a_network_is_told_of_the_proxy(sandbox: MakeSandbox) -> None:
    async with sandbox(PUBLIC) as here:
        assert (await here.exec("echo $https_proxy")).stdout == b"http://127.0.0.1:3128\n"
    async with sandbox(SandboxSpec(forward=Address("127.0.0.1", 9))) as here:
        assert (
            await here.exec("echo $https_proxy; (exec 3<>/dev/tcp/127.0.0.1/3128) || echo none")
        ).stdout == b"\nnone\n"
