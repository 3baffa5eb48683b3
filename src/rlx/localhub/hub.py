"""The local hub: the Hugging Face Hub's HTTP API over a folder, as an ASGI application."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from rlx.errors import RlxError
from rlx.localhub import api, router
from rlx.localhub.access import Visitor, identify, not_found
from rlx.localhub.faults import Fault, Faults
from rlx.localhub.files import Changed
from rlx.localhub.limits import Meter
from rlx.localhub.shelf import KINDS, Shelf
from rlx.localhub.sidecar import User
from rlx.localhub.viewer.routes import Viewer
from rlx.localhub.wire import (
    Answer,
    Bucket,
    Headers,
    Receive,
    Refusal,
    Request,
    Scope,
    Send,
    json_answer,
    send_answer,
    text_answer,
)
from rlx.localhub.writing.ledger import Ledger
from rlx.localhub.writing.pages import stylesheet
from rlx.localhub.writing.routes import INLINE, Writing

if TYPE_CHECKING:
    from rlx.localhub.jobs.routes import JobRoutes

_FRONT = """Local hub.
/api                                                    the Hub's API
/datasets/<org>/<name>/resolve/<revision>/<path>        files
/viewer                                                 the dataset viewer
/v1                                                     a router of Inference Providers: the scripted model
"""
_READ_ONLY = "This local hub only reads. Start it with --writable to write to it."
_REMEMBERED = 10_000


class LocalHub:
    """Serves `<root>/{datasets,spaces,models}/<org>/<name>`; never writes below `root`.

    With `writable`, a folder, it takes commits, pull requests and discussions, which it keeps there: what was written
    to a repository stands in place of what lies in `root`. `inline` is up to how many bytes a file is sent inside a
    commit. Such a hub is closed with `close`, and refused (`BadInput`) while another process writes there.

    Cheap to make: folders are looked at when they are asked for, and again after `rescan` seconds (a look that is slow
    stretches that up to five seconds; 0 looks every time). `cache_dir` keeps file hashes between runs. `users` maps
    tokens to users or their names, beside those of `hub.json`. `jobs` lets them run jobs on this machine. Raises
    `NotFound` when `root` is no folder, `BadInput` when its `hub.json` is malformed.
    """

    def __init__(
        self,
        root: Path,
        *,
        cache_dir: Path | None = None,
        users: Mapping[str, str | User] | None = None,
        faults: Faults | None = None,
        jobs: "JobRoutes | None" = None,
        writable: Path | None = None,
        inline: int = INLINE,
        rescan: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.faults = faults if faults is not None else Faults()
        self.requests: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        """Method and path (as sent, with the query) of the latest requests, oldest first."""
        self._ledger = None if writable is None else Ledger(writable)
        try:
            self._shelf = Shelf(
                root,
                cache_dir=cache_dir,
                users=users or {},
                faults=self.faults,
                interval=rescan,
                clock=clock,
                ledger=self._ledger,
            )
        except RlxError:
            self.close()
            raise
        self._writing = None if self._ledger is None else Writing.over(self._shelf, self._ledger, inline=inline)
        self.jobs = jobs
        self._viewer = Viewer(self._shelf)
        self._meter = Meter(clock)

    @property
    def root(self) -> Path:
        return self._shelf.root

    def warm(self) -> dict[str, int]:
        """Look at every repository now, so that no first request waits. Gives their number by kind."""
        return self._shelf.warm()

    def close(self) -> None:
        """Let go of what is written to, of which a hub that only reads has nothing."""
        if self._ledger is not None:
            self._ledger.close()

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        query = scope["query_string"].decode("latin-1")
        self.requests.append((request.method, f"{request.path}?{query}" if query else request.path))
        self._shelf.tick()
        fault = self.faults.take(request.method, request.path, query)
        if fault is not None:
            await self._misbehave(fault, request, send)
            return
        answer = await self._answer(request)
        try:
            await send_answer(answer, send, head=request.method == "HEAD", receive=receive)
        except Changed:
            refusal = Refusal(503, "", "The file changed on disk while it was read.")
            await send_answer(refusal.answer(), send, head=request.method == "HEAD")

    async def _misbehave(self, fault: Fault, request: Request, send: Send) -> None:
        await anyio.sleep(fault.delay)
        answer = fault.instead(_bucket(request.path))
        if answer is None:
            answer = fault.alter(await self._answer(request, whole=fault.ignore_range))
        await fault.send(answer, send, head=request.method == "HEAD")

    async def _answer(self, request: Request, *, whole: bool = False) -> Answer:
        limits: Headers = []
        try:
            visitor = identify(request, self._shelf.sidecar)
            limits = self._meter.spend(_bucket(request.path), visitor.key, self._shelf.sidecar.current.limits)
            answer = await self._route(request, visitor, whole)
        except Refusal as refusal:
            answer = refusal.answer()
        answer.headers.extend(limits)
        return answer

    async def _route(self, request: Request, visitor: Visitor, whole: bool) -> Answer:
        parts = request.path.split("/")[1:]
        if self.jobs is not None and self.jobs.takes(parts):
            return await self.jobs.answer(request, visitor, parts)
        if parts[0] == "v1":
            return await router.answer(request, visitor, parts[1:], has_users=self._shelf.sidecar.has_users)
        if self._writing is not None:
            written = await self._writing.answer(request, visitor, parts)
            if written is not None:
                return written
        posted = request.method == "POST" and len(parts) == 6 and parts[4] == "paths-info"
        if request.method not in {"GET", "HEAD"} and not posted:
            if self._writing is None:
                raise Refusal(403, "", _READ_ONLY)
            raise Refusal(405, "", "This route takes another method.", [(b"allow", b"GET, HEAD")])
        match parts:
            case ["api", "whoami-v2"]:
                return api.whoami(visitor.user, writes=self._writing is not None)
            case ["api", "agent-harnesses"]:
                # The client caches this answer for a day and breaks on anything but an object.
                return json_answer({"standardEnvVars": [], "harnesses": {}})
            case ["api", kind] if kind in KINDS:
                return await api.list_repos(self._shelf, request, visitor, kind)
            case ["api", "spaces", "semantic-search"]:
                raise Refusal(404, "", "This local hub has no semantic search.")
            case ["api", kind, _] if kind in KINDS:
                raise not_found(visitor, kind)
            case ["api", kind, *repo] if kind in KINDS:
                return await api.repo_route(self._shelf, request, visitor, kind, repo)
            case ["viewer", route]:
                return await self._viewer.answer(route, request, visitor)
            case ["datasets" | "spaces" as kind, org, name, "resolve", rev, *path] if path:
                return await api.resolve(self._shelf, request, visitor, kind, [org, name, rev, *path], whole=whole)
            case [org, name, "resolve", rev, *path] if path:
                return await api.resolve(self._shelf, request, visitor, "models", [org, name, rev, *path], whole=whole)
            case ["-", "localhub.css"]:
                return stylesheet()
            case [""]:
                return text_answer(_FRONT)
        raise Refusal(404, "", "This local hub has no such route.")


def _bucket(path: str) -> Bucket:
    return "api" if path.startswith(("/api/", "/viewer/")) else "resolvers" if "/resolve/" in path else "pages"
