"""`rlx run shell`: a person in a task's sandbox, in an agent's place, at this terminal."""

from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import DemoOption, FormatOption, HubOption, StoreOption, make_settings
from rlx.cli.output import Output, Record

if TYPE_CHECKING:
    from rlx.model import Viewer
    from rlx.services import Services


def shell(
    env: Annotated[str, typer.Argument(metavar="ENV|ID", help="org/name; or the id of a rollout, to come back to it.")],
    ref: Annotated[str | None, typer.Argument(metavar="REF", help="The task's ref, as rlx task ls prints it.")] = None,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    revision: Annotated[str | None, typer.Option("--revision", help="A commit of the environment.")] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0.1, max=600, help="Time to work. Without it, the task's own.")
    ] = None,
) -> None:
    """Work on a task yourself: a terminal in its sandbox, as an agent has it, and the grading when you are done.

    There, `grade` has it graded, and Ctrl+] leaves: to come back later, or to give up. What you typed and saw is kept
    as a rollout of the agent human. Exits 1 unless it was graded.
    """
    from rlx.cli.run import exit_by, show_one, with_rollouts
    from rlx.cli.shell_terminal import sat
    from rlx.errors import BadInput
    from rlx.rollout import is_id

    if ref is None and not is_id(env):
        raise BadInput(f"{env!r} is no id of a rollout, and no task is named.", hint="rlx run shell ENV REF")
    fields = {} if minutes is None else {"minutes": minutes}

    async def work(services: "Services", viewer: "Viewer") -> Record | None:
        from rlx.agents.registry import HUMAN
        from rlx.runners.asked import Asked

        asked = None if ref is None else Asked(env, ref, HUMAN, revision, fields=dict(fields))
        return await sat(services, viewer, asked or env)

    record = with_rollouts(make_settings(hub, demo, store), work)
    if record is not None:
        show_one(Output(format), record)
        exit_by(record)
