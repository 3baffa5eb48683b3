"""Connections out of a sandbox: to the one address it may reach, or through a proxy that looks where they lead."""

import asyncio
import base64
import ipaddress
import os
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies

from rlx.sandboxes.base import Address

FORWARD, PROXY = "forward", "proxy"
"""Names of the ports that the agent listens on."""
LARGEST_HEAD = 64 * 1024
PATIENCE = 30.0
"""Seconds to connect, or to ask what for."""
CONNECTIONS = 256

type Lookup = Callable[[str, int], Coroutine[Any, Any, list[tuple[Any, ...]]]]


class Refused(Exception):
    """Where a connection may not lead."""


class Outlet:
    """Takes the connections of one sandbox in the running loop, as long as it stands."""

    def __init__(self, forward: Address | None, *, public: bool) -> None:
        self._forward = forward
        self._public = public
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, name: str, connection: socket.socket) -> None:
        if len(self._tasks) >= CONNECTIONS:
            connection.close()
            return
        task = asyncio.get_running_loop().create_task(self._carry(name, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, name: str, connection: socket.socket) -> None:
        connection.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connection, limit=LARGEST_HEAD)
        other: asyncio.StreamWriter | None = None
        try:
            if name == FORWARD and self._forward is not None:
                async with asyncio.timeout(PATIENCE):
                    there, other = await asyncio.open_connection(self._forward.host, self._forward.port)
            elif name == PROXY and self._public:
                async with asyncio.timeout(PATIENCE):
                    there, other = await _proxied(reader, writer)
            else:
                return
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, other))
                group.create_task(_pump(there, writer))
        except Refused as refused:
            _answer(writer, "403 Forbidden", str(refused))
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError) as error:
            if name == PROXY and other is None:
                _answer(writer, "502 Bad Gateway", type(error).__name__)
        finally:
            for each in (writer, other):
                if each is not None:
                    each.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(64 * 1024):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _answer(writer: asyncio.StreamWriter, status: str, text: str) -> None:
    body = f"{text}\n".encode()
    with suppress(OSError):
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode("ascii") + body)


async def _proxied(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Read what a client asks of a proxy, and connect where it wants to go."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, _, rest = head.partition(b"\r\n")
    method, target, version = first.decode("ascii").split(" ")
    tunnel = method == "CONNECT"
    url = urlsplit(f"//{target}" if tunnel else target)
    if not url.hostname or (not tunnel and url.scheme != "http"):
        raise Refused("Only http:// and CONNECT pass this proxy.")
    port = url.port or (443 if tunnel else 80)
    upstream = getproxies().get("https" if tunnel else "http")
    if upstream:
        return await _through(urlsplit(upstream), url.hostname, port, first, rest)
    there, other = await asyncio.open_connection(sock=await connect(url.hostname, port))
    if tunnel:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        kept = [line for line in rest.split(b"\r\n") if line and not _is_hop(line)]
        # One request a connection: the next one might want to go elsewhere.
        lines = [f"{method} {path} {version}".encode("ascii"), *kept, b"Connection: close", b"", b""]
        other.write(b"\r\n".join(lines))
    return there, other


async def _through(
    parent: SplitResult, host: str, port: int, first: bytes, rest: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """By way of the proxy that this host uses itself, which may stand on the loopback that sandboxes are kept from."""
    with suppress(socket.gaierror):
        for *_, address in await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM):
            _check(host, str(address[0]))
    there, other = await asyncio.open_connection(parent.hostname, parent.port or 80)
    kept = [line for line in rest.split(b"\r\n") if line and not _is_hop(line)]
    if parent.username:
        secret = f"{unquote(parent.username)}:{unquote(parent.password or '')}".encode()
        kept.append(b"Proxy-Authorization: Basic " + base64.b64encode(secret))
    other.write(b"\r\n".join([first, *kept, b"", b""]))
    return there, other


def _is_hop(line: bytes) -> bool:
    return line.partition(b":")[0].strip().lower() in (b"connection", b"proxy-connection", b"proxy-authorization")


async def connect(host: str, port: int) -> socket.socket:
    """A connection to a public or private address, never to this host's own loopback. Raises `Refused`, `OSError`."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    error: OSError | None = None
    for family, kind, protocol, _, address in found:
        _check(host, str(address[0]))
        here = socket.socket(family, kind, protocol)
        here.setblocking(False)
        try:
            await loop.sock_connect(here, address)
        except OSError as failed:
            here.close()
            error = failed
        except BaseException:
            here.close()
            raise
        else:
            return here
    raise error or OSError(os.strerror(113))


def _check(host: str, address: str) -> None:
    if not may_reach(address):
        raise Refused(f"{host} is an address of this host or of its link, which sandboxes do not reach.")


def may_reach(address: str) -> bool:
    """Whether sandboxes may connect there: anywhere but loopback, this link (where clouds keep secrets) and groups."""
    known = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is not None:
        known = known.ipv4_mapped
    return not (known.is_loopback or known.is_link_local or known.is_unspecified or known.is_multicast)
