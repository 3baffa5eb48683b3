"""Which record of a rollout may follow which, and which of two is the later one."""

from collections.abc import Mapping
from typing import Final

from rlx.errors import RlxError
from rlx.rollout import ENDED, Rollout, Status

_NEXT: Final[Mapping[Status, frozenset[str]]] = {
    "queued": frozenset({"starting"}) | ENDED,
    "starting": frozenset({"queued", "running", "verifying"}) | ENDED,
    "running": frozenset({"verifying"}) | ENDED,
    "verifying": frozenset({"running"}) | ENDED,
}
"""A task of several steps goes from verifying one to running the next."""


class WrongState(RlxError):
    """A rollout cannot go from the state it is in to the one it was to have."""


class LeaseLost(RlxError):
    """Whoever ran the rollout does not hold it any more: it was taken over, or ended by somebody else."""


def check_follows(before: Rollout | None, after: Rollout) -> None:
    """Raises `WrongState` when `after` may not replace `before` (None: there is no record yet)."""
    if before is None:
        return
    if before.id != after.id:
        raise WrongState(f"The record of rollout {after.id} cannot replace that of {before.id}.")
    if before.ended:
        if _without_view(before) != _without_view(after):
            raise WrongState(f"Rollout {before.id} is {before.status} and cannot change any more.")
        return
    again = after.status == "queued" and before.status != "queued"
    if again and before.begun:
        raise WrongState(f"Rollout {before.id} cannot be queued again: its agent had begun.")
    if after.status != before.status and after.status not in _NEXT[before.status]:
        raise WrongState(f"Rollout {before.id} cannot go from {before.status} to {after.status}.")
    if after.attempt < before.attempt:
        raise WrongState(f"Attempt {after.attempt} of rollout {before.id} was taken over by attempt {before.attempt}.")


def is_later(one: Rollout, other: Rollout) -> bool:
    """`one` was written after `other`, or is the same. An end is later than whatever else was said of that attempt."""
    return _rank(one) >= _rank(other)


def _rank(rollout: Rollout) -> tuple[int, bool, float]:
    return rollout.attempt, rollout.ended, rollout.updated_at.timestamp()


def _without_view(rollout: Rollout) -> Rollout:
    """What happened, without who may see it."""
    return rollout.model_copy(update={"visibility": "private", "updated_at": rollout.created_at})
