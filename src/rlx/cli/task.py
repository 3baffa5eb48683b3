"""`rlx task`: find and read tasks."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlx.cli.env import KeyArgument
from rlx.cli.filters import Filters, fits, settle
from rlx.cli.options import (
    ColumnsOption,
    DemoOption,
    FilterOption,
    FormatOption,
    HubOption,
    LimitOption,
    RevealOption,
    RoleOption,
    SearchOption,
    StoreOption,
    make_settings,
    new_app,
    read_filters,
    read_roles,
)
from rlx.cli.output import Output, Record, choose_columns, note, tell_rest
from rlx.errors import NotFound

if TYPE_CHECKING:
    from rlx.formats.base import Environment
    from rlx.ids import EnvKey
    from rlx.model import Blob, FileEntry, Listing, Overlay, Task, TaskCard, Viewer
    from rlx.services import Services

app = new_app("Find and read tasks.")

USUAL = ("ref", "title", "brief", "problem")
PAGE = 200
MOST_SETTLED = 20_000
"""Tasks that are looked at for a value that no facet offers."""

RefArgument = Annotated[
    str, typer.Argument(metavar="REF", help="The task's ref, as rlx task ls prints it.", show_default=False)
]
OptionalKey = Annotated[
    str | None, typer.Argument(metavar="ENV", help="org/name, or space:org/name. Any by default.", show_default=False)
]
PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A folder or file of the task. Its top by default.", show_default=False)
]
SubsetOption = Annotated[str | None, typer.Option("--subset", help="Only this subset.")]
Sort = Literal[
    "order",
    "title",
    "difficulty",
    "-difficulty",
    "length",
    "-length",
    "timeout",
    "-timeout",
    "reward",
    "-reward",
    "turns",
    "-turns",
    "tokens",
    "-tokens",
]
"""What `TaskQuery` sorts by, told here so that help imports nothing of it."""
SortOption = Annotated[
    Sort,
    typer.Option("--sort", help="The environment's own order, title, or a facet's order; with - from its end."),
]


@app.command("ls")
def ls(
    key: KeyArgument,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    search: SearchOption = "",
    filter: FilterOption = None,
    subset: SubsetOption = None,
    sort: SortOption = "order",
    limit: LimitOption = None,
    columns: ColumnsOption = None,
    role: RoleOption = None,
) -> None:
    """List the tasks of an environment.

    --filter takes the environment's facets, which rlx env show lists, and health=proven, broken or unproven.
    --columns takes facets too.
    """
    from rlx.cli.session import open_environment, with_services
    from rlx.ids import parse_key
    from rlx.model import TaskQuery
    from rlx.texts import words

    output = Output(format)
    env, filters, most, roles = parse_key(key), read_filters(filter), output.most(limit), read_roles(role)
    narrowed = bool(search or filters or sort != "order")

    async def work(services: "Services", viewer: "Viewer") -> "tuple[list[TaskCard], int]":
        environment = await open_environment(services, env, viewer, roles=roles, filled=narrowed)
        overlay = await _health(services, env, environment, filters)
        known = await _settle(environment, filters, str(env), overlay) if filters else {}
        found: list[TaskCard] = []
        while True:
            size = PAGE if most is None else min(PAGE, most - len(found))
            query = TaskQuery(search, known, subset, sort, offset=len(found), limit=size, overlay=overlay)
            page = await environment.tasks(query)
            found += page.items
            if not page.items or len(found) in (page.total, most):
                if page.note is not None:
                    note(words(page.note))
                return found, page.total

    cards, total = with_services(make_settings(hub, demo, store), work)
    records = [card_record(card) for card in cards]
    facets = sorted({name for card in cards for name in card.facets})
    shown = choose_columns(columns, (*USUAL, *facets), USUAL if any(card.problem for card in cards) else USUAL[:3])
    rows: list[Record] = records if output.format == "json" else [{**_facets(record), **record} for record in records]
    output.table(rows, shown, id_columns=("ref",))
    tell_rest(len(rows), total)


@app.command("show")
def show(
    key: KeyArgument,
    ref: RefArgument,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    reveal: RevealOption = False,
    role: RoleOption = None,
) -> None:
    """Show a task as an agent gets it, how it is graded and what it runs in."""
    from rlx.cli.reveal import check_owner, revealed_files, revealed_markdown
    from rlx.cli.session import open_environment, with_services
    from rlx.ids import parse_key
    from rlx.twins.tasks import task_markdown

    env, settings, roles = parse_key(key), make_settings(hub, demo, store), read_roles(role)
    if reveal:
        check_owner(settings)

    async def work(services: "Services", viewer: "Viewer") -> "tuple[Task, dict[str, str]]":
        environment = await open_environment(services, env, viewer, roles=roles)
        task = await environment.task(await environment.canonical(ref))
        return task, await revealed_files(environment, task.ref) if reveal else {}

    task, revealed = with_services(settings, work)
    record = {**task_record(task, env), "revealed": revealed} if reveal else task_record(task, env)
    Output(format).document(
        record, lambda: task_markdown(task, env) + revealed_markdown(revealed), id_columns=("id", "ref")
    )


@app.command("files")
def files(
    key: KeyArgument,
    ref: RefArgument,
    path: PathArgument = "",
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    reveal: RevealOption = False,
) -> None:
    """List a task's files, or print one. Withheld files are named with the reason."""
    from rlx.cli.reveal import check_owner, revealed_path
    from rlx.cli.session import open_environment, with_services
    from rlx.ids import parse_key
    from rlx.model import Listing

    output, env, settings = Output(format), parse_key(key), make_settings(hub, demo, store)
    if reveal:
        check_owner(settings)

    async def work(services: "Services", viewer: "Viewer") -> "Listing | Blob | bytes":
        environment = await open_environment(services, env, viewer)
        known = await environment.canonical(ref)
        if reveal:
            return await revealed_path(environment, known, path)
        return await environment.files(known, path)

    found = with_services(settings, work)
    if isinstance(found, bytes):
        _print_revealed(output, path, found)
    elif isinstance(found, Listing):
        known_columns = ("path", "kind", "size", "withheld")
        rows = [_entry(item) for item in found.entries]
        output.table(rows, choose_columns(columns, known_columns, known_columns), id_columns=("path",))
        if found.truncated:
            total = "more" if found.total is None else f"{found.total:,}"
            note(f"{len(found.entries):,} of {total} entries shown.")
    else:
        _print_blob(output, found)


@app.command("random")
def random(
    key: OptionalKey = None,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Pick a task at random, of one environment or of any."""
    from rlx.cli.session import open_environment, with_services
    from rlx.ids import parse_key
    from rlx.twins.inline import line, span

    wanted = parse_key(key) if key else None

    async def work(services: "Services", viewer: "Viewer") -> Record:
        for env in [wanted] if wanted else await _shuffled(services, viewer):
            environment = await open_environment(services, env, viewer)
            ref = await environment.random()
            if ref is not None:
                task = await environment.task(ref)
                return {"id": str(env), "ref": ref, "title": task.title, "brief": task.brief}
        raise NotFound(
            f"{wanted or 'This hub'} has no tasks that can be listed.", hint="rlx env ls shows what there is."
        )

    picked = with_services(make_settings(hub, demo, store), work)
    Output(format).document(
        picked,
        lambda: (
            "\n\n".join(
                [
                    f"# {line(str(picked['title']), 'en')}",
                    line(str(picked["brief"]), "en"),
                    span(f"rlx task show {picked['id']} {picked['ref']}"),
                ]
            )
            + "\n"
        ),
        id_columns=("id", "ref"),
    )


def card_record(card: "TaskCard") -> Record:
    """A task of a list in the JSON shape that scripts rely on."""
    return _json_object(card)


def task_record(task: "Task", env: "EnvKey") -> Record:
    """A task in the JSON shape that scripts rely on."""
    return {"id": str(env), **_json_object(task)}


async def _health(
    services: "Services", key: "EnvKey", environment: "Environment", filters: Filters
) -> "Overlay | None":
    """The facet of what runs here proved of tasks."""
    from anyio import to_thread

    from rlx.index.health import KEY, laid

    known = await to_thread.run_sync(services.health.of, key)
    return laid(known, (await environment.summary()).revision, is_asked=KEY in filters)


async def _settle(environment: "Environment", filters: Filters, what: str, overlay: "Overlay | None") -> Filters:
    """The filters, settled by the facets that are offered, else by those of every task."""
    from rlx.index.health import VALUES
    from rlx.model import TaskQuery

    offered = (await environment.tasks(TaskQuery(limit=1, overlay=overlay))).facets
    known = {facet.key: [str(item.value) for item in facet.values] for facet in offered}
    if overlay is not None and overlay.key in known:  # also what none of its tasks is now
        known[overlay.key] = [*VALUES.values()]
    seen = 0
    while seen < MOST_SETTLED and not fits(filters, known):
        page = await environment.tasks(TaskQuery(offset=seen, limit=PAGE))
        if not page.items:
            break
        seen += len(page.items)
        for card in page.items:
            for key, values in card.facets.items():
                values_known = known.setdefault(key, [])
                values_known += [value for value in map(str, values) if value not in values_known]
    return settle(filters, known, what)


async def _shuffled(services: "Services", viewer: "Viewer") -> "list[EnvKey]":
    """Environments that have or may have tasks, in random order."""
    from random import SystemRandom

    from rlx.model import EnvQuery

    page = await services.catalog.search(EnvQuery(limit=PAGE), viewer)
    keys = [card.key for card in page.items if card.tasks or (card.state == "listed" and card.kind == "harbor")]
    SystemRandom().shuffle(keys)
    return keys


def _json_object(value: object) -> dict[str, "object"]:
    from rlx.twins.jsonable import to_json

    json = to_json(value)
    if not isinstance(json, dict):
        raise TypeError(f"The JSON twin of {type(value).__name__} is not an object.")
    return dict(json)


def _facets(record: Record) -> Record:
    facets = record["facets"]
    return facets if isinstance(facets, dict) else {}


def _entry(entry: "FileEntry") -> Record:
    """A file as a row; a folder's size is unknown."""
    from rlx.texts import words

    return {
        "path": entry.path,
        "kind": "folder" if entry.is_dir else "file",
        "size": None if entry.is_dir else entry.size,
        "withheld": None if entry.withheld is None else words(entry.withheld),
    }


def _print_blob(output: Output, blob: "Blob") -> None:
    from rlx.texts import words

    if output.format == "json":
        output.json({name: value for name, value in _json_object(blob).items() if name != "data"})
        return
    for item in blob.withheld:
        note(f"Withheld, {item.where}: {words(item.reason)}")
    if blob.encoding_note is not None:
        note(words(blob.encoding_note))
    if blob.truncated:
        note(f"Only the head is shown; the file has {blob.size:,} bytes.")
    if blob.text is not None:
        output.text(blob.text)
    else:
        output.bytes(blob.data or b"")


def _print_revealed(output: Output, path: str, data: bytes) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        output.bytes(data)
        return
    if output.format == "json":
        output.json({"path": path, "size": len(data), "text": text})
    else:
        output.text(text)
