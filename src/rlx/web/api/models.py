"""The API of models: those of Inference Providers, and endpoints that somebody brings."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response
from pydantic import ValidationError

from rlx.agents.scripted import SCRIPTS
from rlx.answers.shown import Json
from rlx.errors import BadInput, Forbidden
from rlx.rollout import Rollout
from rlx.runners.asked import Asked, ModelAsked
from rlx.runners.endpoints import checked_address
from rlx.runners.models.estimate import LOOKED_AT, estimated
from rlx.runners.models.exchange import Server
from rlx.runners.models.pool import Order, PoolModel, Price, in_order, search
from rlx.runners.models.probe import Probe, listed, probe
from rlx.store.rollouts.query import Filters
from rlx.texts import words
from rlx.web.api.runs import read_json
from rlx.web.api.schemas import EndpointRequest
from rlx.web.rates import Rate
from rlx.web.respond import VARY, reply, to_bytes
from rlx.web.rollouts import named_viewer, rollouts_of
from rlx.web.site import site_of

PAGE: Final = 50

Words = Annotated[str, Query(max_length=200, description="Words of a model's name or a provider's.")]
Tools = Annotated[bool, Query(description="Those alone that are known to take tools.")]
Sorted = Annotated[Order, Query(description="Unknown figures come last.")]
Offset = Annotated[int, Query(ge=0, le=10_000)]
Limit = Annotated[int, Query(ge=1, le=500)]
Text = Annotated[str, Query(max_length=250)]
Dollars = Annotated[float | None, Query(ge=0, lt=1_000_000)]


async def models(
    request: Request,
    q: Words = "",
    tools: Tools = False,
    sort: Sorted = "listed",
    offset: Offset = 0,
    limit: Limit = PAGE,
) -> Response:
    """Models that agents can speak with through Inference Providers, with what each provider takes for them."""
    known = await site_of(request).services.router.models()
    found = in_order(search(known, q, tools=tools), sort)
    told: list[Json] = [model_json(model) for model in found[offset : offset + limit]]
    return reply(request, {"models": told, "total": len(found), "offset": offset, "page": limit})


async def endpoint_models(request: Request) -> Response:
    """Names of the models that an endpoint says it has."""
    server, _ = await _endpoint(request)
    return _private({"models": list(await listed(server))})


async def endpoint_test(request: Request) -> Response:
    """Whether an endpoint is reached, takes the key, knows the model and calls tools, in a word and in words."""
    server, model = await _endpoint(request)
    if not model:
        raise BadInput("Name the model that is to be tried.")
    return _private(probe_json(await probe(server, model)))


async def estimate(
    request: Request,
    env: Text,
    ref: Annotated[str, Query(max_length=1000)],
    agent: Text,
    model: Annotated[str, Query(max_length=300, description="`router:ID`, a script, or an endpoint's model.")] = "",
    dollars_in: Dollars = None,
    dollars_out: Dollars = None,
    max_dollars: Dollars = None,
) -> Response:
    """What a rollout will cost, from what similar ones took."""
    viewer, views = await named_viewer(request), (await rollouts_of(request)).views

    def look(filters: Filters) -> tuple[Rollout, ...]:
        return views.page(filters, viewer, limit=LOOKED_AT).rollouts

    asked = Asked(env=env, ref=ref, agent=agent, model=_model(model, dollars_in, dollars_out))
    found = await estimated(asked, site_of(request).services.router, look, max_dollars)
    return _private(
        {
            "tokens_in": found.tokens_in,
            "tokens_out": found.tokens_out,
            "dollars": found.dollars,
            "at_most": found.at_most,
            "like": found.like,
            "rollouts": found.rollouts,
            "said": words(found.said) if found.said is not None else None,
        }
    )


def model_json(model: PoolModel) -> dict[str, Json]:
    """A model of the pool. Unknown figures are null."""
    cheapest = model.cheapest
    providers: list[Json] = [
        {"provider": each.name, "tools": each.tools, "context": each.context, **_price(each.price)}
        for each in model.live
    ]
    return {
        "id": model.id,
        "tools": model.tools,
        "context": model.context,
        "inputs": list(model.inputs),
        "providers": providers,
        "cheapest": cheapest.name if cheapest is not None else None,
    }


def probe_json(found: Probe) -> dict[str, Json]:
    return {
        "verdict": found.verdict,
        "works": found.works,
        "said": [words(each) for each in found.said],
        "detail": found.detail,
        "streams": found.streams,
        "usage": found.usage,
    }


async def server_of(request: Request, base_url: str, key: str | None) -> Server:
    """An endpoint that whoever asks may have tried. Raises `BadInput`, `Forbidden`, `TooMany`."""
    viewer = await named_viewer(request)
    if viewer.kind == "anonymous":
        raise Forbidden("Whoever has an endpoint tried has to be known.", hint="Sign in first.")
    tries: Rate = request.app.state.tries
    tries.spend(viewer.name or viewer.scope)
    is_local = viewer.kind == "local"
    return Server(await checked_address(base_url, any_address=is_local), key or None, is_local)


async def _endpoint(request: Request) -> tuple[Server, str]:
    try:
        told = EndpointRequest.model_validate(await read_json(request))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise BadInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    return await server_of(request, told.base_url, told.api_key), told.model


def _model(told: str, dollars_in: float | None, dollars_out: float | None) -> ModelAsked | None:
    kind: Literal["scripted", "endpoint", "router"] = "scripted" if told in SCRIPTS else "endpoint"
    if told.startswith("router:"):
        kind = "router"
    id = told.removeprefix("router:")
    return ModelAsked(kind, id, None, None, dollars_in, dollars_out) if told else None


def _price(price: Price | None) -> Mapping[str, float | None]:
    return {
        "dollars_in": price.dollars_in if price is not None else None,
        "dollars_out": price.dollars_out if price is not None else None,
    }


def _private(value: dict[str, Any]) -> Response:
    headers = {"cache-control": "private, no-store", "vary": VARY}
    return Response(to_bytes(value), 200, headers, "application/json")
