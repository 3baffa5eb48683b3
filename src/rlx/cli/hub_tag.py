"""`rlx hub tag`: tags that the files of an environment support, on its card."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.hub_push import open_writer
from rlx.cli.inert import inert
from rlx.cli.options import FormatOption, HubOption, make_settings
from rlx.cli.output import Output, note
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.ids import EnvKey
    from rlx.model import Viewer
    from rlx.publish.detect.base import Detection
    from rlx.publish.tagging import Proposal
    from rlx.services import Services
    from rlx.settings import Settings


def tag(
    target: Annotated[
        str, typer.Argument(metavar="REPO|DIR", help="org/name, space:org/name, or a folder.", show_default=False)
    ],
    framework: Annotated[
        list[str] | None, typer.Option("--framework", help="Only this one of those it supports. Repeat for more.")
    ] = None,
    claim: Annotated[
        bool, typer.Option("--claim", help="Tag the frameworks that are named although the files do not support them.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    pr: Annotated[bool, typer.Option("--pr", help="Open a pull request. This is the default.")] = False,
    commit: Annotated[bool, typer.Option("--commit", help="Commit in place of a pull request.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 where tags are missing, and change nothing.")] = False,
    hub: HubOption = None,
    format: FormatOption = "auto",
) -> None:
    """Add rl-environment, and the frameworks that the files support, to a card's tags. Every other byte stays.

    A folder's README.md is edited; a repository gets a pull request, unless one that adds such tags is open. A
    framework that the files do not support is refused with exit code 2. Run again, it changes nothing.
    """
    from rlx.ids import parse_key
    from rlx.publish import tagging

    if pr and commit:
        raise BadInput("--pr and --commit exclude each other.", hint="Choose one.")
    output, folder = Output(format), Path(target)
    if folder.is_dir():
        if pr or commit:
            raise BadInput(f"{target} is a folder, whose README.md is edited.", hint="Leave --pr and --commit out.")
        card = folder / tagging.CARD
        found = _of_folder(folder)
        proposal = tagging.propose(card.read_bytes() if card.is_file() else b"", _wanted(found, framework, claim=claim))
        if _ends(output, target, proposal, dry_run=dry_run, check=check):
            return
        _replace(card, proposal.after)
        _tell(output, target, proposal, done="edited")
        return
    key = parse_key(target)
    settings = make_settings(hub, False, None)
    found = _of_repository(settings, key)
    writer = open_writer(hub, reads=dry_run or check)
    sha = writer.head(key)
    proposal = tagging.propose(tagging.read_card(writer, key, sha), _wanted(found, framework, claim=claim))
    if _ends(output, target, proposal, dry_run=dry_run, check=check):
        return
    if not commit and (thread := tagging.open_proposal(writer, key)) is not None:
        note(f"{thread.author} opened a pull request that adds such tags.")
        _tell(output, target, proposal, done="open", url=thread.url)
        return
    made = tagging.send(writer, key, sha, proposal, pull=not commit)
    _tell(output, target, proposal, done="committed" if commit else "proposed", url=made.url)


def _wanted(found: "Detection", asked: list[str] | None, *, claim: bool) -> tuple[str, ...]:
    from rlx.publish.tagging import wanted

    return wanted(found, asked or (), claim=claim)


def _of_folder(folder: Path) -> "Detection":
    from rlx.cli.hub_examine import looking_at

    with looking_at(folder) as (settings, key):
        return _of_repository(settings, key)


def _of_repository(settings: "Settings", key: "EnvKey") -> "Detection":
    from rlx.cli.session import with_services
    from rlx.publish.detect.detect import detect

    async def work(services: "Services", viewer: "Viewer") -> "Detection":
        return await detect(await services.library.repo(key, viewer))

    return with_services(settings, work)


def _ends(output: Output, target: str, proposal: "Proposal", *, dry_run: bool, check: bool) -> bool:
    """Whether that is all: nothing is missing, or nothing is to be changed. Raises `typer.Exit` for a failed check."""
    if not proposal.added:
        _tell(output, target, proposal, done="tagged")
        return True
    if check:
        _tell(output, target, proposal, done="missing")
        raise typer.Exit(1)
    if dry_run:
        _tell(output, target, proposal, done="would-change")
    return dry_run


def _replace(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    making = path.with_name(f".{path.name}.rlx")
    making.write_bytes(data)
    if path.exists():
        making.chmod(path.stat().st_mode & 0o777)
    making.replace(path)


def _tell(output: Output, target: str, proposal: "Proposal", *, done: str, url: str | None = None) -> None:
    record = {"target": target, "done": done, "added": list(proposal.added), "url": url, "diff": proposal.diff}
    if output.format == "json":
        output.json(record)
    elif output.format == "quiet":
        sys.stdout.write(f"{url or target}\n")
    else:
        if done == "tagged":
            note(f"{target} has these tags already.")
        sys.stdout.write(inert(proposal.diff))
        if url is not None:
            note(url)
