"""Hands calls of models on to the worker of their rollout, for agents that work outside of this machine.

Nothing is kept: bodies stream through, both ways. The worker knows its rollouts by the key that each call carries; the
routes that govern rollouts are not handed on.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Final

import anyio.to_thread
import httpx2
from starlette.requests import Request
from starlette.responses import StreamingResponse

from rlx.errors import NotFound, Upstream
from rlx.runners.workers import WorkerCard, living, workers_folder
from rlx.web.site import site_of

PATH: Final = "/capture/{worker}/{path:path}"
SECONDS: Final = 900.0
LARGEST: Final[Mapping[str, int]] = {"/capture/": 32 * 1024 * 1024}
"""Bytes of a call below this path: all that an agent has read and said so far. No more than a piece is held here."""
_HEADERS: Final = ("authorization", "x-api-key", "x-goog-api-key", "content-type", "accept", "anthropic-version")
_ANSWERED: Final = ("content-type", "retry-after")
_CLOSED: Final = ("sessions", "health", "docs", "openapi.json", "redoc")
"""What the capture proxy answers beside models."""


async def forward(request: Request) -> StreamingResponse:
    """Raises `NotFound` for a worker or a path that there is not, `Upstream`."""
    path = str(request.path_params["path"])
    parts = path.split("/")
    if parts[0] in _CLOSED or any(part in ("", ".", "..") for part in parts):
        raise NotFound("There is no such address.")
    worker = await anyio.to_thread.run_sync(_worker, request)
    headers = {name: request.headers[name] for name in _HEADERS if name in request.headers}
    client = httpx2.AsyncClient(trust_env=False, timeout=SECONDS, follow_redirects=False)
    try:
        url = httpx2.URL(f"http://127.0.0.1:{worker.port}").copy_with(
            raw_path=f"/capture/{path}".encode() + (b"?" + request.url.query.encode() if request.url.query else b"")
        )
        told = client.build_request("POST", url, headers=headers, content=request.stream())
        answer = await client.send(told, stream=True)
    except httpx2.HTTPError as error:
        await client.aclose()
        raise Upstream("The worker of this rollout does not answer.", retry_after=5) from error
    except BaseException:
        await client.aclose()
        raise

    async def body() -> AsyncIterator[bytes]:
        try:
            async for part in answer.aiter_raw():
                yield part
        finally:
            await answer.aclose()
            await client.aclose()

    kept = {name: answer.headers[name] for name in _ANSWERED if name in answer.headers}
    return StreamingResponse(body(), answer.status_code, headers=kept)


def _worker(request: Request) -> WorkerCard:
    folder = workers_folder(site_of(request).settings)
    for card in living(folder):
        if card.id == request.path_params["worker"]:
            return card
    raise NotFound("There is no such worker.")
