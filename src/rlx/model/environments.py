"""An environment, how far its first reading is, and lists of environments."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from rlx.answers import Shown, Withheld
from rlx.ids import EnvKey
from rlx.model.blocks import Count, Section, Text
from rlx.model.tasks import Facet, Facets, Support, Unknown


@dataclass(frozen=True, slots=True)
class Tile:
    value: Shown
    n: int


@dataclass(frozen=True, slots=True)
class Tiles:
    """The two to six parts an environment falls into: one facet, drawn large."""

    key: str
    items: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class Subset:
    id: str
    label: Text
    tasks: int | None = None


@dataclass(frozen=True, slots=True)
class Role:
    """What a column of a table is taken for: shown, and correctable."""

    role: str
    column: Shown | None
    """None: no column plays it."""
    offered: tuple[Shown, ...]
    """Columns that may."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the first reading of an environment is."""

    step: Literal["listing", "reading", "parsing", "saving", "done", "failed"]
    done: int = 0
    total: int | None = None
    tasks: int | None = None
    seconds: float = 0.0
    left: float | None = None
    """Seconds this step is expected to take still."""
    unit: Literal["files", "tasks"] = "files"
    """What `done` and `total` count."""
    message: Text | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What an environment is, at a glance and in sections."""

    key: EnvKey
    title: Shown
    brief: Shown
    format: str
    support: Support
    revision: str
    tasks: int | None
    """None: it has no task list, and `why` says so."""
    why: Text | None
    how: tuple[Text, ...]
    """How it is read, with the evidence."""
    sections: tuple[Section, ...]
    facets: tuple[Facet, ...]
    tiles: Tiles | None
    subsets: tuple[Subset, ...]
    withheld: tuple[Withheld, ...]
    readme: Shown | None = None
    progress: Progress | None = None
    """Set while it is being indexed."""
    unit: Literal["tasks", "rollouts"] = "tasks"
    """What its list is of: attempts at tasks are rollouts."""
    roles: tuple[Role, ...] = ()
    """What columns were taken for, where that was inferred and a reader may correct it."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit of a repository."""

    sha: str
    title: Shown
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the tasks between two revisions, as refs in listing order."""

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    same: int
    unknown: tuple[str, ...] = ()
    """Tasks of both revisions of which it is not known whether they changed."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of a task in two revisions. `diff` is a unified diff of what may be shown of it, where it is kept."""

    path: str
    kind: Literal["added", "removed", "changed"]
    diff: Shown | None = None
    cut: bool = False
    """The diff goes on."""


@dataclass(frozen=True, slots=True)
class TaskChanges:
    ref: str
    files: tuple[FileChange, ...]
    """In path order. Empty when only files changed whose contents are not kept, and whose sizes are the same."""
    partial: bool = False
    """Files of folders that were not listed are not compared."""


@dataclass(frozen=True, slots=True)
class EnvCard:
    """An environment in a list."""

    key: EnvKey
    title: Shown
    brief: Shown
    kind: str
    """One of `KINDS`."""
    framework: str
    format: str | None
    """The format that read it; None while only its tags are known."""
    tasks: int | None
    why: Text | None
    """Why there is no task count."""
    revision: str | None
    tags: tuple[Shown, ...]
    graded: tuple[Shown, ...]
    """Facet values: how its tasks are graded, and what they run in."""
    runs: tuple[Shown, ...]
    levels: tuple[Count, ...]
    """Tasks by difficulty, easy to hard, where they tell."""
    facets: Facets
    """What lists of environments are filtered by: framework, tag, graded, runs, difficulty, size, licence."""
    modified: datetime | None
    downloads: int | None
    likes: int | None
    trending: float | None
    state: Literal["ready", "indexing", "listed", "failed"]


KINDS = (
    "openenv",
    "servers",
    "harbor",
    "verifiers",
    "nemo-gym",
    "openenv-data",
    "verl",
    "skyrl",
    "mimo",
    "rows",
)
"""Kinds of environment, two of servers, then of datasets. `rows` is every other dataset."""


@dataclass(frozen=True, slots=True)
class EnvQuery:
    text: str = ""
    """Words; each must occur in the id, heading, brief or tags."""
    kind: str | None = None
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """OR within a facet, AND across facets."""
    collection: str | None = None
    mine: bool = False
    """With what the viewer alone may see."""
    sort: Literal["trending", "updated", "tasks", "name", "downloads", "likes"] = "trending"
    offset: int = 0
    limit: int = 40


@dataclass(frozen=True, slots=True)
class EnvPage:
    items: tuple[EnvCard, ...]
    total: int
    kinds: tuple[tuple[str, int], ...]
    """Every kind that occurs among what words and filters leave, with its count."""
    facets: tuple[Facet, ...]
    """Each counted over what the other filters leave."""
    environments: int
    """All that are known, whatever the query."""
    tasks: int
    """Tasks of all that are indexed."""
    offset: int
    limit: int
    building: bool = False
    """Some environments are still being read; counts will grow."""
    unknown: tuple[Unknown, ...] = ()
