"""`/runs`: rollouts of one's own and public ones, by environment, agent, model, sandbox, status and outcome."""

from fastapi import Request, Response

from rlx.twins.run import lasted, masked
from rlx.twins.run_list import OUTCOMES, RunQuery, facets_of, filters_of, list_json
from rlx.twins.run_markdown import reward_said, runs_markdown, seconds_said, title_of
from rlx.web.respond import View, answer
from rlx.web.rollouts import ICONS, blocking, named_viewer, rollouts_of, tone_of
from rlx.web.run_queries import AskedRuns, Part
from rlx.web.site import addresses_of, links_of

SORTS = {
    "new": "new",
    "old": "old",
    "reward": "reward",
    "-reward": "lowest",
    "cost": "cost",
    "-cost": "cheapest",
    "finished": "finished",
}
"""Orders, by the ends of their texts' names."""


async def runs(request: Request, query: AskedRuns, part: Part = "page") -> Response:
    viewer, links = await named_viewer(request), links_of(request)
    views, filters = (await rollouts_of(request)).views, filters_of(query)
    page = await blocking(lambda: views.page(filters, viewer, sort=query.sort, offset=query.offset, limit=query.limit))
    facets = facets_of(await blocking(lambda: views.facets(filters, viewer)), query)
    last = query.offset + len(page.rollouts)
    following = links.runs(query, offset=last) if page.rollouts and last < page.total else None
    urls = {run.id: links.run(run.id) for run in page.rollouts}
    view = View(
        "runs_results.html" if part == "results" else "runs.html",
        links.runs(query, offset=query.offset),
        {
            "query": query,
            "page": page,
            "rollouts": [masked(run) for run in page.rollouts],
            "facets": facets,
            "before": links.runs(query, offset=max(0, query.offset - query.limit)),
            "after": links.runs(query, offset=last),
            "sorts": SORTS,
            "outcomes": OUTCOMES,
            "is_live": not all(run.ended for run in page.rollouts),
            "usual_limit": RunQuery().limit,
            "title_of": title_of,
            "tone_of": tone_of,
            "icon_of": ICONS,
            "lasted": lasted,
            "reward_said": reward_said,
            "seconds_said": seconds_said,
            "narrowed": bool(query.filters or query.ref or query.mine or query.outcome),
        },
        json=lambda language: list_json(page.rollouts, page.total, query, facets, urls),
        markdown=lambda language: runs_markdown(
            page.rollouts, page.total, language, at=addresses_of(request), following=following
        ),
        private=viewer.kind != "anonymous",
    )
    return await answer(request, view)
