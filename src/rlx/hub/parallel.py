"""Calls side by side, so many at a time; the first that fails ends the others."""

from collections.abc import Awaitable, Callable, Iterable

import anyio

from rlx.errors import UserError


async def each[T](items: Iterable[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Do `work` for every item. Raises the first `UserError` as it was raised, not in a group."""
    waiting = iter(items)
    failures: list[UserError] = []

    async def take(scope: anyio.CancelScope) -> None:
        for item in waiting:
            try:
                await work(item)
            except UserError as error:
                failures.append(error)
                scope.cancel()

    async with anyio.create_task_group() as group:
        for _ in range(at_once):
            group.start_soon(take, group.cancel_scope)
    if failures:
        raise failures[0]
