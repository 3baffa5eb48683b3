"""The contract of a format. A new format is one file that meets it, one registry line and one fixture."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rlx.hub.repo import Repo
from rlx.index.records import Reader
from rlx.model import Alias, Blob, Listing, Page, RunOption, Summary, Task, TaskCard, TaskQuery, Text, Viewer


@dataclass(frozen=True, slots=True)
class Claim:
    confidence: float
    """0 to 1. The surest claim opens the repository; below 1 a closer look may still hand over to the next."""
    evidence: Text
    """One sentence: what was seen."""


class HandOver(Exception):
    """Raised by `Format.open` when a closer look shows that the claim was wrong; the next claim opens it."""


class Environment(Protocol):
    """An opened environment at one revision. Everything it returns has passed `rlx.answers`.

    Unknown refs and paths raise `NotFound`; withheld files raise `Forbidden` naming the reason; trouble on the Hub
    raises `Upstream`.
    """

    @property
    def format(self) -> str: ...

    async def summary(self, subset: str | None = None) -> Summary: ...

    async def tasks(self, query: TaskQuery) -> Page[TaskCard]: ...

    async def canonical(self, ref: str) -> str:
        """The ref as this environment spells it: a former or shortened spelling gives the one to redirect to."""
        ...

    async def task(self, ref: str) -> Task: ...

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        """A folder or a file of a task, or of the whole repository when `ref` is None.

        A folder of very many entries is listed in parts; `offset` is the first entry of the part asked for.
        """
        ...

    async def run_options(self, ref: str) -> tuple[RunOption, ...]: ...

    async def aliases(self, ref: str) -> tuple[Alias, ...]: ...

    async def random(self) -> str | None:
        """The ref of some task; None when there is none."""
        ...

    async def materialize(self, ref: str, into: Path) -> Path:
        """Write the task as a Harbor folder under `into`, answers included. Raises `BadInput` where it cannot."""
        ...


@runtime_checkable
class Filling(Protocol):
    """An environment that goes on being read after it was opened: until then searches and counts cover a part."""

    async def filled(self) -> None:
        """Return when all that will be read has been."""
        ...


@runtime_checkable
class Revealing(Protocol):
    """An environment whose tasks hold more than files: for whoever owns the folder it lies in, and nobody else."""

    async def revealed(self, ref: str) -> Mapping[str, str]:
        """What is withheld of a task, raw, by the path of the file that shows it masked. Raises `NotFound`."""
        ...


@runtime_checkable
class Correctable(Protocol):
    """An environment that inferred what its columns are, and can be told better."""

    async def corrected(self, roles: Mapping[str, str]) -> Environment:
        """The same, with `roles` to columns. Raises `BadInput` for a role or a column that there is not."""
        ...


class Format(Protocol):
    @property
    def name(self) -> str:
        """Lower-case word, unique over the registry."""
        ...

    async def claim(self, repo: Repo) -> Claim | None: ...

    async def open(self, repo: Repo, viewer: Viewer) -> Environment: ...


@runtime_checkable
class Versioned(Protocol):
    """A format without an index, and its environments, that tell when they began to read otherwise."""

    @property
    def reader_version(self) -> int:
        """Another number whenever reading changes: what the catalog keeps of the others is made anew."""
        ...


@runtime_checkable
class IndexedFormat(Protocol):
    """A format whose tasks are indexed and packed: it reads folders, and the index opens the environment."""

    @property
    def name(self) -> str: ...

    async def claim(self, repo: Repo) -> Claim | None: ...

    @property
    def reader(self) -> Reader: ...


@runtime_checkable
class Viewing(Protocol):
    """A reader whose tasks are no folders of the repository itself."""

    def view(self, repo: Repo) -> Repo:
        """The repository in which they are folders."""
        ...


class Aliaser(Protocol):
    """Relates tasks of different environments. Registered beside formats, from here or from outside."""

    @property
    def name(self) -> str: ...

    async def aliases(self, repo: Repo, ref: str) -> tuple[Alias, ...]: ...
