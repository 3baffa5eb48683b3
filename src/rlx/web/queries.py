"""What a visitor may ask of a list, within limits; one reading for pages and API."""

from typing import Annotated, Literal

from fastapi import Depends, Query

from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.model import KINDS, EnvQuery, TaskQuery, TaskSearch, TaskSort
from rlx.web.facets import parse_filters

MAX_TEXT = 200
MAX_OFFSET = 10_000_000

Words = Annotated[str, Query(max_length=MAX_TEXT, description="Words; each must occur.")]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET, description="Items to skip.")]
PageNumber = Annotated[
    int | None, Query(ge=1, le=MAX_OFFSET, description="The page, from 1; used in place of `offset`.")
]
Limit = Annotated[int, Query(ge=1, le=100, description="Items of one page.")]
Filters = Annotated[list[str], Query(description="`key:v1|v2;key2:v`, keys and values percent-encoded.")]
EnvSort = Literal["trending", "updated", "tasks", "name", "downloads", "likes"]


def plain_words(text: str) -> str:
    """What was typed, without extra space. Raises `BadInput` for control characters."""
    if any((ord(char) < 32 and char not in "\t\n\r") or 0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise BadInput("The search holds control characters.")
    return " ".join(text.split())


def read_env_query(
    q: Words = "",
    kind: str = "",
    f: Filters = [],  # noqa: B006 - FastAPI copies defaults
    collection: Annotated[str, Query(max_length=40, description="A collection of the operators.")] = "",
    sort: EnvSort = "trending",
    mine: Annotated[bool, Query(description="With the visitor's own private ones.")] = False,
    offset: Offset = 0,
    page: PageNumber = None,
    limit: Limit = 40,
) -> EnvQuery:
    if kind and kind not in KINDS:
        raise BadInput(f"{kind[:40]!r} is not a kind of environment.", hint=f"One of: {', '.join(KINDS)}.")
    return EnvQuery(
        text=plain_words(q),
        kind=kind or None,
        filters=parse_filters(f),
        collection=collection or None,
        sort=sort,
        mine=mine,
        offset=first_item(offset, page, limit),
        limit=limit,
    )


def read_task_search(
    q: Words = "",
    f: Filters = [],  # noqa: B006 - FastAPI copies defaults
    env: Annotated[str, Query(max_length=250, description="The one environment to search.")] = "",
    offset: Offset = 0,
    page: PageNumber = None,
    limit: Limit = 20,
) -> TaskSearch:
    return TaskSearch(
        text=plain_words(q),
        filters=parse_filters(f),
        environment=parse_key(env) if env else None,
        offset=first_item(offset, page, limit),
        limit=limit,
    )


def read_task_query(
    q: Words = "",
    f: Filters = [],  # noqa: B006 - FastAPI copies defaults
    subset: Annotated[str, Query(max_length=500)] = "",
    sort: TaskSort = "order",
    offset: Offset = 0,
    page: PageNumber = None,
    limit: Limit = 50,
) -> TaskQuery:
    return TaskQuery(
        text=plain_words(q),
        filters=parse_filters(f),
        subset=subset or None,
        sort=sort,
        offset=first_item(offset, page, limit),
        limit=limit,
    )


def first_item(offset: int, page: int | None, limit: int) -> int:
    """Items before the first one. Raises `BadInput` for a page past what can be asked for."""
    first = offset if page is None else (page - 1) * limit
    if first > MAX_OFFSET:
        raise BadInput(f"Page {page} begins past item {MAX_OFFSET:,}.", hint="Begin at page 1.")
    return first


AskedEnvs = Annotated[EnvQuery, Depends(read_env_query)]
AskedHits = Annotated[TaskSearch, Depends(read_task_search)]
AskedTasks = Annotated[TaskQuery, Depends(read_task_query)]
