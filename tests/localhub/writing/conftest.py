"""A hub that takes what is written to it, and the Hub's own client as its users."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from rlx.localhub import LocalHub, LocalHubServer, serve

type Api = Callable[[str | bool], HfApi]

INLINE = 4096
"""Bytes up to which these hubs take a file inside a commit."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def hub(own_root: Path, state: Path) -> Iterator[LocalHubServer]:
    with serve(LocalHub(own_root, rescan=0, writable=state, inline=INLINE)) as running:
        yield running


@pytest.fixture
def as_user(hub: LocalHubServer) -> Api:
    """alice is of acme, bob and carol are not; hf_dan reads alone."""

    def client(token: str | bool) -> HfApi:
        return HfApi(endpoint=hub.url, token=token)

    return client
