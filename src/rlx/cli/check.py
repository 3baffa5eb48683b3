"""`rlx check`: whether the tasks of an environment are sound."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlx.cli.options import (
    DemoOption,
    FormatOption,
    HubOption,
    StoreOption,
    make_settings,
    new_app,
)
from rlx.cli.output import Output, Record, note
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.cli.checking import Checked
    from rlx.model import Viewer
    from rlx.services import Services

app = new_app("Check that the tasks of an environment are sound.")

COLUMNS = ("ref", "state", "why", "oracle", "floor", "runs", "seconds", "checked_at")


@app.command("check")
def check(
    env: Annotated[str, typer.Argument(metavar="ENV", help="org/name.")],
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    trials: Annotated[
        bool, typer.Option("--trials", help="Run the reference solution and an agent that does nothing.")
    ] = False,
    task: Annotated[list[str] | None, typer.Option("--task", metavar="REF", help="This task. Repeat for more.")] = None,
    sample: Annotated[int, typer.Option("--sample", min=0, help="So many tasks, always the same; 0 for all.")] = 0,
    times: Annotated[int, typer.Option("-k", "--times", min=1, max=50, help="Runs of each, to find what varies.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Also what is known at this revision.")] = False,
    judge: Annotated[Literal["scripted"] | None, typer.Option("--judge", help="Of tasks that a model grades.")] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", min=0.1, max=600, help="For one agent.")] = None,
    slots: Annotated[int, typer.Option("--slots", min=1, max=16, help="Rollouts at once.")] = 2,
) -> None:
    """Check that tasks are sound: Harbor accepts them, their solution earns everything, doing nothing earns less.

    With --trials tasks are run, -k times each; what is known at the environment's revision is not run again, so that a
    check that was stopped goes on. Without, what is known is told. Exits 1 unless every task that was looked at is
    proven.
    """
    from rlx.cli.checking import Selection, checked, known
    from rlx.cli.session import with_services
    from rlx.health.trials import Wanted

    if task and sample:
        raise BadInput("--task and --sample exclude each other.", hint="Leave one out.")
    if not trials and (again or minutes is not None):
        raise BadInput("Nothing is run without --trials.", hint="Add it.")
    selection = Selection(tuple(task or ()), sample)
    wanted = Wanted(times=times, at_once=slots, minutes=minutes, again=again, judge=judge)

    async def work(services: "Services", viewer: "Viewer") -> "Checked":
        if trials:
            return await checked(services, viewer, env, selection, wanted)
        return await known(services, viewer, env, selection)

    found = with_services(make_settings(hub, demo, store), work)
    _show(Output(format), found)
    if not found.sound:
        raise typer.Exit(1)


def _show(output: Output, found: "Checked") -> None:
    if output.format == "json":
        output.json({"id": found.env, "revision": found.revision, "counts": found.counts, "tasks": found.records})
    else:
        output.table([_flat(record) for record in found.records], COLUMNS, id_columns=("ref",))
    told = ", ".join(f"{n:,} {state}" for state, n in found.counts.items())
    note(f"{len(found.records):,} {'task' if len(found.records) == 1 else 'tasks'}: {told}.")


def _flat(record: Record) -> Record:
    """A task as a row."""
    oracle, floor, reasons = record["oracle"], record["floor"], record["reasons"]
    why = " ".join(reasons) if isinstance(reasons, list) else None
    if not isinstance(oracle, dict) or not isinstance(floor, dict):
        return record
    return {
        **record,
        "why": why,
        "oracle": _spread(oracle),
        "floor": _spread(floor),
        "runs": f"{oracle['runs']}+{floor['runs']}",
        "seconds": oracle["seconds"],
    }


def _spread(runs: dict[str, object]) -> str | None:
    low, high = runs["low"], runs["high"]
    if low is None or high is None:
        return "none" if runs["runs"] else None
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
