"""What is asked of the index: filters, orders and who asks, as conditions of SQL."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import sqlalchemy as sa

from rlx.model import Viewer
from rlx.rollout import Status
from rlx.store.rollouts.schema import DELETING, rollouts

type Facet = Literal["env", "agent", "model", "sandbox", "runner", "status"]
FACETS: Final[tuple[Facet, ...]] = ("env", "agent", "model", "sandbox", "runner", "status")
type Sort = Literal["new", "old", "reward", "-reward", "cost", "-cost", "finished"]
SORTS: Final[tuple[Sort, ...]] = ("new", "old", "reward", "-reward", "cost", "-cost", "finished")
"""`reward` and `cost` are the highest first, with a minus the lowest; whoever has none comes last in both."""
ACTIVE: Final[tuple[Status, ...]] = ("queued", "starting", "running", "verifying")
PAGE: Final = 200
"""Rows of a page at most."""

_columns = rollouts.c
_ORDERS: Final[Mapping[Sort, tuple[sa.ColumnElement[object], ...]]] = {
    "new": (),
    "old": (_columns.created_at.asc(), _columns.id.asc()),
    "reward": (_columns.reward.desc().nullslast(),),
    "-reward": (_columns.reward.asc().nullslast(),),
    "cost": (_columns.cost.desc().nullslast(),),
    "-cost": (_columns.cost.asc().nullslast(),),
    "finished": (_columns.finished_at.desc().nullslast(),),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What must hold of a rollout; values of one field are alternatives."""

    values: Mapping[Facet, Collection[str | None]] = field(default_factory=dict)
    tasks: Collection[tuple[str, str]] | None = None
    """Environment and ref: of one task under all its aliases, say."""
    mine: bool | None = None
    """True: only the viewer's own. False: only others'."""
    graded: bool | None = None
    ended: bool | None = None
    reward_from: float | None = None
    reward_to: float | None = None


@dataclass(frozen=True, slots=True)
class Audience:
    """Who asks, and what operators took away. `viewer` None: an operator, who sees everything."""

    viewer: Viewer | None
    hidden: frozenset[str] = frozenset()
    """Ids of rollouts that are shown to their owners alone."""
    hidden_envs: frozenset[str] = frozenset()
    """Environments that are not shown to anybody."""

    def owns(self, owner: str | None) -> bool:
        """A rollout of `owner` is the viewer's own. Whoever runs this machine owns what has no owner."""
        if self.viewer is None:
            return True
        if owner is None:
            return self.viewer.kind == "local"
        return self.viewer.kind != "anonymous" and self.viewer.name == owner


def order(sort: Sort) -> tuple[sa.ColumnElement[object], ...]:
    return (*_ORDERS[sort], _columns.created_at.desc(), _columns.id.desc())


def is_own(audience: Audience) -> sa.ColumnElement[bool]:
    viewer = audience.viewer
    if viewer is None:
        return sa.true()
    kinds: list[sa.ColumnElement[bool]] = []
    if viewer.kind == "local":
        kinds.append(_columns.owner.is_(None))
    if viewer.kind != "anonymous" and viewer.name is not None:
        kinds.append(_columns.owner.is_not_distinct_from(viewer.name))
    return sa.or_(sa.false(), *kinds)


def is_shared() -> sa.ColumnElement[bool]:
    """What anybody may see: public, finished and graded."""
    return sa.and_(_columns.visibility == "public", _columns.status == "done", _columns.graded)


def is_active() -> sa.ColumnElement[bool]:
    """It waits or runs."""
    return _columns.status.in_(ACTIVE)


def may_see(audience: Audience) -> sa.ColumnElement[bool]:
    is_there = _columns.status != DELETING
    if audience.viewer is None:
        return is_there
    shared = sa.and_(is_shared(), _not_in(_columns.id, audience.hidden))
    return sa.and_(is_there, sa.or_(is_own(audience), shared), _not_in(_columns.env, audience.hidden_envs))


def conditions(filters: Filters, audience: Audience, *, without: Facet | None = None) -> sa.ColumnElement[bool]:
    """All conditions, but for those on the field `without`, whose alternatives are being counted."""
    found = [may_see(audience)]
    found += [_is_one_of(_columns[key], set(values)) for key, values in filters.values.items() if key != without]
    if filters.tasks is not None:
        pairs = sorted(set(filters.tasks))
        found.append(sa.or_(sa.false(), *(sa.and_(_columns.env == env, _columns.ref == ref) for env, ref in pairs)))
    if filters.mine is not None:
        found.append(is_own(audience) if filters.mine else sa.not_(is_own(audience)))
    if filters.graded is not None:
        found.append(_columns.graded if filters.graded else sa.not_(_columns.graded))
    if filters.ended is not None:
        found.append(sa.not_(is_active()) if filters.ended else is_active())
    if filters.reward_from is not None:
        found.append(_columns.reward >= filters.reward_from)
    if filters.reward_to is not None:
        found.append(_columns.reward <= filters.reward_to)
    return sa.and_(*found)


def _is_one_of(column: sa.Column[object], values: set[str | None]) -> sa.ColumnElement[bool]:
    named = column.in_(sorted(value for value in values if value is not None))
    return sa.or_(named, column.is_(None)) if None in values else named


def _not_in(column: sa.ColumnElement[str], values: Iterable[str]) -> sa.ColumnElement[bool]:
    listed = sorted(values)
    return column.not_in(listed) if listed else sa.true()
