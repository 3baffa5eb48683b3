"""Lists of rollouts: what is asked of them, as filters of the index, and what is told of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from rlx.answers import name
from rlx.answers.shown import Json
from rlx.errors import BadInput
from rlx.model import Facet, FacetValue
from rlx.rollout import Rollout, Status
from rlx.store.rollouts.index import Figures
from rlx.store.rollouts.query import SORTS, Filters, Sort
from rlx.store.rollouts.query import Facet as Column
from rlx.store.rollouts.views import Facets
from rlx.texts import say
from rlx.twins.run import masked, run_record

COLUMNS: Final[tuple[Column, ...]] = ("env", "agent", "model", "sandbox", "status")
"""What lists are filtered by."""
NONE: Final = "none"
"""How a filter names what a rollout has none of: a model, say."""
type Outcome = Literal["", "active", "ended", "graded", "solved", "unsolved", "ungraded"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("", "active", "ended", "graded", "solved", "unsolved", "ungraded")
FULL: Final = 1.0
"""The reward from which a task counts as solved."""
_BELOW: Final = FULL - 1e-9
_STATUSES: Final = frozenset(get_args(Status.__value__))


@dataclass(frozen=True, slots=True)
class RunQuery:
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """OR within a column, AND across columns."""
    ref: str | None = None
    """One task of the one environment that is filtered by."""
    mine: bool = False
    outcome: Outcome = ""
    sort: Sort = "new"
    offset: int = 0
    limit: int = 50


def filters_of(query: RunQuery) -> Filters:
    """Raises `BadInput` for what lists of rollouts are not filtered by."""
    known: dict[Column, list[str | None]] = {}
    for column in COLUMNS:
        if column in query.filters:
            known[column] = [None if value == NONE else value for value in query.filters[column]]
    unknown = sorted(set(query.filters) - set(known))
    if unknown:
        raise BadInput(f"Rollouts are not filtered by {unknown[0][:40]!r}.", hint=f"By {', '.join(COLUMNS)}.")
    odd = [value for value in query.filters.get("status", ()) if value not in _STATUSES]
    if odd:
        raise BadInput(f"{odd[0][:40]!r} is no status.", hint=f"One of {', '.join(sorted(_STATUSES))}.")
    if query.sort not in SORTS or query.outcome not in OUTCOMES:
        raise BadInput("That is no order or outcome of rollouts.")
    tasks = None
    if query.ref is not None:
        envs = query.filters.get("env", ())
        if len(envs) != 1:
            raise BadInput("A ref names a task of one environment.", hint="Filter by its env too.")
        tasks = [(envs[0], query.ref)]
    graded, ended = _OUTCOMES[query.outcome]
    return Filters(
        values=known,
        tasks=tasks,
        mine=True if query.mine else None,
        graded=graded,
        ended=ended,
        reward_from=FULL if query.outcome == "solved" else None,
        reward_to=_BELOW if query.outcome == "unsolved" else None,
    )


_OUTCOMES: Final[Mapping[Outcome, tuple[bool | None, bool | None]]] = {
    "": (None, None),
    "active": (None, False),
    "ended": (None, True),
    "graded": (True, None),
    "solved": (True, None),
    "unsolved": (True, None),
    "ungraded": (False, True),
}
"""Graded and ended, by outcome."""


def facets_of(counts: Facets, query: RunQuery) -> tuple[Facet, ...]:
    """Columns with how many rollouts have which value. One with a single value that is not chosen tells nothing."""
    found: list[Facet] = []
    for column in COLUMNS:
        chosen = query.filters.get(column, ())
        values = [(NONE if value is None else value, n) for value, n in counts.get(column, ())]
        values += [(value, 0) for value in chosen if value not in dict(values)]
        if len(values) > 1 or chosen:
            told = tuple(FacetValue(name(value), n, value in chosen) for value, n in values)
            found.append(Facet(column, say(f"run.by_{column}"), told))
    return tuple(found)


def list_json(
    rollouts: Sequence[Rollout], total: int, query: RunQuery, facets: Sequence[Facet], urls: Mapping[str, str]
) -> dict[str, Json]:
    """`urls` by id."""
    cards: list[Json] = [run_record(masked(run), url=urls.get(run.id)) for run in rollouts]
    told: list[Json] = [
        {
            "key": facet.key,
            "values": [{"value": item.value, "n": item.n, "selected": item.selected} for item in facet.values],
        }
        for facet in facets
    ]
    return {
        "cards": cards,
        "total": total,
        "offset": query.offset,
        "page": query.offset // query.limit + 1,
        "facets": told,
        "note": None,
    }


def figures_json(figures: Figures) -> dict[str, Json]:
    """Attempts at a task or an environment, without those of reference agents."""
    return {
        "attempts": figures.attempts,
        "graded": figures.graded,
        "mean": figures.mean,
        "best": figures.best,
    }
