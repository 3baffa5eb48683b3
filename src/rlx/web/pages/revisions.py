"""`/d/<org>/<name>/revisions`: the commits; `?old=&new=` what became of the tasks; `&task=` of one task's files."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request, Response

from rlx.answers.shown import Json
from rlx.ids import EnvKey, check_ref, check_revision
from rlx.model import Changes, Revision, TaskChanges, Viewer
from rlx.telemetry import span
from rlx.twins.jsonable import to_json
from rlx.twins.revisions import revisions_markdown
from rlx.web.address import env_address
from rlx.web.links import Links
from rlx.web.pages.environment import head
from rlx.web.respond import View, answer
from rlx.web.site import Site, addresses_of, site_of, viewer_of

SHOWN = 200
"""Tasks of one kind of change that a page lists."""

Sha = Annotated[str, Query(max_length=201, description="A branch, tag or commit.")]
ChangedRef = Annotated[str, Query(max_length=2048, description="A task, whose changed files are told too.")]


@dataclass(frozen=True, slots=True)
class Compared:
    """What two revisions are asked for and, unless both are one, what is between them."""

    old: str
    new: str
    changes: Changes | None = None
    task: TaskChanges | None = None


async def revisions(request: Request, old: Sha = "", new: Sha = "", task: ChangedRef = "") -> Response:
    key, site, viewer = env_address(request), site_of(request), viewer_of(request)
    library = site.services.library
    summary = await (await site.open(key, viewer)).summary()
    info = await library.info(key, viewer)
    commits = await library.revisions(key, viewer)
    compared = await compare(site, key, viewer, old, new, task)
    view = View(
        "revisions.html",
        site.links.revisions(key, old or None, new or None, task or None),
        {
            "key": key,
            "summary": summary,
            "info": info,
            "commits": commits,
            "compared": compared,
            "shown": SHOWN,
            **head(summary, info),
        },
        json=lambda language: revisions_json(key, commits, compared, site.links, language),
        markdown=lambda language: revisions_markdown(
            key,
            commits,
            compared.changes if compared else None,
            compared.task if compared else None,
            language,
            at=addresses_of(request),
        ),
    )
    return await answer(request, view)


async def compare(site: Site, key: EnvKey, viewer: Viewer, old: str, new: str, ref: str) -> Compared | None:
    """What is between two revisions; None unless both are asked for. `ref` is a task of one of them, or empty."""
    if not (old and new):
        return None
    library = site.services.library
    with span("compare"):
        changes = await library.changes(key, viewer, check_revision(old), check_revision(new))
        if changes.old == changes.new:
            return Compared(old, new)
        task = await library.task_changes(key, viewer, old, new, check_ref(ref)) if ref else None
    return Compared(old, new, changes, task)


def revisions_json(
    key: EnvKey, commits: tuple[Revision, ...], compared: Compared | None, links: Links, language: str
) -> dict[str, Json]:
    """The commits, and every change between the two asked for."""
    told: list[Json] = [
        {
            "sha": commit.sha,
            "title": str(commit.title),
            "at": to_json(commit.at),
            "url": links.at(commit.sha).env(key),
        }
        for commit in commits
    ]
    return {
        "id": str(key),
        "revisions": told,
        "changes": to_json(compared.changes, language) if compared else None,
        "task": to_json(compared.task, language) if compared else None,
    }
