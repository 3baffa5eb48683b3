"""`/d/<org>/<name>/use`: which frameworks the files support, and the commands that use them. `?task=` for one task."""

from typing import Annotated

from fastapi import Query, Request, Response

from rlx.ids import check_ref
from rlx.publish.snippets.base import Choices, Snippet
from rlx.publish.snippets.told import snippet_title, title, use_json, use_markdown
from rlx.publish.uses import Uses
from rlx.telemetry import span
from rlx.web.address import env_address
from rlx.web.pages.environment import head
from rlx.web.respond import View, answer
from rlx.web.site import language_of, links_of, open_asked, revision_of, site_of, viewer_of

SANDBOXES = ("docker", "daytona", "e2b", "modal", "runloop")
"""Harbor's names of environments that the page offers; another may be asked for by `sandbox`."""

Framework = Annotated[str, Query(max_length=40, description="Only for this framework, or `rows`.")]
Config = Annotated[str, Query(max_length=200, description="Only of this config's tables.")]
ForTask = Annotated[str, Query(max_length=2048, description="A task's ref: commands for it alone.")]
Model = Annotated[str, Query(max_length=200, description="A model's name; without one, commands read MODEL.")]
Sandbox = Annotated[str, Query(max_length=200, pattern=r"^[A-Za-z0-9_.:-]+$", description="What Harbor runs tasks in.")]


async def use(
    request: Request,
    framework: Framework = "",
    config: Config = "",
    task: ForTask = "",
    model: Model = "",
    sandbox: Sandbox = SANDBOXES[0],
) -> Response:
    key, site, viewer, links = env_address(request), site_of(request), viewer_of(request), links_of(request)
    opened = await open_asked(request, key)
    summary = await opened.summary()
    ref = await opened.canonical(check_ref(task)) if task else None
    repo = await site.services.library.repo(key, viewer, revision_of(request))
    with span("detect"):
        found, made = await uses_of(request).of(repo, Choices(None, config or None, ref, model or None, sandbox))
    offered = tuple(dict.fromkeys(snippet.framework for snippet in made))
    chosen = framework if framework in offered else offered[0] if offered else ""
    asked = {"config": config, "task": ref or "", "model": model, "sandbox": sandbox}
    language = language_of(request)
    view = View(
        "use.html",
        links.use(key, framework=framework, **asked),
        {
            "key": key,
            "summary": summary,
            "info": repo.info,
            "found": found,
            "snippets": [snippet for snippet in made if snippet.framework == chosen],
            "offered": offered,
            "chosen": chosen,
            "asked": asked,
            "lacking": not found.member or any(support.state == "untagged" for support in found.supports),
            "ref": ref,
            "sandboxes": (*SANDBOXES, *((sandbox,) if sandbox not in SANDBOXES else ())),
            "title_of": lambda name: title(name, language),
            "snippet_title": lambda snippet: snippet_title(snippet, language),
            **head(summary, repo.info),
        },
        json=lambda language: use_json(key, repo.info, found, _only(made, framework), language),
        markdown=lambda language: use_markdown(key, repo.info, found, _only(made, framework), language),
    )
    return await answer(request, view)


def uses_of(request: Request) -> Uses:
    uses: Uses = request.app.state.uses
    return uses


def _only(made: tuple[Snippet, ...], framework: str) -> tuple[Snippet, ...]:
    return tuple(snippet for snippet in made if framework in ("", snippet.framework))
