"""`rlx hub`: a folder of repositories as a Hub."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import make_settings, new_app
from rlx.cli.output import note
from rlx.cli.serving import is_loopback
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.localhub.jobs.routes import JobRoutes
    from rlx.settings import Settings

app = new_app("Serve a folder of repositories as a Hub.")


@app.callback()
def _group() -> None:
    """Serve a folder of repositories as a Hub."""


@app.command("serve")
def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that holds datasets/ORG/NAME.", show_default=False)
    ],
    host: Annotated[str, typer.Option("--host", help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 for any that is free.")] = 8765,
    jobs: Annotated[
        bool, typer.Option("--jobs", help="Run jobs and sandboxes of those with a token, on this machine.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log more.")] = False,
) -> None:
    """Serve a folder through the Hub's own HTTP API, read-only.

    Point a Hub client at it with HF_ENDPOINT, or rlx with --hub.

    With --jobs it answers the Hub's Jobs and Sandbox API too, out of local sandboxes, for the users of hub.json, or
    else for one whose token is told at the start.
    """
    from rlx.localhub import run
    from rlx.services import local_folder
    from rlx.telemetry import configure_logging

    local_folder(str(folder))  # refuses what is no hub

    if not is_loopback(host):
        note(f"Whoever can reach {host} can read every file of {folder}, answers included.")
    configure_logging(verbose=verbose)
    settings = make_settings(None, False, None)
    routes, users = _jobs(settings, folder) if jobs else (None, None)
    run(
        folder,
        host=host,
        port=port,
        cache_dir=settings.cache_dir / "localhub",
        users=users,
        jobs=routes,
        on_ready=_announce,
    )


def _jobs(settings: "Settings", folder: Path) -> "tuple[JobRoutes, dict[str, str] | None]":
    """What runs jobs, and a user for it where the hub has none. Raises `BadInput` where this machine cannot."""
    import secrets

    from rlx.localhub.jobs.book import Jobs
    from rlx.localhub.jobs.routes import JobRoutes
    from rlx.localhub.sidecar import SidecarFile
    from rlx.sandboxes.base import Impossible
    from rlx.sandboxes.local.kind import Local
    from rlx.texts import words

    local = Local(settings)
    able = local.can_run()
    if isinstance(able, Impossible):
        raise BadInput(f"Jobs need local sandboxes. {words(able.why)}", hint=words(able.hint) if able.hint else None)
    sidecar = SidecarFile(folder)
    sidecar.reload()
    users = None
    if not sidecar.has_users:
        token = f"hf_local{secrets.token_hex(12)}"
        users = {token: "me"}
        note(f"Jobs run for whoever has this token, till the hub ends: {token}")
    return JobRoutes(Jobs(local)), users


def _announce(url: str, repositories: dict[str, int]) -> None:
    counts = ", ".join(f"{n:,} {kind if n > 1 else kind.removesuffix('s')}" for kind, n in repositories.items() if n)
    note(f"The local hub is at {url} with {counts or 'no repository'} (Ctrl-C ends it).")
