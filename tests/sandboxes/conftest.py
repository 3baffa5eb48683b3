"""Sandboxes of this machine, over one cache a test process."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from rlx.sandboxes.base import SandboxSpec
from rlx.sandboxes.check import PLAIN
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.local.sandbox import LocalSandbox
from rlx.settings import Settings
from tests.sandboxes.kinds import local_kind

type MakeSandbox = Callable[..., AbstractAsyncContextManager[LocalSandbox]]


@pytest.fixture(scope="session")
def sandbox_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(cache_dir=tmp_path_factory.mktemp("sandboxes"))


@pytest.fixture(scope="session")
def local(sandbox_settings: Settings) -> Local:
    return local_kind(sandbox_settings)


@pytest.fixture
def sandbox(local: Local) -> MakeSandbox:
    """Gives a started sandbox, stopped when the block ends."""

    @asynccontextmanager
    async def start(spec: SandboxSpec = PLAIN) -> AsyncIterator[LocalSandbox]:
        made = local.make(spec)
        try:
            await made.start()
            yield made
        finally:
            await made.stop()

    return start


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the host that no sandbox may come by."""
    path = tmp_path / "secret.txt"
    path.write_text("RLX-HOST-SECRET")
    return path


@pytest.fixture
async def abstract() -> AsyncIterator[str]:
    """The name of an abstract Unix socket that a server of this host answers."""
    name = f"rlx-test-{os.getpid()}"
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), f"\0{name}")
    try:
        yield name
    finally:
        server.close()
