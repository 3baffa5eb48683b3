"""A task, the ways to run it, and lists of tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rlx.answers import Shown, Withheld
from rlx.ids import EnvKey
from rlx.model.blocks import Row, Section, Text

type Facets = Mapping[str, tuple[Shown, ...]]
"""Facet key to the values one task has. Keys are lower-case words; `meta:<key>` for metadata of the task's own."""


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task in a list."""

    ref: str
    title: Shown
    brief: Shown
    facets: Facets
    problem: Text | None = None
    """Why it is not an ordinary task, when it is not: cannot be parsed, has no grader."""


@dataclass(frozen=True, slots=True)
class Field:
    """An input of a run option. The server checks it against the option picked."""

    key: str
    label: Text
    type: Literal["text", "number", "bool", "select", "model"] = "text"
    default: str | int | float | bool | None = None
    help: Text | None = None
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    pool: str | None = None
    """For `model`: the pool it must come from."""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """What a task's settings read as `${NAME}`: whoever runs it may give a value, for that rollout alone."""

    name: str
    readers: tuple[Literal["environment", "grader", "solution"], ...]
    required: bool
    """One of them has no default."""
    secret: bool
    """By its name, a key or a password."""
    of_model: bool = False
    """By its name, the key or the address of a model that judges."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is expected to take. Unknown is None, never 0."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    minutes: float | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class AgentNeed:
    """What an agent wants of the sandbox it works in."""

    agent: str
    reason: Text | None
    """Why it cannot work there, with what to do; None: it can."""
    wants: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class RunOption:
    """One way to run a task: a runner with a sandbox, and whether it can."""

    runner: str
    sandbox: str | None
    label: Text
    ok: bool
    reason: Text | None = None
    """Why not, or the ground on which it can."""
    source: str | None = None
    """Where the task says so: `environment/Dockerfile`, `task.toml`."""
    notes: tuple[Text, ...] = ()
    warnings: tuple[Text, ...] = ()
    fields: tuple[Field, ...] = ()
    agents: tuple[str, ...] = ()
    """Empty: any."""
    agent_needs: tuple[AgentNeed, ...] = ()
    """Of agents that want something, those too that cannot work there."""
    needs_endpoint: bool = False
    needs_sandbox: bool = True
    estimate: Estimate | None = None
    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Alias:
    """The same task elsewhere; rollouts are shared."""

    key: EnvKey
    ref: str
    reason: Text


@dataclass(frozen=True, slots=True)
class Task:
    """A task as a reader gets it."""

    ref: str
    title: Shown
    brief: Shown
    sections: tuple[Section, ...]
    glance: tuple[Row, ...]
    """The facts one looks for first."""
    withheld: tuple[Withheld, ...]
    run_options: tuple[RunOption, ...]
    support: "Support"
    facets: Facets
    problem: Text | None = None
    previous: str | None = None
    """Refs of the neighbours in listing order."""
    next: str | None = None
    position: int = 0
    """0-based place among `total`."""
    total: int = 1


type Availability = Literal["available", "external", "unavailable", "unknown"]


@dataclass(frozen=True, slots=True)
class Capability:
    id: Literal["browse", "run", "play", "mcp"]
    state: Availability
    evidence: Text


@dataclass(frozen=True, slots=True)
class Support:
    """What can be done with it here, and on what evidence."""

    framework: str
    """Machine word: harbor, openenv, verifiers, nemo-gym, verl, skyrl, mimo, ors, rows, files."""
    label: str
    lifecycle: Text
    reward: Text
    transport: str | None
    evidence: Text
    capabilities: tuple[Capability, ...]


@dataclass(frozen=True, slots=True)
class FacetValue:
    value: Shown
    n: int
    selected: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """Counts of one facet's values over what the other filters leave."""

    key: str
    label: Text
    values: tuple[FacetValue, ...]
    ordered: bool = False
    more: int = 0
    """Values that were left off."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A filter that nothing passes, whatever else is asked."""

    key: str
    value: str | None = None
    """None: there is no such facet, but `facets`."""
    facets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskHit:
    """A task found across environments."""

    key: EnvKey
    card: TaskCard
    in_title: tuple[tuple[int, int], ...] = ()
    """Where the words that were asked for stand in the title, as start and end, in order and apart."""
    in_brief: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class TaskSearch:
    """A question for tasks of any environment."""

    text: str = ""
    """Words; each must begin a word of the task. Chinese, Japanese and Korean words may stand inside longer ones."""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """OR within a facet, AND across facets."""
    environment: EnvKey | None = None
    offset: int = 0
    limit: int = 20


@dataclass(frozen=True, slots=True)
class TaskHits:
    items: tuple[TaskHit, ...]
    total: int
    more: bool
    """There are more than `total`; they are not counted, and not paged to."""
    facets: tuple[Facet, ...]
    """Each counted over what the other filters leave, up to the same limit."""
    offset: int
    limit: int
    unknown: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class Relative:
    """A task like another."""

    hit: TaskHit
    score: float
    """How alike the texts are, up to 1."""
    same: bool
    """All their files are the same."""


TaskSort = Literal[
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
"""Listed order, the title, or a facet with a natural order; `-` is from its end. Tasks without a value come last."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """A facet that is known apart from the environment."""

    key: str
    values: Mapping[str, str]
    """By ref."""
    rest: str
    """The value of every other task."""


@dataclass(frozen=True, slots=True)
class TaskQuery:
    text: str = ""
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """OR within a facet, AND across facets."""
    subset: str | None = None
    sort: TaskSort = "order"
    offset: int = 0
    limit: int = 50
    overlay: Overlay | None = None
    """Formats whose tasks are not indexed do without."""


@dataclass(frozen=True, slots=True)
class Page[T]:
    items: tuple[T, ...]
    total: int
    offset: int
    limit: int
    facets: tuple[Facet, ...] = ()
    note: Text | None = None
    unknown: tuple[Unknown, ...] = ()
