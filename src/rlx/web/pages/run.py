"""`/run/<id>`: one rollout, live while it goes on; `?path=` one of the files that it kept."""

from typing import Any

import anyio.to_thread
from fastapi import Request, Response

from rlx.errors import BadInput, Forbidden
from rlx.ids import parse_key
from rlx.model import Blob
from rlx.rollout import Rollout
from rlx.twins.jsonable import object_json
from rlx.twins.markdown import file_markdown
from rlx.twins.run import EVENTS, read_run, run_json
from rlx.twins.run_files import run_file
from rlx.twins.run_markdown import (
    count_said,
    dollars_said,
    failure_said,
    reward_said,
    run_markdown,
    seconds_said,
    title_of,
)
from rlx.twins.run_words import change_said, field_said, kind_said, sandbox_said, source_said, value_said
from rlx.web import inert
from rlx.web.blocks_html import Spot
from rlx.web.links import RunLinks
from rlx.web.respond import View, answer
from rlx.web.rollouts import ICONS, blocking, known_id, named_viewer, rollouts_of, tone_of
from rlx.web.site import addresses_of, language_of, links_of, site_of
from rlx.web.views import draw
from rlx.web.views.base import Asked

WORDS = {
    "title_of": title_of,
    "failure_said": failure_said,
    "reward_said": reward_said,
    "seconds_said": seconds_said,
    "count_said": count_said,
    "dollars_said": dollars_said,
    "field_said": field_said,
    "value_said": value_said,
    "kind_said": kind_said,
    "change_said": change_said,
    "source_said": source_said,
    "sandbox_said": sandbox_said,
}
"""What templates say of figures."""
_STEPS = {"provision": "d00", "prepare": "d0", "agent": "d3", "verify": "d2", "close": "d00"}


async def run(request: Request, id: str) -> Response:
    viewer = await named_viewer(request)
    rollouts = await rollouts_of(request)
    known_id(id)
    if "path" in request.query_params:
        return await _file(request, await blocking(lambda: rollouts.views.find(id, viewer)))
    before = _before(request.query_params.get("before"))
    shown = await blocking(lambda: read_run(rollouts.views, id, viewer, now=rollouts.queue.clock(), before=before))
    links = links_of(request)
    rollout = shown.rollout
    view = View(
        "run.html",
        links.run(id, before=before),
        {
            "view": shown,
            "run": rollout,
            "key": shown.key,
            "spot": Spot(shown.key, None, "s"),
            "tone": tone_of(rollout),
            "icon_of": ICONS,
            "steps_of": _STEPS,
            "most": EVENTS,
            **WORDS,
        },
        json=lambda language: run_json(shown, language, url=links.run(id)),
        markdown=lambda language: run_markdown(shown, language, at=addresses_of(request)),
        private=shown.own,
    )
    return await answer(request, view)


def _before(told: str | None) -> int | None:
    """The number of the event before which a reader wants to read on. Raises `BadInput`."""
    if told is None:
        return None
    if not (told.isascii() and told.isdigit() and len(told) <= 12 and int(told)):
        raise BadInput(f"{told[:20]!r} is not the number of an event.")
    return int(told)


async def _file(request: Request, rollout: Rollout) -> Response:
    """A file that the rollout kept, in the ways that files are shown in; only for its owner."""
    query = request.query_params
    path, start = query["path"], query.get("from", "1")
    if not (start.isascii() and start.isdigit() and 0 < len(start) <= 9 and int(start)):
        raise BadInput(f"{start[:20]!r} is not a line number.")
    found = await file_of(request, rollout, path)
    site, language = site_of(request), language_of(request)
    key, view_name, nowrap = parse_key(rollout.env), query.get("view"), query.get("wrap") == "off"
    links = RunLinks(site.links.build, site.links.hub, site.links.image_key, run_id=rollout.id)
    variables: dict[str, Any] = {"blob": None}
    if isinstance(found, Blob):
        asked = Asked(key, None, links, language, int(start), view_name)
        variables = {"blob": found, "drawn": await anyio.to_thread.run_sync(draw, found, view_name, asked)}
    told = {"start": int(start), "view": view_name, "nowrap": nowrap}
    view = View(
        "run_file.html",
        links.run_file(rollout.id, path, start=int(start), view=view_name),
        {
            "run": rollout,
            "key": key,
            "ref": None,
            "path": path,
            "name": path.rpartition("/")[2],
            "heading": inert.spell(path),
            "reason": found.hint if isinstance(found, Forbidden) else None,
            "served": False,
            "spot": {"nowrap": nowrap, "full": None},
            "variant": lambda **changes: links.run_file(rollout.id, path, **{**told, **changes}),
            "title_of": title_of,
            **variables,
        },
        json=lambda language: (
            {"type": "file", **object_json(found, language)} if isinstance(found, Blob) else {"withheld": found.hint}
        ),
        markdown=lambda language: (
            file_markdown(found, language) if isinstance(found, Blob) else f"{found.message} {found.hint or ''}\n"
        ),
        status=200 if isinstance(found, Blob) else 403,
        private=True,
    )
    return await answer(request, view)


async def file_of(request: Request, rollout: Rollout, path: str) -> Blob | Forbidden:
    """A kept file by the path it is listed by, or why it is withheld. Raises `NotFound`, `Forbidden`, `TooLarge`."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)

    def read() -> Blob | Forbidden:
        listed = rollouts.views.files(rollout.id, viewer)
        kept = next((file.name for file in listed if file.path == path), path)
        at = rollouts.views.open(rollout.id, kept, viewer)
        try:
            return run_file(rollout, path, at)
        except Forbidden as error:
            return error

    return await blocking(read)
