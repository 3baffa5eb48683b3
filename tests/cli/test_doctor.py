"""`rlx doctor` and the addresses that may be bound."""

import socket
from pathlib import Path

import pytest

from rlx.cli.serving import address, bind, check_host, is_loopback
from rlx.errors import BadInput
from tests.cli.conftest import Rlx


def test_a_sound_machine_is_said_to_be_well(rlx: Rlx) -> None:
    result = rlx("doctor", "--demo", "--format", "json")
    states = {str(check["check"]): check["state"] for check in result.json()}
    assert {"python", "rlx", "store", "cache", "hub", "token", "bubblewrap", "run extra"} <= set(states)
    assert states["hub"] == "ok"
    assert result.code == (1 if "bad" in states.values() else 0)


def test_a_store_that_cannot_be_written_is_found(rlx: Rlx, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = rlx("doctor", "--demo", "--store", str(blocked), "--format", "json")
    assert result.code == 1
    assert {str(check["check"]): check["state"] for check in result.json()}["store"] == "bad"


def test_a_hub_that_is_away_is_found(rlx: Rlx) -> None:
    result = rlx("doctor", "--hub", "http://127.0.0.1:9", "--format", "json")
    assert result.code == 1
    assert {str(check["check"]): check["state"] for check in result.json()}["hub"] == "bad"


def test_a_token_is_never_printed(rlx: Rlx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecretsecret")
    result = rlx("doctor", "--hub", "http://127.0.0.1:9")
    assert "secretsecret" not in result.out + result.err


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_alone_needs_no_names(host: str) -> None:
    assert is_loopback(host)
    check_host(host, allowed=())


@pytest.mark.parametrize("host", ["::", "192.0.2.1", "example.org"])
def test_other_addresses_need_the_names_people_use(host: str) -> None:
    with pytest.raises(BadInput):
        check_host(host, allowed=())
    check_host(host, allowed=("rlx.example.org",))


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(BadInput, match="cannot be used"):
        bind("127.0.0.1", taken.getsockname()[1])


def test_the_address_is_a_url() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
