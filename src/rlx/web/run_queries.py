"""What a visitor may ask of a list of rollouts, within limits; one reading for pages and API."""

from typing import Annotated, Literal

from fastapi import Depends, Query

from rlx.ids import MAX_REF
from rlx.twins.run_list import RunQuery
from rlx.web.facets import parse_filters
from rlx.web.queries import Filters, Offset, PageNumber, first_item

RunSort = Literal["new", "old", "reward", "-reward", "cost", "-cost", "finished"]
Outcome = Literal["", "active", "ended", "graded", "solved", "unsolved", "ungraded"]
Part = Annotated[Literal["page", "results"], Query(description="`results` leaves off what a filter does not change.")]
Limit = Annotated[int, Query(ge=1, le=200, description="Items of one page.")]


def read_run_query(
    f: Filters = [],  # noqa: B006 - FastAPI copies defaults
    ref: Annotated[str, Query(max_length=MAX_REF, description="A task of the one env that is filtered by.")] = "",
    mine: Annotated[bool, Query(description="Only the visitor's own.")] = False,
    outcome: Annotated[Outcome, Query(description="How it went.")] = "",
    sort: RunSort = "new",
    offset: Offset = 0,
    page: PageNumber = None,
    limit: Limit = 50,
) -> RunQuery:
    return RunQuery(
        filters=parse_filters(f),
        ref=ref or None,
        mine=mine,
        outcome=outcome,
        sort=sort,
        offset=first_item(offset, page, limit),
        limit=limit,
    )


AskedRuns = Annotated[RunQuery, Depends(read_run_query)]
