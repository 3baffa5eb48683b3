"""`rlx doctor`: is this installation sound, and does a site over a hub leak no answer?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import DemoOption, FormatOption, HubOption, StoreOption, make_settings, new_app
from rlx.cli.output import Output, Record, note, progress
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.cli.checks import Check
    from rlx.model import Viewer
    from rlx.services import Services
    from rlx.settings import Settings

app = new_app("Check this installation, or that a site leaks no answer.")


ADVICE = {
    "python": "Install Python 3.12 or newer, and rl-explorer into it.",
    "huggingface_hub": "Install rl-explorer again.",
    "fastapi": "Install rl-explorer again.",
    "pyarrow": "Install rl-explorer again.",
    "store": "Give a folder that can be written, with --store DIR or RLX_STORE.",
    "cache": "Give a folder that can be written, with RLX_CACHE_DIR.",
    "hub": "Go online, or check --hub and RLX_HUB. Without a Hub, read a folder (--hub DIR) or the demo (--demo).",
    "token": "Sign in again with hf auth login, or unset HF_TOKEN.",
}
"""What to do about a check that is bad."""


@app.command("doctor")
def doctor(
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    leaks: Annotated[
        bool, typer.Option("--leaks", help="Crawl the whole site over a folder and look for answers in every page.")
    ] = False,
    answers: Annotated[
        list[Path] | None,
        typer.Option("--answers", metavar="FILE", help="With --leaks: a list of answers to look for."),
    ] = None,
) -> None:
    """Check this installation, or that a site leaks no answer.

    Looks at Python, the Hub, the token, the store and the sandboxes. With --leaks it serves the site over a folder
    within this process, follows every link and twin, and looks for planted canaries and the answers of each --answers
    FILE.
    Exits 1 when a check fails or an answer shows, 2 when there is nothing to look for.
    """
    from dataclasses import asdict

    from rlx.cli.checks import hub_checks, machine_checks
    from rlx.cli.session import with_services

    output, settings = Output(format), make_settings(hub, demo, store)
    if leaks:
        _crawl(settings, answers or [], output)
        return
    if answers:
        raise BadInput("--answers goes with --leaks.")

    async def work(services: "Services", viewer: "Viewer") -> "list[Check]":
        return await hub_checks(services)

    checks = [*machine_checks(settings), *with_services(settings, work)]
    records: list[Record] = [asdict(check) for check in checks]
    output.table(records, ("check", "state", "detail"), id_columns=("check",))
    bad = [check.check for check in checks if check.state == "bad"]
    if bad:
        note(f"Not well: {', '.join(bad)}.")
        for name in bad:
            if name in ADVICE:
                note(f"{name}: {ADVICE[name]}")
        raise typer.Exit(1)


def _crawl(settings: "Settings", answers: list[Path], output: Output) -> None:
    from rlx.cli.leaks import crawl_site, report
    from rlx.services import local_folder

    folder = local_folder(settings.hub)
    if folder is None:
        raise BadInput("--leaks crawls a folder, not a Hub.", hint="Pass --hub DIR.")
    with progress("Crawling") as tell:
        crawled = crawl_site(settings, folder, answers, tell)
    if not report(crawled, output):
        raise typer.Exit(1)
