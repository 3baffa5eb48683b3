"""`rlx hub detect` and `rlx hub snippet`: what a repository supports, and the commands that use it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlx.cli.options import DemoOption, FormatOption, HubOption, StoreOption, make_settings
from rlx.cli.output import Output

if TYPE_CHECKING:
    from rlx.hub.repo import Repo
    from rlx.model import Viewer
    from rlx.publish.detect.base import Detection
    from rlx.publish.snippets.base import Snippet
    from rlx.services import Services


def detect(
    target: Annotated[
        str, typer.Argument(metavar="REPO|DIR", help="org/name, space:org/name, or a folder.", show_default=False)
    ],
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Tell which frameworks the files of a repository support, and what its tags claim.

    A folder is looked at as the dataset that it would be.
    """
    from rlx.cli.hub_examine import looking_at
    from rlx.cli.session import with_services
    from rlx.ids import parse_key
    from rlx.publish.detect.detect import detect as detected
    from rlx.publish.snippets.told import use_json, use_markdown
    from rlx.texts import DEFAULT

    async def work(services: "Services", viewer: "Viewer") -> "tuple[Repo, Detection]":
        repo = await services.library.repo(key, viewer)
        return repo, await detected(repo)

    folder = Path(target)
    if folder.is_dir():
        with looking_at(folder) as (settings, key):
            repo, found = with_services(settings, work)
    else:
        key = parse_key(target)
        repo, found = with_services(make_settings(hub, demo, store), work)
    record = use_json(key, repo.info, found, (), DEFAULT)
    del record["snippets"]
    Output(format).document(record, lambda: use_markdown(key, repo.info, found, (), DEFAULT), id_columns=("id",))


def snippet(
    repo: Annotated[str, typer.Argument(metavar="REPO", help="org/name, or space:org/name.", show_default=False)],
    framework: Annotated[
        str | None, typer.Option("--framework", help="Only for this one: harbor, openenv, .., or rows.")
    ] = None,
    config: Annotated[str | None, typer.Option("--config", help="Only of this config's tables.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="REF", help="For one task.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="A model's name. Default: the variable MODEL.")] = None,
    sandbox: Annotated[str, typer.Option("--sandbox", help="What Harbor runs tasks in.")] = "docker",
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Print the commands that run an environment and read its results, for the frameworks that its files support."""
    from rlx.cli.session import with_services
    from rlx.ids import check_ref, parse_key
    from rlx.publish.snippets.base import Choices
    from rlx.publish.snippets.told import use_json, use_markdown
    from rlx.publish.uses import Uses, reached_at
    from rlx.texts import DEFAULT

    key = parse_key(repo)
    settings = make_settings(hub, demo, store)
    choices = Choices(framework, config, check_ref(task) if task is not None else None, model, sandbox)

    async def work(services: "Services", viewer: "Viewer") -> "tuple[Repo, Detection, tuple[Snippet, ...]]":
        found = await services.library.repo(key, viewer)
        if choices.task is not None:
            await (await services.library.open(key, viewer, wait=None)).canonical(choices.task)
        return found, *await Uses(reached_at(settings)).of(found, choices)

    found, detection, made = with_services(settings, work)
    Output(format).document(
        use_json(key, found.info, detection, made, DEFAULT),
        lambda: use_markdown(key, found.info, detection, made, DEFAULT),
        id_columns=("id",),
    )
