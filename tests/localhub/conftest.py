"""The small hub as a folder, as a server, and through the Hub's own client."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from rlx.localhub import LocalHub, LocalHubServer, serve
from tests.localhub.small_hub import build


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, for tests that only read it."""
    folder = tmp_path_factory.mktemp("hub")
    build(folder)
    return folder


@pytest.fixture
def own_root(tmp_path: Path) -> Path:
    """The folder, for one test to change."""
    build(tmp_path / "hub")
    return tmp_path / "hub"


@pytest.fixture(scope="session")
def server(root: Path) -> Iterator[LocalHubServer]:
    with serve(root) as running:
        yield running


@pytest.fixture
def own_server(own_root: Path) -> Iterator[LocalHubServer]:
    """A server for one test, over a folder it may change. Every request looks at the disk."""
    with serve(LocalHub(own_root, rescan=0)) as running:
        running.hub.warm()
        yield running


@pytest.fixture
def api(server: LocalHubServer) -> Callable[..., HfApi]:
    """The unmodified client, by token."""

    def client(token: str | bool = False) -> HfApi:
        return HfApi(endpoint=server.url, token=token)

    return client
