"""The models of Inference Providers, as the router lists them: who serves each, for how much, and with which tools.

What the list does not tell is unknown, and never 0: a price, a context length, whether tools are taken.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rlx.errors import BadInput

type Order = Literal["listed", "name", "price", "context"]

FASTEST: Final = "fastest"
CHEAPEST: Final = "cheapest"
PREFERRED: Final = "preferred"
POLICIES: Final = (FASTEST, CHEAPEST, PREFERRED)
"""Ways in which the router picks a provider itself."""
_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_ROUTE: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_MOST_MODELS: Final = 5000
_MOST_PROVIDERS: Final = 64


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    dollars_in: float
    dollars_out: float
    at_most: bool = False
    """Of several providers, one of which will answer, the highest."""


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    is_live: bool = True
    tools: bool | None = None
    context: int | None = None
    """Tokens."""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class PoolModel:
    id: str
    providers: tuple[Provider, ...]
    inputs: tuple[str, ...] = ()
    """`text`, `image`, … as far as told."""

    @property
    def live(self) -> tuple[Provider, ...]:
        return tuple(provider for provider in self.providers if provider.is_live)

    @property
    def tools(self) -> bool | None:
        """Whether some provider takes tools; None: of none it is known."""
        known = [provider.tools for provider in self.live if provider.tools is not None]
        return any(known) if known else None

    @property
    def context(self) -> int | None:
        return max((provider.context for provider in self.live if provider.context is not None), default=None)

    @property
    def cheapest(self) -> Provider | None:
        """By the price of what comes out, then of what goes in."""
        priced = [(provider.price, provider) for provider in self.live if provider.price is not None]
        return min(priced, key=lambda pair: (pair[0].dollars_out, pair[0].dollars_in), default=(None, None))[1]


@dataclass(frozen=True, slots=True)
class Pick:
    """A model of the pool, and who of its providers is to answer."""

    model: PoolModel
    route: str
    """One of `POLICIES`, or a provider's name."""
    price: Price | None

    @property
    def name(self) -> str:
        """As the router is asked for it."""
        return f"{self.model.id}:{self.route}"


def parse_models(told: object) -> tuple[PoolModel, ...]:
    """Models of the router's list that some live provider serves. What has another shape is left out."""
    data = told.get("data") if isinstance(told, Mapping) else None
    found: dict[str, PoolModel] = {}
    for item in data[:_MOST_MODELS] if isinstance(data, list) else ():
        model = _model(item) if isinstance(item, Mapping) else None
        if model is not None and model.live:
            found.setdefault(model.id, model)
    return tuple(found.values())


def pick(models: Iterable[PoolModel], asked: str) -> Pick:
    """What `id`, `id:policy` or `id:provider` stands for. Raises `BadInput` for what the pool does not have."""
    id, _, route = asked.partition(":")
    known = {model.id.lower(): model for model in models}
    model = known.get(id.lower())
    if model is None:
        near = [each.id for each in search(known.values(), id.rpartition("/")[2])[:3]]
        raise BadInput(
            f"Inference Providers have no model {id[:200]!r}.",
            hint=f"Did you mean {', '.join(near)}?" if near else "`rlx models ls` lists those they have.",
        )
    route = route or FASTEST
    provider = next((each for each in model.live if each.name == route), None)
    if provider is None and route not in POLICIES:
        names = ", ".join(each.name for each in model.live)
        raise BadInput(f"No provider {route[:60]!r} serves {model.id} now.", hint=f"These do: {names}.")
    return Pick(model, route, provider.price if provider is not None else _price(model, route))


def search(models: Iterable[PoolModel], words: str, *, tools: bool = False) -> list[PoolModel]:
    """Models in whose name, or a provider's, each word occurs; with `tools` those that are known to take tools."""
    wanted = words.lower().split()

    def fits(model: PoolModel) -> bool:
        text = " ".join((model.id, *(provider.name for provider in model.live))).lower()
        return all(word in text for word in wanted) and (model.tools is True or not tools)

    return [model for model in models if fits(model)]


def in_order(models: Sequence[PoolModel], order: Order) -> list[PoolModel]:
    """Those of which the figure is unknown come last."""
    match order:
        case "name":
            return sorted(models, key=lambda model: model.id.lower())
        case "price":
            return sorted(models, key=_of_cheapest)
        case "context":
            return sorted(models, key=lambda model: -(model.context or 0))
    return list(models)


def _of_cheapest(model: PoolModel) -> tuple[float, float]:
    price = model.cheapest.price if model.cheapest is not None else None
    return (price.dollars_out, price.dollars_in) if price is not None else (math.inf, math.inf)


def _price(model: PoolModel, policy: str) -> Price | None:
    """What a policy may cost at most; None where some provider that it may pick has no known price."""
    if policy == CHEAPEST:
        return model.cheapest.price if model.cheapest is not None else None
    prices = [provider.price for provider in model.live]
    known = [price for price in prices if price is not None]
    if not known or len(known) < len(prices):
        return None
    highest = Price(max(each.dollars_in for each in known), max(each.dollars_out for each in known))
    same = all(each == highest for each in known)
    return highest if same else Price(highest.dollars_in, highest.dollars_out, at_most=True)


def _model(item: Mapping[str, Any]) -> PoolModel | None:
    id, told = item.get("id"), item.get("providers")
    if not isinstance(id, str) or _ID.fullmatch(id) is None:
        return None
    providers: dict[str, Provider] = {}
    for each in told[:_MOST_PROVIDERS] if isinstance(told, list) else ():
        provider = _provider(each) if isinstance(each, Mapping) else None
        if provider is not None:
            providers.setdefault(provider.name, provider)
    architecture = item.get("architecture")
    inputs = architecture.get("input_modalities") if isinstance(architecture, Mapping) else None
    kinds = [kind for kind in (inputs if isinstance(inputs, list) else ()) if isinstance(kind, str)]
    return PoolModel(id, tuple(providers.values()), tuple(kinds[:8]))


def _provider(item: Mapping[str, Any]) -> Provider | None:
    name, tools, context = item.get("provider"), item.get("supports_tools"), item.get("context_length")
    if not isinstance(name, str) or _ROUTE.fullmatch(name) is None or name in POLICIES:
        return None
    pricing = item.get("pricing")
    costs = [_dollars(pricing.get(key)) for key in ("input", "output")] if isinstance(pricing, Mapping) else []
    known = [cost for cost in costs if cost is not None]
    return Provider(
        name,
        is_live=item.get("status", "live") == "live",
        tools=tools if isinstance(tools, bool) else None,
        context=context if isinstance(context, int) and not isinstance(context, bool) and context > 0 else None,
        price=Price(known[0], known[1]) if len(known) == 2 else None,
    )


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1_000_000:
        return None
    return float(value)
