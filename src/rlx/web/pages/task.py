"""`/t/<org>/<name>/<ref>` and `/s/<org>/<name>/t/<ref>`: a task as an agent gets it; `?path=` one of its files."""

import shlex
from dataclasses import replace

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from rlx.answers.shown import Json
from rlx.demo import demo_hub
from rlx.errors import UserError
from rlx.health.report import TaskReport
from rlx.health.verdict import NOP, ORACLE
from rlx.ids import EnvKey
from rlx.model import Alias, Block, Disclose, FileEntry, FilesBlock, Prompt, Relative, Task
from rlx.settings import DEFAULT_HUB
from rlx.telemetry import span
from rlx.texts import say
from rlx.twins.health import task_health_json
from rlx.twins.held import by_file
from rlx.twins.jsonable import object_json, to_json
from rlx.twins.run_list import RunQuery
from rlx.twins.tasks import has_banner, own_brief, task_markdown
from rlx.twins.ways import needs_said, variable_said, ways
from rlx.web.address import check_path, task_address
from rlx.web.blocks_html import Anchors, Spot
from rlx.web.health import task_health
from rlx.web.links import Links
from rlx.web.lists import hit_card
from rlx.web.pages.files import show_file
from rlx.web.respond import View, answer
from rlx.web.rollouts import attempts_at, options_here
from rlx.web.site import addresses_of, links_of, open_asked, roles_of, site_of

CEILINGS = frozenset({"max_dollars"})
"""Fields of run options that stand with a model's prices."""


async def task(request: Request) -> Response:
    address, links, at = task_address(request), links_of(request), addresses_of(request)
    key = address.key
    opened = await open_asked(request, key)
    with span("read"):
        ref = await opened.canonical(address.rest)
        if ref != address.rest:
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(key.task_page(ref) + query, 308)
        if "path" in request.query_params:
            return await show_file(request, opened, key, ref, check_path(request.query_params["path"]))
        found = await opened.task(ref)
        found = replace(found, run_options=await options_here(request, key, found))
        attempts = await attempts_at(request, RunQuery({"env": (str(key),)}, ref))
        relatives = await relatives_of(request, key, ref)
        aliases = with_same(await opened.aliases(ref), relatives)
        health = await task_health(request, key, ref, (await opened.summary()).revision)
    alike = but_same(relatives)
    rendered = request.query_params.get("view") == "rendered"
    anchors = Anchors()
    view = View(
        "task.html",
        links.rendered(key, ref) if rendered else links.task(key, ref),
        {
            "key": key,
            "task": found,
            "aliases": aliases,
            "alike": alike,
            "rendered": rendered,
            "spot": lambda section: Spot(key, ref, section.id, rendered, anchors),
            "anchors": anchors,
            "brief": own_brief(found),
            "banner": found.problem if has_banner(found) else None,
            "ways": ways(found.run_options),
            "options": found.run_options,
            "ceilings": CEILINGS,
            "variable_said": variable_said,
            "needs_said": needs_said,
            "health": health if found.run_options else None,
            "health_runs": links.runs(RunQuery({"env": (str(key),), "agent": (ORACLE, NOP)}, ref)),
            **attempts.variables(links),
            "held": by_file(found.withheld),
            "files": _files(found),
            "prompted": {section.id for section in found.sections if _holds_prompt(section.blocks)},
            "command": _command(request, key, ref),
        },
        json=lambda language: task_json(found, aliases, alike, key, links, language, health),
        markdown=lambda language: task_markdown(
            found, key, language, aliases=aliases, alike=alike, at=at, health=health
        ),
        private=attempts.private,
    )
    return await answer(request, view)


def _command(request: Request, key: EnvKey, ref: str) -> str:
    """How the same is read on a command line. Where this site's folder is, is nobody's business."""
    hub = site_of(request).settings.hub
    options = [f"--role {shlex.quote(f'{role}={column}')}" for role, column in roles_of(request).items()]
    if not hub.startswith(("https://", "http://")):
        options.append("--demo" if hub == str(demo_hub()) else "--hub DIR")
    elif hub != DEFAULT_HUB:
        options.append(f"--hub {shlex.quote(hub)}")
    return " ".join(["rlx task show", str(key), shlex.quote(ref), *options])


async def relatives_of(request: Request, key: EnvKey, ref: str) -> tuple[Relative, ...]:
    """Tasks like this one; none while there is no catalog, for the page does without."""
    try:
        return await site_of(request).services.catalog.relatives(key, ref)
    except UserError:
        return ()


def with_same(aliases: tuple[Alias, ...], relatives: tuple[Relative, ...]) -> tuple[Alias, ...]:
    """What the format says, and the tasks whose files are all the same."""
    said = {(alias.key, alias.ref) for alias in aliases}
    same = (relative.hit for relative in relatives if relative.same)
    found = (Alias(hit.key, hit.card.ref, say("web.same_files")) for hit in same if (hit.key, hit.card.ref) not in said)
    return (*aliases, *found)


def but_same(relatives: tuple[Relative, ...]) -> tuple[Relative, ...]:
    """Those that only say nearly the same."""
    return tuple(relative for relative in relatives if not relative.same)


def task_json(
    task: Task,
    aliases: tuple[Alias, ...],
    alike: tuple[Relative, ...],
    key: EnvKey,
    links: Links,
    language: str,
    health: TaskReport | None = None,
) -> dict[str, Json]:
    """The task's fields, its environment's id, its address, where else it is found, and tasks like it."""
    near: list[Json] = [{**hit_card(item.hit, links, language), "score": round(item.score, 3)} for item in alike]
    return {
        "id": str(key),
        **object_json(task, language),
        "url": links.task(key, task.ref),
        "aliases": to_json(aliases, language),
        "health": None if health is None else task_health_json(health, language),
        "alike": near,
    }


def _holds_prompt(blocks: tuple[Block, ...]) -> bool:
    return any(
        isinstance(block, Prompt) or (isinstance(block, Disclose) and _holds_prompt(block.blocks)) for block in blocks
    )


def _files(task: Task) -> tuple[FileEntry, ...]:
    """The task's files, where all of them are listed on its page."""
    blocks = (block for section in task.sections for block in section.blocks if isinstance(block, FilesBlock))
    listed = next(blocks, None)
    return () if listed is None or listed.truncated else tuple(item for item in listed.entries if not item.is_dir)
