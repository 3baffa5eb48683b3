"""`rlx store`: what is kept of an instance."""

from pathlib import Path
from typing import Annotated

import typer

from rlx.cli.options import FormatOption, make_settings, new_app
from rlx.cli.output import Output, note, progress

app = new_app("Look after what an instance keeps.")

StoreOption = Annotated[Path | None, typer.Option("--store", metavar="DIR", help="Where rollouts are kept.")]


@app.callback()
def _root() -> None:
    """Look after what an instance keeps."""


@app.command("reindex")
def reindex(
    store: StoreOption = None,
    format: FormatOption = "auto",
    anew: Annotated[
        bool, typer.Option("--anew", help="Throw the index away first. Only while no server or worker runs.")
    ] = False,
) -> None:
    """Make the index of rollouts from their files, which are the truth.

    Safe to run again, and while a server runs. Exits 1 when a record cannot be read.
    """
    from dataclasses import asdict

    from rlx.errors import Upstream
    from rlx.jobs.queue_service import open_rollouts
    from rlx.store.instance import InstanceFile
    from rlx.store.rollouts.reindex import reindex as make_index

    settings = make_settings(None, False, store)
    rollouts = open_rollouts(settings, InstanceFile(settings.store), anew=anew)
    try:
        with progress("Reading rollouts") as tell:
            done = make_index(rollouts.index, rollouts.files, tell)
    except OSError as error:
        raise Upstream(f"The store {settings.store} cannot be read: {error.strerror or error}.") from error
    finally:
        rollouts.close()
    record = asdict(done)
    columns = ("read", "added", "changed", "removed", "damaged")
    shown = {**record, "damaged": len(done.damaged)}
    Output(format).table([record if format == "json" else shown], columns, id_columns=("read",))
    for id in done.damaged:
        note(f"{id}: its record cannot be read, or is missing.")
    if done.damaged:
        raise typer.Exit(1)
