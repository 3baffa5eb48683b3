"""Addresses of models that people bring: checked when they are given, and again right before they are used."""

import ipaddress
import socket
from urllib.parse import urlsplit

import anyio

from rlx.errors import BadInput, Forbidden

_LONGEST = 400


def host_of(url: str) -> str:
    """Host and port as in the address."""
    return urlsplit(url).netloc


async def checked_address(url: str, *, any_address: bool) -> str:
    """The address without a slash at its end.

    `any_address`: this machine's and its network's are fine, without encryption too; else https at public addresses
    alone. Raises `BadInput`, `Forbidden`.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise BadInput("The model's address is none.") from error
    if len(url) > _LONGEST or parts.scheme not in ("https", "http") or not parts.hostname:
        raise BadInput("The model's address has to be one of https.", hint="Like https://host/v1.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadInput("The model's address holds more than a host and a path.", hint="Give the key as the key.")
    if not any_address:
        if parts.scheme != "https":
            raise BadInput("The model's address has to be one of https.", hint="Like https://host/v1.")
        found = await _look_up(parts.hostname, port or 443)
        if not found or not all(map(_is_public, found)):
            raise Forbidden("The model's address is not one of the open internet.")
    return url.strip().rstrip("/")


async def _look_up(host: str, port: int) -> list[str]:
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def _is_public(address: str) -> bool:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(str(inner))
    return ip.is_global and not ip.is_multicast


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
