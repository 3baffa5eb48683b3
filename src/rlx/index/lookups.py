"""Reads tasks whose folders are not listed: asks which of the files that they may hold are there, and fetches those.

What was read may name more, which is asked for in its turn: steps in the settings, scripts in a script.
"""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice

import anyio.lowlevel

from rlx.errors import TooLarge, UserError
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.index.records import Reader, TaskPlan, TaskRecord, ref_of, root_of
from rlx.index.saving import MAX_FILE

ROUNDS = 4
"""Times a task is asked what else to look for."""
MAX_SOUGHT = 400
"""Paths of one task that are asked for."""
MAX_HELD = 64 * 1024 * 1024
"""Bytes of files that are held at a time."""
FETCHED_TOGETHER = 100
"""Tasks whose files are: what is lost when the Hub has enough half-way stays small."""
_YIELD_EVERY = 0.02
"""Seconds of parsing after which others get the event loop."""

type _Known = dict[str, dict[str, TreeEntry]]
"""By root what is known to be in its task, by path."""


async def read_tasks(repo: Repo, reader: Reader, refs: Sequence[str]) -> AsyncIterator[TaskRecord]:
    """The tasks `refs`, in this order. Raises `UserError` when the Hub fails."""
    known: _Known = {root_of(ref): {} for ref in refs}
    asked: set[str] = set()
    await _look(repo, reader, known, {}, asked)
    slept = time.monotonic()
    for batch in _batches(_planned(reader, known)):
        data = await _gather(repo, reader, {plan.root: known[plan.root] for plan in batch}, asked)
        for plan in _planned(reader, {plan.root: known[plan.root] for plan in batch}):
            yield reader.read(plan, data[plan.root])
            if time.monotonic() - slept > _YIELD_EVERY:
                await anyio.lowlevel.checkpoint()
                slept = time.monotonic()


async def _look(repo: Repo, reader: Reader, known: _Known, data: dict[str, dict[str, bytes]], asked: set[str]) -> bool:
    """Look for what the tasks are sought for and were not yet. Whether there was anything to look for."""
    owners: dict[str, str] = {}
    for root in known:
        paths = islice(reader.sought(root, data.get(root, {})), MAX_SOUGHT)
        owners |= {path: root for path in paths if path not in asked}
    asked.update(owners)
    for path, entry in (await repo.lookup(list(owners))).items():
        known[owners[path.rstrip("/")]][path] = entry
    return bool(owners)


async def _gather(repo: Repo, reader: Reader, known: _Known, asked: set[str]) -> dict[str, dict[str, bytes]]:
    """By root the files that its task wants, by path; `known` grows."""
    data: dict[str, dict[str, bytes]] = {root: {} for root in known}
    tried: set[str] = set()
    for _ in range(ROUNDS):
        wanted = [
            (plan.root, known[plan.root][path])
            for plan in _planned(reader, known)
            for path in plan.wanted
            if path not in tried
        ]
        tried.update(entry.path for _, entry in wanted)
        contents = await _fetch(repo, [entry for _, entry in wanted])
        for root, entry in wanted:
            if (content := contents.get(entry.oid or entry.path)) is not None:
                data[root][entry.path] = content
        if not await _look(repo, reader, known, data, asked):
            break
    return data


async def _fetch(repo: Repo, entries: Sequence[TreeEntry]) -> dict[str, bytes]:
    """Contents by oid, else by path; those that are too large are left out."""
    first = {entry.oid or entry.path: entry for entry in reversed(entries)}
    names = {entry.path: content for content, entry in first.items()}
    found: dict[str, bytes] = {}
    failure: UserError | None = None
    async with repo.read_many(first.values(), limit=MAX_FILE) as stream:
        async for fetched in stream:
            if fetched.data is not None:
                found[names[fetched.path]] = fetched.data
            elif fetched.error is not None and not isinstance(fetched.error, TooLarge):
                failure = fetched.error
                break
    if failure is not None:
        raise failure
    return found


def _planned(reader: Reader, known: _Known) -> list[TaskPlan]:
    """A plan a task, in the order of `known`; of one whose files are gone a plan without files."""
    entries = dict(sorted(item for inside in known.values() for item in inside.items()))
    plans = {plan.root: plan for plan in reader.plan(entries)}
    return [plans.get(root) or TaskPlan(ref_of(root), root, (), ()) for root in known]


def _batches(plans: Sequence[TaskPlan]) -> Iterator[list[TaskPlan]]:
    """Tasks whose files may be held together."""
    batch: list[TaskPlan] = []
    size = 0
    for plan in plans:
        wanted = frozenset(plan.wanted)
        own = sum(min(entry.size, MAX_FILE) for entry in plan.files if entry.path in wanted)
        if len(batch) == FETCHED_TOGETHER or (batch and size + own > MAX_HELD):
            yield batch
            batch, size = [], 0
        batch.append(plan)
        size += own
    if batch:
        yield batch
