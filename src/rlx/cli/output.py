"""Where a command's data goes: standard output, as a table for people, TSV or JSON for programs, ids alone for shells.

Everything printed from a repository passes `rlx.cli.inert` first.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from rlx.cli.inert import inert, inert_json, one_line
from rlx.errors import BadInput

type Format = Literal["auto", "human", "json", "tsv", "quiet"]
type Record = Mapping[str, object]
PROSE = frozenset({"title", "brief", "why", "problem", "evidence", "detail", "withheld"})
"""Columns that are cut when a terminal is too narrow for them."""
WORD = 24
"""Columns of a terminal that any other value keeps."""
GAP = 2

SCREENFUL = 50
"""Items of a list that a person is shown unless they ask for more."""

type Tell = Callable[[int, int | None], None]
"""Told how much is done, of how much when that is known."""


@dataclass(frozen=True, slots=True)
class Output:
    """How to print. `auto` is a table when a person watches, else TSV."""

    format: Format = "auto"

    @property
    def human(self) -> bool:
        return self.format == "human" or (self.format == "auto" and sys.stdout.isatty())

    def most(self, limit: int | None) -> int | None:
        """How many items a list prints: what was asked for (0: all), else a screenful for people, all for programs."""
        if limit is None:
            return SCREENFUL if self.human else None
        return limit or None

    def table(self, records: Sequence[Record], columns: Sequence[str], *, id_columns: Sequence[str]) -> None:
        """Records as rows. JSON prints them whole, whatever the columns; quiet prints the id columns alone."""
        if self.format == "json":
            self.json(list(records))
        elif self.format == "quiet":
            _write_rows(records, id_columns)
        elif self.human:
            _print_table(records, columns, id_columns)
        else:
            sys.stdout.write("\t".join(columns) + "\n")
            _write_rows(records, columns)

    def document(self, record: Record, markdown: Callable[[], str], *, id_columns: Sequence[str]) -> None:
        """One thing: Markdown for people and pipes, its JSON, its plain fields as TSV, or its id."""
        if self.format == "json":
            self.json(record)
        elif self.format == "quiet":
            _write_rows([record], id_columns)
        elif self.format == "tsv":
            plain = {key: value for key, value in record.items() if not isinstance(value, Mapping | list)}
            _write_rows([{"field": key, "value": value} for key, value in plain.items()], ("field", "value"))
        elif self.human:
            _print_markdown(inert(markdown()))
        else:
            sys.stdout.write(markdown())

    def json(self, value: object) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
        sys.stdout.write(inert_json(text) + "\n")

    def text(self, text: str) -> None:
        """A file's text: exactly, but harmless where a person watches."""
        if sys.stdout.isatty():
            text = inert(text)
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        else:
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))

    def bytes(self, data: bytes) -> None:
        """A file's bytes, which are not for a terminal. Raises `BadInput` there."""
        if sys.stdout.isatty():
            raise BadInput(
                f"The file is not text ({len(data):,} bytes).", hint="Send it somewhere: append > FILE to the command."
            )
        sys.stdout.buffer.write(data)


def note(text: str) -> None:
    """Something beside the data, for whoever watches."""
    sys.stderr.write(inert(text) + "\n")


def tell_rest(shown: int, total: int) -> None:
    """Say how many items were left off, when any were."""
    if shown < total:
        note(f"{shown:,} of {total:,} shown. --limit 0 shows all.")


@contextmanager
def progress(what: str) -> Iterator[Tell]:
    """A bar on standard error while a person watches there; nothing otherwise."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console  # imported late: scripts do without
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(inert(what), total=None)
        yield lambda done, total: bar.update(job, completed=done, total=total)


def choose_columns(asked: str | None, known: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """The columns of `--columns a,b`. Raises `BadInput` for one that does not exist."""
    if not asked:
        return tuple(usual)
    names = tuple(name.strip() for name in asked.split(",") if name.strip())
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise BadInput(f"No column {', '.join(unknown) or asked!r}.", hint=f"Columns: {', '.join(known)}.")
    return names


def cell(value: object) -> str:
    """A value as one cell. Unknown is empty."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(cell(item) for item in value)
        case Mapping():
            return "; ".join(f"{key}: {cell(item)}" for key, item in value.items())
        case _:
            return one_line(str(value))


def _write_rows(records: Sequence[Record], columns: Sequence[str]) -> None:
    for record in records:
        sys.stdout.write("\t".join(cell(record.get(name)) for name in columns) + "\n")


def _print_table(records: Sequence[Record], columns: Sequence[str], id_columns: Sequence[str]) -> None:
    """Figures and words keep their width and prose shares what is left; an id is never cut, so that it can be taken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    rows = [[_figure(record.get(name)) for name in columns] for record in records]
    widest = [max(Text(text).cell_len for text in column) for column in zip(columns, *rows, strict=True)]
    widths = share_width(console.width - GAP * len(columns), columns, widest, id_columns)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for name, width in zip(columns, widths, strict=True):
        numeric = any(isinstance(record.get(name), int | float) for record in records)
        an_id = name in id_columns
        table.add_column(
            name,
            justify="right" if numeric else "left",
            no_wrap=not an_id,
            overflow="fold" if an_id else "ellipsis",
            style="cyan" if an_id else None,
            width=width,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def share_width(width: int, columns: Sequence[str], widest: Sequence[int], id_columns: Sequence[str]) -> list[int]:
    """Widths of columns whose widest cells are given: ids get up to half, words up to `WORD`, prose an even share."""
    widths = {
        name: min(most, max(width // 2, WORD) if name in id_columns else WORD)
        for name, most in zip(columns, widest, strict=True)
        if name not in PROSE
    }
    left = width - sum(widths.values())
    prose = sorted((most, name) for name, most in zip(columns, widest, strict=True) if name in PROSE)
    for place, (most, name) in enumerate(prose):
        widths[name] = min(most, max(left // (len(prose) - place), len(name)))
        left -= widths[name]
    return [widths[name] for name in columns]


def _figure(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else cell(value)


def _print_markdown(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text, hyperlinks=False))
