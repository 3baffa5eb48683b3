"""The line to a seat and its page: who may open them, and what they say before there is a seat."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from rlx.rollout import Rollout
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from tests.recorded import Recorder
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio
OURS = {"host": "localhost:7860", "origin": "http://localhost:7860"}


@dataclass
class Scene:
    app: FastAPI
    recorder: Recorder
    owner: httpx2.AsyncClient
    guest: httpx2.AsyncClient


@pytest.fixture
async def scene(fixture_hub: Path, tmp_path: Path) -> AsyncIterator[Scene]:
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        app = create_app(services, token=lambda settings: None)
        recorder = Recorder(services.rollouts(), env="acme/layout-tasks", ref="tasks/fix-parser")
        async with visitor(app, peer="127.0.0.1") as owner, visitor(app) as guest:
            yield Scene(app, recorder, owner, guest)


class Line:
    """A line to the app, as a browser opens one."""

    def __init__(
        self, app: FastAPI, rollout: Rollout, headers: Mapping[str, str] = OURS, peer: str = "127.0.0.1"
    ) -> None:
        self._in: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self._out: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        path = f"/api/runs/{rollout.id}/seat"
        scope = {"type": "websocket", "path": path, "raw_path": path.encode(), "query_string": b"", "scheme": "ws"}
        told = [(name.encode(), value.encode()) for name, value in headers.items()]
        more = {"headers": told, "client": (peer, 5000), "server": ("localhost", 7860), "subprotocols": []}
        self._in.put_nowait({"type": "websocket.connect"})
        self._running = asyncio.create_task(app({**scope, **more}, self._in.get, self._out.put))

    async def heard(self) -> MutableMapping[str, Any]:
        return await self._out.get()

    async def told(self) -> Any:
        return json.loads((await self.heard())["text"])

    def say(self, **message: Any) -> None:
        self._in.put_nowait(message)

    async def end(self) -> None:
        self.say(type="websocket.disconnect", code=1001)
        await self._running


@pytest.mark.parametrize(
    ("headers", "peer"),
    [
        ({**OURS, "origin": "https://evil.example"}, "127.0.0.1"),
        ({**OURS, "origin": "null"}, "127.0.0.1"),
        ({**OURS, "sec-fetch-site": "cross-site"}, "127.0.0.1"),
        ({"host": "evil.example", "origin": "http://evil.example"}, "127.0.0.1"),
        (OURS, "203.0.113.9"),
    ],
    ids=["origin", "null", "site", "host", "stranger"],
)
async def test_a_line_is_opened_by_its_owner_from_a_page_of_this_site_alone(
    scene: Scene, headers: dict[str, str], peer: str
) -> None:
    line = Line(scene.app, scene.recorder.queued(agent="human"), headers, peer)
    assert (await line.heard())["type"] == "websocket.close"
    await line.end()


async def test_what_no_person_does_has_no_seat(scene: Scene) -> None:
    run = scene.recorder.queued(agent="simple")
    line = Line(scene.app, run)
    assert (await line.heard())["type"] == "websocket.close"
    await line.end()
    assert (await scene.owner.get(f"/run/{run.id}/seat")).status_code == 404


async def test_a_line_tells_where_the_rollout_is_until_it_has_ended(scene: Scene) -> None:
    run = scene.recorder.queued(agent="human")
    line = Line(scene.app, run)
    assert (await line.heard())["type"] == "websocket.accept"
    assert await line.told() == {"state": "queued"}
    line.say(type="websocket.receive", bytes=b"typed before there is a seat")
    await scene.owner.post(f"/api/runs/{run.id}/cancel")
    assert await line.told() == {"state": "cancelled"}
    assert await line.told() == {"end": "cancelled"}
    assert await line.heard() == {"type": "websocket.close", "code": 1000, "reason": ""}
    await line.end()


async def test_a_message_that_is_too_long_ends_the_line(scene: Scene) -> None:
    line = Line(scene.app, scene.recorder.queued(agent="human"))
    await line.heard()
    await line.told()
    line.say(type="websocket.receive", bytes=b"x" * 70_000)
    assert (await line.heard())["code"] == 1009
    await line.end()


async def test_the_page_of_a_seat_says_how_to_sit_there_without_scripts(scene: Scene) -> None:
    run = scene.recorder.queued(agent="human")
    answer = await scene.owner.get(f"/run/{run.id}/seat")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "private, no-store"
    assert f"rlx run shell {run.id}" in answer.text
    assert f'action="/api/runs/{run.id}/grade"' in answer.text
    assert (await scene.owner.get(f"/run/{run.id}/seat?format=json")).json()["command"] == f"rlx run shell {run.id}"
    assert (await scene.guest.get(f"/run/{run.id}/seat")).status_code == 404
    refused = await scene.owner.post(f"/api/runs/{run.id}/grade")
    assert refused.status_code == 400
    assert "the terminal is not open" in refused.text
    assert (await scene.guest.post(f"/api/runs/{run.id}/grade")).status_code == 404
