"""The API: promised shapes, one envelope, events that can be followed."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import pytest
from fastapi import FastAPI

from rlx.errors import Upstream
from rlx.model import Progress
from rlx.web.api import API_ROUTES, schemas
from rlx.web.progress import events
from rlx.web.sse import Event, EventStream
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

ANSWERS: tuple[tuple[str, type[schemas.Shape]], ...] = (
    ("/api/search", schemas.EnvListAnswer),
    ("/api/search?q=toy&kind=harbor&limit=1", schemas.EnvListAnswer),
    ("/api/env/toy/main", schemas.EnvAnswer),
    ("/api/env/toy/files-only", schemas.EnvAnswer),
    ("/api/space/toy/server", schemas.EnvAnswer),
    ("/api/env/toy/main/tasks?f=level:easy", schemas.TaskListAnswer),
    ("/api/env/toy/main/task?ref=plain", schemas.TaskAnswer),
    ("/api/env/toy/main/task?ref=.", schemas.TaskAnswer),
    ("/api/env/toy/main/task?ref=old/plain", schemas.TaskAnswer),
    ("/api/env/toy/main/file?path=run.py", schemas.FileAnswer),
    ("/api/env/toy/main/file?ref=plain&path=dot.png", schemas.FileAnswer),
    ("/api/env/toy/main/folder", schemas.FolderAnswer),
    ("/api/space/toy/server/folder?ref=plain&path=docs", schemas.FolderAnswer),
    ("/api/env/toy/main/tasks?sort=-difficulty&page=2&limit=5", schemas.TaskListAnswer),
    ("/api/env/toy/main/revisions", schemas.RevisionsAnswer),
    (f"/api/env/toy/main/revisions?old={'2' * 40}&new={'1' * 40}", schemas.RevisionsAnswer),
    (f"/api/space/toy/server/revisions?old={'2' * 40}&new={'1' * 40}&ref=.", schemas.RevisionsAnswer),
    ("/api/env/toy/main/random", schemas.RandomAnswer),
    ("/api/random", schemas.RandomAnswer),
    ("/api/me", schemas.MeAnswer),
)


@pytest.mark.parametrize(("url", "shape"), ANSWERS)
async def test_an_answer_has_the_promised_shape(
    client: httpx2.AsyncClient, url: str, shape: type[schemas.Shape]
) -> None:
    response = await client.get(url)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    shape.model_validate_json(response.content, strict=True)


async def test_a_list_tells_where_it_stands(client: httpx2.AsyncClient) -> None:
    found = (await client.get("/api/env/toy/main/tasks?limit=5&offset=5")).json()
    assert (found["total"], found["offset"], found["page"], len(found["cards"])) == (13, 5, 2, 5)
    assert found["cards"][0]["url"].startswith("/t/toy/main/")


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("/api/nowhere", 404, "not_found"),
        ("/api/search?limit=0", 400, "bad_input"),
        ("/api/search?sort=x", 400, "bad_input"),
        ("/api/env/toy/absent", 404, "not_found"),
        ("/api/env/toy/main/task", 400, "bad_input"),
        ("/api/env/toy/main/task?ref=absent", 404, "not_found"),
        ("/api/env/toy/main/file?path=docs", 400, "bad_input"),
        ("/api/env/toy/main/folder?path=run.py", 400, "bad_input"),
        ("/api/env/toy/main/file?path=secret/answer.txt", 403, "forbidden"),
        ("/api/env/toy/main/raw?path=secret/answer.txt", 403, "forbidden"),
        ("/api/env/toy/main/raw?path=huge.txt", 413, "too_large"),
        ("/api/env/toy/down", 503, "upstream"),
        ("/api/env/toy/slow", 202, "indexing"),
        ("/api/env/toy/broken", 500, "failed"),
    ],
)
async def test_an_error_is_the_envelope(client: httpx2.AsyncClient, url: str, status: int, code: str) -> None:
    response = await client.get(url)
    assert response.status_code == status
    assert response.json()["error"]["code"] == code
    assert "RLX-CANARY" not in response.text


async def test_the_openapi_document_tells_every_route(client: httpx2.AsyncClient) -> None:
    document = (await client.get("/api/openapi.json")).json()
    paths = {route.path: route.path.replace(":path}", "}") for route in API_ROUTES}
    assert set(document["paths"]) == set(paths.values())
    for route in API_ROUTES:
        told = document["paths"][paths[route.path]][route.methods[0].lower()]
        assert told["description"]
        if route.answer is not None:
            schema = told["responses"][str(route.status)]["content"]["application/json"]["schema"]
            assert schema["$ref"].endswith(f"/{route.answer.__name__}")
        assert "404" in told["responses"]


async def test_progress_is_followed_as_events_to_the_end(client: httpx2.AsyncClient) -> None:
    response = await client.get("/api/env/toy/slow/progress")
    parts = [part.split("\n") for part in response.text.strip().split("\n\n")]
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert [event[0] for event in parts] == ["id: 1", "id: 2", "id: 3", "id: 4"]
    assert [event[1] for event in parts] == ["event: progress"] * 3 + ["event: end"]
    told = json.loads(parts[1][2].removeprefix("data: "))
    assert told["total"] == 10
    assert "said" not in told


async def test_a_visitor_who_comes_back_goes_on_counting(client: httpx2.AsyncClient) -> None:
    response = await client.get("/api/env/toy/slow/progress", headers={"last-event-id": "41"})
    assert response.text.startswith("id: 42\n")
    odd = await client.get("/api/env/toy/slow/progress", headers={"last-event-id": "x" * 50})
    assert odd.text.startswith("id: 1\n")


async def test_progress_of_a_revision_that_is_not_there_is_not_found_before_any_event(
    client: httpx2.AsyncClient,
) -> None:
    answer = await client.get("/api/env/toy/slow/progress?revision=gone")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_progress_ends_in_order_when_the_hub_fails_on_the_way() -> None:
    async def steps() -> AsyncIterator[Progress]:
        yield Progress("listing")
        raise Upstream("The Hub went away.")

    assert [event.name async for event in events(steps(), 0, "en")] == ["progress", "end"]


async def test_progress_of_what_may_not_be_seen_is_not_told(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/api/env/toy/private/progress")).status_code == 404


async def run_stream(stream: EventStream, receive: Any) -> list[bytes]:
    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    with anyio.fail_after(10):
        await stream({"type": "http"}, receive, send)
    return sent


async def test_a_quiet_stream_is_kept_alive() -> None:
    beaten = anyio.Event()

    async def events() -> AsyncIterator[Event]:
        await beaten.wait()
        yield Event(1, "end", None)

    async def receive() -> dict[str, str]:
        await anyio.sleep_forever()
        raise AssertionError

    class Stream(EventStream):
        async def _send(self, send: Any, body: bytes) -> None:
            await super()._send(send, body)
            if body.startswith(b":"):
                beaten.set()

    sent = await run_stream(Stream(events(), keep_alive=0.001), receive)
    assert sent[1].startswith(b":")
    assert b"event: end" in b"".join(sent)


async def test_a_stream_ends_when_the_visitor_leaves() -> None:
    async def events() -> AsyncIterator[Event]:
        await anyio.sleep_forever()
        yield Event(1, "never", None)

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    assert await run_stream(EventStream(events()), receive) == [b""]


async def test_an_event_is_one_line_of_data() -> None:
    assert Event(7, "x", {"text": "a\nb\r\n"}).encode().count(b"\n") == 4


async def test_private_answers_are_not_kept(app: FastAPI) -> None:
    async with visitor(app) as client:
        public = await client.get("/api/search")
        signed = await client.get("/api/search", headers={"authorization": "Bearer hf_any"})
    assert public.headers["cache-control"].startswith("public")
    assert signed.headers["cache-control"] == "private, no-store"
