"""Which model a rollout uses: what was asked for, checked, with its prices; and what only the worker is told of it."""

from collections.abc import Mapping

from rlx.agents.registry import AgentEntry
from rlx.agents.scripted import SCRIPTS
from rlx.errors import BadInput, Forbidden
from rlx.model import Viewer
from rlx.rollout import ModelUse
from rlx.runners.asked import ModelAsked, Value
from rlx.runners.endpoints import checked_address, host_of
from rlx.runners.models.pool import POLICIES, Pick
from rlx.runners.models.reach import ROUTER
from rlx.runners.models.router import Router
from rlx.runners.workers import Handed
from rlx.store.instance import Instance

_LONGEST = 200
"""Characters of a model's name."""

type Chosen = tuple[ModelUse | None, Handed | None]


async def choose(entry: AgentEntry, asked: ModelAsked | None, viewer: Viewer, router: Router) -> Chosen:
    """For an agent. Raises `BadInput`, `Forbidden`, and `Upstream` when the router's models cannot be listed."""
    if not entry.needs_model:
        if asked is not None:
            raise BadInput(f"The agent {entry.name!r} speaks with no model.", hint="Leave the model out.")
        return None, None
    if asked is None:
        raise BadInput(f"The agent {entry.name!r} needs a model.", hint="Give an endpoint, or take the scripted one.")
    return await reached(asked, viewer, router, tools=entry.calls_tools)


async def reached(asked: ModelAsked, viewer: Viewer, router: Router, *, tools: bool = False) -> Chosen:
    """A model for any use; `tools`: it has to take calls of tools. Raises what `choose` does."""
    for price in (asked.dollars_in, asked.dollars_out):
        if price is not None and not 0 <= price < 1_000_000:
            raise BadInput("A price is dollars for a million tokens, and not below 0.")
    match asked.kind:
        case "scripted":
            if asked.id not in SCRIPTS:
                known = ", ".join(SCRIPTS)
                raise BadInput(f"The scripted model has no script {asked.id[:40]!r}.", hint=f"It has {known}.")
            return ModelUse(id=asked.id, provider="scripted"), None
        case "endpoint":
            return await _endpoint(asked, viewer)
        case "router":
            return await _routed(asked, viewer, router, tools=tools)
    raise BadInput(f"{str(asked.kind)[:40]!r} is no kind of model.", hint="scripted, router or endpoint.")


def within_limits(
    fields: Mapping[str, Value], models: tuple[ModelUse | None, ...], instance: Instance
) -> dict[str, Value]:
    """The fields with a ceiling where operators limit costs and none was given. Raises `BadInput` for a ceiling of what
    nobody knows the price of."""
    paid = [model for model in models if model is not None and model.provider != "scripted"]
    ceiling = fields.get("max_dollars")
    priced = all(model.dollars_in is not None and model.dollars_out is not None for model in paid)
    if ceiling is not None and not (paid and priced):
        raise BadInput("A ceiling of the cost needs the model's prices.", hint="Give both prices, or no ceiling.")
    limits = (instance.dollars_per_rollout, instance.dollars_per_visitor_day, instance.dollars_per_day)
    known = [limit for limit in limits if limit is not None]
    if ceiling is None and known and paid and priced:
        return {**fields, "max_dollars": min(known)}
    return dict(fields)


async def _endpoint(asked: ModelAsked, viewer: Viewer) -> Chosen:
    if not asked.base_url or not asked.id or len(asked.id) > _LONGEST:
        raise BadInput("An endpoint needs an address and the model's name there.")
    is_local = viewer.kind == "local"
    url = await checked_address(asked.base_url, any_address=is_local)
    use = ModelUse(
        id=asked.id, provider="endpoint", host=host_of(url), dollars_in=asked.dollars_in, dollars_out=asked.dollars_out
    )
    return use, Handed(base_url=url, api_key=asked.api_key or None, any_address=is_local)


async def _routed(asked: ModelAsked, viewer: Viewer, router: Router, *, tools: bool) -> Chosen:
    """With the viewer's own token, which pays: it is handed to the worker for this rollout and written nowhere."""
    if viewer.token is None and router.folder is None:
        raise Forbidden(
            "Inference Providers are asked with a token of yours, and none is known.",
            hint="Sign in; on a machine of your own, `hf auth login` or HF_TOKEN.",
        )
    picked = await router.pick(asked.id)
    if tools and takes_tools(picked) is False:
        raise BadInput(
            f"{picked.name} takes no tools, which this agent calls.", hint="Pick another provider, or terminus-2."
        )
    return priced(picked, asked), Handed(base_url=router.base_url, api_key=viewer.token, hub_folder=router.folder)


def priced(picked: Pick, asked: ModelAsked) -> ModelUse:
    """With the router's prices; where it tells none, with those that were given."""
    use = ModelUse(
        id=picked.model.id,
        provider=ROUTER,
        route=picked.route,
        dollars_in=asked.dollars_in,
        dollars_out=asked.dollars_out,
    )
    price = picked.price
    if price is None:
        return use
    told = {"dollars_in": price.dollars_in, "dollars_out": price.dollars_out, "at_most": price.at_most}
    return use.model_copy(update=told)


def takes_tools(picked: Pick) -> bool | None:
    """Whether who answers takes tools; None where that is not known."""
    if picked.route in POLICIES:
        return picked.model.tools
    return next((provider.tools for provider in picked.model.live if provider.name == picked.route), None)
