"""What the app needs of the services it is given."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

from rlx.formats.base import Environment
from rlx.hub.info import RepoInfo
from rlx.hub.repo import Repo
from rlx.ids import EnvKey
from rlx.index.catalog import CatalogStatus
from rlx.index.jobs import Job, Work
from rlx.model import (
    Changes,
    EnvCard,
    EnvPage,
    EnvQuery,
    Progress,
    Relative,
    Revision,
    TaskChanges,
    TaskHits,
    TaskSearch,
    Viewer,
)
from rlx.runners.models.router import Router
from rlx.settings import Settings
from rlx.store.health import EnvHealth
from rlx.store.instance import Instance

if TYPE_CHECKING:
    from rlx.jobs.queue_service import Rollouts


class Hub(Protocol):
    async def whoami(self, token: str) -> str:
        """The name a token belongs to. Raises `Forbidden` for one the Hub does not know."""
        ...


class Catalog(Protocol):
    async def search(self, query: EnvQuery, viewer: Viewer) -> EnvPage: ...

    async def card(self, key: EnvKey) -> EnvCard | None:
        """None for what is not listed, or hidden."""
        ...

    async def rank(self, key: EnvKey) -> tuple[int, int] | None:
        """Its place by trend among those of its kind, from 1, and how many those are; None when it is not listed."""
        ...

    async def tasks(self, search: TaskSearch) -> TaskHits:
        """One page of the tasks of every environment that was read."""
        ...

    async def relatives(self, key: EnvKey, ref: str) -> tuple[Relative, ...]:
        """Tasks with the same files as this one, then those that say nearly the same."""
        ...

    async def random(self) -> tuple[EnvKey, str] | None:
        """Some task of some environment that was read; None when none was."""
        ...

    def status(self) -> CatalogStatus:
        """Which catalog is in use, and how old it is."""
        ...


class Library(Protocol):
    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
    ) -> Environment: ...

    async def info(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> RepoInfo: ...

    async def repo(self, key: EnvKey, viewer: Viewer, revision: str | None = None) -> Repo: ...

    async def progress(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> Progress | None: ...

    def follow(self, key: EnvKey, viewer: Viewer, *, revision: str | None = None) -> AsyncIterator[Progress]: ...

    async def revisions(self, key: EnvKey, viewer: Viewer) -> tuple[Revision, ...]:
        """The newest commits, newest first."""
        ...

    async def changes(self, key: EnvKey, viewer: Viewer, old: str, new: str) -> Changes:
        """What became of the tasks between two revisions."""
        ...

    async def task_changes(self, key: EnvKey, viewer: Viewer, old: str, new: str, ref: str) -> TaskChanges:
        """What became of one task's files between two revisions; all are added or removed where one lacks the task."""
        ...


class InstanceSettings(Protocol):
    def current(self) -> Instance:
        """What the operators set, now."""
        ...


class Health(Protocol):
    def of(self, key: EnvKey) -> EnvHealth:
        """What is known of an environment's tasks, at whatever revision. Blocks."""
        ...


class Background(Protocol):
    def start(self, name: tuple[str, ...], work: Work) -> Job:
        """The job called `name`, started when it is not running."""
        ...


class OpenRollouts(Protocol):
    def __call__(self) -> "Rollouts":
        """Blocks the first time. Raises `BadInput`, `Upstream`."""
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

    @property
    def router(self) -> Router: ...

    @property
    def rollouts(self) -> OpenRollouts: ...

    @property
    def health(self) -> Health: ...

    @property
    def background(self) -> Background: ...
