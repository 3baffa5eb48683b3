"""Connections to models. Each goes to an address that was looked up and checked for it, and to no other.

The name in the URL stays the one that TLS asks for and that the server is told; only where the connection goes is ours
to say. Nothing outside of this module learns of it: no resolver is replaced, and no other client is touched.
"""

import ssl
from collections.abc import Iterable
from functools import cache
from typing import Final

import anyio
import httpcore2
import httpx2
from httpcore2 import SOCKET_OPTION

from rlx.errors import Forbidden
from rlx.runners.endpoints import LookUp, is_open_port, public_addresses, system_look_up

CONNECT: Final = 10.0
"""Seconds for a connection."""
_TRIED: Final = 3
"""Addresses of a host."""


class PublicNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to machines of the open internet alone. Raises `Forbidden` for any other."""

    def __init__(
        self, *, look_up: LookUp = system_look_up, network: httpcore2.AsyncNetworkBackend | None = None
    ) -> None:
        self._look_up = look_up
        self._network = network or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the name that the network's contract gives it
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        if not is_open_port(port):
            raise Forbidden("The model's address names a port of another service.")
        try:
            with anyio.fail_after(timeout):
                found = await public_addresses(host, port, self._look_up)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout("The name could not be looked up in time.") from error
        failed: httpcore2.NetworkError | httpcore2.TimeoutException | None = None
        for address in found[:_TRIED]:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed or httpcore2.ConnectError("The host has no address.")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109  as above
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise Forbidden("A model is reached over the network.")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class PublicTransport(httpx2.AsyncHTTPTransport):
    """A transport over `PublicNetwork`."""

    def __init__(self, network: PublicNetwork | None = None) -> None:
        super().__init__(verify=trusted(), trust_env=False)
        # Its constructor takes no network of ours; the pool that it made has opened nothing.
        self._pool = httpcore2.AsyncConnectionPool(ssl_context=trusted(), network_backend=network or PublicNetwork())


@cache
def trusted() -> ssl.SSLContext:
    """Whose certificates are believed, read once."""
    return httpx2.create_ssl_context(trust_env=False)


def open_client(
    *, any_address: bool, seconds: float, transport: httpx2.AsyncBaseTransport | None = None
) -> httpx2.AsyncClient:
    """A client for one call of a model. It follows no redirects and heeds no proxy of the environment. `seconds` may
    pass between two pieces of an answer.
    """
    if transport is None and any_address:
        transport = httpx2.AsyncHTTPTransport(verify=trusted(), trust_env=False)
    elif transport is None:
        transport = PublicTransport()
    return httpx2.AsyncClient(
        transport=transport,
        trust_env=False,
        timeout=httpx2.Timeout(seconds, connect=CONNECT),
        follow_redirects=False,
        headers={"accept-encoding": "identity", "user-agent": "rl-explorer"},
    )
