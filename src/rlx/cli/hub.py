"""`rlx hub`: a folder of repositories as a Hub."""

from pathlib import Path
from typing import Annotated

import typer

from rlx.cli.options import make_settings, new_app
from rlx.cli.output import note
from rlx.cli.serving import is_loopback

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
    verbose: Annotated[bool, typer.Option("--verbose", help="Log more.")] = False,
) -> None:
    """Serve a folder through the Hub's own HTTP API, read-only.

    Point a Hub client at it with HF_ENDPOINT, or rlx with --hub.
    """
    from rlx.localhub import run
    from rlx.services import local_folder
    from rlx.telemetry import configure_logging

    local_folder(str(folder))  # refuses what is no hub

    if not is_loopback(host):
        note(f"Whoever can reach {host} can read every file of {folder}, answers included.")
    configure_logging(verbose=verbose)
    cache = make_settings(None, False, None).cache_dir / "localhub"
    run(folder, host=host, port=port, cache_dir=cache, on_ready=_announce)


def _announce(url: str, repositories: dict[str, int]) -> None:
    counts = ", ".join(f"{n:,} {kind if n > 1 else kind.removesuffix('s')}" for kind, n in repositories.items() if n)
    note(f"The local hub is at {url} with {counts or 'no repository'} (Ctrl-C ends it).")
