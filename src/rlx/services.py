"""The composition root: the one place where clients, caches and background work are made."""

import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import httpx2

from rlx.errors import BadInput
from rlx.formats.registry import AnyFormat, formats
from rlx.hub.client import HubClient, Token
from rlx.hub.desk import Desk
from rlx.hub.rows import ViewerClient
from rlx.index.catalog import Catalog
from rlx.index.jobs import Jobs
from rlx.index.library import Library
from rlx.index.listing import FILE as LISTING
from rlx.index.live import Live
from rlx.index.mine import Mine
from rlx.index.snapshot.follow import Follower
from rlx.runners.models.router import Router
from rlx.settings import DEFAULT_HUB, DEFAULT_ROUTER, DEFAULT_VIEWER, Settings
from rlx.store.health import HealthStore
from rlx.store.instance import InstanceFile
from rlx.store.storage import open_storage

if TYPE_CHECKING:
    from rlx.jobs.queue_service import Rollouts

LOCAL_HUB = "http://hub.localhost"
"""Endpoint of a hub in this process; no address is ever resolved."""


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    hub: HubClient
    library: Library
    catalog: Catalog
    instance: InstanceFile
    router: Router
    rollouts: "Callable[[], Rollouts]"
    """Opened by the first call, which blocks. Raises `BadInput`, `Upstream`."""
    health: HealthStore
    background: Jobs
    """Work that pages start and do not wait for."""


@asynccontextmanager
async def create_services(
    settings: Settings,
    *,
    transport: httpx2.AsyncBaseTransport | None = None,
    known_formats: Sequence[AnyFormat] | None = None,
    clock: Callable[[], float] = time.monotonic,
    keep_catalog: bool = False,
    reviews: bool = False,
    public_token: Token = False,
) -> AsyncIterator[Services]:
    """Services for `settings`, closed at the end. `transport` replaces the network; `keep_catalog` follows
    the store's snapshots and, without one, keeps the process's own; `reviews` asks for second opinions on what was
    indexed; `public_token` raises the rate limit for what everybody may read. Raises `BadInput` for a hub that is
    neither a URL nor a folder.
    """
    known = formats() if known_formats is None else known_formats
    folder = local_folder(settings.hub)
    if folder is not None and transport is None:
        transport = _local_transport(folder, settings)
    hub = HubClient(
        LOCAL_HUB if folder is not None else settings.hub,
        transport=transport,
        connections=settings.hub_connections,
        timeout=settings.hub_timeout,
        clock=clock,
        folder=folder is not None,
    )
    hub.viewer = viewer = ViewerClient(viewer_address(settings), transport=transport, clock=clock)
    instance = InstanceFile(settings.store)
    opening = _Opening(settings, instance)
    health = HealthStore(open_storage(settings.store))
    try:
        async with anyio.create_task_group() as group:
            jobs = Jobs(group, at_once=settings.index_jobs)
            hub.desk = Desk(settings.cache_dir / "rows", group)
            library = Library(
                hub,
                instance,
                store=settings.store,
                cache_dir=settings.cache_dir,
                jobs=jobs,
                formats=known,
                reviews=reviews,
                clock=clock,
                info_ttl=0.0 if folder is not None else settings.info_ttl,
                max_files=settings.max_listing_files,
                deadline=settings.listing_deadline,
                pack_budget=settings.pack_budget,
                public_token=public_token,
            )
            live = Live(
                hub,
                library,
                group,
                folder=settings.cache_dir / "snapshots",
                everything=folder is not None,
                ttl=5.0 if folder is not None else settings.listing_ttl,
                clock=clock,
                stored=settings.store / LISTING if settings.listing_from_store else None,
            )
            follower = Follower(
                open_storage(settings.store), settings.cache_dir / "snapshots", every=settings.snapshot_check
            )
            mine = Mine(hub, folder=settings.cache_dir / "private", everything=folder is not None, clock=clock)
            catalog = Catalog(live, mine, instance, follower, hub=hub_name(settings.hub), health=health)
            if keep_catalog:
                await catalog.follow(group)
            router = Router(
                router_address(settings),
                folder=str(folder) if folder is not None else None,
                transport=transport,
                clock=clock,
            )
            yield Services(settings, hub, library, catalog, instance, router, opening.rollouts, health, jobs)
            group.cancel_scope.cancel()
    finally:
        opening.close()
        await viewer.aclose()
        await hub.aclose()


class _Opening:
    """Opens rollouts once they are asked for: who only reads does without a database."""

    def __init__(self, settings: Settings, instance: InstanceFile) -> None:
        self._settings = settings
        self._instance = instance
        self._lock = threading.Lock()
        self._opened: Rollouts | None = None

    def rollouts(self) -> "Rollouts":
        with self._lock:
            if self._opened is None:
                from rlx.jobs.queue_service import open_rollouts  # imported late, with the database's library

                self._opened = open_rollouts(self._settings, self._instance)
            return self._opened

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None


def hub_name(hub: str) -> str:
    """What a snapshot says it was made from: the address of a Hub, or the folder of a local one."""
    folder = local_folder(hub)
    return hub.rstrip("/") if folder is None else str(folder)


def viewer_address(settings: Settings) -> str:
    """Where the dataset viewer beside the hub answers. A folder is served with its own."""
    if local_folder(settings.hub) is not None:
        return f"{LOCAL_HUB}/viewer"
    hub = settings.hub.rstrip("/")
    return settings.viewer_url or (DEFAULT_VIEWER if hub == DEFAULT_HUB else f"{hub}/viewer")


def router_address(settings: Settings) -> str:
    """Where the router of Inference Providers answers. A folder is served with one of its own."""
    if local_folder(settings.hub) is not None:
        return f"{LOCAL_HUB}/v1"
    hub = settings.hub.rstrip("/")
    return (settings.router_url or (DEFAULT_ROUTER if hub == DEFAULT_HUB else f"{hub}/v1")).rstrip("/")


def local_folder(hub: str) -> Path | None:
    """The folder that `hub` names, or None for a URL. Raises `BadInput` for a folder that is no hub, and for none."""
    if hub.startswith(("https://", "http://")):
        return None
    folder = Path(hub).expanduser()
    if not folder.is_dir():
        raise BadInput(
            f"No folder {hub!r} to use as a hub.",
            hint="Give a folder that holds datasets/<org>/<name>, or an https URL.",
        )
    folder = folder.resolve()
    if not _holds_repositories(folder):
        meant = next((above for above in folder.parents[:3] if _holds_repositories(above)), None)
        raise BadInput(
            f"{folder} holds no datasets/ or spaces/, so it is no hub.",
            hint=f"Did you mean {meant}?" if meant else "Lay repositories out as datasets/<org>/<name> in it.",
        )
    return folder


def _holds_repositories(folder: Path) -> bool:
    return any((folder / kind).is_dir() for kind in ("datasets", "spaces"))


def _local_transport(folder: Path, settings: Settings) -> httpx2.AsyncBaseTransport:
    from rlx.localhub import LocalHub  # imported late: a process that talks to the Hub does without

    return httpx2.ASGITransport(app=LocalHub(folder, cache_dir=settings.cache_dir / "localhub").app)
