"""`rlx hub report`: a discussion about a broken task, on its repository."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.hub_push import open_writer
from rlx.cli.inert import inert
from rlx.cli.options import FormatOption, HubOption, StoreOption, make_settings
from rlx.cli.output import Output, note
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.health.report import TaskReport
    from rlx.hub.writing import Thread
    from rlx.model import Viewer
    from rlx.publish.report import Draft
    from rlx.services import Services


def report(
    env: Annotated[str, typer.Argument(metavar="ENV", help="org/name, or space:org/name.", show_default=False)],
    ref: Annotated[str, typer.Argument(metavar="REF", help="The task.", show_default=False)],
    message: Annotated[str, typer.Option("--message", help="What is wrong with it.")] = "",
    comment: Annotated[int | None, typer.Option("--comment", metavar="N", help="Add to this discussion.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Open one although others name the task.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")] = False,
    hub: HubOption = None,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Report a broken task: a discussion with its revision, what is wrong, and what runs proved; never its answer.

    Discussions that name the task are looked for first: where there are any they are told, and nothing is sent.
    """
    from rlx.cli.session import with_services
    from rlx.health.report import evidence
    from rlx.ids import check_ref, parse_key
    from rlx.publish import report as reports

    if comment is not None and new:
        raise BadInput("--comment and --new exclude each other.", hint="Choose one.")
    key, output = parse_key(env), Output(format)
    settings = make_settings(hub, False, store)

    async def work(services: "Services", viewer: "Viewer") -> "tuple[str, str, TaskReport]":
        from anyio.to_thread import run_sync

        from rlx.health.report import task_report

        opened = await services.library.open(key, viewer, wait=None)
        canonical = await opened.canonical(check_ref(ref))
        sha = (await services.library.repo(key, viewer)).sha
        return canonical, sha, task_report(await run_sync(services.health.of, key), canonical, sha)

    canonical, sha, health = with_services(settings, work)
    written = reports.draft(key, canonical, sha, evidence(health), message, broken=health.state == "broken")
    writer = open_writer(hub, reads=dry_run)
    known = reports.threads_of(writer, key, canonical)
    if dry_run:
        _tell(output, written, known, done="would-send")
    elif comment is not None:
        writer.comment(key, comment, written.text)
        url = next((thread.url for thread in known if thread.number == comment), None)
        _tell(output, written, known, done="commented", url=url)
    elif known and not new:
        _tell(output, written, known, done="known", url=known[0].url)
    else:
        made = writer.discuss(key, written.title, written.text)
        _tell(output, written, known, done="opened", url=made.url)


def _tell(output: Output, written: "Draft", known: "list[Thread]", *, done: str, url: str | None = None) -> None:
    threads = [{"number": one.number, "title": one.title, "author": one.author, "url": one.url} for one in known]
    if output.format == "json":
        output.json({"done": done, "url": url, "title": written.title, "text": written.text, "threads": threads})
        return
    if output.format == "quiet":
        sys.stdout.write(f"{url or ''}\n")
        return
    for one in known:
        note(f"Discussion {one.number} names this task: {inert(one.title)} ({one.url})")
    match done:
        case "would-send":
            sys.stdout.write(inert(f"{written.title}\n\n{written.text}\n"))
        case "known":
            note("Nothing was sent: add to it with --comment N, or open another with --new.")
        case _:
            sys.stdout.write(f"{url or ''}\n")
