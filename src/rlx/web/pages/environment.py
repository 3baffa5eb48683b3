"""`/d/<org>/<name>` and `/s/<org>/<name>`: what an environment is, and its tasks."""

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from rlx.answers.shown import Json, Shown
from rlx.errors import NotFound
from rlx.hub.info import RepoInfo
from rlx.model import Facet, Listing, Page, Shares, Summary, TaskCard
from rlx.telemetry import span
from rlx.twins.jsonable import object_json, to_json
from rlx.twins.markdown import folder_markdown, listing_markdown, summary_markdown
from rlx.web.address import env_address
from rlx.web.blocks_html import Spot
from rlx.web.links import Links
from rlx.web.lists import task_list
from rlx.web.queries import AskedTasks
from rlx.web.respond import View, answer
from rlx.web.site import site_of, viewer_of


async def environment(request: Request, query: AskedTasks) -> Response:
    key, site, viewer = env_address(request), site_of(request), viewer_of(request)
    opened = await site.open(key, viewer)
    info = await site.services.library.info(key, viewer)
    with span("read"):
        summary = await opened.summary(query.subset)
        tasks = await opened.tasks(query) if summary.tasks is not None else None
        top = await opened.files(None) if tasks is None else None
    listing = top if isinstance(top, Listing) else None
    drawn = [item for item in summary.sections if all(isinstance(block, Shares) for block in item.blocks)]
    figures = [block for item in drawn for block in item.blocks if isinstance(block, Shares)]

    def markdown(language: str) -> str:
        told = summary_markdown(summary, language)
        if tasks is not None:
            return f"{told}\n{listing_markdown(tasks, language)}"
        return f"{told}\n{folder_markdown(listing, language)}" if listing is not None else told

    view = View(
        "environment.html",
        site.links.env(key, query, offset=query.offset),
        {
            "key": key,
            "title": _own_title(summary),
            "query": query,
            "summary": summary,
            "tasks": tasks,
            "info": info,
            "listing": listing,
            "figures": [figure for figure in figures if not _is_uniform(figure)],
            "uniform": [figure for figure in figures if _is_uniform(figure)],
            "others": [item for item in summary.sections if item not in drawn],
            "columns": _columns(tasks) if tasks is not None else (),
            "spot": Spot(key, None, "env"),
        },
        json=lambda language: environment_json(summary, tasks, info, site.links, language),
        markdown=markdown,
    )
    return await answer(request, view)


async def card(request: Request) -> Response:
    """The README."""
    key, site, viewer = env_address(request), site_of(request), viewer_of(request)
    summary = await (await site.open(key, viewer)).summary()
    if summary.readme is None:
        raise NotFound(f"{key} has no README.")
    readme = summary.readme
    view = View(
        "card.html",
        site.links.card(key),
        {"key": key, "title": _own_title(summary), "summary": summary, "spot": Spot(key, None, "card")},
        json=lambda language: {"id": str(key), "readme": str(readme)},
        markdown=lambda language: readme,
    )
    return await answer(request, view)


async def random_of(request: Request) -> Response:
    """Some task of this environment."""
    key, site = env_address(request), site_of(request)
    ref = await (await site.open(key, viewer_of(request))).random()
    if ref is None:
        raise NotFound(f"{key} has no tasks.")
    return RedirectResponse(site.links.task(key, ref), 303, {"cache-control": "no-store"})


def _own_title(summary: Summary) -> Shown | None:
    """The title, when it says more than the repository's name and the brief do."""
    said = {_letters(summary.key.name), _letters(summary.brief)}
    return summary.title if _letters(summary.title) not in said else None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _is_uniform(figure: Shares) -> bool:
    """Whether every task is the same here: a fact, not a picture."""
    return len(figure.parts) == 1 and figure.parts[0].n == figure.of


def _columns(page: Page[TaskCard]) -> list[Facet]:
    """Facets that tell the tasks of a page apart: most of them have one, and not all the same."""
    told = [facet for facet in page.facets if facet.key != "tags" and not facet.key.startswith("meta:")]
    own = {facet.key: [card.facets[facet.key] for card in page.items if card.facets.get(facet.key)] for facet in told}
    return [facet for facet in told if 2 * len(own[facet.key]) >= len(page.items) and len(set(own[facet.key])) > 1]


def environment_json(
    summary: Summary, tasks: Page[TaskCard] | None, info: RepoInfo, links: Links, language: str
) -> dict[str, Json]:
    """The summary's fields, what the Hub counts, and the first page of the task list."""
    return {
        "id": str(summary.key),
        **object_json(summary, language),
        "framework": summary.support.framework,
        "kind": summary.key.kind,
        "url": links.env(summary.key),
        "downloads": info.downloads,
        "likes": info.likes,
        "modified": to_json(info.modified),
        "list": task_list(tasks, summary.key, links, language) if tasks is not None else None,
    }
