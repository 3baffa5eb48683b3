"""What the app needs of the services it is given."""

from collections.abc import AsyncIterator
from typing import Protocol

from rlx.formats.base import Environment
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.model import Changes, EnvPage, EnvQuery, Progress, Revision, TaskChanges, TaskHit, Viewer
from rlx.settings import Settings
from rlx.store.instance import Instance


class Hub(Protocol):
    async def whoami(self, token: str) -> str:
        """The name a token belongs to. Raises `Forbidden` for one the Hub does not know."""
        ...


class Catalog(Protocol):
    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage: ...

    async def tasks(self, text: str, *, limit: int = 10) -> tuple[TaskHit, ...]:
        """Tasks of any environment that hold every word."""
        ...

    async def random(self, viewer: Viewer) -> tuple[EnvKey, str] | None:
        """Some task of some environment that was read; None when none was."""
        ...

    def ready(self) -> bool: ...


class Library(Protocol):
    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
    ) -> Environment: ...

    async def info(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> RepoInfo: ...

    async def progress(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> Progress | None: ...

    def follow(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> AsyncIterator[Progress]: ...

    async def revisions(self, key: EnvKey, viewer: Viewer) -> tuple[Revision, ...]:
        """The newest commits, newest first."""
        ...

    async def changes(self, key: EnvKey, viewer: Viewer, old: str, new: str) -> Changes:
        """What became of the tasks between two revisions."""
        ...

    async def task_changes(self, key: EnvKey, viewer: Viewer, old: str, new: str, ref: str) -> TaskChanges:
        """What became of one task's files between two revisions."""
        ...


class InstanceSettings(Protocol):
    def current(self) -> Instance:
        """What the operators set, now."""
        ...


class Services(Protocol):
    @property
    def settings(self) -> Settings: ...

    @property
    def hub(self) -> Hub: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def library(self) -> Library: ...

    @property
    def instance(self) -> InstanceSettings: ...
