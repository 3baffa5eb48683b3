"""Repositories that are a dictionary of files, served by a hub that counts what it is asked."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from rlx.formats.rows.opening import RowFile
from rlx.hub.client import HubClient, Token
from rlx.hub.desk import Desk
from rlx.hub.repo import Repo
from rlx.hub.rows import ViewerClient
from rlx.ids import EnvKey
from rlx.localhub import LocalHub

KEY = EnvKey("dataset", "acme", "rows")


class Counting(httpx2.AsyncBaseTransport):
    """Passes requests on and remembers the ranges and the tokens."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self.ranges: list[tuple[int, int]] = []
        self.tokens: set[str | None] = set()
        self.paths: list[str] = []
        self.headers: dict[str, str] = {}
        """What every answer tells besides."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.paths.append(request.url.path)
        told = request.headers.get("range")
        if told:
            start, _, end = told.removeprefix("bytes=").partition("-")
            self.ranges.append((int(start), int(end) + 1))
            self.tokens.add(request.headers.get("authorization"))
        answer = await self._inner.handle_async_request(request)
        answer.headers.update(self.headers)
        return answer

    @property
    def fetched(self) -> int:
        return sum(end - start for start, end in self.ranges)


class Hub:
    """The repository `acme/rows`, and the process's desk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.counted = Counting(httpx2.ASGITransport(app=LocalHub(root / "hub", cache_dir=root / "localhub").app))

    @asynccontextmanager
    async def opened(
        self, *, desk: bool = True, background: bool = False, viewer: bool = False
    ) -> AsyncIterator[HubClient]:
        client = HubClient("http://hub.localhost", transport=self.counted)
        if viewer:
            client.viewer = ViewerClient("http://hub.localhost/viewer", transport=self.counted)
        async with anyio.create_task_group() as group:
            client.desk = Desk(self.root / "desk", group if background else None) if desk else None
            try:
                yield client
            finally:
                group.cancel_scope.cancel()
                await client.aclose()

    async def file(self, client: HubClient, path: str, token: Token = False) -> RowFile:
        repo = Repo(client, await client.info(KEY, token=False), token)
        entry = await repo.entry(path)
        assert entry is not None
        return RowFile(repo, entry)


@pytest.fixture
def hub(tmp_path: Path) -> Callable[[Mapping[str, bytes]], Hub]:
    def make(files: Mapping[str, bytes]) -> Hub:
        for path, data in files.items():
            target = tmp_path / "hub/datasets/acme/rows" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return Hub(tmp_path)

    return make
