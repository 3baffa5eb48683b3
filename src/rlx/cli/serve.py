"""`rlx serve`: the web app over a Hub, a folder or the demo."""

from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import DemoOption, HubOption, StoreOption, make_settings, new_app
from rlx.cli.output import note
from rlx.cli.serving import address, bind, check_host, serve_app

if TYPE_CHECKING:
    from rlx.services import Services

app = new_app("Serve the web app.")


@app.command("serve")
def serve(
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    host: Annotated[str, typer.Option("--host", help="Address to bind.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 for any that is free.")] = 7860,
    public_url: Annotated[
        str | None, typer.Option("--public-url", metavar="URL", help="The address people use, behind a proxy.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="One more host name to answer to.")
    ] = None,
    worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Run rollouts too, in a process of their own.")
    ] = True,
    slots: Annotated[int, typer.Option("--slots", min=1, max=64, help="Rollouts at once.")] = 2,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every request.")] = False,
) -> None:
    """Serve the web app: explore, read environments and tasks.

    Without --hub it reads the Hugging Face Hub, with this machine's own token if there is one. It answers this machine
    only, unless told otherwise.
    """
    names = {"allowed_hosts": tuple(allow_host)} if allow_host else {}
    settings = make_settings(hub, demo, store, public_url=public_url, **names)
    check_host(host, allowed=(*settings.allowed_hosts, *filter(None, [settings.public_url])))

    import anyio.to_thread  # from here on for long: a wrong command line is told at once

    from rlx.cli.serve_worker import can_work, keep_working
    from rlx.services import create_services
    from rlx.store.passing import sweep
    from rlx.telemetry import configure_logging
    from rlx.web.app import create_app

    configure_logging(verbose=verbose)

    async def main() -> None:
        with bind(host, port) as listener:
            async with (
                create_services(settings, keep_catalog=True, reviews=True) as services,
                anyio.create_task_group() as group,
            ):
                app = create_app(services)
                group.start_soon(_warm, services)
                group.start_soon(anyio.to_thread.run_sync, sweep, None)
                group.start_soon(anyio.to_thread.run_sync, app.state.site.renderer.warm)
                group.start_soon(app.state.launcher.look_around)
                if worker and can_work():
                    group.start_soon(keep_working, settings, slots)
                await serve_app(
                    app,
                    listener,
                    lambda: note(f"RL Explorer is at {address(listener)} (Ctrl-C ends it)"),
                )
                group.cancel_scope.cancel()

    anyio.run(main)


async def _warm(services: "Services") -> None:
    """List the Hub now: the first visitor need not wait, and whoever started the server learns what is wrong."""
    from rlx.errors import UserError
    from rlx.model import ANONYMOUS, EnvQuery

    try:
        await services.catalog.search(EnvQuery(limit=1), ANONYMOUS)
    except UserError as error:
        note(f"{error.message} Pages will try again.")
