"""`/models`: the models of Inference Providers, found by words; and a try of an endpoint that somebody brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request, Response

from rlx.answers.shown import Json
from rlx.errors import RlxError, Upstream
from rlx.runners.models.pool import Order, PoolModel, in_order, search
from rlx.runners.models.probe import Probe, probe
from rlx.texts import Say, say, words
from rlx.web.api.models import PAGE, Offset, Sorted, Tools, Words, model_json, server_of
from rlx.web.forms import read_form
from rlx.web.respond import VARY, View, answer, page_html
from rlx.web.site import site_of

ORDERS: Final[tuple[Order, ...]] = ("listed", "name", "price", "context")


@dataclass(frozen=True, slots=True)
class ModelPage:
    items: Sequence[PoolModel]
    total: int
    offset: int
    limit: int = PAGE


async def models(
    request: Request,
    q: Words = "",
    tools: Tools = False,
    sort: Sorted = "listed",
    offset: Offset = 0,
) -> Response:
    """A page of the pool. Without the router it says so, and endpoints can be tried all the same."""
    variables = await _variables(request, q, tools, sort, offset)
    page = variables["page"]
    view = View(
        "models.html",
        address(q, tools, sort, offset),
        variables,
        json=lambda language: models_json(page),
        markdown=lambda language: models_markdown(page, language),
    )
    return await answer(request, view)


async def try_endpoint(request: Request) -> Response:
    """What a form's endpoint was found to be, on the same page. The key is neither shown again nor kept."""
    fields = await read_form(request)
    asked = {"base_url": fields.get("base_url", ""), "model": fields.get("model", "")}
    found: Probe | None = None
    problem: RlxError | None = None
    try:
        server = await server_of(request, asked["base_url"], fields.get("api_key"))
        found = await probe(server, asked["model"])
    except RlxError as error:
        problem = error
    variables = await _variables(request, "", False, "listed", 0)
    told = {**variables, "asked": asked, "found": found, "problem": problem}
    headers = {"cache-control": "private, no-store", "vary": VARY}
    return Response(page_html(request, "models.html", "/models", told), 200, headers, "text/html")


def address(q: str, tools: bool, sort: Order, offset: int) -> str:
    """Of a page, without what is usual."""
    told = {"q": q, "tools": "true" if tools else "", "sort": "" if sort == "listed" else sort, "offset": offset or ""}
    query = urlencode({name: value for name, value in told.items() if value})
    return f"/models?{query}" if query else "/models"


def models_json(page: ModelPage | None) -> dict[str, Json]:
    items: list[Json] = [model_json(model) for model in page.items] if page is not None else []
    return {
        "models": items,
        "total": page.total if page is not None else None,
        "offset": page.offset if page is not None else 0,
        "page": PAGE,
    }


def models_markdown(page: ModelPage | None, language: str) -> str:
    lines = [f"# {words(say('models.title'), language)}", ""]
    if page is None:
        return "\n".join([*lines, words(say("models.away"), language), ""])
    head = [words(say(f"models.{name}"), language) for name in ("model", "tools", "context", "providers")]
    lines += [f"| {' | '.join(head)} |", "|---|---|---|---|"]
    unknown = words(say("models.unknown"), language)
    for model in page.items:
        tools = unknown if model.tools is None else words(say("models.yes" if model.tools else "models.no"), language)
        providers = "; ".join(words(provider_said(model, each.name), language) for each in model.live)
        lines.append(f"| `{model.id}` | {tools} | {model.context or unknown} | {providers} |")
    return "\n".join([*lines, ""])


def provider_said(model: PoolModel, name: str) -> Say:
    """A provider with what it takes."""
    price = next(each.price for each in model.live if each.name == name)
    if price is None:
        return say("models.provider_unpriced", name=name)
    return say("models.provider_price", name=name, inn=f"{price.dollars_in:g}", out=f"{price.dollars_out:g}")


async def _variables(request: Request, q: str, tools: bool, sort: Order, offset: int) -> dict[str, Any]:
    page: ModelPage | None = None
    try:
        found = in_order(search(await site_of(request).services.router.models(), q, tools=tools), sort)
        page = ModelPage(found[offset : offset + PAGE], len(found), offset)
    except Upstream:
        page = None
    return {
        "page": page,
        "q": q,
        "tools": tools,
        "sort": sort,
        "orders": ORDERS,
        "before": address(q, tools, sort, max(0, offset - PAGE)),
        "after": address(q, tools, sort, offset + PAGE),
        "provider_said": provider_said,
        "asked": {"base_url": "", "model": ""},
        "found": None,
        "problem": None,
    }
