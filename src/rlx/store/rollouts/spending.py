"""What priced rollouts cost in a day, and what those that wait and run may still cost: counted before one is added.

A day is one of UTC. A rollout counts with its ceiling from the moment it waits, with its cost once it has ended, and
with its ceiling still where its agent worked and the cost did not become known. Rows outlive their rollouts.
"""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from rlx.errors import BadInput, Forbidden, TooMany
from rlx.rollout import Rollout
from rlx.store.instance import Instance
from rlx.store.rollouts.schema import rollouts, spending

FREE = "scripted"
"""The provider whose models cost nothing."""


def spending_row(rollout: Rollout) -> dict[str, Any] | None:
    """None of a rollout for which nobody pays."""
    if rollout.model is None or rollout.model.provider == FREE:
        return None
    may = rollout.ceiling or 0.0
    if rollout.ended:
        known = rollout.cost if rollout.cost is not None else (may if rollout.begun else 0.0)
        may = known + (rollout.judge_cost or 0.0)
    ended = (rollout.finished_at or rollout.updated_at).timestamp() if rollout.ended else None
    return {"id": rollout.id, "owner": rollout.owner, "dollars": may, "ended_at": ended}


def spent(connection: sa.Connection, now: datetime, owner: str | None = None) -> float:
    """Dollars of this day, of everybody or of one owner."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    counted = sa.or_(spending.c.ended_at.is_(None), spending.c.ended_at >= day)
    query = sa.select(sa.func.sum(spending.c.dollars)).where(counted)
    if owner is not None:
        query = query.where(spending.c.owner == owner)
    return float(connection.scalar(query) or 0.0)


def check_money(connection: sa.Connection, rollout: Rollout, settings: Instance, now: datetime) -> None:
    """Whether a new rollout fits what operators let rollouts cost. Within the transaction that adds it.

    Raises `BadInput` for one without a ceiling, or over that of a rollout; `Forbidden` for unknown prices; `TooMany`.
    """
    if not settings.limits_money or spending_row(rollout) is None:
        return
    model, ceiling = rollout.model, rollout.ceiling
    if model is None or model.dollars_in is None or model.dollars_out is None:
        raise Forbidden(
            "What this model costs is not known, and this instance limits what rollouts may cost.",
            hint="Pick one with known prices; of an endpoint, give both.",
        )
    most = settings.dollars_per_rollout
    if ceiling is None or (most is not None and ceiling > most):
        told = f"at most ${most:g}" if most is not None else "in dollars"
        raise BadInput(f"A rollout needs a ceiling of its cost here, {told}.", hint="Set max_dollars.")
    for limit, owner, whose in (
        (settings.dollars_per_visitor_day, rollout.owner, "Your rollouts"),
        (settings.dollars_per_day, None, "Rollouts of this instance"),
    ):
        if limit is None or (whose.startswith("Your") and owner is None):
            continue
        taken = spent(connection, now, owner)
        if taken + ceiling > limit * (1 + 1e-9):
            left = max(0.0, limit - taken)
            raise TooMany(
                f"{whose} may cost ${limit:g} a day, of which ${left:.4g} is left, and this one may cost ${ceiling:g}.",
                hint="Lower max_dollars, or try again tomorrow (UTC). What others leave over becomes free as they end.",
                retry_after=_until_tomorrow(now),
            )


def barred(connection: sa.Connection, settings: Instance, now: datetime) -> "sa.ColumnElement[bool]":
    """Which waiting rollouts are not to run now, since operators lowered what a day may cost after they were added."""
    whole = settings.dollars_per_day
    if whole is not None and spent(connection, now) > whole * (1 + 1e-9):
        return rollouts.c.id.in_(sa.select(spending.c.id))
    each = settings.dollars_per_visitor_day
    if each is None:
        return sa.false()
    owners = connection.scalars(sa.select(spending.c.owner).where(spending.c.owner.is_not(None)).distinct()).all()
    over = [owner for owner in owners if owner is not None and spent(connection, now, owner) > each * (1 + 1e-9)]
    named = sa.func.coalesce(rollouts.c.owner, "")
    return sa.and_(named.in_(over), rollouts.c.id.in_(sa.select(spending.c.id))) if over else sa.false()


def _until_tomorrow(now: datetime) -> int:
    here = now.astimezone(UTC)
    tomorrow = (here + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return math.ceil((tomorrow - here).total_seconds())
