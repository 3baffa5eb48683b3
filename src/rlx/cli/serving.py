"""What the serving commands share: which addresses may be bound, and a server that tells when it is ready."""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rlx.errors import BadInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, *, allowed: Sequence[str]) -> None:
    """Raises `BadInput` for an address others can reach, unless the names they will use are `allowed`."""
    if is_loopback(host) or allowed:
        return
    raise BadInput(
        f"Binding {host} would let other machines in, and no name they may use is given.",
        hint="Pass --public-url https://NAME or --allow-host NAME, or leave --host out to stay on this machine.",
    )


def bind(host: str, port: int) -> socket.socket:
    """A listening socket's beginning. Raises `BadInput` when the port is taken or the address is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise BadInput(
            f"{host} port {port} cannot be used: {error.strerror}.",
            hint="Choose another with --port, or stop its user.",
        ) from error
    return listener


def address(listener: socket.socket) -> str:
    """The URL of a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve_app(app: "ASGIApp", listener: socket.socket, on_ready: Callable[[], None]) -> None:
    """Serve until a signal ends it. Forwarding headers are left alone: the app decides whom to believe."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                on_ready()

    config = uvicorn.Config(
        app,
        access_log=False,
        date_header=True,
        lifespan="off",
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    await Server(config).serve(sockets=[listener])
