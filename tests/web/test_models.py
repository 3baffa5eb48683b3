"""The models of Inference Providers in pages and API, and an endpoint that somebody has tried."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from rlx.demo import demo_hub
from rlx.jobs.queue_service import Rollouts
from rlx.localhub import serve
from rlx.rollout import ModelUse
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.api import schemas
from rlx.web.app import create_app
from rlx.web.rates import TRIES
from tests.recorded import Recorder
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

KEY = "sk-RLXCANARYkey"
PRICED = ModelUse(id="org/model", provider="router", route="cheapest", dollars_in=1.0, dollars_out=2.0)
ASKED = {"env": "acme/tasks", "ref": "tasks/one", "agent": "simple"}


@dataclass
class Scene:
    recorder: Recorder
    rollouts: Rollouts
    owner: httpx2.AsyncClient
    guest: httpx2.AsyncClient


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    settings = Settings(hub=str(demo_hub()), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        app = create_app(services, token=lambda settings: None)
        rollouts = services.rollouts()
        async with visitor(app, peer="127.0.0.1") as owner, visitor(app) as guest:
            yield Scene(Recorder(rollouts), rollouts, owner, guest)


async def test_models_are_listed_searched_and_sorted_with_their_prices(scene: Scene) -> None:
    found = await scene.guest.get("/api/models?q=SOLVE&sort=price&limit=1")
    told = schemas.ModelListAnswer.model_validate_json(found.content)
    assert (told.total, told.offset, told.page) == (2, 0, 1)
    assert told.models[0].id == "scripted/solve"
    assert told.models[0].cheapest == "thrifty"
    prices = {each.provider: (each.dollars_in, each.dollars_out) for each in told.models[0].providers}
    assert prices == {"swift": (0.9, 3.6), "thrifty": (0.2, 0.6), "wordy": (0.4, 1.2)}
    unpriced = (await scene.guest.get("/api/models?q=unpriced")).json()["models"][0]
    assert unpriced["providers"][1] == {
        "provider": "untold", "tools": True, "context": 131072, "dollars_in": None, "dollars_out": None,
    }  # fmt: skip
    assert (await scene.guest.get("/api/models?sort=odd")).status_code == 400


async def test_the_page_says_the_same_without_scripts_in_every_form_and_language(scene: Scene) -> None:
    page = (await scene.guest.get("/models?q=solve")).text
    assert "scripted/solve-unpriced" in page
    assert "thrifty: $0.2 in, $0.6 out" in page
    assert "untold: price not known" in page
    assert "scripted/wrong" not in page
    assert (await scene.guest.get("/models?format=json&q=solve")).json()["total"] == 2
    assert "| `scripted/solve` |" in (await scene.guest.get("/models?format=md")).text
    assert "Try fewer words" in (await scene.guest.get("/models?q=nothing-like-it")).text
    assert "가격을 알 수 없음" in (await scene.guest.get("/models?lang=ko")).text


async def test_without_the_router_the_page_says_so(tmp_path: Path) -> None:
    settings = Settings(hub="http://127.0.0.1:9", store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        app = create_app(services, token=lambda settings: None)
        async with visitor(app, peer="127.0.0.1") as owner:
            assert "cannot be had now" in (await owner.get("/models")).text
            assert (await owner.get("/api/models")).status_code == 503


async def test_an_endpoint_is_tried_by_whoever_is_known_and_its_key_comes_back_nowhere(scene: Scene) -> None:
    with serve(demo_hub()) as hub:
        asked = {"base_url": f"{hub.url}/v1", "model": "scripted/solve", "api_key": KEY}
        refused = await scene.guest.post("/api/endpoints/test", json=asked)
        assert refused.status_code == 403
        tried = await scene.owner.post("/api/endpoints/test", json=asked)
        told = schemas.EndpointTestAnswer.model_validate_json(tried.content)
        assert (told.verdict, told.works, told.streams, told.usage) == ("tools", True, True, True)
        listed = await scene.owner.post("/api/endpoints/models", json={"base_url": f"{hub.url}/v1"})
        assert "scripted/solve" in listed.json()["models"]
        form = await scene.owner.post("/models", data=asked)
        assert form.status_code == 200
        assert "calls tools as it should" in form.text
        for answer in (refused, tried, form):
            assert KEY not in answer.text
            assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize(
    "asked",
    [
        {"base_url": "ftp://host/v1", "model": "m"},
        {"base_url": f"https://u:{KEY}@host/v1", "model": "m"},
        {"base_url": "http://127.0.0.1:9/v1", "model": ""},
        {"base_url": "http://127.0.0.1:9/v1", "model": "m", "other": 1},
        {"model": "m"},
        [],
    ],
)
async def test_what_is_no_endpoint_is_refused(scene: Scene, asked: object) -> None:
    answer = await scene.owner.post("/api/endpoints/test", json=asked)
    assert answer.status_code == 400
    assert KEY not in answer.text


async def test_nobody_has_strangers_tried_without_end(scene: Scene) -> None:
    asked = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    answers = [(await scene.owner.post("/api/endpoints/test", json=asked)).status_code for _ in range(TRIES + 1)]
    assert answers == [200] * TRIES + [429]
    page = await scene.owner.post("/models", data=asked)
    assert "very often" in page.text


async def test_what_a_rollout_will_cost_is_told_from_what_similar_ones_took(scene: Scene) -> None:
    async def told(**more: str) -> schemas.EstimateAnswer:
        answer = await scene.owner.get("/api/runs/estimate", params={**ASKED, "model": "router:scripted/solve", **more})
        return schemas.EstimateAnswer.model_validate_json(answer.content)

    nothing = await told()
    assert (nothing.dollars, nothing.tokens_in, nothing.like, nothing.rollouts) == (None, None, None, 0)
    assert "not known beforehand" in str(nothing.said)
    ceiling = await told(max_dollars="0.5")
    assert (ceiling.dollars, ceiling.at_most) == (0.5, True)
    for tokens in (1_000_000, 3_000_000, 2_000_000):
        usage = {"usage": {"tokens_in": tokens, "tokens_out": 100_000}}
        scene.recorder.done(env="acme/tasks", ref="tasks/other", model=PRICED, changes=usage)
    found = await told(model="router:scripted/solve:thrifty")
    assert (found.tokens_in, found.tokens_out, found.like, found.rollouts) == (2_000_000, 100_000, "environment", 3)
    assert found.dollars == pytest.approx(2 * 0.2 + 0.1 * 0.6)
    fastest = await told()
    assert fastest.dollars == pytest.approx(2 * 0.9 + 0.1 * 3.6)
    assert fastest.at_most
    unpriced = await told(model="router:scripted/solve-unpriced")
    assert (unpriced.dollars, unpriced.tokens_in) == (None, 2_000_000)
    assert "price is not known" in str(unpriced.said)
    own = await told(model="mine", dollars_in="1", dollars_out="1")
    assert own.dollars == pytest.approx(2.1)
    assert (await told(model="mine")).dollars is None
    assert "costs nothing" in str((await told(model="solve")).said)
