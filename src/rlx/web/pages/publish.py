"""`/d/<org>/<name>/tags` and `/report`: what would be proposed to a repository, and sending it.

Looking needs nobody; sending is for who is signed in, with their own token. What a repository holds is read before it
is written to, and a form that is sent twice finds what the first one opened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import anyio.to_thread
from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from rlx.answers.shown import Json
from rlx.errors import BadInput, Forbidden, RlxError
from rlx.health.report import evidence
from rlx.hub.writing import HubWriter, Thread
from rlx.ids import EnvKey, check_ref
from rlx.model import Viewer
from rlx.publish import report as reports
from rlx.publish import tagging
from rlx.publish.report import Draft
from rlx.publish.tagging import Proposal
from rlx.settings import DEFAULT_HUB
from rlx.texts import Say, say, words
from rlx.web.address import env_address
from rlx.web.forms import read_form
from rlx.web.health import task_health
from rlx.web.pages.environment import head
from rlx.web.pages.use import uses_of
from rlx.web.respond import View, answer
from rlx.web.site import links_of, open_asked, site_of, viewer_of

TaskRef = Annotated[str, Query(max_length=2048, description="The task's ref.")]
Message = Annotated[str, Query(max_length=reports.LONGEST, description="What is wrong with it.")]


@dataclass(frozen=True, slots=True)
class _Tags:
    sha: str
    """The revision that the proposal was made from."""
    proposal: Proposal | None
    open: Thread | None
    problem: RlxError | None


async def tags(request: Request) -> Response:
    """The tags that a card lacks, as a diff."""
    return await _tags_page(request, await _tags_of(request))


async def send_tags(request: Request) -> Response:
    """Open the pull request, and go there."""
    key, viewer = env_address(request), viewer_of(request)
    writer = _writer(request, viewer)
    found = await _tags_of(request)
    if found.problem is not None:
        return await _tags_page(request, found)
    if found.open is not None:
        return _gone(found.open.url)
    proposal = found.proposal
    if proposal is None or not proposal.added:
        return _gone(links_of(request).tags(key))
    sha = found.sha
    made = await _blocking(lambda: tagging.send(writer, key, sha, proposal, pull=True))
    return _gone(made.url)


async def _tags_of(request: Request) -> _Tags:
    key, site, viewer = env_address(request), site_of(request), viewer_of(request)
    repo = await site.services.library.repo(key, viewer)
    found = await uses_of(request).detections.of(repo)
    entry = await repo.entry(tagging.CARD)
    card = await repo.read(tagging.CARD) if entry is not None else b""
    try:
        proposal = tagging.propose(card, tagging.wanted(found, ()))
    except BadInput as error:
        return _Tags(repo.sha, None, None, error)
    writer = HubWriter(_endpoint(request), viewer.token or False)
    thread = await _blocking(lambda: tagging.open_proposal(writer, key)) if _reachable(request) else None
    return _Tags(repo.sha, proposal, thread, None)


async def _tags_page(request: Request, found: _Tags) -> Response:
    key, links = env_address(request), links_of(request)
    proposal = found.proposal
    told: dict[str, Json] = {
        "id": str(key),
        "added": list(proposal.added) if proposal is not None else [],
        "diff": proposal.diff if proposal is not None else "",
        "open": found.open.url if found.open is not None else None,
        "problem": found.problem.message if found.problem is not None else None,
    }
    view = View(
        "propose_tags.html",
        links.tags(key),
        {
            **await _head(request, key),
            "found": found,
            "can_send": _can_send(request),
            "card": tagging.CARD,
            "command": ("rlx", "hub", "tag", str(key)),
        },
        json=lambda language: told,
        markdown=lambda language: _markdown(say("publish.tags.title"), key, str(told["diff"]), language),
    )
    return await answer(request, view)


@dataclass(frozen=True, slots=True)
class _Report:
    ref: str
    draft: Draft | None
    known: list[Thread]


async def report(request: Request, task: TaskRef, message: Message = "") -> Response:
    """What would be said of a broken task, and the discussions that name it."""
    return await _report_page(request, await _report_of(request, task, message), message)


async def send_report(request: Request) -> Response:
    """Open the discussion, or add to the one that was chosen, and go there."""
    key, viewer = env_address(request), viewer_of(request)
    writer = _writer(request, viewer)
    fields = await read_form(request)
    message, thread = fields.get("message", ""), fields.get("thread", "")
    found = await _report_of(request, fields.get("task", ""), message)
    if found.draft is None:
        raise BadInput("Nothing says what is wrong with the task.", hint="Say it in the form.")
    draft = found.draft
    if thread.isascii() and thread.isdecimal() and len(thread) < 10:
        number = int(thread)
        chosen = next((one for one in found.known if one.number == number), None)
        if chosen is None:
            raise BadInput(f"Discussion {number} does not name this task, or is closed.")
        await _blocking(lambda: writer.comment(key, number, draft.text))
        return _gone(chosen.url)
    made = await _blocking(lambda: writer.discuss(key, draft.title, draft.text))
    return _gone(made.url)


async def _report_of(request: Request, task: str, message: str) -> _Report:
    key, viewer = env_address(request), viewer_of(request)
    opened = await open_asked(request, key)
    ref = await opened.canonical(check_ref(task))
    sha = (await site_of(request).services.library.repo(key, viewer)).sha
    health = await task_health(request, key, ref, sha)
    broken = health.state == "broken"
    told = bool(message.strip()) or broken
    draft = reports.draft(key, ref, sha, evidence(health), message, broken=broken) if told else None
    writer = HubWriter(_endpoint(request), viewer.token or False)
    known = await _blocking(lambda: reports.threads_of(writer, key, ref)) if _reachable(request) else []
    return _Report(ref, draft, known)


async def _report_page(request: Request, found: _Report, message: str) -> Response:
    key, links = env_address(request), links_of(request)
    told: dict[str, Json] = {
        "id": str(key),
        "ref": found.ref,
        "title": found.draft.title if found.draft is not None else None,
        "text": found.draft.text if found.draft is not None else None,
        "threads": [{"number": one.number, "title": one.title, "url": one.url} for one in found.known],
    }
    there = reports.new_url(_endpoint(request), key, found.draft) if found.draft is not None else None
    view = View(
        "propose_report.html",
        links.report(key, found.ref, message),
        {
            **await _head(request, key),
            "found": found,
            "message": message,
            "there": there if _endpoint(request) == DEFAULT_HUB else None,
            "can_send": _can_send(request),
        },
        json=lambda language: told,
        markdown=lambda language: _markdown(say("publish.report.title"), key, str(told["text"] or ""), language),
    )
    return await answer(request, view)


def _markdown(title: Say, key: EnvKey, text: str, language: str) -> str:
    body = "\n".join(f"    {line}" for line in text.splitlines())
    return f"# {words(title, language)}: {key}\n\n{body}\n"


async def _head(request: Request, key: EnvKey) -> dict[str, Any]:
    summary = await (await open_asked(request, key)).summary()
    info = await site_of(request).services.library.info(key, viewer_of(request))
    return {"key": key, "summary": summary, "info": info, **head(summary, info)}


def _endpoint(request: Request) -> str:
    return site_of(request).settings.hub.rstrip("/")


def _reachable(request: Request) -> bool:
    """Whether the hub is one that can be written to: a folder is not."""
    return _endpoint(request).startswith(("http://", "https://"))


def _can_send(request: Request) -> bool:
    return _reachable(request) and viewer_of(request).token is not None


def _writer(request: Request, viewer: Viewer) -> HubWriter:
    if not _reachable(request):
        raise BadInput("This site reads a folder, and nothing is sent to one.", hint="Serve it with rlx hub serve.")
    if viewer.token is None:
        raise Forbidden("Sending is for those who are signed in.", hint="Sign in with a token that may write.")
    return HubWriter(_endpoint(request), viewer.token)


async def _blocking[T](work: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(work)


def _gone(url: str) -> Response:
    return RedirectResponse(url, 303, {"cache-control": "no-store"})
