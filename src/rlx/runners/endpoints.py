"""Addresses of models that people bring: what may be one, and which machines of the internet they may be on.

An address is checked when it is given. What its name stands for is looked up and checked again for every connection,
and that very address is connected to: see `rlx.runners.models.connect`.
"""

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

import anyio

from rlx.errors import BadInput, Forbidden

type LookUp = Callable[[str, int], Awaitable[list[str]]]
"""From a host and a port to its addresses; none where it has none."""

PORT: Final = 443
_LONGEST: Final = 400
_HOST: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]{2,45}\]")
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""All that the internet uses of IPv6."""
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses of IPv4 in networks that have IPv6 alone."""
_APART: Final = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20"))
)
"""Protocol assignments, relays and documentation, which Python takes for public."""
_REFUSED: Final = "The model's address is not one of the open internet."


def host_of(url: str) -> str:
    """Host and port as in the address."""
    return urlsplit(url).netloc


async def checked_address(url: str, *, any_address: bool, look_up: LookUp | None = None) -> str:
    """The address without a slash at its end.

    `any_address`: this machine's and its network's are fine, without encryption too; else https at public addresses
    alone. Raises `BadInput`, `Forbidden`.
    """
    told = url.strip()
    try:
        parts = urlsplit(told)
        port = parts.port
    except ValueError as error:
        raise BadInput("The model's address is none.") from error
    if len(told) > _LONGEST or parts.scheme not in ("https", "http") or not parts.hostname:
        raise BadInput("The model's address has to be one of https.", hint="Like https://host/v1.")
    if "@" in parts.netloc or parts.query or parts.fragment or "?" in told or "#" in told:
        raise BadInput("The model's address holds more than a host and a path.", hint="Give the key as the key.")
    host = parts.netloc if port is None else parts.netloc.rpartition(":")[0]
    if not told.isascii() or not told.isprintable() or "\\" in told or _HOST.fullmatch(host.removesuffix(":")) is None:
        raise BadInput("The model's address holds characters that no address has.", hint="Like https://host/v1.")
    if not any_address:
        if parts.scheme != "https":
            raise BadInput("The model's address has to be one of https.", hint="Like https://host/v1.")
        if not is_open_port(port or PORT):
            raise Forbidden("The model's address names a port of another service.", hint="443, or one from 1024 on.")
        await public_addresses(parts.hostname, port or PORT, look_up or system_look_up)
    return told.rstrip("/")


def is_open_port(port: int) -> bool:
    """Whether models are reached at it: below 1024 other services are, which are not to be spoken to from here."""
    return port == PORT or port >= 1024


async def public_addresses(host: str, port: int, look_up: LookUp) -> list[str]:
    """What a host stands for, when all of it is on the open internet. Raises `Forbidden`."""
    found = await look_up(host, port)
    if not found or not all(map(is_public, found)):
        raise Forbidden(_REFUSED)
    return found


async def system_look_up(host: str, port: int) -> list[str]:
    """As this machine looks names up. Numbers in any spelling are addresses: 127.1, 0x7f.1, 2130706433."""
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(address: str) -> bool:
    """Whether an address is one machine's on the open internet. One with a zone is of a network at hand."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return False
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        if ip not in _UNICAST:
            return False
    apart = any(ip.version == net.version and ip in net for net in _APART)
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or apart)
