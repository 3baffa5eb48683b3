"""`rlx run`: run agents on tasks, follow them, and take what came of it away."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlx.cli.options import (
    ColumnsOption,
    DemoOption,
    FilterOption,
    FormatOption,
    HubOption,
    LimitOption,
    StoreOption,
    make_settings,
    new_app,
    read_filters,
)
from rlx.cli.output import Output, Record, choose_columns, note, tell_rest
from rlx.cli.shell import shell
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.cli.session import Work
    from rlx.model import Viewer
    from rlx.runners.asked import ModelAsked, Value
    from rlx.services import Services
    from rlx.settings import Settings

app = new_app("Run agents on tasks, follow them, and take what came of it away.")

COLUMNS = (
    "id",
    "env",
    "ref",
    "revision",
    "title",
    "runner",
    "sandbox",
    "agent",
    "model",
    "status",
    "stage",
    "reward",
    "rewards",
    "graded",
    "error",
    "seconds",
    "usage",
    "cost",
    "created_at",
    "started_at",
    "finished_at",
    "visibility",
)
USUAL = ("id", "status", "reward", "agent", "env", "ref", "created_at")
PAGE = 200
ROUTED = "router:"
"""Before a model of Inference Providers."""

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The rollout's id, as rlx run ls prints it.")]
Outcome = Literal["active", "ended", "graded", "solved", "unsolved", "ungraded"]
"""How it went, told here so that help imports nothing of lists."""
Sort = Literal["new", "old", "reward", "-reward", "cost", "-cost", "finished"]
OutcomeOption = Annotated[Outcome | None, typer.Option("--outcome", help="Only those that went so.")]
RunSortOption = Annotated[Sort, typer.Option("--sort", help="reward and cost: the highest first, with - the lowest.")]


@app.command("start")
def start(
    env: Annotated[str, typer.Argument(metavar="ENV", help="org/name, or space:org/name.")],
    ref: Annotated[str, typer.Argument(metavar="REF", help="The task's ref, as rlx task ls prints it.")],
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    agent: Annotated[
        str, typer.Option("--agent", help="Who works: simple, oracle, nop, terminus-2, or one of rlx sandbox agents.")
    ] = "simple",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="router:ORG/NAME[:fastest|cheapest|PROVIDER], as rlx models ls has them; with --base-url the model's "
            "name there; else a script: solve or wrong.",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="An endpoint, up to /chat/completions.")
    ] = None,
    runner: Annotated[str, typer.Option("--runner", help="What runs it.")] = "harbor",
    sandbox: Annotated[str, typer.Option("--sandbox", help="Where it runs.")] = "local",
    field: Annotated[
        list[str] | None, typer.Option("--field", metavar="KEY=VALUE", help="A setting of the way it runs.")
    ] = None,
    var: Annotated[
        list[str] | None,
        typer.Option(
            "--var",
            metavar="NAME[=VALUE]",
            help="A variable that the task reads; without =VALUE, this shell's own. Kept in the worker's memory alone.",
        ),
    ] = None,
    dollars_in: Annotated[
        float | None, typer.Option("--dollars-in", min=0, help="Price of a million tokens in.")
    ] = None,
    dollars_out: Annotated[
        float | None, typer.Option("--dollars-out", min=0, help="Price of a million tokens out.")
    ] = None,
    revision: Annotated[str | None, typer.Option("--revision", help="A commit of the environment.")] = None,
    visibility: Annotated[
        Literal["private", "public"], typer.Option("--visibility", help="Who may see it once it is graded.")
    ] = "private",
    wait: Annotated[bool, typer.Option("--wait", help="Follow it to its end; exits 1 unless it was graded.")] = False,
) -> None:
    """Run an agent on a task. A key for --base-url is read from RLX_MODEL_KEY or OPENAI_API_KEY.

    It waits for a worker: of rlx serve, or rlx worker. With --wait and no worker of this machine, one is started for as
    long as it takes.
    """
    from rlx.cli.run_waiting import started

    settings = make_settings(hub, demo, store)
    asked_model = _model(agent, model, base_url, dollars_in, dollars_out)
    fields, variables = _fields(field), _variables(var)

    async def work(services: "Services", viewer: "Viewer") -> Record:
        from rlx.runners.asked import Asked

        asked = Asked(env, ref, agent, revision, runner, sandbox or None, asked_model, fields, variables, visibility)
        return await started(services, viewer, asked, wait=wait)

    record = with_rollouts(settings, work)
    show_one(Output(format), record)
    if wait:
        exit_by(record)


@app.command("watch")
def watch(
    id: IdArgument,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Follow a rollout to its end: what happens on standard error, the rollout itself on standard output.

    Exits 1 unless it was graded.
    """
    from rlx.cli.run_waiting import followed

    async def work(services: "Services", viewer: "Viewer") -> Record:
        return await followed(services, viewer, id)

    record = with_rollouts(make_settings(hub, demo, store), work)
    show_one(Output(format), record)
    exit_by(record)


@app.command("ls")
def ls(
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    filter: FilterOption = None,
    ref: Annotated[
        str | None, typer.Option("--ref", metavar="REF", help="Only those of this task; goes with --filter env=….")
    ] = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only those of whoever runs this machine.")] = False,
    outcome: OutcomeOption = None,
    sort: RunSortOption = "new",
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave out so many of the first.")] = 0,
    limit: LimitOption = None,
    columns: ColumnsOption = None,
) -> None:
    """List the rollouts of this machine's store. --filter takes env, agent, model, sandbox and status."""
    from rlx.twins.run import masked, run_record
    from rlx.twins.run_list import RunQuery, filters_of

    output = Output(format)
    query = RunQuery(read_filters(filter), ref, mine, outcome or "", sort)
    filters, most = filters_of(query), output.most(limit)

    async def work(services: "Services", viewer: "Viewer") -> tuple[list[Record], int]:
        views, found = services.rollouts().views, list[Record]()
        while True:
            size = PAGE if most is None else min(PAGE, most - len(found))
            page = views.page(filters, viewer, sort=sort, offset=offset + len(found), limit=size)
            found += [run_record(masked(run)) for run in page.rollouts]
            if not page.rollouts or len(found) in (page.total - offset, most):
                return found, max(len(found), page.total - offset)

    records, total = with_rollouts(make_settings(hub, demo, store), work)
    output.table([_flat(one, output) for one in records], choose_columns(columns, COLUMNS, USUAL), id_columns=("id",))
    tell_rest(len(records), total)


@app.command("show")
def show(
    id: IdArgument,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Show a rollout: what was said, what it earned, what graded it."""
    from rlx.twins.run import read_run, run_json
    from rlx.twins.run_markdown import run_markdown

    async def work(services: "Services", viewer: "Viewer") -> tuple[Record, str]:
        view = read_run(services.rollouts().views, id, viewer)
        return run_json(view), run_markdown(view)

    record, markdown = with_rollouts(make_settings(hub, demo, store), work)
    Output(format).document(record, lambda: markdown, id_columns=("id",))


@app.command("export")
def export(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A file that ends in .jsonl or .parquet, or - .")],
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    filter: FilterOption = None,
    outcome: OutcomeOption = None,
    id: Annotated[list[str] | None, typer.Option("--id", metavar="ID", help="This rollout. Repeat for more.")] = None,
) -> None:
    """Write rollouts that have ended as rows of a dataset: chat messages with tools, rewards, ATIF. Nothing private."""
    import sys

    from rlx.twins.run_export import EXPORTS, exported
    from rlx.twins.run_list import RunQuery, filters_of

    kind = "jsonl" if str(to) == "-" else to.suffix.removeprefix(".")
    if kind not in {"jsonl", "parquet"}:
        raise BadInput(f"{to.name!r} is no file of rows.", hint="Its name ends in .jsonl or .parquet.")
    filters = filters_of(RunQuery(read_filters(filter), outcome=outcome or ""))

    async def work(services: "Services", viewer: "Viewer") -> int:
        views, ids = services.rollouts().views, list(id or ())
        while not id and len(ids) < EXPORTS:
            page = views.page(filters, viewer, sort="old", offset=len(ids), limit=PAGE)
            ids += [run.id for run in page.rollouts]
            if not page.rollouts or len(ids) >= page.total:
                break
        for one in id or ():
            views.find(one, viewer)  # raises for what is not there
        pieces = exported(views, ids, viewer, kind)
        if str(to) == "-":
            sys.stdout.writelines(piece.decode() for piece in pieces)
        else:
            with to.open("wb") as file:
                file.writelines(pieces)
        return len(ids)

    try:
        count = with_rollouts(make_settings(hub, demo, store), work)
    except OSError as error:
        raise BadInput(f"{to} cannot be written: {error.strerror}.") from error
    note(f"{count:,} rollouts looked at. Those that go on are left out.")


app.command("shell")(shell)


def with_rollouts[T](settings: "Settings", work: "Work[T]") -> T:
    """The result of `work`, asked for by whoever runs this machine."""
    from dataclasses import replace

    from rlx.cli.session import with_services

    async def of_this_machine(services: "Services", viewer: "Viewer") -> T:
        return await work(services, replace(viewer, kind="local"))

    return with_services(settings, of_this_machine)


def _model(
    agent: str, model: str | None, base_url: str | None, dollars_in: float | None, dollars_out: float | None
) -> "ModelAsked | None":
    """What was asked for; agents that speak with no model get none unless one was asked for."""
    import os

    from rlx.runners.asked import ModelAsked

    if base_url is not None:
        if not model:
            raise BadInput("--base-url needs the model's name there.", hint="Give it with --model.")
        key = os.environ.get("RLX_MODEL_KEY") or os.environ.get("OPENAI_API_KEY")
        return ModelAsked("endpoint", model, base_url, key, dollars_in, dollars_out)
    if model is None and agent in {"oracle", "nop", "human"}:
        return None
    if model is not None and model.startswith(ROUTED):
        return ModelAsked("router", model.removeprefix(ROUTED), None, None, dollars_in, dollars_out)
    return ModelAsked("scripted", model or "solve", None, None, dollars_in, dollars_out)


def _fields(pairs: list[str] | None) -> "dict[str, Value]":
    found: dict[str, Value] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise BadInput(f"--field {pair!r} is not KEY=VALUE.", hint="For example --field max_calls=20.")
        found[key] = value
    return found


def _variables(told: list[str] | None) -> dict[str, str]:
    """A name by itself stands for this shell's variable of that name, which is read for being asked for by name."""
    import os

    found = {}
    for each in told or ():
        name, equals, value = each.partition("=")
        if not name:
            raise BadInput("--var needs a name.", hint="For example --var DATABASE_URL=sqlite:///x, or --var HF_TOKEN.")
        if not equals and name not in os.environ:
            raise BadInput(f"This shell has no variable {name[:60]}.", hint=f"Set it, or give --var {name[:60]}=VALUE.")
        found[name] = value if equals else os.environ[name]
    return found


def show_one(output: Output, record: Record) -> None:
    """A rollout as one row."""
    if output.format == "json":
        output.json(record)
    else:
        output.table([_flat(record, output)], USUAL, id_columns=("id",))


def _flat(record: Record, output: Output) -> Record:
    """Of what is told by several fields, the one that names it. JSON has it whole."""
    if output.format == "json":
        return record
    model, error = record.get("model"), record.get("error")
    return {
        **record,
        "model": model["id"] if isinstance(model, dict) else None,
        "error": error["kind"] if isinstance(error, dict) else None,
    }


def exit_by(record: Record) -> None:
    if not record.get("graded"):
        raise typer.Exit(1)
