"""`/d/<org>/<name>` and `/s/<org>/<name>`: what an environment is, and its tasks; its card; one of its tasks."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from rlx.answers import name
from rlx.answers.shown import Json
from rlx.errors import NotFound
from rlx.health.report import EnvReport
from rlx.hub.info import RepoInfo
from rlx.model import Facet, Listing, Page, Section, Shares, Summary, TaskCard, TaskQuery, Withheld
from rlx.telemetry import span
from rlx.texts import Say, say
from rlx.twins.counted import unknown_texts
from rlx.twins.health import health_counts
from rlx.twins.jsonable import object_json, to_json
from rlx.twins.markdown import environment_markdown
from rlx.twins.run_list import RunQuery
from rlx.web.address import env_address
from rlx.web.blocks_html import Spot
from rlx.web.health import env_health, with_health
from rlx.web.links import Links
from rlx.web.lists import task_list
from rlx.web.pager import pager
from rlx.web.queries import AskedTasks
from rlx.web.respond import View, answer, in_form
from rlx.web.rollouts import attempts_at
from rlx.web.site import addresses_of, links_of, open_asked, site_of, viewer_of

Part = Annotated[Literal["page", "results"], Query(description="`results` is the list alone.")]

_COLUMNS = (
    "outcome",
    "reward",
    "model",
    "difficulty",
    "category",
    "group",
    "timeout",
    "length",
    "language",
    "runs",
    "graded",
    "base",
)
"""What tells tasks of a list apart, the most telling first."""
_SHOWN_COLUMNS = 3
_SORTS = ("difficulty", "length", "timeout", "reward", "turns", "tokens")
_MAX_TAGS = 6


async def environment(request: Request, query: AskedTasks, part: Part = "page") -> Response:
    key, site, viewer, links = env_address(request), site_of(request), viewer_of(request), links_of(request)
    opened = await open_asked(request, key)
    info = await site.services.library.info(key, viewer)
    with span("read"):
        summary = await opened.summary(query.subset)
        listed = await with_health(request, key, summary.revision, query)
        tasks = await opened.tasks(listed) if summary.tasks is not None else None
        health = await env_health(request, key, summary.revision, summary.tasks)
        top = await opened.files(None) if tasks is None else None
        attempts = await attempts_at(request, RunQuery({"env": (str(key),)}))
    listing = top if isinstance(top, Listing) else None
    at, last = addresses_of(request), tasks.offset + len(tasks.items) if tasks is not None else 0
    following = links.env(key, query, offset=last) if tasks is not None and last < tasks.total else None
    asked = bool(query.text or query.filters or query.subset)
    told = "environment_tasks.html" if part == "results" and tasks is not None else "environment.html"
    view = View(
        told,
        links.env(key, query, offset=query.offset),
        {
            "key": key,
            "query": query,
            "summary": summary,
            "info": info,
            "listing": listing,
            "spot": Spot(key, None, "env"),
            "health": health if _can_run(summary) else None,
            **attempts.variables(links),
            **head(summary, info),
            **_parts(summary),
            **(_list(summary, tasks, query) if tasks is not None else {"tasks": None}),
        },
        json=lambda language: environment_json(summary, tasks, info, links, language, health),
        markdown=lambda language: environment_markdown(
            summary, tasks, listing, language, at=at, following=following, asked=asked, health=health
        ),
        private=attempts.private,
    )
    return await answer(request, view)


async def card(request: Request) -> Response:
    """The README."""
    key, site, viewer = env_address(request), site_of(request), viewer_of(request)
    summary = await (await open_asked(request, key)).summary()
    if summary.readme is None:
        raise NotFound(f"{key} has no README.")
    readme, info = summary.readme, await site.services.library.info(key, viewer)
    view = View(
        "card.html",
        links_of(request).card(key),
        {"key": key, "summary": summary, "info": info, "spot": Spot(key, None, "card"), **head(summary, info)},
        json=lambda language: {"id": str(key), "readme": str(readme)},
        markdown=lambda language: readme,
    )
    return await answer(request, view)


async def random_of(request: Request) -> Response:
    """Some task of this environment."""
    key = env_address(request)
    ref = await (await open_asked(request, key)).random()
    if ref is None:
        raise NotFound(f"{key} has no tasks.")
    return RedirectResponse(in_form(request, links_of(request).task(key, ref)), 303, {"cache-control": "no-store"})


def environment_json(
    summary: Summary,
    tasks: Page[TaskCard] | None,
    info: RepoInfo,
    links: Links,
    language: str,
    health: EnvReport | None = None,
) -> dict[str, Json]:
    """The summary's fields, what the Hub counts, and the first page of the task list."""
    return {
        "id": str(summary.key),
        **object_json(summary, language),
        "framework": summary.support.framework,
        "kind": summary.key.kind,
        "url": links.env(summary.key),
        "revisions": links.revisions(summary.key),
        "downloads": info.downloads,
        "likes": info.likes,
        "modified": to_json(info.modified),
        "health": None if health is None else health_counts(health),
        "list": task_list(tasks, summary.key, links, language) if tasks is not None else None,
    }


def _can_run(summary: Summary) -> bool:
    """Whether its tasks may be run anywhere: of those that may not, nothing will ever be proved."""
    return any(item.id == "run" and item.state != "unavailable" for item in summary.support.capabilities)


def head(summary: Summary, info: RepoInfo) -> dict[str, Any]:
    """What stands over every page of an environment."""
    said = {_letters(summary.key.name), _letters(summary.brief)}
    licences = [tag.removeprefix("license:") for tag in info.tags if tag.startswith("license:")]
    return {
        "title": summary.title if _letters(summary.title) not in said else None,
        "licence": name(licences[0]) if licences else None,
        "tags": [name(tag) for tag in info.tags if ":" not in tag][:_MAX_TAGS],
    }


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _parts(summary: Summary) -> dict[str, Any]:
    """The sections by how they are drawn: figures, facts that are the same everywhere, shares in words, the rest."""
    tiles = summary.tiles.key if summary.tiles else None
    drawn = [block for section in summary.sections if section.id == "overview" for block in _shares(section)]
    others = [section for section in summary.sections if section.id != "overview"]
    return {
        "figures": [item for item in drawn if not _is_uniform(item) and _facet_of(item) != tiles],
        "uniform": [item for item in drawn if _is_uniform(item)],
        "facts": [section for section in others if _is_narrow(section)],
        "others": [section for section in others if not _is_narrow(section)],
        "held": _held(summary.withheld),
    }


def _held(items: Sequence[Withheld]) -> list[tuple[Say, list[str]]]:
    """What is withheld, by reason, in the order it is told."""
    groups: dict[Say, list[str]] = {}
    for item in items:
        groups.setdefault(item.reason, []).append(item.where)
    return list(groups.items())


def _shares(section: Section) -> Iterator[Shares]:
    return (block for block in section.blocks if isinstance(block, Shares))


def _is_narrow(section: Section) -> bool:
    """Whether a section reads well in the side column."""
    return all(block.type in {"kv", "note", "steps", "links", "stats", "shares"} for block in section.blocks)


def _is_uniform(figure: Shares) -> bool:
    """Whether every task is the same here: a fact, not a picture."""
    return len(figure.parts) == 1 and figure.parts[0].n == figure.of


def _facet_of(figure: Shares) -> str | None:
    chosen = figure.parts[0].filter if figure.parts else None
    return chosen[0] if chosen else None


def _list(summary: Summary, tasks: Page[TaskCard], query: TaskQuery) -> dict[str, Any]:
    columns = _columns(summary)
    return {
        "tasks": tasks,
        "notes": unknown_texts(tasks.unknown),
        "pager": pager(tasks.total, tasks.offset, tasks.limit),
        "facets": [facet for facet in tasks.facets if _divides(facet, tasks.total)],
        "columns": columns[:_SHOWN_COLUMNS],
        "meta": columns[_SHOWN_COLUMNS : _SHOWN_COLUMNS + 2],
        "sorts": tuple(_sorts(summary)),
        "chosen": sum(map(len, query.filters.values())),
        "plain": not (query.text or query.filters or query.offset),
    }


def _divides(facet: Facet, total: int) -> bool:
    """Whether choosing a value changes the list: a value that every task has does not, unless it was chosen."""
    return any(value.selected or value.n != total for value in facet.values)


def _columns(summary: Summary) -> Sequence[Facet]:
    """Facets that tell tasks apart: at least half of them have one value, and not all the same."""
    known = {facet.key: facet for facet in summary.facets}
    least = (summary.tasks or 0) / 2
    offered = [key for key in _COLUMNS if key != "group" or len(summary.subsets) < 2]
    found = [known[key] for key in offered if key in known and len(known[key].values) > 1]
    return [facet for facet in found if sum(value.n for value in facet.values) >= least]


def _sorts(summary: Summary) -> Iterator[tuple[str, Say]]:
    """Sorts that would change the list, with their names."""
    yield "order", say("web.sort_order")
    yield "title", say("web.sort_title")
    several = {facet.key for facet in summary.facets if len(facet.values) > 1}
    for key in _SORTS:
        if key in several:
            yield key, say(f"env.sort_{key}")
            yield f"-{key}", say(f"env.sort_{key}_down")
