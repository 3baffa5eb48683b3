"""`rlx hub`: a folder of repositories as a Hub, and environments to and from one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.hub_push import pull, push
from rlx.cli.hub_report import report
from rlx.cli.hub_tag import tag
from rlx.cli.hub_use import detect, snippet
from rlx.cli.options import make_settings, new_app
from rlx.cli.output import note
from rlx.cli.serving import is_loopback
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.localhub.jobs.routes import JobRoutes
    from rlx.localhub.sidecar import User
    from rlx.settings import Settings

app = new_app("Serve a folder as a Hub, and publish environments to one.")


@app.callback()
def _group() -> None:
    """Serve a folder as a Hub, and publish environments to one."""


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
    writable: Annotated[
        bool, typer.Option("--writable", help="Take commits, pull requests and discussions of those with a token.")
    ] = False,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="DIR", help="Where what is written is kept. Default: a folder in the store."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log more.")] = False,
) -> None:
    """Serve a folder through the Hub's own HTTP API, read-only unless told otherwise.

    Point a Hub client at it with HF_ENDPOINT, or rlx with --hub.

    With --jobs it answers the Hub's Jobs and Sandbox API too, out of local sandboxes; with --writable it takes what
    clients write, and keeps that apart from the folder. Both are for the users of hub.json, or else for one whose token
    is told at the start.
    """
    from rlx.localhub import run
    from rlx.services import local_folder
    from rlx.telemetry import configure_logging

    local_folder(str(folder))  # refuses what is no hub

    if not is_loopback(host):
        note(f"Whoever can reach {host} can read every file of {folder}, answers included.")
    configure_logging(verbose=verbose)
    settings = make_settings(None, False, None)
    if state is not None and not writable:
        raise BadInput("--state is where a writable hub keeps things.", hint="Add --writable, or leave it out.")
    routes = _jobs(settings) if jobs else None
    users = _user(folder) if jobs or writable else None
    written = (state or _state(settings, folder)) if writable else None
    if written is not None:
        note(f"What is written is kept in {written}; {folder} stays as it is.")
    run(
        folder,
        host=host,
        port=port,
        cache_dir=settings.cache_dir / "localhub",
        users=users,
        jobs=routes,
        writable=written,
        on_ready=_announce,
    )


app.command("push")(push)
app.command("pull")(pull)
app.command("detect")(detect)
app.command("snippet")(snippet)
app.command("tag")(tag)
app.command("report")(report)


def _jobs(settings: "Settings") -> "JobRoutes":
    """What runs jobs. Raises `BadInput` where this machine cannot."""
    from rlx.localhub.jobs.book import Jobs
    from rlx.localhub.jobs.routes import JobRoutes
    from rlx.sandboxes.base import Impossible
    from rlx.sandboxes.local.kind import Local
    from rlx.texts import words

    local = Local(settings)
    able = local.can_run()
    if isinstance(able, Impossible):
        raise BadInput(f"Jobs need local sandboxes. {words(able.why)}", hint=words(able.hint) if able.hint else None)
    return JobRoutes(Jobs(local))


def _user(folder: Path) -> "dict[str, User] | None":
    """A user who owns everything, told with a token of their own, where the hub has none."""
    import secrets

    from rlx.localhub.shelf import KINDS, folders
    from rlx.localhub.sidecar import SidecarFile, User

    sidecar = SidecarFile(folder)
    sidecar.reload()
    if sidecar.has_users:
        return None
    token = f"hf_local{secrets.token_hex(12)}"
    note(f"Till the hub ends this token is a user's, whose name is me: {token}")
    return {token: User(name="me", orgs=tuple({org: None for kind in KINDS for org in folders(folder / kind)}))}


def _state(settings: "Settings", folder: Path) -> Path:
    """Where what is written to a folder's hub is kept: the same for the same folder."""
    import hashlib

    whole = folder.resolve()
    digest = hashlib.sha256(str(whole).encode()).hexdigest()[:12]
    return settings.store / "localhubs" / f"{whole.name[:60]}-{digest}"


def _announce(url: str, repositories: dict[str, int]) -> None:
    counts = ", ".join(f"{n:,} {kind if n > 1 else kind.removesuffix('s')}" for kind, n in repositories.items() if n)
    note(f"The local hub is at {url} with {counts or 'no repository'} (Ctrl-C ends it).")
