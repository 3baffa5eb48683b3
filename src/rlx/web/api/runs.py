"""The API of rollouts: start, list, read, follow, stop, share, and take them away as rows."""

import json
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import quote

import anyio
from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from pydantic import ValidationError

from rlx.agents.registry import HUMAN
from rlx.answers.shown import Json
from rlx.errors import BadInput, Forbidden, NotFound, Upstream
from rlx.jobs.queue_service import Rollouts
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.runners.asked import Asked, ModelAsked
from rlx.store.rollouts.index import REFERENCES
from rlx.twins.run import masked, read_run, run_json, run_record
from rlx.twins.run_events import event_json
from rlx.twins.run_export import EXPORTS, exported
from rlx.twins.run_list import facets_of, filters_of, list_json
from rlx.web.api.schemas import RunRequest
from rlx.web.forms import is_form, read_form
from rlx.web.pages.run import file_of
from rlx.web.respond import VARY, to_bytes
from rlx.web.rollouts import blocking, known_id, launcher_of, named_viewer, rollouts_of
from rlx.web.run_queries import AskedRuns
from rlx.web.site import site_of
from rlx.web.sse import Event, EventStream, last_event_id, line_of
from rlx.web.views.media import PLAYED

POLL = 0.25
"""Seconds between two looks at a rollout that somebody follows."""
_PAGE = 500
_FIELDS = 120

After = Annotated[int, Query(ge=0, le=10**12, description="The number of the last event that is known.")]
Limit = Annotated[int, Query(ge=1, le=_PAGE, description="Events of one page.")]
Form = Annotated[Literal["jsonl", "parquet"], Query(alias="as", description="The form of the rows.")]


async def runs(request: Request, query: AskedRuns) -> Response:
    """Rollouts of one's own, and public ones."""
    viewer, links = await named_viewer(request), site_of(request).links
    views, filters = (await rollouts_of(request)).views, filters_of(query)
    page = await blocking(lambda: views.page(filters, viewer, sort=query.sort, offset=query.offset, limit=query.limit))
    facets = facets_of(await blocking(lambda: views.facets(filters, viewer)), query)
    urls = {run.id: links.run(run.id) for run in page.rollouts}
    return _reply({**list_json(page.rollouts, page.total, query, facets, urls)})


async def start(request: Request) -> Response:
    """Let a rollout wait for a worker; a form is answered with the way to its page."""
    form = is_form(request)
    asked = _from_form(await read_form(request, most=_FIELDS)) if form else await _from_json(request)
    viewer = await named_viewer(request)
    rollout = await launcher_of(request).start(asked, viewer)
    url = site_of(request).links.run(rollout.id)
    if form:
        return RedirectResponse(site_of(request).links.seat(rollout.id) if rollout.agent == HUMAN else url, 303)
    return _reply(run_record(masked(rollout), url=url), 201)


async def run(request: Request, id: str) -> Response:
    """One rollout, with what was said in it."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    view = await blocking(lambda: read_run(rollouts.views, known_id(id), viewer))
    return _reply({**run_json(view, url=site_of(request).links.run(id))})


async def events(request: Request, id: str, after: After = 0, limit: Limit = _PAGE) -> Response:
    """A page of its events as JSON; with `Accept: text/event-stream`, all that are to come, as they come."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    rollout = await blocking(lambda: rollouts.views.find(known_id(id), viewer))
    if "text/event-stream" in request.headers.get("accept", ""):
        return EventStream(followed(rollouts, rollout.id, viewer, last_event_id(request)), line=line_of(request))
    page = await blocking(lambda: rollouts.views.events(id, viewer, after=after, limit=limit))
    told: list[Json] = [one for event in page.events if (one := event_json(event, rollout)) is not None]
    last = page.events[-1].n if page.events else after
    return _reply({"id": id, "events": told, "last": last, "more": page.more, "ended": rollout.ended})


async def followed(rollouts: Rollouts, id: str, viewer: Viewer, after: int) -> AsyncIterator[Event]:
    """Events later than `after` as they come, and `end` once there will be no more. Who may not see them any more has
    seen the last one."""
    last = after
    while True:
        try:
            rollout = await blocking(partial(rollouts.views.find, id, viewer))
            page = await blocking(partial(rollouts.views.events, id, viewer, after=last, limit=_PAGE))
        except NotFound:
            break
        except Upstream:  # without an end: whoever follows asks again, from the last one on
            return
        for event in page.events:
            last = event.n
            # A kind that is not shown is told as one that happened, so that its number is known.
            shown: Json = event_json(event, rollout)
            yield Event(event.n, "happened", shown)
        if page.more and page.events:
            continue
        if rollout.ended:
            break
        await anyio.sleep(POLL)
    yield Event(last, "end", None)


async def cancel(request: Request, id: str) -> Response:
    """Ask it to stop; at once when it waits."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    return _changed(request, await blocking(lambda: rollouts.stop(known_id(id), viewer)))


async def visibility(request: Request, id: str) -> Response:
    """Let others see it once it is graded, or not."""
    if is_form(request):
        wanted: object = (await read_form(request)).get("visibility", "")
    else:
        wanted = (await read_json(request)).get("visibility")
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    told = wanted if isinstance(wanted, str) else ""
    return _changed(request, await blocking(lambda: rollouts.set_visibility(known_id(id), told, viewer)))


async def artifact(request: Request, id: str, name: str) -> Response:
    """A file that it kept, inert, masked as its page shows it; for its owner alone."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    rollout = await blocking(lambda: rollouts.views.find(known_id(id), viewer))
    found = await file_of(request, rollout, name)
    if isinstance(found, Forbidden):
        raise found
    if found.text is not None:
        content, kind = found.text.encode("utf-8", "replace"), "text/plain; charset=utf-8"
        if found.media_type == "application/json":
            kind = "application/json"
    else:
        content = found.data or b""
        kind = found.media_type if found.media_type in PLAYED else "application/octet-stream"
    how = "inline" if kind.startswith("text/") or kind in PLAYED else "attachment"
    headers = {
        "cache-control": "private, no-store",
        "content-disposition": f"{how}; filename*=UTF-8''{quote(name.rpartition('/')[2], safe='')}",
        "content-security-policy": "sandbox; default-src 'none'",
    }
    return Response(content, 200, headers, kind)


async def export_one(request: Request, id: str, form: Form = "jsonl") -> Response:
    """One rollout as a row."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    rollout = await blocking(lambda: rollouts.views.find(known_id(id), viewer))
    return await _export(rollouts, [rollout.id], viewer, form, id)


async def export(request: Request, query: AskedRuns, form: Form = "jsonl") -> Response:
    """Rollouts of a list that have ended as rows: chat messages with tools, rewards, the trajectory."""
    viewer, rollouts = await named_viewer(request), await rollouts_of(request)
    filters = filters_of(query)
    ids: list[str] = []
    while len(ids) < EXPORTS:
        page = await blocking(
            partial(rollouts.views.page, filters, viewer, sort=query.sort, offset=len(ids), limit=200)
        )
        ids += [run.id for run in page.rollouts]
        if not page.rollouts or len(ids) >= page.total:
            break
    return await _export(rollouts, ids[:EXPORTS], viewer, form, "rollouts")


async def _export(rollouts: Rollouts, ids: list[str], viewer: Viewer, form: str, name: str) -> Response:
    headers = {
        "cache-control": "private, no-store",
        "content-disposition": f'attachment; filename="{name}.{form}"',
        "vary": VARY,
    }
    kind = "application/x-ndjson" if form == "jsonl" else "application/vnd.apache.parquet"
    chunks = exported(rollouts.views, ids, viewer, form)
    return StreamingResponse(chunks, 200, headers, kind)


def _changed(request: Request, rollout: Rollout) -> Response:
    url = site_of(request).links.run(rollout.id)
    return RedirectResponse(url, 303) if is_form(request) else _reply(run_record(masked(rollout), url=url))


def _reply(value: dict[str, Json], status: int = 200) -> Response:
    headers = {"cache-control": "private, no-store", "vary": VARY}
    return Response(to_bytes(value), status, headers, "application/json")


async def read_json(request: Request) -> Mapping[str, Any]:
    """The body, an object of JSON. Raises `BadInput`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"application/json", ""}:
        raise BadInput("Send JSON, or the fields of a form.")
    try:
        value = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadInput("The body is no JSON.") from error
    if not isinstance(value, dict):
        raise BadInput("The body is no JSON object.")
    return value


async def _from_json(request: Request) -> Asked:
    try:
        told = RunRequest.model_validate(await read_json(request))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadInput(f"{where}: {first['msg']}.", hint="docs/api.md has the fields.") from error
    model = told.model
    return Asked(
        env=told.env,
        ref=told.ref,
        agent=told.agent,
        revision=told.revision,
        runner=told.runner,
        sandbox=told.sandbox,
        model=None if model is None else ModelAsked(**model.model_dump()),
        fields=told.fields,
        variables=told.variables,
        visibility=told.visibility,
    )


def _from_form(fields: Mapping[str, str]) -> Asked:
    """What the panel of a task's page sends. A model goes only with an agent that speaks with one."""
    for name in ("env", "ref", "agent"):
        if not fields.get(name):
            raise BadInput(f"The form has no {name}.")
    kind = fields.get("visibility") or "private"
    if kind not in ("private", "public"):
        raise BadInput(f"{kind[:40]!r} is no visibility.", hint="private or public.")
    runner, _, sandbox = fields.get("option", "harbor/local").partition("/")
    return Asked(
        env=fields["env"],
        ref=fields["ref"],
        agent=fields["agent"],
        revision=fields.get("revision") or None,
        runner=runner,
        sandbox=sandbox or None,
        model=_model_of_form(fields),
        fields=_named(fields, "field."),
        variables=_named(fields, "var."),
        visibility="public" if kind == "public" else "private",
    )


def _named(fields: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in fields.items() if name.startswith(prefix)}


def _model_of_form(fields: Mapping[str, str]) -> ModelAsked | None:
    if fields["agent"] in {*REFERENCES, HUMAN}:
        return None
    dollars_in, dollars_out = (_price(fields.get(name, "")) for name in ("dollars_in", "dollars_out"))
    if fields.get("routed"):
        if fields.get("base_url"):
            raise BadInput("Two models were named.", hint="Leave the one of Inference Providers out, or the endpoint.")
        return ModelAsked("router", fields["routed"].strip(), None, None, dollars_in, dollars_out)
    if fields.get("base_url"):
        key = fields.get("api_key") or None
        return ModelAsked("endpoint", fields.get("model", ""), fields["base_url"], key, dollars_in, dollars_out)
    return ModelAsked("scripted", fields.get("script") or "solve", None, None, dollars_in, dollars_out)


def _price(told: str) -> float | None:
    try:
        return float(told) if told.strip() else None
    except ValueError as error:
        raise BadInput(f"{told[:40]!r} is no price.", hint="Dollars for a million tokens.") from error
