"""`rlx hub push` and `rlx hub pull`: environments to a Hub, and back."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.inert import inert_json
from rlx.cli.options import FormatOption, HubOption, make_settings
from rlx.cli.output import Format, Tell, note, progress
from rlx.errors import BadInput, Forbidden

if TYPE_CHECKING:
    from rlx.cli.hub_examine import Examined
    from rlx.hub.writing import HubWriter
    from rlx.publish.folder import Contents

RepoOption = Annotated[str, typer.Option("--repo", metavar="ORG/NAME", help="Where to; space:ORG/NAME for a Space.")]


def push(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The environment's folder.", show_default=False)],
    repo: RepoOption,
    hub: HubOption = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    pr: Annotated[
        bool, typer.Option("--pr", help="Open a pull request in place of commits, or go on with it.")
    ] = False,
    message: Annotated[str | None, typer.Option("--message", help="What the commit is called.")] = None,
    packed: Annotated[bool, typer.Option("--packed", help="Task folders as archives: a few files for many.")] = False,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="PATH", help="Send this although it looks like a secret. Repeat for more."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be sent, and send nothing.")] = False,
    format: FormatOption = "auto",
) -> None:
    """Publish an environment: checked, with a card, in commits that can be gone on from.

    What is there already is not sent again, so that a push that was stopped goes on when it is run again. Secrets,
    caches and links are never sent; each is named. Tags are added to a card, of which every byte stays. Exits 2 for a
    folder that is no environment, and for tasks that are not in order.
    """
    from rlx.cli.hub_card import card_of, lacks_tag
    from rlx.cli.hub_examine import examine, kind_of
    from rlx.ids import EnvKey, parse_key
    from rlx.publish.folder import contents
    from rlx.publish.push import CARD, Wanted
    from rlx.publish.push import push as send

    parsed = parse_key(repo)
    key = EnvKey(kind_of(folder) if folder.is_dir() else parsed.kind, parsed.org, parsed.name)
    if parsed.kind == "space" and key.kind != "space":
        raise BadInput(f"{folder} is no Space: its README.md names no sdk.", hint="Leave space: out of --repo.")
    found = contents(folder, include or ())
    secret = next((left for left in found.left_out if left.path == CARD), None)
    if secret is not None:
        raise BadInput(f"{folder / CARD} cannot be sent: {secret.why}.", hint=f"Mend it, or add --include {CARD}.")
    examined = examine(folder, key)
    _refuse(folder, examined)
    data, done = card_of(folder, key, examined, packed=packed)
    events = _Events(format, "Sending")
    events.tell("checked", {"repo": str(key), "tasks": len(examined.tasks), "frameworks": list(examined.frameworks)})
    for left in found.left_out:
        events.tell("left-out", {"path": left.path, "why": left.why})
    with TemporaryDirectory() as place:
        files = _files(found, examined, Path(place), packed=packed)
        events.tell("card", {"done": done, "tagged": not lacks_tag(data)})
        if dry_run:
            files[CARD] = data
            for path in sorted(files):
                events.tell("would-send", {"path": path})
            return
        writer = open_writer(hub)
        if done == "written" and writer.exists(key) and CARD in writer.files(key, "main"):
            events.tell("card", {"done": "left as it is there", "tagged": True})
        else:
            files[CARD] = data
        title = message or f"Publish {examined.title[:150]}"
        wanted = Wanted(key, title, private=private, pull=pr, sdk="docker" if key.kind == "space" else None)
        with events.watched():
            pushed = send(writer, files, wanted, events.tell)
    told = {"repo": str(key), "sha": pushed.sha, "url": pushed.url, "pull": pushed.pull}
    events.tell("done", {**told, "sent": pushed.sent, "known": pushed.known})


def pull(
    repo: Annotated[str, typer.Argument(metavar="REPO", help="org/name, or space:org/name.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to; by default a folder of its name here.")
    ] = None,
    hub: HubOption = None,
    revision: Annotated[str | None, typer.Option("--revision", help="A branch, tag, commit or refs/pr/N.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that were changed here.")] = False,
    format: FormatOption = "auto",
) -> None:
    """Bring a repository into a folder, or bring the folder up to date. Answers come with it.

    A pull that was stopped goes on when it is run again. Files that were changed here are never replaced without
    --force, and files of the folder that the repository has not stay.
    """
    from rlx.ids import parse_key
    from rlx.publish.pull import pull as bring

    key = parse_key(repo)
    where = folder or Path(key.name)
    events = _Events(format, "Bringing")
    with events.watched():
        pulled = bring(open_writer(hub, reads=True), key, where, revision, events.tell, force=force)
    for path in pulled.left_out:
        events.tell("left-out", {"path": path, "why": "it could not lie in a folder safely"})
    told = {"repo": str(key), "sha": pulled.sha, "folder": str(where)}
    events.tell("done", {**told, "got": pulled.got, "known": pulled.known})


def _refuse(folder: Path, found: "Examined") -> None:
    if found.problems:
        for problem in found.problems[:20]:
            note(f"{problem.ref}: {problem.why}")
        count = len(found.problems)
        raise BadInput(
            f"{count:,} of the tasks in {folder} {'is' if count == 1 else 'are'} not in order, so nothing was sent.",
            hint="Mend what is told above.",
        )


def _files(found: "Contents", examined: "Examined", place: Path, *, packed: bool) -> dict[str, Path | bytes]:
    from rlx.publish.packing import pack

    if not packed:
        return {file.path: file.place for file in found.files}
    if examined.shape != "folders" or "." in examined.tasks:
        raise BadInput("--packed is for folders of tasks.", hint="Leave it out.")
    inside = tuple(f"{task}/" for task in examined.tasks)
    files: dict[str, Path | bytes] = {file.path: file.place for file in found.files if not file.path.startswith(inside)}
    return files | pack(found.files, examined.tasks, place)


def open_writer(hub: str | None, *, reads: bool = False) -> "HubWriter":
    """Who writes to the hub with this machine's token. Raises `BadInput` for a folder, `Forbidden` without a token."""
    from rlx.hub.token import machine_token
    from rlx.services import local_folder
    from rlx.settings import DEFAULT_HUB

    endpoint = make_settings(hub, False, None).hub.rstrip("/")
    if local_folder(endpoint) is not None:
        raise BadInput(
            f"{endpoint} is a folder, and nothing is sent to or fetched from one.",
            hint=f"Run rlx hub serve {endpoint} --writable, and give --hub its address.",
        )
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    if endpoint != DEFAULT_HUB:
        os.environ.setdefault("HF_HUB_DISABLE_XET", "1")  # a storage beside the Hub, which only the Hub itself has
    from rlx.hub.writing import HubWriter

    token = machine_token()
    if token is None and not reads:
        raise Forbidden(f"Nobody is signed in to {endpoint}.", hint="Set HF_TOKEN, or run hf auth login.")
    return HubWriter(endpoint, token or False)


class _Events:
    """What a push or pull tells: one JSON object a line for a program; a bar and a few lines for a person."""

    def __init__(self, format: Format, what: str) -> None:
        self._format = format
        self._what = what
        self._bar: Tell | None = None
        self._done = 0
        self._total = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A bar for as long as it takes."""
        with progress(self._what) as self._bar:
            yield
        self._bar = None

    def tell(self, event: str, facts: Mapping[str, object]) -> None:
        if self._format == "json":
            sys.stdout.write(inert_json(json.dumps({"event": event, **facts}, ensure_ascii=False)) + "\n")
            sys.stdout.flush()
            return
        if event == "plan":
            self._total += int(str(facts["files"])) - (self._total - self._done)
        if event in {"commit", "file"}:
            self._done += int(str(facts.get("files", 1)))
            if self._bar is not None:
                self._bar(self._done, self._total)
        if event == "done":
            sys.stdout.write(f"{facts['sha']}\n" if self._format == "quiet" else "")
        line = _line(event, facts)
        if line and self._format != "quiet":
            note(line)


def _line(event: str, facts: Mapping[str, object]) -> str | None:
    match event:
        case "left-out":
            return f"Left out: {facts['path']} ({facts['why']})."
        case "card" if facts["done"] == "kept" and not facts["tagged"]:
            return "The card is sent as it is, and has no tag rl-environment: rlx hub tag adds it."
        case "card" if facts["done"] == "written":
            return "There was no README.md: one was written."
        case "card" if facts["done"] == "front matter added":
            return "The README.md had no front matter: it was put before it."
        case "card" if facts["done"] == "tags added":
            return "Tags were added to the card: it says what it is, and which frameworks can load it."
        case "create":
            return f"Made {facts['repo']}{', private' if facts['private'] else ''}."
        case "again":
            return f"{facts['why']} It is tried again."
        case "would-send":
            return str(facts["path"])
        case "done" if "folder" in facts:
            counts = f"{facts['got']} files came, {facts['known']} were there"
            return f"{facts['repo']} at {facts['sha']} is in {facts['folder']}: {counts}."
        case "done":
            return f"{facts['url']} at {facts['sha']}: {facts['sent']} files sent, {facts['known']} were there."
    return None
