"""The one thread in which all sandboxes of a process are tended.

Whoever uses sandboxes may keep its own loop busy for seconds; limits are watched and output is read all the same. The
thread lives as long as the process, which the kernel's death signal needs: it goes out when a thread ends.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any


@cache
def tending_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="rlx-sandboxes", daemon=True).start()
    return loop


async def tended[T](work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` in that thread. When this is cancelled, so is the work, and what it then cleans up is waited for."""
    ended: Future[T] = Future()

    async def run() -> None:
        try:
            result = await work()
        except asyncio.CancelledError:
            ended.cancel()
            raise
        except BaseException as error:  # it belongs to whoever waits, in another thread
            ended.set_exception(error)
        else:
            ended.set_result(result)

    running = asyncio.run_coroutine_threadsafe(run(), tending_loop())
    waiting = asyncio.wrap_future(ended)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        running.cancel()
        while not waiting.done():
            try:
                await asyncio.wait([waiting])
            except asyncio.CancelledError:
                continue  # told again; what was started still has to end first
        if not waiting.cancelled():
            waiting.exception()
        raise
