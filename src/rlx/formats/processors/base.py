"""The contract of a processor: it recognises the rows of a table and shows each as its framework sees it.

A processor never gets to show an unmasked value: it names a policy, and is handed rows that passed `rlx.answers` under
it. Only `match`, and what opens archives, look at raw values, and nothing of those is shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from rlx.answers import Policy, Shown, ShownJson, Withheld
from rlx.answers.shown import Json
from rlx.hub.info import TreeEntry
from rlx.ids import EnvKey
from rlx.index.records import Counts, SummaryView, TaskView
from rlx.model import Blob, Facets, FileEntry, Text

SAMPLED = 20
"""Rows by which a table is recognised."""

type Roles = Mapping[str, str]
"""Role to column, as a visitor corrected them."""


@dataclass(frozen=True, slots=True)
class Table:
    """One split, as processors see it. Everything in it is hostile."""

    key: EnvKey
    sha: str
    config: str
    split: str
    paths: tuple[str, ...]
    """Its files."""
    tags: frozenset[str]
    """Of the repository, in lower case and without `library:`."""
    card: Mapping[str, object]
    """The front matter."""
    files: Mapping[str, TreeEntry]
    """Every file that is known of the repository, by path."""
    columns: tuple[str, ...]
    sample: tuple[Mapping[str, object], ...]
    """The first rows, unmasked, media named. Never shown."""
    splits: tuple[str, ...] = ()
    """Ids of all splits of the repository: `train`, `code/train`."""

    @property
    def id(self) -> str:
        return split_id(self.config, self.split)


def split_id(config: str, split: str) -> str:
    """The first part of a row's ref."""
    return split if config == "default" else f"{config}/{split}"


@dataclass(frozen=True, slots=True)
class Match:
    confidence: float
    """0 to 1; the surest processor reads the table."""
    evidence: Text
    """One sentence: what was seen."""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row after `Reading.policy`: answers are `rlx.answers.MARK`, media are named (`rlx.formats.rows.media`)."""

    ref: str
    value: Mapping[str, Json]
    """A row that is no object is under the name `value`."""
    json: ShownJson
    """The same, proven."""
    path: str
    """The file it is in."""
    at: int
    """Its number in the split, from 0."""
    withheld: tuple[Withheld, ...] = ()
    note: Text | None = None
    """What is odd about it."""


@dataclass(frozen=True, slots=True)
class RowCard:
    """A row in a list."""

    title: Shown
    brief: Shown
    facets: Facets = field(default_factory=dict)
    """Keys as for tasks: category, difficulty, graded, runs, outcome, model, tools; `meta:<column>` for others."""
    search: str = ""
    """Text searched beside ref, title and brief; made of shown things only."""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    """What is measured of a rollout: reward, tokens, turns, seconds. None where it does not tell."""
    of: str | None = None
    """The task that a rollout is an attempt at, where it tells: equal for attempts at the same task. Never shown."""
    problem: Text | None = None


class Reading(Protocol):
    """A processor bound to one table, its roles settled. Pure."""

    @property
    def policy(self) -> Policy: ...

    @property
    def columns(self) -> Sequence[str] | None:
        """Columns that `card` needs, where reading the others costs much; None: all."""
        ...

    def card(self, row: ShownRow) -> RowCard:
        """Takes whatever a row may hold; never raises."""
        ...

    def view(self, row: ShownRow) -> TaskView:
        """The page of a row, but for the row itself and what is odd about it, which are added. Never raises."""
        ...

    def facts(self, cards: Sequence[RowCard]) -> ShownJson:
        """What `summary` needs to know of all rows that were looked at, masked, to be kept."""
        ...

    def summary(self, facts: ShownJson, counts: Counts) -> SummaryView:
        """The page of the environment, less what is added: how its rows were found, facets, splits."""
        ...


class Opened(Protocol):
    """A row whose files were opened: what it shows passed `rlx.answers`."""

    @property
    def card(self) -> RowCard: ...

    @property
    def view(self) -> TaskView: ...

    @property
    def withheld(self) -> tuple[Withheld, ...]: ...

    @property
    def entries(self) -> tuple[FileEntry, ...]: ...

    def file(self, path: str) -> Blob:
        """Raises `NotFound`, and `Forbidden` with the reason for a withheld file."""
        ...

    def contents(self) -> Iterable[tuple[str, bytes]]:
        """Every file of a Harbor folder, answers included: what `materialize` writes."""
        ...


@runtime_checkable
class Unpacking(Protocol):
    """A reading whose rows hold archives of files."""

    def opened(self, row: ShownRow, value: Mapping[str, object]) -> Opened:
        """`value` is the raw row. Raises `BadInput` with the reason for an archive that is refused."""
        ...


@runtime_checkable
class Correctable(Protocol):
    """A reading that inferred which columns play which role."""

    @property
    def roles(self) -> Roles:
        """Role to column, as they are now."""
        ...

    @property
    def offered(self) -> Mapping[str, Sequence[str]]:
        """Role to the columns that may play it."""
        ...


class Processor(Protocol):
    @property
    def name(self) -> str:
        """Lower-case word, unique over the registry."""
        ...

    @property
    def framework(self) -> str:
        """As `Support.framework`."""
        ...

    @property
    def version(self) -> int:
        """Raised when reading changes; what was kept of rows is made anew."""
        ...

    def match(self, table: Table) -> Match | None: ...

    def reading(self, table: Table, roles: Roles) -> Reading:
        """Raises `BadInput` for a role or a column that there is not."""
        ...
