"""What a rollout will cost, told before it starts: from what similar ones took, or else from its ceiling."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

import anyio.to_thread

from rlx.rollout import ModelUse, Rollout
from rlx.runners.asked import Asked, ModelAsked
from rlx.runners.models.choose import priced
from rlx.runners.models.purse import price_of
from rlx.runners.models.router import Router
from rlx.store.rollouts.query import Filters
from rlx.texts import Say, say

type Look = Callable[[Filters], Sequence[Rollout]]
"""The latest rollouts that meet filters, as far as whoever asks may see them. Blocks."""
type Like = Literal["task", "environment", "agent"]
"""In what the similar ones are alike, the agent always."""

LOOKED_AT: Final = 50
_FREE: Final = "scripted"


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is not known is None, never 0."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    dollars: float | None = None
    at_most: bool = False
    like: Like | None = None
    rollouts: int = 0
    """Similar ones that it rests on."""
    said: Say | None = None
    """In words; None where no model is spoken with."""


def forecast(env: str, ref: str, agent: str, model: ModelUse | None, ceiling: float | None, look: Look) -> Forecast:
    """Of a rollout that has not been started. Tokens are the middle of those of similar rollouts. Blocks."""
    if model is None:
        return Forecast()
    if model.provider == _FREE:
        return Forecast(said=say("models.estimate_free"))
    like, alike = _alike(env, ref, agent, look)
    counts = [(one.usage.tokens_in, one.usage.tokens_out) for one in alike]
    known = [(into, out) for into, out in counts if into is not None and out is not None]
    tokens = (round(median(into for into, _ in known)), round(median(out for _, out in known))) if known else None
    into, out = tokens if tokens is not None else (None, None)
    price = price_of(model)
    if price is None:
        return Forecast(into, out, like=like, rollouts=len(known), said=say("models.estimate_unpriced"))
    dollars = None if tokens is None else (tokens[0] * price.dollars_in + tokens[1] * price.dollars_out) / 1e6
    if ceiling is not None and (dollars is None or dollars >= ceiling):
        told = say("models.estimate_ceiling", dollars=_money(ceiling))
        return Forecast(into, out, ceiling, True, like, len(known), told)
    if dollars is None:
        return Forecast(said=say("models.estimate_unknown"))
    key = "models.estimate_most" if model.at_most else "models.estimate_dollars"
    told = say(key, dollars=_money(dollars), n=len(known))
    return Forecast(into, out, dollars, model.at_most, like, len(known), told)


async def estimated(asked: Asked, router: Router, look: Look, ceiling: float | None = None) -> Forecast:
    """Of what somebody is about to ask for. Raises `BadInput`, and `Upstream` when the router cannot be asked."""
    model = await _priced(asked.model, router)
    return await anyio.to_thread.run_sync(forecast, asked.env, asked.ref, asked.agent, model, ceiling, look)


async def _priced(asked: ModelAsked | None, router: Router) -> ModelUse | None:
    if asked is None:
        return None
    if asked.kind == "router":
        return priced(await router.pick(asked.id), asked)
    return ModelUse(id=asked.id, provider=asked.kind, dollars_in=asked.dollars_in, dollars_out=asked.dollars_out)


def _alike(env: str, ref: str, agent: str, look: Look) -> tuple[Like | None, Sequence[Rollout]]:
    """The most similar ones that there are, scripted ones left out: they say little."""
    wide = Filters({"agent": (agent,)}, ended=True)
    steps: tuple[tuple[Like, Filters], ...] = (
        ("task", Filters({"agent": (agent,)}, tasks=((env, ref),), ended=True)),
        ("environment", Filters({"agent": (agent,), "env": (env,)}, ended=True)),
        ("agent", wide),
    )
    for like, filters in steps:
        found = [one for one in look(filters) if _tells(one)]
        if found:
            return like, found
    return None, ()


def _tells(one: Rollout) -> bool:
    is_paid = one.model is not None and one.model.provider != _FREE
    return is_paid and one.usage.tokens_in is not None and one.usage.tokens_out is not None


def _money(dollars: float) -> str:
    return f"{dollars:.2f}" if dollars >= 1 else f"{dollars:.2g}"
