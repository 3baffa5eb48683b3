"""What passes between a folder format and the index: the plan of a task, its record, and the second pass over all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rlx.answers import Masked, ShownJson, Withheld
from rlx.hub.info import TreeEntry
from rlx.hub.tree import Marks
from rlx.ids import ROOT_REF
from rlx.model import FacetValue, FileEntry, Row, RunOption, Section, Support, TaskCard, Text


def root_of(ref: str) -> str:
    """The folder of a task."""
    return "" if ref == ROOT_REF else ref


def ref_of(root: str) -> str:
    """Inverse of `root_of`."""
    return root or ROOT_REF


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """A task found in a listing, before any of its files is read."""

    ref: str
    root: str
    """Repository path of its folder; empty when the repository is the task."""
    files: tuple[TreeEntry, ...]
    """The files below the root that are known, paths relative to the repository; all of them, but for a folder that
    holds more than is known, which is among them with a slash at the end of its path."""
    wanted: tuple[str, ...]
    """Repository paths to fetch, the ones a page cannot do without first."""
    judged: tuple[str, ...] = ()
    """Repository paths that `Reader.review` looks into."""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task as the index keeps it. Everything here passed `rlx.answers`."""

    card: TaskCard
    search: str
    """Text searched beside ref, title and brief; made of shown things only."""
    settings: ShownJson
    """Whatever the format needs to build the task's page, masked."""
    texts: Mapping[str, Masked]
    """Task-relative path to masked text."""
    files: tuple[FileEntry, ...]
    """Task-relative paths; a folder among them holds more than is known."""
    withheld: tuple[Withheld, ...] = ()
    review: ShownJson | None = None
    """What `Reader.review` said of it, once it has."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """For the format's second pass: JSON values, with `Shown` and tuples among them. Empty for a task that was not
    read yet. Stored only while an index fills in."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The second pass: what could only be known once every task was read."""

    cards: tuple[TaskCard, ...]
    """In listing order, one a record; may differ from the records' in brief, facets and problem."""
    settings: Mapping[str, ShownJson]
    """By ref: replaces a record's settings."""
    header: ShownJson
    """Environment-level facts for `summary_view`: manifests, versions, notes."""
    facet_order: tuple[str, ...]
    """Facet keys in the order they are offered."""
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Facets whose values have a natural order."""
    tile: str | None = None
    """The facet drawn as tiles."""
    subsets: bool = False
    """The values of the facet `group` are offered as subsets."""
    numbers: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By facet key a number for each card: sorts the list where the facet holds only its ranges."""
    withheld: tuple[Withheld, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskView:
    """The page of a task, less what the index adds (neighbours, card, withheld)."""

    sections: tuple[Section, ...]
    glance: tuple[Row, ...]
    run_options: tuple[RunOption, ...]
    support: Support


@dataclass(frozen=True, slots=True)
class SummaryView:
    """The page of an environment, less what the index adds (facets, counts, subsets)."""

    sections: tuple[Section, ...]
    how: tuple[Text, ...]
    support: Support


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each facet value occurs over all tasks."""

    tasks: int
    facets: Mapping[str, tuple[FacetValue, ...]]


class Reader(Protocol):
    """What a folder format gives `rlx.index`. All but `finish` and `review` are pure."""

    @property
    def format(self) -> str: ...

    @property
    def version(self) -> int:
        """Raised when reading changes; indexes of another version are rebuilt."""
        ...

    @property
    def marks(self) -> Marks:
        """What tells a task's folder where not everything could be listed."""
        ...

    def plan(self, tree: Mapping[str, TreeEntry]) -> tuple[TaskPlan, ...]:
        """The tasks, sorted by root. `tree` is in path order; see `rlx.hub.tree.Tree.entries` for folders in it."""
        ...

    def sought(self, root: str, data: Mapping[str, bytes]) -> Iterable[str]:
        """Repository paths that may be files or folders of the task at `root`, which is not listed.

        Asked again with what was read of the task in `data`, which may name others, until it names nothing new.
        """
        ...

    def shared(self, tree: Mapping[str, TreeEntry]) -> tuple[str, ...]:
        """Repository-level files that are wanted too: manifests, the card."""
        ...

    def read(self, plan: TaskPlan, data: Mapping[str, bytes]) -> TaskRecord:
        """`data` holds the wanted files that could be read, by repository path."""
        ...

    async def finish(self, records: Sequence[TaskRecord], shared: Mapping[str, bytes]) -> Finished:
        """`records` come in plan order, their texts left out."""
        ...

    def task_view(self, record: TaskRecord) -> TaskView: ...

    def summary_view(self, header: ShownJson, counts: Counts) -> SummaryView: ...

    def reviews(self) -> bool:
        """Whether second opinions can be had here."""
        ...

    async def review(self, plans: Sequence[TaskPlan], data: Mapping[str, bytes]) -> Mapping[str, ShownJson]:
        """Slow second opinions by ref, asked for after the index is out; `data` holds the plans' `judged` files.

        What comes back is stored and handed to `task_view` as `TaskRecord.review`.
        """
        ...
