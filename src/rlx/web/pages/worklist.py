"""`/worklist`: environments tagged for what does not load them, and loadable ones that lack a tag, by framework.

A visit starts the look through the catalog where one is due, and never waits for it: the page tells what is known.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from rlx.answers.shown import Json
from rlx.errors import BadInput
from rlx.hub.repo import Repo
from rlx.ids import EnvKey
from rlx.index.jobs import Job
from rlx.model import ANONYMOUS, EnvCard, EnvQuery
from rlx.publish.frameworks import FRAMEWORKS
from rlx.publish.survey import Item, Survey
from rlx.store.instance import Instance
from rlx.texts import say, words
from rlx.texts.figures import number
from rlx.twins.inline import span
from rlx.web.collections import check_collection
from rlx.web.queries import Offset
from rlx.web.respond import View, answer
from rlx.web.site import site_of

PAGE: Final = 50
NAMES: Final = 30
"""Environments that are named of those not looked at, and of those that cannot be."""
GROUPS: Final = ("claimed", "untagged")
ORDERS: Final = ("framework", "popular", "name")

Framework = Annotated[str, Query(max_length=40, description="Only of this framework.")]
AskedGroup = Annotated[
    Literal["", "claimed", "untagged"], Query(description="Tagged and not loadable; loadable and lacking a tag.")
]
AskedCollection = Annotated[str, Query(max_length=40, description="Only of this collection of the site.")]
Order = Literal["framework", "popular", "name"]
Sorted = Annotated[Order, Query(description="The order of the list.")]


@dataclass(frozen=True, slots=True)
class Asked:
    framework: str = ""
    group: str = ""
    collection: str = ""
    sort: str = "framework"
    offset: int = 0

    def url(self, **changes: str | int) -> str:
        """The page's address, without what is usual. A changed filter or order begins at the first item."""
        usual = Asked()
        told = {
            name: value
            for name in ("framework", "group", "collection", "sort", "offset")
            if (value := changes.get(name, getattr(self, name) if name != "offset" else 0)) != getattr(usual, name)
        }
        return f"/worklist?{urlencode(told)}" if told else "/worklist"


@dataclass(frozen=True, slots=True)
class Found:
    """What is known now, within the collection that was asked for."""

    items: tuple[Item, ...]
    """One page of the list."""
    total: int
    offset: int
    counts: tuple[tuple[str, int, int], ...]
    """Frameworks with how many are claimed and how many untagged, whatever the other filters."""
    looked: int
    listed: int
    waiting: tuple[EnvKey, ...]
    unreadable: tuple[EnvKey, ...]
    running: bool
    beyond: int
    """Environments of the catalog that are not looked at, since it has too many."""
    limit: int = PAGE


async def worklist(
    request: Request,
    framework: Framework = "",
    group: AskedGroup = "",
    collection: AskedCollection = "",
    sort: Sorted = "framework",
    offset: Offset = 0,
) -> Response:
    instance = site_of(request).services.instance.current()
    if framework and framework not in FRAMEWORKS:
        raise BadInput(f"No framework is called {framework[:40]!r}.", hint=f"There are {', '.join(FRAMEWORKS)}.")
    check_collection(EnvQuery(collection=collection or None), instance)
    survey = _looking(request)
    asked = Asked(framework, group, collection, sort, offset)
    found = _found(survey, instance, asked)
    view = View(
        "worklist.html",
        asked.url(offset=offset),
        {
            "asked": asked,
            "found": found,
            "cap": survey.cap,
            "frameworks": FRAMEWORKS,
            "groups": GROUPS,
            "orders": ORDERS,
            "collections": instance.collections,
            "names": NAMES,
            "command": command,
            "before": asked.url(offset=max(0, offset - PAGE)),
            "after": asked.url(offset=offset + PAGE),
        },
        json=lambda language: _json(found, language),
        markdown=lambda language: _markdown(found, survey.cap, language),
        private=found.running,  # who loads the page again for more must not be given the one before
    )
    return await answer(request, view)


def command(item: Item) -> str:
    """What shows why a tag does not hold, or proposes those that lack."""
    return f"rlx hub detect {item.key}" if item.group == "claimed" else f"rlx hub tag {item.key} --pr"


def _looking(request: Request) -> Survey:
    """The survey, at work where that is due."""
    survey: Survey = request.app.state.survey
    services = site_of(request).services

    async def cards(limit: int) -> tuple[Sequence[EnvCard], int]:
        page = await services.catalog.search(EnvQuery(limit=limit), ANONYMOUS)
        return page.items, page.total

    async def repo(key: EnvKey) -> Repo:
        return await services.library.repo(key, ANONYMOUS)

    async def work(job: Job) -> None:
        await survey.look(cards, repo)

    if survey.is_due():
        survey.job = services.background.start(("worklist",), work)
    return survey


def _found(survey: Survey, instance: Instance, asked: Asked) -> Found:
    members = {key for one in instance.collections if one.id == asked.collection for key in one.environments}
    keys = [key for key in survey.listed if not instance.hides(key) and (not asked.collection or str(key) in members)]
    shown = frozenset(keys)
    items = [item for item in survey.items() if item.key in shown]
    counted = Counter((item.framework, item.group) for item in items)
    chosen = [item for item in items if asked.framework in ("", item.framework) and asked.group in ("", item.group)]
    seen = {key: survey.looked(key) for key in keys}
    return Found(
        tuple(_in_order(chosen, asked.sort)[asked.offset : asked.offset + PAGE]),
        len(chosen),
        asked.offset,
        tuple(
            (tag, counted[tag, "claimed"], counted[tag, "untagged"])
            for tag in FRAMEWORKS
            if counted[tag, "claimed"] or counted[tag, "untagged"]
        ),
        sum(looked is not None for looked in seen.values()),
        len(keys),
        tuple(key for key, looked in seen.items() if looked is None),
        tuple(key for key, looked in seen.items() if looked is not None and not looked.readable),
        survey.job is not None and not survey.job.ended.is_set(),
        max(0, survey.total - survey.cap),
    )


def _in_order(items: list[Item], sort: str) -> list[Item]:
    place = {tag: number for number, tag in enumerate(FRAMEWORKS)}
    if sort == "name":
        return sorted(items, key=lambda item: (str(item.key).lower(), place[item.framework]))
    if sort == "popular":
        return sorted(items, key=lambda item: (item.rank, place[item.framework]))
    return sorted(items, key=lambda item: (place[item.framework], GROUPS.index(item.group), item.rank))


def _json(found: Found, language: str) -> dict[str, Json]:
    counts: list[Json] = [
        {"framework": tag, "claimed": claimed, "untagged": untagged} for tag, claimed, untagged in found.counts
    ]
    return {
        "looked_at": found.looked,
        "listed": found.listed,
        "running": found.running,
        "not_looked_at": found.beyond,
        "pending": [str(key) for key in found.waiting[:NAMES]],
        "unreadable": [str(key) for key in found.unreadable[:NAMES]],
        "counts": counts,
        "items": [_item_json(item, language) for item in found.items],
        "total": found.total,
        "offset": found.offset,
        "limit": found.limit,
    }


def _item_json(item: Item, language: str) -> dict[str, Json]:
    return {
        "id": str(item.key),
        "framework": item.framework,
        "group": item.group,
        "missing": list(item.missing),
        "evidence": [{"path": seen.path, "told": words(seen.told, language)} for seen in item.evidence],
        "use": f"{item.key.page}/use",
        "tags": f"{item.key.page}/tags" if item.group == "untagged" else None,
        "command": command(item),
    }


def _markdown(found: Found, cap: int, language: str) -> str:
    looked = say("publish.worklist.looked", done=number(found.looked), of=number(found.listed))
    lines = [f"# {words(say('publish.worklist.title'), language)}", "", words(looked, language), ""]
    if found.beyond:
        lines += [words(say("publish.worklist.capped", cap=cap), language), ""]
    for item in found.items:
        group = words(say(f"publish.worklist.{item.group}"), language)
        seen = "; ".join(words(one.told, language) for one in item.evidence)
        title = FRAMEWORKS[item.framework].title
        lines.append(f"- {span(str(item.key))}, **{title}**, {group}: {span(seen)} {span(command(item))}")
    return "\n".join([*lines, ""])
