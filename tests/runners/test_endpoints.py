"""Addresses of models that people bring."""

import pytest

from rlx.errors import BadInput, Forbidden, UserError
from rlx.runners.endpoints import checked_address, host_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/v1",
        "https://",
        "https://name:secret@host/v1",
        "https://host/v1?key=secret",
        "https://host/v1#x",
        "https://host:port/v1",
        "https://[::1/v1",
        "https://host/" + "x" * 500,
    ],
)
@pytest.mark.parametrize("any_address", [True, False])
async def test_what_is_no_plain_address_is_refused_and_not_repeated(url: str, any_address: bool) -> None:
    with pytest.raises(BadInput) as refused:
        await checked_address(url, any_address=any_address)
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/v1",
        "https://10.1.2.3/v1",
        "https://169.254.169.254/latest",
        "https://[::1]/v1",
        "https://[::ffff:127.0.0.1]/v1",
        "https://[64:ff9b::7f00:1]/v1",
        "https://0/v1",
    ],
)
async def test_visitors_reach_the_open_internet_alone(url: str) -> None:
    with pytest.raises(Forbidden):
        await checked_address(url, any_address=False)
    assert await checked_address(url, any_address=True) == url


async def test_visitors_need_encryption() -> None:
    with pytest.raises(UserError):
        await checked_address("http://8.8.8.8/v1", any_address=False)
    assert await checked_address("https://8.8.8.8/v1/", any_address=False) == "https://8.8.8.8/v1"


def test_of_an_address_only_the_host_is_told() -> None:
    assert host_of("https://host:8443/v1/secret") == "host:8443"
