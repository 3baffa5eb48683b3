"""`rlx worker`: runs rollouts that wait in the store's queue."""

from typing import Annotated

import typer

from rlx.cli.options import DemoOption, HubOption, StoreOption, make_settings, new_app
from rlx.errors import BadInput

app = new_app("Run rollouts.")


@app.command("worker")
def worker(
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    slots: Annotated[
        int, typer.Option("--slots", min=1, max=64, help="Rollouts at once, in each kind of sandbox.")
    ] = 2,
    parent: Annotated[
        int | None, typer.Option("--parent", metavar="PID", help="End with this process, which started it.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log more.")] = False,
) -> None:
    """Run rollouts that wait in the store's queue, until ended. `rlx serve` starts one by itself.

    Several may share a store. It keeps nothing of its environment but what programs need to run: a task never sees a
    variable of this machine.
    """
    settings = make_settings(hub, demo, store)

    import os

    import anyio

    from rlx.cli.serve_worker import can_work
    from rlx.jobs.worker_process import die_with, scrub_environment, serve_worker
    from rlx.sandboxes.hf.kind import point_client_at
    from rlx.sandboxes.named import variables_of
    from rlx.services import create_services
    from rlx.store.passing import sweep
    from rlx.telemetry import configure_logging

    if not can_work():
        raise BadInput("Rollouts need Linux and the extra `run`.", hint="pip install 'rl-explorer[run]'")
    if parent is not None:
        die_with(parent)
    scrub_environment(os.environ, variables_of(settings.sandboxes))
    point_client_at(settings.hub)
    configure_logging(verbose=verbose)
    sweep()

    async def main() -> None:
        async with create_services(settings) as services:
            rollouts = await anyio.to_thread.run_sync(services.rollouts)
            await serve_worker(services.library, rollouts, settings, slots=slots)

    anyio.run(main)
