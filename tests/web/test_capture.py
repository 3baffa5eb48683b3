"""Calls of models, handed on to the worker of their rollout."""

import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio.to_thread
import pytest
from fastapi import FastAPI

from rlx.runners.workers import WorkerCard, announce, began_at, workers_folder
from rlx.settings import Settings
from rlx.web.app import create_app
from rlx.web.capture import LARGEST
from tests.toy import ToyServices
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(hub="https://hub.example", store=tmp_path / "store", cache_dir=tmp_path / "cache")


@pytest.fixture
def app(settings: Settings) -> FastAPI:
    return create_app(ToyServices(settings), token=lambda settings: None)


@contextmanager
def worker(
    settings: Settings, begun: threading.Event | None = None
) -> Iterator[list[tuple[str, dict[str, str], bytes]]]:
    """What a worker heard. `begun` is set once it has heard a part of a call."""
    heard: list[tuple[str, dict[str, str], bytes]] = []

    class Capture(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = b""
            if self.headers.get("transfer-encoding") == "chunked":
                while size := int(self.rfile.readline() or b"-1", 16):
                    if size < 0:  # whoever called has gone
                        return
                    body += self.rfile.read(size)
                    self.rfile.readline()
                    if begun is not None:
                        begun.set()
                self.rfile.readline()
            else:
                body = self.rfile.read(int(self.headers["content-length"]))
            heard.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(401)
            self.send_header("content-type", "application/json")
            self.send_header("set-cookie", "a=b")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: object) -> None:
            """Tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Capture)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    began = began_at(os.getpid())
    told = ("w-1", os.getpid(), began, server.server_port, "control-key")
    announce(workers_folder(settings), WorkerCard(*told, runners=(), agents=(), sandboxes={}))
    try:
        yield heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_a_call_reaches_its_worker_with_its_key_and_little_else(app: FastAPI, settings: Settings) -> None:
    with worker(settings) as heard:
        async with visitor(app) as client:
            headers = {"authorization": "Bearer s123", "cookie": "session=x", "x-forwarded-for": "1.2.3.4"}
            answer = await client.post("/capture/w-1/v1/chat/completions?a=b", content=b'{"n": 1}', headers=headers)

    (path, told, body) = heard[0]
    assert (path, body) == ("/capture/v1/chat/completions?a=b", b'{"n": 1}')
    assert told["authorization"] == "Bearer s123"
    assert not {"cookie", "x-forwarded-for"} & set(told)
    assert (answer.status_code, answer.text) == (401, "{}")
    assert "set-cookie" not in answer.headers


async def test_a_long_call_reaches_its_worker_while_it_is_still_being_sent(app: FastAPI, settings: Settings) -> None:
    begun, piece = threading.Event(), b"x" * 512 * 1024

    async def long() -> AsyncIterator[bytes]:
        yield piece
        assert await anyio.to_thread.run_sync(begun.wait, 30)
        for _ in range(7):
            yield piece

    with worker(settings, begun) as heard:
        async with visitor(app) as client:
            await client.post("/capture/w-1/v1/messages", content=long())
            elsewhere = await client.post("/api/runs", content=piece * 8)
    assert len(heard[0][2]) == 8 * len(piece)
    assert elsewhere.status_code == 413


async def test_a_call_has_a_bound_too(app: FastAPI, settings: Settings) -> None:
    most = LARGEST["/capture/"]

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(most // 2**20 + 1):
            yield b"x" * 2**20

    with worker(settings) as heard:
        async with visitor(app) as client:
            untold = await client.post("/capture/w-1/v1/messages", content=endless())
            told = await client.post("/capture/w-1/v1/messages", content=b"", headers={"content-length": str(most + 1)})
    assert (untold.status_code, told.status_code) == (413, 413)
    assert heard == []


@pytest.mark.parametrize(
    "path", ["/capture/w-1/sessions", "/capture/w-1/sessions/s1", "/capture/w-1/health", "/capture/w-9/v1/models"]
)
async def test_what_governs_rollouts_and_unknown_workers_are_not_reached(
    app: FastAPI, settings: Settings, path: str
) -> None:
    with worker(settings) as heard:
        async with visitor(app) as client:
            answer = await client.post(path, content=b"{}")
    assert answer.status_code == 404
    assert heard == []


async def test_a_worker_that_does_not_answer_is_told(app: FastAPI, settings: Settings) -> None:
    with worker(settings):
        pass
    async with visitor(app) as client:
        assert (await client.post("/capture/w-1/v1/chat/completions", content=b"{}")).status_code == 503
