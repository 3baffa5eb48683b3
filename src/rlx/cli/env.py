"""`rlx env`: find and read environments."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlx.cli.filters import Filters, settle
from rlx.cli.options import (
    ColumnsOption,
    DemoOption,
    FilterOption,
    FormatOption,
    HubOption,
    LimitOption,
    RoleOption,
    SearchOption,
    StoreOption,
    make_settings,
    new_app,
    read_filters,
    read_roles,
)
from rlx.cli.output import Output, Record, choose_columns, note, progress, tell_rest
from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.formats.registry import Claimed
    from rlx.model import EnvCard, Summary, Viewer
    from rlx.services import Services

app = new_app("Find and read environments.")

COLUMNS = (
    *("id", "kind", "format", "framework", "tasks", "revision", "title", "brief", "why", "state", "tags"),
    *("graded", "runs", "modified", "downloads", "likes", "trending"),
)
USUAL = ("id", "kind", "format", "framework", "tasks", "title")
FIELDS = {"kind": "kind", "format": "format", "framework": "framework", "state": "state", "tag": "tags"}
"""Filters over what is printed, and the column each looks at."""
FACETS = ("graded", "runs", "difficulty", "size", "licence")
"""Filters that the catalog counts too."""
PAGE = 200

KeyArgument = Annotated[str, typer.Argument(metavar="ENV", help="org/name, or space:org/name.", show_default=False)]
SortOption = Annotated[
    Literal["trending", "updated", "tasks", "name", "downloads", "likes"], typer.Option("--sort", help="Order.")
]
ReadOption = Annotated[
    bool | None,
    typer.Option("--read/--no-read", help="Read each environment's files first. Default: for folders, not for a Hub."),
]


@app.command("ls")
def ls(
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    search: SearchOption = "",
    filter: FilterOption = None,
    sort: SortOption = "trending",
    limit: LimitOption = None,
    columns: ColumnsOption = None,
    read: ReadOption = None,
) -> None:
    """List environments.

    --filter takes kind, format, framework, state, tag, graded, runs, difficulty, size and licence.
    """
    from rlx.cli.session import with_services
    from rlx.model import EnvQuery
    from rlx.services import local_folder

    output = Output(format)
    shown = choose_columns(columns, COLUMNS, USUAL)
    facets, fields = _split_filters(read_filters(filter))
    settings = make_settings(hub, demo, store)
    read = local_folder(settings.hub) is not None if read is None else read

    async def work(services: "Services", viewer: "Viewer") -> "list[EnvCard]":
        if read:
            with progress("Reading environments") as tell:
                await services.catalog.all(viewer, tell)
        known = await _settle(services, facets, viewer) if facets else {}
        found: list[EnvCard] = []
        while True:
            query = EnvQuery(text=search, filters=known, sort=sort, offset=len(found), limit=PAGE)
            page = await services.catalog.search(query, viewer)
            found += page.items
            if not page.items or len(found) >= page.total:
                return found

    cards = [record for card in with_services(settings, work) if _matches(record := card_record(card), fields)]
    most = output.most(limit)
    output.table(cards[:most], shown, id_columns=("id",))
    tell_rest(len(cards[:most]), len(cards))


@app.command("show")
def show(
    key: KeyArgument,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
    role: RoleOption = None,
) -> None:
    """Show what an environment is, how it is graded, and what is withheld."""
    from rlx.cli.session import open_environment, with_services
    from rlx.ids import parse_key
    from rlx.twins.markdown import summary_markdown

    env, roles = parse_key(key), read_roles(role)

    async def work(services: "Services", viewer: "Viewer") -> "Summary":
        return await (await open_environment(services, env, viewer, roles=roles)).summary()

    summary = with_services(make_settings(hub, demo, store), work)
    Output(format).document(summary_record(summary), lambda: summary_markdown(summary), id_columns=("id",))


@app.command("claim")
def claim(
    key: KeyArgument,
    hub: HubOption = None,
    demo: DemoOption = False,
    store: StoreOption = None,
    format: FormatOption = "auto",
) -> None:
    """Show which formats claim an environment, how surely, and on what evidence. The first opens it."""
    from rlx.cli.session import missing_told, with_services
    from rlx.ids import parse_key
    from rlx.texts import words

    env = parse_key(key)

    async def work(services: "Services", viewer: "Viewer") -> "list[Claimed]":
        async with missing_told(services, env, viewer):
            return await services.library.claims(env, viewer)

    claims = with_services(make_settings(hub, demo, store), work)
    records: list[Record] = [
        {
            "format": claimed.format.name,
            "confidence": claimed.claim.confidence,
            "evidence": words(claimed.claim.evidence),
        }
        for claimed in claims
    ]
    if not records:
        note(f"No format claims {env}. Its files can be browsed.")
    Output(format).table(records, ("format", "confidence", "evidence"), id_columns=("format",))


def card_record(card: "EnvCard") -> Record:
    """A card in the JSON shape that scripts rely on."""
    from rlx.twins.jsonable import to_json

    json = to_json(card)
    if not isinstance(json, dict):
        raise TypeError("A card's JSON twin is an object.")
    return {"id": json["key"], "kind": card.key.kind, **{name: json[name] for name in COLUMNS[2:]}}


def summary_record(summary: "Summary") -> Record:
    """A summary in the JSON shape that scripts rely on."""
    from rlx.twins.jsonable import to_json

    json = to_json(summary)
    if not isinstance(json, dict):
        raise TypeError("A summary's JSON twin is an object.")
    head = {"id": json.pop("key"), "kind": summary.key.kind, "format": json.pop("format")}
    return {**head, "framework": summary.support.framework, **json}


def _split_filters(filters: Filters) -> tuple[Filters, Filters]:
    """Those the catalog answers, and those over what is printed. Raises `BadInput` for others."""
    unknown = [key for key in filters if key not in FIELDS and key not in FACETS]
    if unknown:
        known = ", ".join((*FIELDS, *FACETS))
        raise BadInput(f"No filter {', '.join(unknown)!r} for environments.", hint=f"Filters: {known}.")
    return (
        {key: values for key, values in filters.items() if key in FACETS},
        {key: values for key, values in filters.items() if key in FIELDS},
    )


async def _settle(services: "Services", facets: Filters, viewer: "Viewer") -> Filters:
    from rlx.model import EnvQuery

    offered = (await services.catalog.search(EnvQuery(limit=1), viewer)).facets
    known = {facet.key: [str(item.value) for item in facet.values] for facet in offered}
    return settle(facets, {key: known.get(key, ()) for key in FACETS}, "these environments")


def _matches(record: Record, filters: Filters) -> bool:
    for key, wanted in filters.items():
        value = record[FIELDS[key]]
        values = value if isinstance(value, list) else [value]
        if not {str(item).casefold() for item in values} & {item.casefold() for item in wanted}:
            return False
    return True
