"""`/d/<org>/<name>/pair?a=REF&b=REF`: two tasks, or two attempts at one, side by side."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request, Response

from rlx.answers.shown import Json
from rlx.formats.base import Environment
from rlx.ids import MAX_REF, check_ref
from rlx.model import Task, TaskCard, TaskQuery
from rlx.twins.jsonable import to_json
from rlx.twins.pair import pair_markdown, pair_rows, pair_sections
from rlx.twins.tasks import task_markdown
from rlx.web.address import env_address
from rlx.web.blocks_html import Anchors, Spot
from rlx.web.respond import View, answer
from rlx.web.site import addresses_of, links_of, open_asked

OFFERED = 12
"""Tasks that are offered to be put beside the first."""

One = Annotated[str, Query(alias="a", min_length=1, max_length=MAX_REF, description="A task's ref.")]
Other = Annotated[str, Query(alias="b", max_length=MAX_REF, description="Another's; without it, ones to choose from.")]


async def pair(request: Request, one: One, other: Other = "") -> Response:
    key, links, at = env_address(request), links_of(request), addresses_of(request)
    opened = await open_asked(request, key)
    first = await opened.task(await opened.canonical(check_ref(one)))
    second = await opened.task(await opened.canonical(check_ref(other))) if other.strip() else None
    offered = await _offered(opened, first, second)
    anchors = Anchors()
    view = View(
        "pair.html",
        links.pair(key, first.ref, second.ref if second is not None else None),
        {
            "key": key,
            "one": first,
            "other": second,
            "offered": offered,
            "rows": pair_rows(first, second) if second is not None else (),
            "sections": pair_sections(first, second) if second is not None else (),
            "spot": lambda side, ref, section: Spot(key, ref, f"{side}-{section.id}", False, anchors),
        },
        json=lambda language: _json(first, second, offered, language),
        markdown=lambda language: (
            task_markdown(first, key, language, at=at)
            if second is None
            else pair_markdown(first, second, key, language, at=at)
        ),
    )
    return await answer(request, view)


async def _offered(opened: Environment, one: Task, other: Task | None) -> Sequence[TaskCard]:
    """Other attempts at the same task; where there are none, the tasks around it."""
    of = one.facets.get("task")
    query = TaskQuery(filters={"task": tuple(map(str, of))}, limit=OFFERED + 2) if of else None
    if query is None:
        query = TaskQuery(offset=max(0, one.position - OFFERED // 2), limit=OFFERED + 2)
    taken = {one.ref, other.ref if other is not None else None}
    return [card for card in (await opened.tasks(query)).items if card.ref not in taken][:OFFERED]


def _json(one: Task, other: Task | None, offered: Sequence[TaskCard], language: str) -> dict[str, Json]:
    sides: list[Json] = [to_json(task, language) for task in (one, other) if task is not None]
    return {"tasks": sides, "offered": [card.ref for card in offered]}
