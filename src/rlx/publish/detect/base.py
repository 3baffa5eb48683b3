"""What detection finds, and what a detector is handed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rlx.errors import BadInput, Forbidden, NotFound
from rlx.formats.processors.base import Table
from rlx.formats.rows.layout import Split
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.model import Text

UNREADABLE: Final = (NotFound, Forbidden, BadInput)
"""What a file that supports nothing raises. Trouble on the Hub is another thing: nothing is said of the file then."""

type Kind = Literal[
    "harbor-repo",
    "harbor-registry",
    "harbor-path",
    "harbor-packed",
    "openenv-tasks",
    "openenv-server",
    "verifiers-harbor",
    "verifiers-package",
    "verifiers-rows",
    "nemo-gym-rows",
    "nemo-gym-config",
    "verl-rows",
    "skyrl-rows",
    "ors-server",
    "rows",
]
"""How a framework loads what is there; the first part is its tag. `rows` is a table as such, of none."""


type State = Literal["supported", "claimed", "untagged"]
"""Tagged and loadable; tagged, and nothing there that it loads; loadable, and not tagged."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a framework loads a part of the repository."""

    kind: Kind
    path: str = ""
    """The folder or file that it is given; empty: the repository's root."""
    name: str = ""
    """Of a registry's dataset, a package or a config."""
    version: str = ""
    """Of a registry's dataset."""
    split: str = ""
    tasks: int | None = None

    @property
    def framework(self) -> str:
        return next(tag for tag in ("nemo-gym", self.kind.partition("-")[0]) if self.kind.startswith(tag))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen, and in which file or folder of the repository."""

    path: str
    told: Text


@dataclass(frozen=True, slots=True)
class Found:
    """What one detector says: ways that work, and what was seen that is for a framework and yet no such way."""

    ways: tuple[Way, ...] = ()
    evidence: Mapping[str, tuple[Evidence, ...]] | None = None
    """By framework."""


@dataclass(frozen=True, slots=True)
class Files:
    """A repository as detectors see it. Everything in it is hostile."""

    repo: Repo
    paths: Mapping[str, TreeEntry]
    whole: bool
    """All files are known; of a repository too big to list, those that lie where tasks do."""
    tables: tuple[Table, ...]
    """Its first tables, each as if the repository had no tags."""


type Detector = Callable[[Files], Awaitable[Found]]


@dataclass(frozen=True, slots=True)
class Support:
    """One framework: what its tag claims, and what the files say."""

    framework: str
    state: State
    library: bool
    """The Hub knows its tag."""
    ways: tuple[Way, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    member: bool
    """Tagged `rl-environment`."""
    supports: tuple[Support, ...]
    whole: bool
    """Every file was known: of what was not found there is none."""
    splits: tuple[Split, ...] = ()
    """The tables there are."""
