"""Hubs that are dictionaries of files, opened as the site opens them."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from rlx.formats.base import Environment
from rlx.ids import make_key
from rlx.model import ANONYMOUS
from rlx.services import create_services
from rlx.settings import Settings

type Files = Mapping[str, bytes]
type Opening = Callable[[Files], AbstractAsyncContextManager[Environment]]


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    """Opens a data set of these files. The store and the cache are those of one machine."""
    made = iter(range(1000))

    @asynccontextmanager
    async def opened(files: Files) -> AsyncIterator[Environment]:
        name = f"set-{next(made)}"
        for path, data in files.items():
            target = tmp_path / "hub/datasets/acme" / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        settings = Settings(hub=str(tmp_path / "hub"), store=tmp_path / "store", cache_dir=tmp_path / "cache")
        async with create_services(settings) as services:
            yield await services.library.open(make_key("dataset", "acme", name), ANONYMOUS, wait=None)

    return opened
