"""Addresses of models that people bring."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import BadInput, Forbidden, UserError
from rlx.runners.endpoints import checked_address, host_of, is_open_port, is_public, public_addresses

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/v1",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_x",
        "https://",
        "https://name:secret@host/v1",
        "https://8.8.8.8@127.0.0.1/v1",
        "https://127.0.0.1\\@8.8.8.8/v1",
        "https://8.8.8.8\\.internal/v1",
        "https://host/v1?key=secret",
        "https://host/v1?",
        "https://host/v1#x",
        "https://host:port/v1",
        "https://host:99999/v1",
        "https://[::1/v1",
        "https://[fe80::1%25eth0]/v1",
        "https://[::1%eth0]/v1",
        "https://ho\tst/v1",
        "https://host/\r\nx-secret: 1",
        "https://１２７.0.0.1/v1",
        "https://①②⑦.⓪.⓪.①/v1",
        "https://localhost。/v1",
        "https://ho st/v1",
        "https://-/v1",
        "https://host/" + "x" * 500,
    ],
)
@pytest.mark.parametrize("any_address", [True, False])
async def test_what_is_no_plain_address_is_refused_and_not_repeated(url: str, any_address: bool) -> None:
    with pytest.raises(BadInput) as refused:
        await checked_address(url, any_address=any_address)
    assert "secret" not in refused.value.message


INSIDE = [
    "127.0.0.1", "127.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0",
    "0.0.0.0", "127.0.0.1.",  # noqa: S104  # reached, not bound to
    "localhost", "localhost.", "LOCALHOST", "10.1.2.3", "172.16.0.1", "192.168.1.1",
    "169.254.169.254", "2852039166", "0xa9fea9fe", "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1",
    "198.18.0.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "[::]", "[::1]",
    "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::1]", "[2002:7f00:1::]",
    "[2002:808:808::]", "[2001:0:808:808::1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]",
    "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]",
]  # fmt: skip
"""This machine, its network, its cloud's metadata, and whatever else is no machine of the open internet."""


@pytest.mark.parametrize("host", INSIDE)
async def test_visitors_reach_the_open_internet_alone(host: str) -> None:
    with pytest.raises(Forbidden):
        await checked_address(f"https://{host}/v1", any_address=False)
    with pytest.raises(Forbidden):
        await checked_address(f"https://{host}:8443/v1", any_address=False)
    assert await checked_address(f"http://{host}:8000/v1", any_address=True) == f"http://{host}:8000/v1"


async def test_one_address_that_is_inside_refuses_the_name() -> None:
    async def look_up(host: str, port: int) -> list[str]:
        return {"open.example": ["8.8.8.8", "2606:4700::1111"], "both.example": ["8.8.8.8", "10.0.0.1"]}.get(host, [])

    assert await checked_address("https://open.example/v1", any_address=False, look_up=look_up)
    for host in ("both.example", "none.example"):
        with pytest.raises(Forbidden):
            await checked_address(f"https://{host}/v1", any_address=False, look_up=look_up)
        with pytest.raises(Forbidden):
            await public_addresses(host, 443, look_up)


@pytest.mark.parametrize("port", [1, 22, 25, 80, 111, 445, 993, 1023])
async def test_visitors_reach_no_port_of_other_services(port: int) -> None:
    assert not is_open_port(port)
    with pytest.raises(Forbidden):
        await checked_address(f"https://8.8.8.8:{port}/v1", any_address=False)


async def test_visitors_need_encryption() -> None:
    with pytest.raises(UserError):
        await checked_address("http://8.8.8.8/v1", any_address=False)
    assert await checked_address("https://8.8.8.8/v1/", any_address=False) == "https://8.8.8.8/v1"
    assert await checked_address("https://[2606:4700::1111]:8443", any_address=False)


def test_of_an_address_only_the_host_is_told() -> None:
    assert host_of("https://host:8443/v1/secret") == "host:8443"


@given(st.ip_addresses(v=4))
def test_an_address_of_ipv4_is_as_public_within_ipv6_as_by_itself_and_only_where_networks_translate_it(
    ip: ipaddress.IPv4Address,
) -> None:
    assert is_public(f"64:ff9b::{ip}") == is_public(str(ip))
    assert not is_public(f"::ffff:{ip}")
    assert not is_public(f"::{ip}")
    assert not is_public(str(ipaddress.IPv6Address((0x2002 << 112) | (int(ip) << 80))))
    if is_public(str(ip)):
        assert ip.is_global
        assert not any((ip.is_private, ip.is_loopback, ip.is_link_local, ip.is_multicast, ip.is_reserved))


@given(st.ip_addresses(v=6))
def test_what_is_public_of_ipv6_is_what_the_internet_uses(ip: ipaddress.IPv6Address) -> None:
    if is_public(str(ip)):
        translated = ip in ipaddress.IPv6Network("64:ff9b::/96")
        assert translated or ip in ipaddress.IPv6Network("2000::/3")
        assert translated or not (ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast)
        assert not is_public(f"{ip}%eth0")


@given(st.text())
async def test_no_text_makes_it_stumble(text: str) -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        return []

    for url in (text, f"https://{text}", f"https://host/{text}"):
        with pytest.raises(UserError):
            await checked_address(url, any_address=False, look_up=nowhere)


@given(st.text())
def test_what_is_no_address_is_not_public(text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        assert not is_public(text)
