"""`rlx sandbox`: which kinds there are, whether they run here and keep their promises, and their tools."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import FormatOption, HubOption, make_settings, new_app
from rlx.cli.output import Output, Record, note, progress
from rlx.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rlx.sandboxes.base import SandboxKind
    from rlx.sandboxes.check import Verdict
    from rlx.settings import Settings

app = new_app("Check and prepare the sandboxes that rollouts run in.")

KindArgument = Annotated[str, typer.Argument(metavar="KIND", help="One that rlx sandbox ls lists.")]


@app.command("ls")
def list_kinds(
    every: Annotated[bool, typer.Option("--all", help="Harbor's other environments too.")] = False,
    format: FormatOption = "auto",
) -> None:
    """List the kinds of sandboxes, and say of each whether it can run here, why not, and what a reader should know."""
    records = list(kinds(make_settings(None, False, None), every=every))
    output = Output(format)
    output.table(records, ("kind", "runs", "why"), id_columns=("kind",))
    if output.human:
        for record in records:
            notes = record["notes"]
            for text in notes if isinstance(notes, list) else ():
                note(f"{record['kind']}: {text}")


def kinds(settings: "Settings", *, every: bool = False) -> "Iterator[Record]":
    """Each kind with whether it runs here, why not, and what a reader should know. Tries each; blocks.

    Of Harbor's other environments those that are switched on, or all of them.
    """
    from rlx.sandboxes.base import Possible
    from rlx.sandboxes.named import environments
    from rlx.sandboxes.registry import entries, sandbox_kind
    from rlx.texts import words

    others = [name for name in environments() if every or name in settings.sandboxes]
    for name in (*(entry.name for entry in entries()), *others):
        able = sandbox_kind(name, settings).can_run()
        if isinstance(able, Possible):
            yield {"kind": name, "runs": True, "why": "", "notes": [words(text) for text in able.notes]}
        else:
            why = " ".join(words(text) for text in (able.why, able.hint) if text is not None)
            yield {"kind": name, "runs": False, "why": why, "notes": []}


@app.command("check")
def check_kind(
    kind: KindArgument = "local",
    only: Annotated[str, typer.Option("--only", metavar="WORDS", help="Only promises that say this.")] = "",
    hub: HubOption = None,
    format: FormatOption = "auto",
) -> None:
    """Try every promise of a sandbox on this machine, with real sandboxes.

    Each is ok, failed, or not here. Exits 1 when one failed, or when this machine cannot run such a sandbox at all.
    Those of hf are made at the Hub with this machine's token, whose account pays for them.
    """
    import asyncio

    from rlx.sandboxes.check import PROMISES, check
    from rlx.sandboxes.registry import sandbox_kind

    promises = tuple(promise for promise in PROMISES if only.lower() in promise.name)
    if not promises:
        raise BadInput(f"No promise says {only!r}.", hint="Leave out --only to try them all.")
    settings = make_settings(hub, False, None)
    made = _paid(settings) if kind == "hf" else sandbox_kind(kind, settings)

    async def work() -> "list[Verdict]":
        found = []
        with progress(f"Checking {kind}") as tell:
            async for verdict in check(made, promises):
                found.append(verdict)
                tell(len(found), len(promises))
        return found

    verdicts = asyncio.run(work())
    records: list[Record] = [asdict(verdict) for verdict in verdicts]
    Output(format).table(records, ("promise", "state", "detail"), id_columns=("promise",))
    states = [verdict.state for verdict in verdicts]
    if "failed" in states or "ok" not in states:
        raise typer.Exit(1)


@app.command("agents")
def list_agents(format: FormatOption = "auto") -> None:
    """List the agents that work inside of a sandbox: what is pinned of each, and whether its layer is prepared."""
    from rlx.agents.registry import agents
    from rlx.runners.ready import need
    from rlx.sandboxes.local.installed.layer import prepared
    from rlx.sandboxes.local.installed.recipes import recipes
    from rlx.sandboxes.local.kind import Local
    from rlx.texts import words

    layers = Local(make_settings(None, False, None)).layers
    records: list[Record] = []
    for entry in agents():
        wanted = need(entry, "local", layers, network=True, reachable=False)
        if wanted is None:
            continue
        recipe = recipes().get(entry.name)
        made = prepared(layers, entry.name) if recipe is not None else None
        records.append(
            {
                "agent": entry.name,
                "version": recipe.version if recipe is not None else None,
                "protocol": entry.protocol,
                "prepared": made is not None,
                "disk_mb": round(made.bytes / 2**20) if made is not None else recipe.megabytes if recipe else None,
                "fetched_mb": recipe.fetched if recipe is not None else None,
                "memory_mb": recipe.memory_mb if recipe is not None else None,
                "why_not": words(wanted.reason) if wanted.reason is not None else "",
            }
        )
    columns = ("agent", "version", "protocol", "prepared", "disk_mb", "fetched_mb", "memory_mb", "why_not")
    Output(format).table(records, columns, id_columns=("agent",))


def _paid(settings: "Settings") -> "SandboxKind":
    """Hugging Face sandboxes with this machine's token."""
    from rlx.hub.token import machine_token
    from rlx.sandboxes.hf.kind import HF, Account, point_client_at

    point_client_at(settings.hub)
    token = machine_token()
    return HF(settings, Account(token) if token else None)


@app.command("prepare")
def prepare(
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="NAME", help="Also the layer of this agent, as rlx sandbox agents has it."),
    ] = None,
    format: FormatOption = "auto",
) -> None:
    """Make ready what local sandboxes start from: the base of this host's system, the tool layer, layers of agents.

    The tool layer has uv, pip and pytest as docs/sandboxes.md lists them. It is fetched from PyPI, or the index that
    PIP_INDEX_URL names, and each file is checked by its hash. So are the files of an agent, of which those of npm come
    from the registry that npm is told of. What killed processes left is removed as well.
    """
    from rlx.sandboxes.local.installed.layer import prepare as prepare_agent
    from rlx.sandboxes.local.installed.layer import recipe_of
    from rlx.sandboxes.local.kind import Local
    from rlx.sandboxes.local.tools import prepare_tools, wheels

    recipes = [recipe_of(name) for name in agent or ()]
    settings: Settings = make_settings(None, False, None)
    local = Local(settings)
    reaped = local.reap()
    if reaped:
        note(f"{reaped:,} removed that killed processes left, or that had not been used for long.")
    records: list[Record] = [
        {"layer": local.base(), "holds": ["this host's system"]},
        {"layer": prepare_tools(local.layers), "holds": [wheel.name for wheel in wheels()]},
    ]
    with progress("Preparing agents") as tell:
        for number, recipe in enumerate(recipes):
            tell(number, len(recipes))
            made = prepare_agent(local.layers, recipe.agent)
            records.append({"layer": made.key, "holds": [f"{recipe.agent} {recipe.version}"]})
    Output(format).table(records, ("layer", "holds"), id_columns=("layer",))
