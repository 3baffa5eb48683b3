"""Rollouts as a viewer may see them: their own whole; of others, what is public, finished and graded, scrubbed."""

from dataclasses import dataclass, replace
from pathlib import Path

from rlx.errors import Forbidden
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.store.instance import InstanceFile
from rlx.store.rollouts.events import EventPage
from rlx.store.rollouts.files import KeptFile, RolloutFiles
from rlx.store.rollouts.index import REFERENCES, Figures, Index
from rlx.store.rollouts.names import check_id
from rlx.store.rollouts.public import public, public_event
from rlx.store.rollouts.query import Audience, Facet, Filters, Sort

type Facets = dict[Facet, list[tuple[str | None, int]]]


@dataclass(frozen=True, slots=True)
class ViewPage:
    rollouts: tuple[Rollout, ...]
    total: int
    own: frozenset[str]
    """Ids of those that are the viewer's."""


class Views:
    """Every call blocks, and raises `Upstream` where the index, and `OSError` where the store, cannot be reached."""

    def __init__(self, index: Index, files: RolloutFiles, instance: InstanceFile) -> None:
        self._index = index
        self._files = files
        self._instance = instance

    def find(self, id: str, viewer: Viewer | None) -> Rollout:
        """Raises `BadInput`, and `NotFound` for what is not there or not for this viewer."""
        audience = self._audience(viewer)
        return _shown(self._index.find(check_id(id), audience), audience)

    def own(self, id: str, viewer: Viewer | None) -> Rollout:
        """A rollout to change. Raises `NotFound`, and `Forbidden` for one that this viewer may only look at."""
        audience = self._audience(viewer)
        rollout = self._index.find(check_id(id), audience)
        if not audience.owns(rollout.owner):
            raise Forbidden("Only whoever started a rollout may do that.")
        return rollout

    def owns(self, rollout: Rollout, viewer: Viewer | None) -> bool:
        return self._audience(viewer).owns(rollout.owner)

    def page(
        self, filters: Filters, viewer: Viewer | None, *, sort: Sort = "new", offset: int = 0, limit: int = 50
    ) -> ViewPage:
        audience = self._audience(viewer)
        found = self._index.page(filters, audience, sort=sort, offset=offset, limit=limit)
        own = frozenset(rollout.id for rollout in found.rollouts if audience.owns(rollout.owner))
        return ViewPage(tuple(_shown(rollout, audience) for rollout in found.rollouts), found.total, own)

    def facets(self, filters: Filters, viewer: Viewer | None) -> Facets:
        return self._index.facets(filters, self._audience(viewer))

    def figures(self, filters: Filters, viewer: Viewer | None) -> Figures:
        return self._index.figures(filters, self._audience(viewer), without=REFERENCES)

    def figures_by_task(self, filters: Filters, viewer: Viewer | None) -> dict[tuple[str, str], Figures]:
        return self._index.figures_by_task(filters, self._audience(viewer), without=REFERENCES)

    def figures_by_environment(self, filters: Filters, viewer: Viewer | None) -> dict[str, Figures]:
        return self._index.figures_by_environment(filters, self._audience(viewer), without=REFERENCES)

    def events(self, id: str, viewer: Viewer | None, *, after: int = 0, limit: int = 500) -> EventPage:
        """Events later than `after`. Raises `NotFound`."""
        audience = self._audience(viewer)
        rollout = self._index.find(check_id(id), audience)
        found = self._files.events(id, after=after, limit=limit)
        if audience.owns(rollout.owner):
            return found
        return replace(found, events=tuple(public_event(event, rollout) for event in found.events))

    def last_event(self, id: str, viewer: Viewer | None) -> int:
        """The number of the newest event; 0 when there is none. Raises `NotFound`."""
        self._index.find(check_id(id), self._audience(viewer))
        return self._files.last_event(id)

    def files(self, id: str, viewer: Viewer | None) -> list[KeptFile]:
        """Files of a rollout of one's own. Others are shown its record and events. Raises `NotFound`, `Forbidden`."""
        self.own(id, viewer)
        return self._files.listing(id)

    def open(self, id: str, name: str, viewer: Viewer | None) -> Path:
        """A file of a rollout of one's own. Raises `NotFound`, `Forbidden`."""
        self.own(id, viewer)
        return self._files.open(id, name)

    def _audience(self, viewer: Viewer | None) -> Audience:
        settings = self._instance.current()
        return Audience(viewer, settings.hidden_rollouts, settings.hidden)


def _shown(rollout: Rollout, audience: Audience) -> Rollout:
    return rollout if audience.owns(rollout.owner) else public(rollout)
