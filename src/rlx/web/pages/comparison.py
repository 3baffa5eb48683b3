"""`/envs?env=…&env=…`: up to four environments side by side; `rows=differ` only what they do not share.

A name that is no key leaves the comparison as it is, and offers the environments that its words match."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import anyio
from fastapi import Query, Request, Response

from rlx.answers import Shown, name
from rlx.answers.shown import Json
from rlx.errors import BadInput, NotReady, RlxError, UserError
from rlx.ids import EnvKey, parse_key
from rlx.model import EnvCard, EnvQuery, Viewer
from rlx.texts import say, words
from rlx.twins.comparison import CompareRow, Side, compare_rows, comparison_markdown
from rlx.twins.inline import line, span
from rlx.twins.jsonable import to_json
from rlx.twins.parts import Addresses
from rlx.web.links import Links
from rlx.web.queries import MAX_TEXT, plain_words
from rlx.web.respond import View, answer
from rlx.web.site import Site, addresses_of, site_of, viewer_of

MOST = 4
OFFERED = 6
"""Environments that are offered to be added."""
_WAIT = 1.0
"""Seconds an environment is waited for that nobody has read yet."""

Asked = Annotated[list[str], Query(max_length=20, description="Keys of environments.")]
Rows = Annotated[Literal["all", "differ"], Query(description="`differ` leaves off rows that say the same of all.")]


@dataclass(frozen=True, slots=True)
class Unnamed:
    """What was asked for that is no key, and environments that its words match."""

    text: Shown
    cards: tuple[EnvCard, ...]


async def comparison(request: Request, env: Asked = [], rows: Rows = "all") -> Response:  # noqa: B006 - FastAPI copies
    site, viewer = site_of(request), viewer_of(request)
    keys, unknown = _keys(env)
    unnamed = await _unnamed(site, unknown, keys, viewer) if unknown else None
    sides = await _sides(site, keys, viewer)
    told = compare_rows(sides)
    shown = [row for row in told if rows == "all" or not row.same]
    offered = await _offered(site, sides, viewer) if len(keys) < MOST else ()
    at, links = addresses_of(request), site.links
    view = View(
        "comparison.html",
        links.compare(keys, differ=rows == "differ"),
        {
            "keys": keys,
            "sides": sides,
            "rows": shown,
            "hidden": len(told) - len(shown),
            "offered": offered,
            "most": MOST,
            "unnamed": unnamed,
        }
        | {"differ": rows == "differ"},
        json=lambda language: comparison_json(sides, told, links, language, unnamed),
        markdown=lambda language: (
            comparison_markdown(sides, shown, at, language) + _unnamed_markdown(unnamed, at, language)
        ),
    )
    return await answer(request, view)


def comparison_json(
    sides: Sequence[Side],
    rows: Sequence[CompareRow],
    links: Links,
    language: str,
    unnamed: Unnamed | None = None,
) -> Json:
    """What is known of each, which rows say the same of all, and a name asked for that is no key."""
    matches: list[Json] = [str(card.key) for card in unnamed.cards] if unnamed else []
    return {
        "environments": [_side_json(side, links, language) for side in sides],
        "same": [row.id for row in rows if row.same],
        "unknown": {"name": str(unnamed.text), "matches": matches} if unnamed else None,
    }


def _side_json(side: Side, links: Links, language: str) -> Json:
    summary, info = side.summary, side.info
    return {
        "id": str(side.key),
        "url": links.env(side.key),
        "kind": side.key.kind,
        "state": "ready" if summary else "indexing" if side.reading else "failed",
        "trouble": side.trouble,
        "title": str(summary.title) if summary else None,
        "brief": str(summary.brief) if summary else None,
        "framework": summary.support.framework if summary else None,
        "tasks": summary.tasks if summary else None,
        "facets": to_json(summary.facets if summary else (), language),
        "tags": [name(tag) for tag in info.tags] if info else [],
        "modified": to_json(info.modified) if info else None,
        "downloads": info.downloads if info else None,
        "likes": info.likes if info else None,
    }


def _unnamed_markdown(unnamed: Unnamed | None, at: Addresses, language: str) -> str:
    if unnamed is None:
        return ""
    found = "\n".join(f"- {at.env(card.key)}: {line(card.brief or card.title, language)}" for card in unnamed.cards)
    told = words(say("compare.no_key_matches" if unnamed.cards else "compare.no_key"), language)
    return f"\n{span(unnamed.text)}: {told}\n" + (f"\n{found}\n" if found else "")


def _keys(asked: Sequence[str]) -> tuple[tuple[EnvKey, ...], str]:
    """Each once, in the order asked for, and the last of what is no key; an empty field is nothing.

    Raises `BadInput` for too many.
    """
    found, unknown = [], ""
    for text in filter(None, map(str.strip, asked)):
        try:
            found.append(parse_key(text))
        except BadInput:
            unknown = text
    keys = tuple(dict.fromkeys(found))
    asked_for = len(keys) + bool(unknown)
    if asked_for > MOST:
        raise BadInput(f"{asked_for} environments cannot be compared at once.", hint=f"Choose up to {MOST}.")
    return keys, unknown


async def _unnamed(site: Site, text: str, keys: Sequence[EnvKey], viewer: Viewer) -> Unnamed:
    """Environments that the words of what is no key match. Raises `BadInput` for control characters."""
    text = plain_words(text)[:MAX_TEXT]
    page = await site.services.catalog.search(EnvQuery(text=text, limit=OFFERED + MOST), viewer)
    return Unnamed(name(text), tuple(card for card in page.items if card.key not in keys)[:OFFERED])


async def _sides(site: Site, keys: Sequence[EnvKey], viewer: Viewer) -> tuple[Side, ...]:
    found: dict[EnvKey, Side] = {}

    async def read(key: EnvKey) -> None:
        found[key] = await _side(site, key, viewer)

    async with anyio.create_task_group() as group:
        for key in keys:
            group.start_soon(read, key)
    return tuple(found[key] for key in keys)


async def _side(site: Site, key: EnvKey, viewer: Viewer) -> Side:
    library = site.services.library
    try:
        info = await library.info(key, viewer)
    except UserError as error:
        return Side(key, trouble=error.message)
    try:
        summary = await (await library.open(key, viewer, wait=_WAIT)).summary()
    except NotReady as error:
        return Side(key, info=info, trouble=error.message, reading=True)
    except RlxError as error:
        return Side(key, info=info, trouble=error.message)
    return Side(key, summary, info)


async def _offered(site: Site, sides: Sequence[Side], viewer: Viewer) -> tuple[EnvCard, ...]:
    """Some that are read already, those of the same framework as the first one before others."""
    page = await site.services.catalog.search(EnvQuery(limit=40), viewer)
    chosen = {side.key for side in sides}
    first = next((side.summary.support.framework for side in sides if side.summary is not None), None)
    known = [card for card in page.items if card.tasks and card.key not in chosen]
    return tuple(sorted(known, key=lambda card: card.framework != first)[:OFFERED])
