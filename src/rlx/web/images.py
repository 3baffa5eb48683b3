"""Pictures of other sites, fetched within limits: https, public addresses, real raster images, a few at a time.

The address is looked up here and connected to as it was checked, so a name that changes its mind between the two gains
nothing. Nothing of the visitor is sent along.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import Final
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2

from rlx import __version__
from rlx.errors import BadInput, Forbidden, NotFound, TooLarge, TooMany, Upstream
from rlx.settings import Settings

MAX_BYTES: Final = 5 * 1024 * 1024
SECONDS: Final = 10.0
AT_ONCE: Final = 8
_HOPS = 4
_MAX_URL = 4000
_MAGIC: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"ftypavif", 4, "image/avif"),
)

type Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""IP addresses of a host name."""


@dataclass(frozen=True, slots=True)
class Picture:
    kind: str
    data: bytes


def signing_key(settings: Settings) -> bytes:
    """The key of image links: told by the settings, so that every replica knows it, or of this process alone."""
    if settings.session_secret is None:
        return token_bytes(32)
    return blake2b(settings.session_secret.encode(), digest_size=32, person=b"rlx-image").digest()


def signature(url: str, key: bytes) -> str:
    return blake2b(url.encode("utf-8", "surrogatepass"), key=key, digest_size=16).hexdigest()


def is_signed(url: str, told: str, key: bytes) -> bool:
    return told.isascii() and compare_digest(signature(url, key), told)


def may_be_fetched(url: str) -> bool:
    """Whether `url` has the form of an address that is fetched: https at its usual port, nobody's name or password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = parts.scheme == "https" and port in (None, 443) and "@" not in parts.netloc
    return plain and bool(parts.hostname) and len(url) <= _MAX_URL


class ImageProxy:
    """`resolve` looks names up and `transport` replaces the network, both for tests."""

    def __init__(self, *, resolve: Resolve | None = None, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._resolve = resolve or look_up
        self._transport = transport
        self._busy = 0

    async def fetch(self, url: str) -> Picture:
        """The picture at `url`.

        Raises `BadInput` for an address that is not fetched, `Forbidden` for one that is not public, `TooLarge`,
        `TooMany` while many others are on their way, and `Upstream` for a site that fails or sends something else.
        """
        if self._busy >= AT_ONCE:
            raise TooMany("Many images are being fetched.", hint="Try again in a few seconds.", retry_after=3)
        self._busy += 1
        try:
            with anyio.fail_after(SECONDS):
                return await self._fetch(url)
        except TimeoutError as error:
            raise Upstream(f"The image did not come within {SECONDS:.0f} seconds.") from error
        except httpx2.HTTPError as error:
            raise Upstream("The site of the image could not be reached.") from error
        finally:
            self._busy -= 1

    async def _fetch(self, url: str) -> Picture:
        transport = self._transport or httpx2.AsyncHTTPTransport(trust_env=False)
        async with httpx2.AsyncClient(transport=transport, trust_env=False, timeout=SECONDS) as client:
            for _ in range(_HOPS):
                response = await client.send(await self._request(client, url), stream=True, follow_redirects=False)
                try:
                    if not response.has_redirect_location:
                        return await _picture(response)
                finally:
                    await response.aclose()
                url = _joined(url, response.headers["location"])
        raise Upstream("The site of the image redirects in circles.")

    async def _request(self, client: httpx2.AsyncClient, url: str) -> httpx2.Request:
        """A request to an address of the host that was looked up and found public."""
        if not may_be_fetched(url):
            raise BadInput("Only images at https addresses are fetched.")
        try:
            target = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise BadInput("The image's address is none.") from error
        host = target.raw_host.decode("ascii")
        addresses = await self._resolve(host)
        if not addresses or not all(map(is_public, addresses)):
            raise Forbidden("The image is not at a public address.")
        headers = {"host": host, "accept": "image/*", "user-agent": f"rl-explorer/{__version__}"}
        # The certificate is checked for the name, while the connection goes to the address that was checked.
        return client.build_request(
            "GET", target.copy_with(host=addresses[0]), headers=headers, extensions={"sni_hostname": host}
        )


async def look_up(host: str) -> Sequence[str]:
    """Every IP address of `host`; none for a name nobody knows."""
    try:
        found = await anyio.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(str(address[0]) for *_, address in found)


def is_public(address: str) -> bool:
    """Whether an IP address is one of the open internet, also when it is an IPv4 address in IPv6 clothes."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None) or _nat64(ip)
        return ip.is_global and not ip.is_multicast if inner is None else is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _nat64(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise Upstream("The site of the image points to an address that is none.") from error


async def _picture(response: httpx2.Response) -> Picture:
    if response.status_code == 404:
        raise NotFound("The image is not there any more.")
    if response.status_code != 200:
        raise Upstream(f"The site of the image answered {response.status_code}.")
    told = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not told.startswith("image/") or told.startswith("image/svg"):
        raise Upstream(f"What came is no picture that is shown here ({told[:40] or 'of no told kind'}).")
    data = bytearray()
    async for part in response.aiter_bytes():
        data += part
        if len(data) > MAX_BYTES:
            raise TooLarge(f"The image is larger than {MAX_BYTES // 2**20} MB, the most that is fetched.")
    kind = next((kind for magic, at, kind in _MAGIC if data[at : at + len(magic)] == magic), None)
    if kind is None:
        raise Upstream("What came is no picture that is shown here.")
    return Picture(kind, bytes(data))
