"""The process of a worker: what it may know of its surroundings, its loopback server, and its end.

Heavy libraries are imported here alone, once, before the worker says that it is ready.
"""

import asyncio
import ctypes
import hmac
import json
import logging
import os
import secrets
import shutil
import signal
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rlx.agents.registry import agents
from rlx.formats.base import Environment
from rlx.ids import EnvKey, parse_key
from rlx.jobs.queue import Offer
from rlx.jobs.queue_service import Rollouts
from rlx.jobs.worker import Materialize, Worker
from rlx.model import ANONYMOUS, Viewer
from rlx.rollout import Rollout
from rlx.runners.registry import Surroundings, entries
from rlx.runners.relay import Relay
from rlx.runners.seats.desk import Desk
from rlx.runners.workers import Handed, WorkerCard, announce, began_at, cards, is_alive, workers_folder
from rlx.sandboxes.local.kind import Local
from rlx.sandboxes.registry import entries as kinds
from rlx.settings import Settings

_log = logging.getLogger(__name__)

KEPT_VARIABLES: Final = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "PYTHONPATH", "PYTHONHOME"),
        *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
        *("VIRTUAL_ENV", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    )
)
"""What a worker's environment keeps. None of it is told to a task."""
SWITCHES: Final = {
    "HARBOR_TELEMETRY": "0",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "POSTHOG_DISABLED": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "OPENENV_TELEMETRY": "0",
}
"""Set before the libraries are imported that heed them."""
_PR_SET_PDEATHSIG: Final = 1


class Library(Protocol):
    """What a worker needs of `rlx.index.library.Library`."""

    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = None, revision: str | None = None
    ) -> Environment: ...


def scrub_environment(environment: MutableMapping[str, str], more: Collection[str] = ()) -> None:
    """Leave what a worker needs and `more`, switch off what its libraries send. This machine is reached directly."""
    kept = {*KEPT_VARIABLES, *more}
    for name in [name for name in environment if name not in kept]:
        del environment[name]
    environment.update(SWITCHES)
    for name in ("no_proxy", "NO_PROXY"):
        environment[name] = ",".join(filter(None, [environment.get(name), "127.0.0.1", "localhost"]))


def die_with(parent: int) -> None:
    """Be told to end when the process `parent` ends, and end now when it has."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit(0)


async def serve_worker(library: Library, rollouts: Rollouts, settings: Settings, *, slots: int) -> None:
    """Be a worker until a signal ends the process. `library` opens environments as `rlx.index.library.Library` does."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    id, key = f"w-{secrets.token_hex(5)}", secrets.token_urlsafe(24)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        relay = Relay()
        app = Starlette(routes=[Route("/relay/{name}/v1/chat/completions", relay.endpoint, methods=["POST"])])
        outside = f"{settings.public_url.rstrip('/')}/capture/{id}" if settings.public_url else None
        surroundings = Surroundings(settings, f"http://127.0.0.1:{port}", relay, app.mount, Desk(key), outside)
        runners = {entry.name: entry.load(surroundings) for entry in entries()}
        local = Local(settings)
        names = [entry.name for entry in agents()]
        offered: dict[str, int] = dict.fromkeys((*(entry.name for entry in kinds()), *settings.sandboxes), slots)
        folder = workers_folder(settings)
        worker = Worker(
            id=id,
            rollouts=rollouts,
            runners=runners,
            offer=Offer(list(runners), names, dict[str | None, int](offered.items())),
            materialize=materializer(library),
            folder=settings.cache_dir / "work" / id,
            clean=lambda: _clean(local.reap, settings.cache_dir / "work", folder),
            gone=lambda: [card.id for card in cards(folder) if not is_alive(card)],
        )
        app.add_route("/control/rollouts/{id}", _hearing(worker, key), methods=["PUT"])
        server = _Server(_quiet(app))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        card = WorkerCard(id, os.getpid(), began_at(os.getpid()), port, key, tuple(runners), tuple(names), offered)
        path = announce(folder, card)
        try:
            worker.folder.mkdir(parents=True, mode=0o700)  # of a worker that is announced: others take away the rest
            await worker.run(ending)
        finally:
            path.unlink(missing_ok=True)
            server.should_exit = True
            await asyncio.wait([serving], timeout=5)
            shutil.rmtree(worker.folder, ignore_errors=True)


def materializer(library: Library) -> Materialize:
    """Fetches a task with whatever token the rollout was given."""

    async def materialize(rollout: Rollout, handed: Handed, folder: Path) -> Path:
        viewer = Viewer("session", token=handed.hub_token) if handed.hub_token else ANONYMOUS
        revision = rollout.revision or None
        environment: Environment = await library.open(parse_key(rollout.env), viewer, wait=None, revision=revision)
        return await environment.materialize(rollout.ref, folder)

    return materialize


def _hearing(worker: Worker, key: str) -> Callable[[Request], Awaitable[Response]]:
    """Answers whoever starts rollouts."""

    async def told(request: Request) -> Response:
        """There is a rollout, and what it needs that is written nowhere."""
        offered = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(offered.encode(), key.encode()):
            return JSONResponse({"error": "The key of this worker is needed."}, 401)
        try:
            body = json.loads(await request.body())
            handed = Handed(**body) if body else None
        except (ValueError, TypeError):
            return JSONResponse({"error": "The body is not what a rollout needs."}, 400)
        worker.hear(request.path_params["id"], handed)
        return Response(status_code=204)

    return told


class _Server(uvicorn.Server):
    """Leaves signals to the worker."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _quiet(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", server_header=False)


def _clean(reap: Callable[[], int], work: Path, workers: Path) -> None:
    """Take away what workers left that are gone. Their rollouts are recovered before."""
    reap()
    living = {card.id for card in cards(workers) if is_alive(card)}
    for card in cards(workers):
        if card.id not in living:
            (workers / f"{card.id}.json").unlink(missing_ok=True)
    for path in work.iterdir() if work.is_dir() else ():
        if path.name not in living:
            shutil.rmtree(path, ignore_errors=True)
