"""Ends what an agent does once its model cost what it may, so that what it did until then is graded."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from harbor.agents.base import BaseAgent

from rlx.errors import LimitError


class Budget:
    """Of one rollout. `spent` says why its agent was stopped; None: it was not."""

    def __init__(self) -> None:
        self._over = asyncio.Event()
        self.spent: LimitError | None = None

    def end(self, why: LimitError) -> None:
        """Stop the agent, now and in every later step."""
        self.spent = self.spent or why
        self._over.set()

    def bound(self, agent: BaseAgent) -> None:
        """Let the agent's work end by itself, as far as Harbor sees, when the budget does: its verifier comes next."""
        for name in ("run", "resume"):
            if hasattr(agent, name):
                setattr(agent, name, self._bounded(getattr(agent, name)))

    def _bounded(self, work: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def bounded(*args: Any, **settings: Any) -> None:
            if self._over.is_set():
                return
            working = asyncio.ensure_future(work(*args, **settings))
            over = asyncio.ensure_future(self._over.wait())
            try:
                await asyncio.wait([working, over], return_when=asyncio.FIRST_COMPLETED)
            finally:
                over.cancel()
                if not working.done():
                    working.cancel()
                await asyncio.wait([working])
            if not self._over.is_set():
                working.result()
            elif not working.cancelled():
                working.exception()  # of no account: it failed for the want of a budget

        return bounded
