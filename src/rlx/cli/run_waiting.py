"""Starts a rollout and follows it to its end; where this machine has no worker, with one of its own."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio
import anyio.to_thread

from rlx.answers.shown import Json
from rlx.cli.output import Record, note
from rlx.cli.serve_worker import can_work, keep_working
from rlx.errors import BadInput, RlxError, Upstream
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.runners.asked import Asked
from rlx.runners.launch import Launcher
from rlx.runners.models.estimate import LOOKED_AT, estimated
from rlx.runners.workers import living
from rlx.services import Services
from rlx.store.rollouts.query import Filters
from rlx.texts import words
from rlx.twins.run import masked, run_record
from rlx.twins.run_events import event_json

POLL = 0.25
"""Seconds between two looks."""
READY = 300.0
"""Seconds that a worker may take to be ready: it imports much."""
_LINE = 160


async def started(services: Services, viewer: Viewer, asked: Asked, *, wait: bool) -> Record:
    """The rollout as it was started, or with `wait` as it ended. Raises what `Launcher.start` does."""
    await _tell_cost(services, viewer, asked)
    launcher = Launcher(services)
    if not wait:
        rollout = await launcher.start(asked, viewer)
        if not await anyio.to_thread.run_sync(living, launcher.workers):
            note("It waits for a worker: rlx serve has one, and rlx worker is one.")
        return run_record(masked(rollout))
    return await with_worker(services, launcher, lambda: _start_and_follow(services, launcher, asked, viewer))


async def with_worker[T](services: Services, launcher: Launcher, work: Callable[[], Awaitable[T]]) -> T:
    """What `work` returns, which finds a worker on this machine: one of its own where there was none.

    Raises `BadInput` where none can be, `Upstream` where none is ready in time.
    """
    if await anyio.to_thread.run_sync(living, launcher.workers):
        return await work()
    if not can_work():
        raise BadInput(
            "No worker runs on this machine, and what runs rollouts is not installed.",
            hint="pip install 'rl-explorer[run]', or leave --wait out and start rlx worker elsewhere over this store.",
        )
    ended: list[T] = []
    failed: RlxError | None = None
    note("No worker runs on this machine: one is started for this rollout.")
    async with anyio.create_task_group() as group:
        group.start_soon(keep_working, services.settings, 1)
        try:
            await _until_ready(launcher)
            ended.append(await work())
        except RlxError as error:  # carried out by hand: the task group would wrap it
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    return ended[0]


async def _tell_cost(services: Services, viewer: Viewer, asked: Asked) -> None:
    """What it will cost, as far as that is known before."""
    if asked.model is None or asked.model.kind == "scripted":
        return
    views = (await anyio.to_thread.run_sync(services.rollouts)).views
    ceiling = asked.fields.get("max_dollars")
    try:
        most = float(ceiling) if ceiling not in (None, "") else None
    except ValueError:  # which is told when it is checked
        return

    def look(filters: Filters) -> tuple[Rollout, ...]:
        return views.page(filters, viewer, limit=LOOKED_AT).rollouts

    found = await estimated(asked, services.router, look, most)
    if found.said is not None:
        note(words(found.said))


async def followed(services: Services, viewer: Viewer, id: str) -> Record:
    """A rollout once it has ended; what happens meanwhile is told as it comes. Raises `NotFound`."""
    rollouts = await anyio.to_thread.run_sync(services.rollouts)
    views, last = rollouts.views, 0
    while True:
        rollout = await anyio.to_thread.run_sync(views.find, id, viewer)
        page = await anyio.to_thread.run_sync(partial(views.events, id, viewer, after=last))
        for event in page.events:
            last = event.n
            shown = event_json(event, rollout)
            if shown is not None:
                note(f"{event.at:%H:%M:%S} {_line(event.kind, shown['data'])}")
        if page.more and page.events:
            continue
        if rollout.ended:
            return run_record(masked(rollout))
        await anyio.sleep(POLL)


async def _start_and_follow(services: Services, launcher: Launcher, asked: Asked, viewer: Viewer) -> Record:
    rollout = await launcher.start(asked, viewer)
    note(f"Rollout {rollout.id}")
    return await followed(services, viewer, rollout.id)


async def _until_ready(launcher: Launcher) -> None:
    for _ in range(int(READY / POLL)):
        if await anyio.to_thread.run_sync(living, launcher.workers):
            return
        await anyio.sleep(POLL)
    raise Upstream(f"A worker was not ready within {READY:.0f} seconds.", hint="Start one with rlx worker, and see.")


def _line(kind: str, data: Json) -> str:
    """An event in one line."""
    told: Mapping[str, Json] = data if isinstance(data, dict) else {}
    match kind:
        case "status":
            text = str(told.get("status"))
        case "stage":
            text = f"{told.get('stage')} {told.get('state')}"
        case "call":
            text = f"{told.get('name')} {told.get('arguments')}"
        case "usage":
            text = ", ".join(f"{name} {value}" for name, value in told.items() if value is not None)
        case "checks":
            text = f"{told.get('passed')} passed, {told.get('failed')} failed"
        case "files":
            items = told.get("items")
            text = f"{len(items) if isinstance(items, list) else 0} changed"
        case _:
            text = " ".join(str(told.get("text", "")).split())
    return f"{kind:8} {text if len(text) <= _LINE else f'{text[:_LINE]}…'}"
