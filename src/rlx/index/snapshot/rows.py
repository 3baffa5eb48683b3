"""What goes into a snapshot, and what it says of itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rlx.answers import Shown
from rlx.ids import EnvKey
from rlx.model import EnvCard, Facets

SCHEMA = 1
"""Raised when the tables change. Readers only open snapshots of their own schema, named by a pointer of their own."""

TASK_FACETS = ("difficulty", "category", "language", "graded", "sandbox", "framework")
"""What tasks of all environments are filtered by, in the order they are offered. `sandbox` is what can run one."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task as the catalog knows it."""

    ref: str
    title: Shown
    brief: Shown
    facets: Facets
    """Only `TASK_FACETS`, less `framework`, which is the environment's."""
    words: str = ""
    """Searched beside ref, title, brief and category: the task's tags."""
    digest: str = ""
    """Of its files' names and contents; the same in every environment that holds the same task. Empty: not known."""
    sketch: bytes = b""
    """Of what it says, from `rlx.index.similar`: near texts have near sketches. Empty: too little is said."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two tasks of different environments, or of one, that say nearly the same. `score` is 0 to 1."""

    key: EnvKey
    ref: str
    other_key: EnvKey
    other_ref: str
    score: float


@dataclass(frozen=True, slots=True)
class Content:
    """Everything a snapshot is written from. All of it is public and passed `rlx.answers`."""

    envs: Sequence[EnvCard]
    """In listing order, the most popular first; each key once."""
    tasks: Mapping[EnvKey, Iterable[TaskRow]]
    """In the environment's own order. An environment without an entry has no searchable tasks."""
    built_at: datetime
    """When the listing was made."""
    alike: Iterable[Likeness] = field(default=())
    """Both directions, the likest first for each task. Pairs that name an unknown task are left out."""
    hub: str = ""
    """What was listed: the address of a Hub, or the folder of a local one."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a pointer promises of its snapshot, and a listing of the one before."""

    environments: int
    datasets: int
    spaces: int
    tasks: int
