"""`rlx index`: builds the catalog of a store, tells how it is, and schedules the building."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import DemoOption, FormatOption, HubOption, make_settings, new_app
from rlx.cli.output import Output, note
from rlx.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlx.hub.client import Token
    from rlx.jobs.indexer.readings import OnEvent
    from rlx.jobs.indexer.run import Options
    from rlx.model import Viewer
    from rlx.services import Services
    from rlx.settings import Settings
    from rlx.store.storage import Storage

app = new_app("Build the catalog that sites search.")

HOURLY = "17 * * * *"
"""When a schedule runs: each hour, at a minute that few others take."""
IMAGE = "python:3.12"
MINUTES = 45
CARRIED = (
    "viewer_url",
    "hub_connections",
    "hub_timeout",
    "max_listing_files",
    "listing_deadline",
    "index_jobs",
    "pack_budget",
)
"""Settings that change what `rlx index build` does, and stay with its line for cron where the environment has them."""
TOKEN_HOMES = ("HF_HOME", "HF_TOKEN_PATH")
"""Where `hf auth login` keeps its token."""

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="DIR|URL", help="Where the catalog is kept: a directory, or hf://buckets/ORG/NAME."
    ),
]
MinutesOption = Annotated[
    float | None, typer.Option("--minutes", min=0.0, help="Read for so many minutes at most, then publish.")
]
CountOption = Annotated[int | None, typer.Option("--count", min=0, help="Read so many environments at most.")]
TokenOption = Annotated[
    bool,
    typer.Option("--use-token", help="Send this machine's token, for its rate limit. Only what is public is read."),
]


@app.command("build")
def build(
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    featured: Annotated[bool, typer.Option("--featured", help="Read featured environments alone.")] = False,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Read only among the so many most popular ones.")
    ] = None,
    use_token: TokenOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be read, and change nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Take a listing far shorter than the last.")] = False,
    minutes: MinutesOption = None,
    count: CountOption = None,
) -> None:
    """List the Hub, read what changed, and publish a snapshot.

    Safe to end at any moment and to run again: what was read is kept. JSON is one event a line.
    """
    from rlx.cli.index_events import events
    from rlx.jobs.indexer.readings import Budget
    from rlx.jobs.indexer.run import Options

    output = Output(format)
    settings, storage = _place(hub, demo, store)
    options = Options(featured, top, force, dry_run, Budget(minutes, count))
    with events(output) as told:
        _run(settings, storage, options, told.tell, use_token=use_token)
    if dry_run and format != "json":
        output.table([{"id": key} for key in told.planned], ("id",), id_columns=("id",))


@app.command("status")
def status(store: StoreOption = None, format: FormatOption = "auto") -> None:
    """Tell which snapshot is in use and how old, how the last run went, and who works on it now."""
    from datetime import UTC, datetime

    from rlx.jobs.indexer.report import report, report_markdown

    _, storage = _place(None, False, store)
    record = _asked(storage, lambda: report(storage, datetime.now(UTC)))
    Output(format).document(record, lambda: report_markdown(record), id_columns=("db",))


@app.command("schedule")
def schedule(
    hub: HubOption = None,
    store: StoreOption = None,
    use_token: TokenOption = False,
    minutes: MinutesOption = MINUTES,
    create: Annotated[bool, typer.Option("--create", help="Make a scheduled Job on the Hub. It costs money.")] = False,
    every: Annotated[str, typer.Option("--every", metavar="CRON", help="When it runs.")] = HOURLY,
    namespace: Annotated[
        str | None, typer.Option("--namespace", metavar="ORG", help="Whose Job it is. Default: the token's owner.")
    ] = None,
) -> None:
    """Print the cron line that keeps a store's catalog fresh, or make a scheduled Job of the Hub.

    A Job needs a store it can reach: hf://buckets/ORG/NAME.
    """
    from rlx.cli.cron import cron_line, read_schedule
    from rlx.services import local_folder
    from rlx.store.storage import BUCKETS

    every = read_schedule(every)
    settings, storage = _place(hub, False, store)
    folder = local_folder(settings.hub)
    place = str(folder.absolute()) if folder is not None else settings.hub
    where = str(storage) if str(storage).startswith(BUCKETS) else str(Path(str(storage)).absolute())
    command = ["index", "build", "--hub", place, "--store", where, "--format", "json"]
    command += [
        *(["--minutes", f"{minutes:g}"] if minutes is not None else []),
        *(["--use-token"] if use_token else []),
    ]
    if not create:
        line = cron_line(every, [sys.executable, "-m", "rlx", *command], _carried(settings, use_token=use_token))
        sys.stdout.write(f"{line}\n")
        if use_token and os.environ.get("HF_TOKEN"):
            note("HF_TOKEN is a secret and not in the line. Set it in the crontab, or log in with `hf auth login`.")
        return
    if folder is not None or not where.startswith(BUCKETS):
        raise BadInput(
            "A Job runs elsewhere and reaches neither a folder here nor a store here.",
            hint="Give --hub https://... and --store hf://buckets/ORG/NAME.",
        )
    from rlx import __version__
    from rlx.hub.schedule import create_job
    from rlx.hub.token import machine_token

    token = machine_token()
    if token is None:
        raise BadInput("A Job needs a token that may write the bucket.", hint="Log in with `hf auth login`.")
    script = f"pip install --quiet rl-explorer=={__version__} && {shlex.join(['rlx', *command])}"
    job = create_job(
        ["sh", "-c", script],
        image=IMAGE,
        schedule=every,
        timeout=f"{int(minutes or MINUTES) + 30}m",
        secrets={"HF_TOKEN": token},
        namespace=namespace,
    )
    note(f"Made the scheduled Job {job}.")


def _carried(settings: "Settings", *, use_token: bool) -> dict[str, str]:
    """Variables that a build elsewhere in time needs: cron gives a command nearly none. No secrets."""
    kept = {
        f"RLX_{name.upper()}": str(getattr(settings, name)) for name in CARRIED if name in settings.model_fields_set
    }
    homes = (name for name in TOKEN_HOMES if use_token and os.environ.get(name))
    return {
        "RLX_CACHE_DIR": str(settings.cache_dir.absolute()),
        **kept,
        **{name: str(Path(os.environ[name]).absolute()) for name in homes},
    }


def _place(hub: str | None, demo: bool, store: str | None) -> "tuple[Settings, Storage]":
    """The settings, and the storage behind `--store`. A bucket's indexes stay on local disk. Raises `BadInput`."""
    from rlx.store.storage import BUCKETS, DirectoryStorage, open_storage

    if store is None or "://" not in store:
        settings = make_settings(hub, demo, None if store is None else Path(store))
        return settings, DirectoryStorage(settings.store)
    try:
        storage = open_storage(store)
    except ValueError as error:
        raise BadInput(
            f"--store {store!r} is no place to keep a catalog.", hint=f"Give a directory, or {BUCKETS}ORG/NAME."
        ) from error
    settings = make_settings(hub, demo, None)
    return settings.model_copy(update={"store": settings.cache_dir / "bucket-store"}), storage


def _asked[T](storage: "Storage", call: "Callable[[], T]") -> T:
    from rlx.errors import Upstream

    try:
        return call()
    except OSError as error:
        raise Upstream(f"The store {storage} cannot be read: {error}.") from error


def _run(settings: "Settings", storage: "Storage", options: "Options", tell: "OnEvent", *, use_token: bool) -> None:
    from rlx.cli.session import with_services
    from rlx.formats.registry import formats
    from rlx.hub.token import machine_token
    from rlx.jobs.indexer.run import Indexer, Place, readers_of
    from rlx.services import hub_name, local_folder

    token: Token = (machine_token() or False) if use_token else False

    async def work(services: "Services", viewer: "Viewer") -> None:
        place = Place(
            hub=services.hub,
            library=services.library,
            storage=storage,
            work=settings.cache_dir / "indexer",
            everything=local_folder(settings.hub) is not None,
            readers=readers_of(formats()),
            name=hub_name(settings.hub),
            token=token,
        )
        await Indexer(place, tell).run(options)

    with_services(settings, work, public_token=token)
