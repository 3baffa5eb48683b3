"""Connections to models go to the address that was checked, under the name that was asked for."""

import socket
import ssl
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import httpcore2
import httpx2
import pytest

from rlx.errors import Forbidden
from rlx.runners.models.connect import PublicNetwork, PublicTransport, open_client, trusted
from rlx.runners.models.exchange import NoAnswer, Server, exchange
from tests.runners.models.servers import answering, said, served

pytestmark = pytest.mark.anyio

NAME = "model.example"


class Wires(httpcore2.AnyIOBackend):
    """A network whose every address leads to one port of this machine; it remembers which were asked for."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[tuple[str, int]] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the name that the network's contract gives it
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.asked.append((host, port))
        return await super().connect_tcp("127.0.0.1", self.port, timeout, local_address, socket_options)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]) -> tuple[Path, Path]:
    """Of `model.example`, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run([require_tool("openssl"), "req", "-x509", *kind, *files, *names], check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def looked_up(*answers: list[str]) -> Callable[[str, int], object]:
    """What a name stands for, otherwise at each look; the last one stays."""
    left = list(answers)

    async def look_up(host: str, port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return look_up


async def test_it_connects_to_the_checked_address_and_names_the_host_to_tls_and_to_the_server(
    certificate: tuple[Path, Path],
) -> None:
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.sni_callback = lambda sock, name, ctx: names.append(name)
    async with served(answering(said()), ssl=context) as place:
        wires = Wires(place.port)
        transport = PublicTransport(PublicNetwork(look_up=looked_up(["8.8.8.8"]), network=wires))  # type: ignore[arg-type]  # told above
        own = ssl.create_default_context(cafile=str(certificate[0]))
        transport._pool._ssl_context = own
        async with open_client(any_address=False, seconds=5, transport=transport) as client:
            assert (await client.post(f"https://{NAME}:8443/v1/chat/completions", json={})).status_code == 200

    assert wires.asked == [("8.8.8.8", 8443)]
    assert names == [NAME]
    assert [heard.headers["host"] for heard in place.heard] == [f"{NAME}:8443"]


async def test_a_certificate_that_nobody_vouches_for_is_told_apart(certificate: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    async with served(answering(said()), ssl=context) as place:
        with pytest.raises(NoAnswer) as failed:
            await exchange(Server(f"https://127.0.0.1:{place.port}/v1", any_address=True), "models", seconds=5)
    assert failed.value.trouble == "tls"


async def test_a_name_that_leads_elsewhere_after_it_was_checked_is_checked_again() -> None:
    wires = Wires(9)
    network = PublicNetwork(look_up=looked_up(["8.8.8.8"], ["127.0.0.1"]), network=wires)  # type: ignore[arg-type]  # told above
    with pytest.raises(httpcore2.ConnectError):
        await network.connect_tcp(NAME, 443, timeout=5)
    with pytest.raises(Forbidden):
        await network.connect_tcp(NAME, 443, timeout=5)
    assert wires.asked == [("8.8.8.8", 443)]


async def test_of_several_addresses_the_next_is_tried_and_none_that_is_inside() -> None:
    wires = Wires(9)
    network = PublicNetwork(look_up=looked_up(["8.8.8.8", "1.1.1.1"]), network=wires)  # type: ignore[arg-type]  # told above
    with pytest.raises(httpcore2.ConnectError):
        await network.connect_tcp(NAME, 443, timeout=5)
    assert wires.asked == [("8.8.8.8", 443), ("1.1.1.1", 443)]
    mixed = PublicNetwork(look_up=looked_up(["8.8.8.8", "10.0.0.1"]), network=wires)  # type: ignore[arg-type]  # told above
    with pytest.raises(Forbidden):
        await mixed.connect_tcp(NAME, 443, timeout=5)
    with pytest.raises(Forbidden):
        await network.connect_tcp(NAME, 22, timeout=5)
    with pytest.raises(Forbidden):
        await network.connect_unix_socket("/run/docker.sock")
    assert len(wires.asked) == 2


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
async def test_the_network_refuses_what_a_check_of_the_address_would_have(host: str) -> None:
    async with served(answering(said())) as place:
        with pytest.raises(NoAnswer) as refused:
            await exchange(Server(f"https://{host}:{place.port}/v1"), "models", seconds=5)
    assert refused.value.trouble == "refused"
    assert place.heard == []


async def test_redirects_are_not_followed_and_no_key_goes_with_them() -> None:
    async with served(answering(said())) as other:
        away = answering({}, status=302, location=other.url)
        async with served(away) as place:
            with pytest.raises(NoAnswer) as refused:
                await exchange(Server(place.url, "sk-key", any_address=True), "models", seconds=5)
    assert refused.value.trouble == "redirect"
    assert other.heard == []


async def test_neither_the_resolver_nor_other_clients_are_touched() -> None:
    before = socket.getaddrinfo
    async with open_client(any_address=False, seconds=1):
        assert socket.getaddrinfo is before
    async with served(answering(said())) as place, httpx2.AsyncClient() as other:
        assert (await other.get(place.url)).status_code == 200
    assert trusted() is trusted()
