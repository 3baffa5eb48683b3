"""The thread in which sandboxes are tended."""

import subprocess
import sys


def test_all_who_come_at_once_are_given_the_same_thread() -> None:
    run = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True)
    assert run.stdout == "1 thread\n"


def test_a_process_that_was_forked_has_a_thread_of_its_own() -> None:
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, check=True)
    assert run.stdout == "of its own\n"


AT_ONCE = """
import asyncio, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from rlx.sandboxes.local.loop import tending_loop

made = asyncio.new_event_loop
def slowly():
    time.sleep(0.05)
    return made()
asyncio.new_event_loop = slowly

together = threading.Barrier(8)
def ask(_):
    together.wait()
    return tending_loop()
with ThreadPoolExecutor(8) as threads:
    print(len(set(threads.map(ask, range(8)))), "thread")
"""
FORKED = """
import asyncio, os
from rlx.sandboxes.local.loop import tending_loop

parent = tending_loop()
if child := os.fork():
    os.waitpid(child, 0)
else:
    loop = tending_loop()
    done = asyncio.run_coroutine_threadsafe(asyncio.sleep(0, "of its own"), loop).result(30)
    print(done if loop is not parent else "its parent's", flush=True)
    os._exit(0)
"""
