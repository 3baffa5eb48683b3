"""The local hub on a port: in a thread, for tests and for use beside a program; or until it is interrupted."""

import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rlx.errors import BadInput
from rlx.localhub.hub import LocalHub
from rlx.localhub.sidecar import User
from rlx.localhub.wire import App, Receive, Scope, Send, send_answer, text_answer

if TYPE_CHECKING:
    import uvicorn

    from rlx.localhub.jobs.routes import JobRoutes

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104  compared with, not bound to


class LocalHubServer:
    """Serves a hub on `host` and `port` (0: any free one) from `start` to `stop`, or as a context manager.

    A hub on loopback answers to loopback names alone, so that no web page can reach it through a name of its own.
    """

    def __init__(self, hub: LocalHub, host: str = "127.0.0.1", port: int = 0) -> None:
        self.hub = hub
        self._host = host
        self._port = port
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._socket: socket.socket | None = None

    @property
    def url(self) -> str:
        """Where it answers, without a slash at the end. The dataset viewer is at `/viewer` below it."""
        shown = "127.0.0.1" if self._host == "0.0.0.0" else self._host  # noqa: S104  a name to connect to
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self._port}"

    def start(self) -> Self:
        self.bind()
        self._thread = threading.Thread(target=self.run, name="local-hub", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the server and wait for it."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        if self._socket is not None:
            self._socket.close()
        self.hub.close()

    def bind(self) -> None:
        """Take the port; requests wait from now on. Raises `BadInput` when it cannot be had."""
        import uvicorn  # not needed by those who use the hub in their own process

        if self.hub.jobs is not None and self._host not in _LOOPBACK | {"::1"}:
            raise BadInput(f"Jobs run commands on this machine, and {self._host} is not its loopback.")
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            self._socket = socket.create_server((self._host, self._port), family=family, backlog=1024)
        except OSError as error:
            raise BadInput(f"Port {self._port} of {self._host} cannot be served: {error.strerror}.") from error
        self._port = self._socket.getsockname()[1]
        app = self.hub.app if self._host in _EVERYWHERE else _only_hosts(self.hub.app, _LOOPBACK | {self._host})
        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            date_header=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve in this thread until stopped. `bind` comes first."""
        if self._server is None or self._socket is None:
            raise RuntimeError("bind() comes before run().")
        self._server.run(sockets=[self._socket])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(root: Path | LocalHub, host: str = "127.0.0.1", port: int = 0) -> LocalHubServer:
    """A server over a folder or a hub, to be used as a context manager: `with serve(root) as server: server.url`."""
    return LocalHubServer(root if isinstance(root, LocalHub) else LocalHub(root), host, port)


def run(
    root: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    cache_dir: Path | None = None,
    users: Mapping[str, str | User] | None = None,
    jobs: "JobRoutes | None" = None,
    writable: Path | None = None,
    on_ready: Callable[[str, dict[str, int]], None] | None = None,
) -> None:
    """Serve `root` until interrupted. `on_ready` is told the URL and the number of repositories by kind.

    `users`, `jobs` and `writable` are those of `LocalHub`.

    Raises `NotFound` when `root` is no folder, `BadInput` for a malformed `hub.json` or a port that is taken.
    """
    hub = LocalHub(root, cache_dir=cache_dir, users=users, jobs=jobs, writable=writable)
    counts = hub.warm()
    server = LocalHubServer(hub, host, port)
    server.bind()
    if on_ready is not None:
        on_ready(server.url, counts)
    try:
        server.run()
    finally:
        server.stop()


def _only_hosts(app: App, names: frozenset[str]) -> App:
    """`app` for requests whose Host is one of `names`, on any port."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        host = next((value for key, value in scope["headers"] if key == b"host"), b"").decode("latin-1").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name in names:
            await app(scope, receive, send)
            return
        answer = text_answer("This local hub answers to loopback names only.\n")
        answer.status = 421
        await send_answer(answer, send, head=False)

    return guarded
