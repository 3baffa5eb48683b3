"""The router of Inference Providers: where it is, which models it has, and how one of them is asked."""

import time
from collections.abc import Callable
from typing import Final

import anyio
import httpx2

from rlx.errors import Upstream
from rlx.runners.models.exchange import NoAnswer, Server, exchange
from rlx.runners.models.pool import Pick, PoolModel, parse_models, pick

_LASTS: Final = 600.0
"""Seconds that a list is used before it is asked for again."""
_AGAIN: Final = 20.0
"""Seconds before a list that could not be had is asked for again."""
_SECONDS: Final = 20.0
_MOST: Final = 16 * 1024 * 1024


class Router:
    """One for the process; the list is public, and asked for without a token. `folder`: of a hub that is one."""

    def __init__(
        self,
        base_url: str,
        *,
        folder: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.base_url = base_url
        self.folder = folder
        self._server = Server(base_url, any_address=True, transport=transport)
        self._clock = clock
        self._lock = anyio.Lock()
        self._models: tuple[PoolModel, ...] | None = None
        self._until = -1.0
        self._failed: NoAnswer | None = None

    async def models(self) -> tuple[PoolModel, ...]:
        """Those that some provider serves now. An old list is better than none. Raises `Upstream`."""
        async with self._lock:
            if self._clock() >= self._until:
                await self._look()
            if self._models is not None:
                return self._models
            why = self._failed.message if self._failed is not None else ""
            raise Upstream(f"The models of Inference Providers cannot be listed. {why}".strip(), retry_after=30)

    async def pick(self, asked: str) -> Pick:
        """A model by `id`, `id:policy` or `id:provider`. Raises `BadInput`, `Upstream`."""
        return pick(await self.models(), asked)

    async def _look(self) -> None:
        try:
            answer = await exchange(self._server, "models", seconds=_SECONDS, most=_MOST)
            if answer.status != 200:
                raise NoAnswer("broken", f"The router answers {answer.status}.")
            found = parse_models(answer.json())
            if not found:
                raise NoAnswer("broken", "The router's list is none that this program can read.")
        except (NoAnswer, ValueError) as error:
            self._failed = error if isinstance(error, NoAnswer) else NoAnswer("broken", "The router's list is no JSON.")
            self._until = self._clock() + _AGAIN
            return
        self._models, self._failed, self._until = found, None, self._clock() + _LASTS
