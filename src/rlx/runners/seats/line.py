"""How the site and the command line reach a seat: by way of the workers of this machine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio.to_thread
import httpx2

from rlx.runners.workers import WorkerCard, living

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

SECONDS: Final = 5.0
LARGEST: Final = 1024 * 1024
"""Bytes of one message of a worker."""


async def worker_of(workers: Path, id: str) -> WorkerCard | None:
    """The worker of this machine that has the rollout's seat open now."""
    for card in await anyio.to_thread.run_sync(living, workers):
        if await _asked("GET", card, id) == 204:
            return card
    return None


async def grade(workers: Path, id: str) -> bool:
    """Say that the person is done. False where no seat is open."""
    card = await worker_of(workers, id)
    return card is not None and await _asked("POST", card, f"{id}/grade") == 204


@asynccontextmanager
async def lined(card: WorkerCard, id: str) -> "AsyncIterator[ClientConnection]":
    """A line to the seat, which is then this one's. Raises `OSError`, and `WebSocketException` where it is none any
    more."""
    from websockets.asyncio.client import connect  # imported late: whoever sits nowhere does without

    url = f"ws://127.0.0.1:{card.port}/seats/{id}/line"
    headers = {"authorization": f"Bearer {card.key}"}
    async with connect(
        url, additional_headers=headers, proxy=None, compression=None, max_size=LARGEST, open_timeout=SECONDS
    ) as line:
        yield line


async def _asked(method: str, card: WorkerCard, path: str) -> int:
    """The status that a worker answers with; 0 where it does not."""
    url = f"http://127.0.0.1:{card.port}/seats/{path}"
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as client:
        try:
            answer = await client.request(method, url, headers={"authorization": f"Bearer {card.key}"})
        except httpx2.HTTPError:
            return 0
    return answer.status_code
