"""Which model a rollout uses, and what only the worker is told of it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from rlx.agents.registry import agent
from rlx.demo import demo_hub
from rlx.errors import BadInput, Forbidden, UserError
from rlx.localhub import LocalHub
from rlx.model import ANONYMOUS, Viewer
from rlx.rollout import ModelUse
from rlx.runners.asked import ModelAsked
from rlx.runners.models.choose import choose, within_limits
from rlx.runners.models.router import Router
from rlx.store.instance import Instance

pytestmark = pytest.mark.anyio

TOKEN = "hf_RLXCANARYtoken"
ANN = Viewer("session", name="ann", token=TOKEN)
SIMPLE, TERMINUS = agent("simple"), agent("terminus-2")


@pytest.fixture
async def router() -> AsyncIterator[Router]:
    async with httpx2.ASGITransport(app=LocalHub(demo_hub()).app) as transport:
        yield Router("http://hub.localhost/v1", transport=transport)


def routed(id: str, **more: Any) -> ModelAsked:
    return ModelAsked("router", id, **more)


async def test_the_visitors_token_goes_to_the_worker_and_is_in_no_record(router: Router) -> None:
    model, handed = await choose(SIMPLE, routed("scripted/solve:thrifty"), ANN, router)
    assert model is not None
    assert (model.id, model.provider, model.route) == ("scripted/solve", "router", "thrifty")
    assert (model.dollars_in, model.dollars_out, model.at_most) == (0.2, 0.6, False)
    assert handed is not None
    assert (handed.api_key, handed.base_url, handed.any_address) == (TOKEN, router.base_url, False)
    assert TOKEN not in f"{model}{handed}{model.model_dump_json()}"


async def test_whoever_has_no_token_has_nobody_to_pay(router: Router) -> None:
    for viewer in (ANONYMOUS, Viewer("local"), Viewer("session", name="eve")):
        with pytest.raises(Forbidden, match="token"):
            await choose(SIMPLE, routed("scripted/solve"), viewer, router)


async def test_prices_of_the_router_go_before_those_that_were_given_and_unknown_ones_stay_so(router: Router) -> None:
    for id, given, wanted in (
        ("scripted/solve", (9.0, 9.0), (0.9, 3.6, True)),
        ("scripted/solve-unpriced", (None, None), (None, None, False)),
        ("scripted/solve-unpriced", (1.0, 2.0), (1.0, 2.0, False)),
    ):
        asked = routed(id, dollars_in=given[0], dollars_out=given[1])
        model, _ = await choose(SIMPLE, asked, ANN, router)
        assert model is not None
        assert (model.dollars_in, model.dollars_out, model.at_most) == wanted


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (routed("scripted/solve:wordy"), "takes no tools"),
        (routed("scripted/solve:nobody"), "No provider"),
        (routed("org/none"), "have no model"),
        (routed("scripted/solve", dollars_in=-1.0), "price"),
        (ModelAsked("scripted", "none"), "no script"),
        (ModelAsked("odd"), "no kind"),  # type: ignore[arg-type]  # what a form may send
        (ModelAsked("endpoint", "m"), "address"),
        (None, "needs a model"),
    ],
)
async def test_what_cannot_be_is_refused(router: Router, asked: ModelAsked | None, told: str) -> None:
    with pytest.raises(UserError, match=told):
        await choose(SIMPLE, asked, ANN, router)


async def test_an_agent_without_tools_takes_a_provider_without_tools(router: Router) -> None:
    model, _ = await choose(TERMINUS, routed("scripted/solve:wordy"), ANN, router)
    assert model is not None
    assert model.route == "wordy"
    assert await choose(agent("nop"), None, ANN, router) == (None, None)
    with pytest.raises(BadInput):
        await choose(agent("nop"), routed("scripted/solve"), ANN, router)


PRICED = ModelUse(id="m", provider="router", dollars_in=1.0, dollars_out=1.0)
UNPRICED = ModelUse(id="m", provider="endpoint")
SCRIPTED = ModelUse(id="solve", provider="scripted")


def test_where_operators_limit_costs_a_ceiling_is_set_for_those_who_gave_none() -> None:
    limited = Instance(dollars_per_day=5.0, dollars_per_rollout=0.5)
    assert within_limits({}, (PRICED,), limited) == {"max_dollars": 0.5}
    assert within_limits({"max_dollars": 0.1}, (PRICED,), limited) == {"max_dollars": 0.1}
    assert within_limits({"max_dollars": None}, (UNPRICED,), limited) == {"max_dollars": None}
    assert within_limits({}, (SCRIPTED,), limited) == within_limits({}, (None,), limited) == {}
    assert within_limits({}, (PRICED,), Instance()) == {}
    for model in (UNPRICED, SCRIPTED, None):
        with pytest.raises(BadInput, match="prices"):
            within_limits({"max_dollars": 1.0}, (model,), Instance())


async def test_a_list_that_cannot_be_had_again_is_used_on_and_asked_for_seldom() -> None:
    hub, now, calls = LocalHub(demo_hub()), [0.0], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        calls.append(now[0])
        if len(calls) > 1:
            raise httpx2.ConnectError("gone")
        await hub.app(scope, receive, send)

    router = Router("http://hub.localhost/v1", transport=httpx2.ASGITransport(app=app), clock=lambda: now[0])
    first = await router.models()
    for now[0] in (1.0, 599.0, 601.0, 602.0, 603.0):
        assert await router.models() == first
    assert calls == [0.0, 601.0]
