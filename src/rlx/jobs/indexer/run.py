"""One run of the indexer: list, read what changed, publish. Safe to kill at any moment, and to run again.

Each entry is kept as soon as it is made, the state and the pointer are replaced whole, and the snapshot is built of the
entries alone: a run that was killed costs what it had not kept yet.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio.to_thread

from rlx.errors import BadInput, Upstream
from rlx.formats.base import IndexedFormat, Versioned
from rlx.formats.registry import AnyFormat
from rlx.hub.client import HubClient, Token
from rlx.ids import EnvKey
from rlx.index.catalog import same_hub
from rlx.index.entries import Entry
from rlx.index.library import Library
from rlx.index.listing import FILE as LISTING
from rlx.index.listing import MAX_LISTING, Listing, check_size, is_open, list_hub, listing_bytes, listing_in
from rlx.index.snapshot.pointer import Pointer
from rlx.index.snapshot.publish import current_pointer, publish
from rlx.jobs.indexer.content import content_of
from rlx.jobs.indexer.entries import Entries, Loaded
from rlx.jobs.indexer.lease import Lease
from rlx.jobs.indexer.plan import Policy, Step, plan
from rlx.jobs.indexer.readings import Budget, OnEvent, Outcome, Readings
from rlx.jobs.indexer.state import Run, State, load_state, save_state
from rlx.store.instance import FILE as SETTINGS
from rlx.store.instance import Instance, fault_of
from rlx.store.storage import Storage

_MAX_SETTINGS = 4 * 1024 * 1024

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked of one run."""

    featured: bool = False
    """Read featured environments alone."""
    top: int | None = None
    """Read only among the so many most popular."""
    force: bool = False
    """Take a listing that shrank."""
    dry_run: bool = False
    """List and plan; change nothing."""
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an indexer works."""

    hub: HubClient
    library: Library
    storage: Storage
    work: Path
    """Its own folder on local disk."""
    everything: bool
    """A local hub: every repository is listed, whatever its tags."""
    readers: Mapping[str, int]
    """Version of each format's reader."""
    name: str = ""
    """Of the hub: what a snapshot says it was made from."""
    token: Token = False
    """Sent with the listing, for its rate limit; what it alone may see is left out."""


def readers_of(known: Sequence[AnyFormat]) -> Mapping[str, int]:
    """The version of each format's reader."""
    indexed = {each.reader.format: each.reader.version for each in known if isinstance(each, IndexedFormat)}
    return indexed | {each.name: each.reader_version for each in known if isinstance(each, Versioned)}


def instance_of(storage: Storage) -> Instance:
    """What operators set for the store. Raises `OSError`."""
    try:
        return Instance.model_validate_json(storage.read(SETTINGS, limit=_MAX_SETTINGS))
    except FileNotFoundError:
        return Instance()
    except ValueError as error:
        _log.warning("%s is not used: %s", SETTINGS, fault_of(error))
        return Instance()


class Indexer:
    """One run on one store."""

    def __init__(
        self,
        place: Place,
        tell: OnEvent,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        settle: float | None = None,
    ) -> None:
        self._place = place
        self._tell = tell
        self._now = now
        self._lease = Lease(place.storage, now=now) if settle is None else Lease(place.storage, now=now, settle=settle)

    async def run(self, options: Options) -> Run | None:
        """Returns how it went; None for a dry run.

        Raises `Busy` while another works on the store, `BadInput` for a store of another hub, `Shrunk` for a listing
        that is not believed, and `Upstream` when the Hub or the store fails; then the snapshot in use stays.
        """
        try:
            if options.dry_run:
                await self._planned(options, Entries(self._place.storage, None))
                return None
            async with self._lease.held():
                return await self._run(options)
        except OSError as error:
            raise Upstream(
                f"The store {self._place.storage} failed: {error}.",
                hint="The snapshot in use stays. Run it again when the store works.",
                retry_after=60,
            ) from error

    async def _run(self, options: Options) -> Run:
        started = self._now()
        place = self._place
        entries = Entries(place.storage, place.work / "catalog")
        listing, loaded, state, steps = await self._planned(options, entries)
        await anyio.to_thread.run_sync(place.storage.write, LISTING, listing_bytes(listing))
        readings = Readings(place.hub, place.library, entries, steps, options.budget, self._tell, now=self._now)
        outcome, more = readings.outcome, True
        while more:
            more = await readings.read()
            state = _remembered(state, outcome, listing)
            pointer = await self._publish(listing, {**loaded.entries, **outcome.entries}, state)
        done = len(outcome.entries) + outcome.failed
        run = Run(
            started=started,
            ended=self._now(),
            listed=len(listing.infos),
            read=len(outcome.entries),
            failed=outcome.failed,
            left=len(steps) - done,
            tasks=pointer.counts.tasks,
            db=pointer.db,
            stopped=outcome.stopped,
        )
        await anyio.to_thread.run_sync(self._finish, state.model_copy(update={"last": run}), loaded, entries)
        self._tell("done", run.model_dump(mode="json"))
        return run

    async def _planned(self, options: Options, entries: Entries) -> tuple[Listing, Loaded, State, Sequence[Step]]:
        place = self._place
        state = await anyio.to_thread.run_sync(load_state, place.storage)
        if not options.force and not same_hub(state.hub, place.name):
            raise BadInput(
                f"The store holds the catalog of another hub, {state.hub}; nothing was changed.",
                hint=f"Give {place.name} a store of its own, or take this one over with --force.",
            )
        infos = await list_hub(place.hub, everything=place.everything, token=place.token)
        listing = Listing(tuple(filter(is_open, infos)), self._now())
        if not options.force:
            check_size(listing, await anyio.to_thread.run_sync(_last_sizes, place.storage))
        self._tell("listed", listing.sizes)
        loaded = await anyio.to_thread.run_sync(entries.load, [info.key for info in listing.infos])
        instance = await anyio.to_thread.run_sync(instance_of, place.storage)
        policy = Policy(instance.featured, instance.hidden, place.readers, options.budget.rows_each)
        steps = _wanted(plan(listing, loaded.entries, state, policy, self._now()), listing, options)
        counts = {why: sum(step.why == why for step in steps) for why in ("changed", "format", "partial", "new")}
        self._tell("plan", {"environments": len(steps), **counts, "ids": [str(step.info.key) for step in steps]})
        return listing, loaded, state.model_copy(update={"hub": place.name}), steps

    async def _publish(self, listing: Listing, entries: Mapping[EnvKey, Entry | None], state: State) -> Pointer:
        """Publish what is known so far."""
        place = self._place
        known = {key: entry for key, entry in entries.items() if entry is not None}
        await anyio.to_thread.run_sync(save_state, place.storage, state)
        content, figures = await anyio.to_thread.run_sync(content_of, place.storage, place.name, listing, known, state)
        self._tell("snapshot", figures)
        await self._lease.check()
        work = partial(publish, place.storage, content, place.work, now=self._now())
        pointer = await anyio.to_thread.run_sync(work)
        told = {"db": pointer.db, "size": pointer.size, "sha256": pointer.sha256, **asdict(pointer.counts)}
        self._tell("published", told)
        return pointer

    def _finish(self, state: State, loaded: Loaded, entries: Entries) -> None:
        for name in loaded.gone:
            entries.drop(name)
        entries.sweep()
        save_state(self._place.storage, state)


def _wanted(steps: Sequence[Step], listing: Listing, options: Options) -> Sequence[Step]:
    popular = {info.key for info in listing.infos[: options.top]}
    return [step for step in steps if step.info.key in popular and (step.featured or not options.featured)]


def _last_sizes(storage: Storage) -> Mapping[str, int]:
    """How much the last listing held: as it is kept, else as the pointer tells. Raises `OSError`."""
    try:
        return listing_in(storage.read(LISTING, limit=MAX_LISTING)).sizes
    except (FileNotFoundError, ValueError):
        try:
            pointer = current_pointer(storage)
        except ValueError:
            return {}
        return {} if pointer is None else asdict(pointer.counts)


def _remembered(state: State, outcome: Outcome, listing: Listing) -> State:
    """The state with this run's failures, less what was read since or is listed no more."""
    listed = {str(info.key) for info in listing.infos}
    read = {str(key) for key in outcome.entries}
    attempts = {key: attempt for key, attempt in state.attempts.items() if key in listed and key not in read}
    return state.model_copy(update={"attempts": {**attempts, **outcome.attempts}})
