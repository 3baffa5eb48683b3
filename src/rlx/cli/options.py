"""Options that many commands share, and the settings they make."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlx.errors import BadInput

if TYPE_CHECKING:
    from rlx.settings import Settings

HubOption = Annotated[
    str | None,
    typer.Option("--hub", metavar="URL|DIR", help="A Hub's address, or a folder that holds datasets/ORG/NAME."),
]
DemoOption = Annotated[bool, typer.Option("--demo", help="Use the demo hub that comes with the package.")]
StoreOption = Annotated[Path | None, typer.Option("--store", metavar="DIR", help="Where indexes are kept.")]
FormatOption = Annotated[
    Literal["auto", "human", "json", "tsv", "quiet"],
    typer.Option("--format", help="How to print. auto: for people on a terminal, else for programs."),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=0, help="At most so many; 0 for all. On a terminal 50, else all.")
]
ColumnsOption = Annotated[str | None, typer.Option("--columns", metavar="A,B", help="Columns of the table.")]
SearchOption = Annotated[str, typer.Option("--search", metavar="WORDS", help="Only those in which each word occurs.")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="KEY=VALUE", help="Only those with this value. Repeat a key to allow several."),
]
RevealOption = Annotated[bool, typer.Option("--reveal", help="Show withheld files too. Only for a folder of your own.")]

RoleOption = Annotated[
    list[str] | None,
    typer.Option("--role", metavar="ROLE=COLUMN", help="What a column of a table is, where that was inferred wrongly."),
]


def new_app(help: str) -> typer.Typer:
    """An empty branch of the command tree."""
    return typer.Typer(
        help=help, add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
    )


def make_settings(hub: str | None, demo: bool, store: Path | None, **more: object) -> "Settings":
    """The process's settings with the flags on top. Raises `BadInput` for flags or variables that cannot be."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from rlx.demo import demo_hub
    from rlx.settings import Settings

    if hub is not None and demo:
        raise BadInput("--hub and --demo exclude each other.", hint="Leave one out.")
    flags = {"hub": str(demo_hub()) if demo else hub, "store": store, **more}
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])).upper().removeprefix("RLX_")
        raise BadInput(
            f"The setting RLX_{where} is wrong: {first['msg'].removeprefix('Value error, ')}.",
            hint="See docs/settings.md.",
        ) from error
    except SettingsError as error:
        raise BadInput(
            "An RLX_ variable of the environment is malformed.", hint="Lists are written as JSON."
        ) from error


def read_roles(pairs: list[str] | None) -> dict[str, str]:
    """`role=column` pairs. Raises `BadInput`."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        role, equals, column = pair.partition("=")
        if not (role and equals and column):
            raise BadInput(f"--role {pair!r} is not ROLE=COLUMN.", hint="For example --role task=question.")
        found[role] = column
    return found


def read_filters(pairs: list[str] | None) -> dict[str, tuple[str, ...]]:
    """`key=value` pairs, values of one key together. Raises `BadInput`."""
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise BadInput(f"--filter {pair!r} is not KEY=VALUE.", hint="For example --filter difficulty=Easy.")
        found[key] = (*found.get(key, ()), value)
    return found
