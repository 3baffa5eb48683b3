"""The command tree, each branch imported when it is used, and the one place that turns an error into an exit code."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import Abort, TyperException
from typer.main import get_command

from rlx import __version__
from rlx.cli.inert import inert
from rlx.errors import BadInput, RlxError, envelope, outcome

if TYPE_CHECKING:
    from typer._click import Command, Context

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Branch:
    """A command or group of commands in a module of its own, whose `app` is a `typer.Typer`."""

    name: str
    module: str
    help: str


BRANCHES = (
    Branch("serve", "rlx.cli.serve", "Serve the web app."),
    Branch("env", "rlx.cli.env", "Find and read environments."),
    Branch("task", "rlx.cli.task", "Find and read tasks."),
    Branch("run", "rlx.cli.run", "Run agents on tasks, and read rollouts."),
    Branch("check", "rlx.cli.check", "Check that the tasks of an environment are sound."),
    Branch("models", "rlx.cli.models", "Find models for agents, and try an endpoint."),
    Branch("index", "rlx.cli.index", "Build the catalog that sites search."),
    Branch("worker", "rlx.cli.worker", "Run rollouts."),
    Branch("store", "rlx.cli.store", "Look after what an instance keeps."),
    Branch("hub", "rlx.cli.hub", "Publish environments, and serve a folder as a Hub."),
    Branch("sandbox", "rlx.cli.sandbox", "Check and prepare the sandboxes that rollouts run in."),
    Branch("new", "rlx.cli.new", "Write an environment for several frameworks, proven to play alike."),
    Branch("doctor", "rlx.cli.doctor", "Check this installation, or that a site leaks no answer."),
)


class Branches(TyperGroup):
    """The root group. Helps and suggests from names alone; the branch that is called is imported."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # handed on as Typer gave them
        for branch in BRANCHES:
            self.add_command(TyperCommand(branch.name, short_help=branch.help))

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, Command | None, list[str]]":
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(next(branch for branch in BRANCHES if branch.name == name)), rest


def load(branch: Branch) -> "Command":
    command = get_command(import_module(branch.module).app)
    command.name = branch.name
    return command


def _version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"rlx {__version__}\n")
        raise typer.Exit


app = typer.Typer(
    cls=Branches,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
    ] = False,
) -> None:
    """Find, read and serve reinforcement-learning environments for LLM agents.

    Every command that reads takes --hub (a Hub URL or a folder) or --demo, and --format. Data goes to standard output,
    everything else to standard error. Exit codes: 0 ok, 1 failed, 2 bad input, 3 the Hub failed, 4 not permitted,
    130 interrupted.
    """


def run(arguments: Sequence[str]) -> int:
    """Run `rlx ARGUMENTS` and return its exit code. Errors are told on standard error: one message and a hint."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows less than Unicode
    try:
        code = get_command(app).main(list(arguments), prog_name="rlx", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (BrokenPipeError, SystemExit):
        # Whoever read the output has had enough; Typer turns that into SystemExit, which it raises for nothing else.
        # Output goes elsewhere from here, or the interpreter's own flush would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, Abort):
        return INTERRUPTED
    except RlxError as error:
        _tell(error, arguments)
        return outcome(error).exit_code
    except TyperException as error:
        error.message = error.message.removeprefix("Value error, ")  # a word of pydantic, which Typer passes on
        if not _wants_json(arguments):
            _show_usage(error)
            return error.exit_code
        usage = BadInput(error.format_message())
        _tell(usage, arguments)
        return outcome(usage).exit_code


def _show_usage(error: TyperException) -> None:
    show = getattr(error, "show", None)  # of Typer's usage errors, which know the command that was meant
    if show is not None:
        show()
    else:
        sys.stderr.write(f"Error: {inert(error.format_message())}\n")


def _tell(error: RlxError, arguments: Sequence[str]) -> None:
    if _wants_json(arguments):
        sys.stderr.write(json.dumps(envelope(error)) + "\n")
        return
    sys.stderr.write(f"Error: {inert(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"Hint: {inert(error.hint)}\n")


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether JSON was asked for, whatever else was wrong with the command line."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)
