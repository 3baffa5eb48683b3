"""The one thread in which all sandboxes of a process are tended.

Whoever uses sandboxes may keep its own loop busy for seconds; limits are watched and output is read all the same. The
thread lives as long as the process, which the kernel's death signal needs: it goes out when a thread ends.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

THREADS = 256


_making = threading.Lock()
os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)


def tending_loop() -> asyncio.AbstractEventLoop:
    with _making:  # a cache alone lets two who come at once have two loops
        return _loop(os.getpid())  # a process that was forked has no threads of its parent


@cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    # Files are carried in threads, each of which a slow sandbox may hold up; none may hold up another's limits.
    loop.set_default_executor(ThreadPoolExecutor(THREADS, "rlx-sandboxes"))
    threading.Thread(target=loop.run_forever, name="rlx-sandboxes", daemon=True).start()
    return loop


async def tended[T](work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` in that thread. When this is cancelled, so is the work, and what it then cleans up is waited for."""
    loop = tending_loop()
    ended: Future[T] = Future()
    running: list[asyncio.Task[T]] = []

    def begin() -> None:
        running.append(loop.create_task(work()))
        running[0].add_done_callback(finish)

    def finish(task: asyncio.Task[T]) -> None:
        if task.cancelled():
            ended.cancel()
        elif (error := task.exception()) is not None:
            ended.set_exception(error)
        else:
            ended.set_result(task.result())

    def give_up() -> None:
        running[0].cancel()

    loop.call_soon_threadsafe(begin)
    waiting = asyncio.wrap_future(ended)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        loop.call_soon_threadsafe(give_up)
        while not waiting.done():
            try:
                await asyncio.wait([waiting])
            except asyncio.CancelledError:
                continue  # told again; what was started still has to end first
        if not waiting.cancelled():
            waiting.exception()
        raise
