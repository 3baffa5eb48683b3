"""The list of rollouts, the panel that starts them, and what other pages tell of attempts."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from rlx.jobs.queue_service import Rollouts
from rlx.services import create_services
from rlx.settings import Settings
from rlx.store.instance import Instance, InstanceFile
from rlx.web.api import schemas
from rlx.web.app import create_app
from tests.recorded import Recorder
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

ENV, REF = "rl-explorer/first-steps", "tasks/fix-median"
TASK = f"/t/{ENV}/{REF}"
ASKED = {"env": ENV, "ref": REF, "agent": "nop"}


@dataclass
class Scene:
    recorder: Recorder
    rollouts: Rollouts
    settings: Settings
    owner: httpx2.AsyncClient
    guest: httpx2.AsyncClient

    async def page(self, client: httpx2.AsyncClient, url: str) -> httpx2.Response:
        """A page once its environment is read."""
        for _ in range(100):
            answer = await client.get(url)
            if answer.status_code != 202:
                return answer
        raise AssertionError(f"{url} was never read")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    from rlx.demo import demo_hub

    settings = Settings(hub=str(demo_hub()), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        app = create_app(services, token=lambda settings: None)
        rollouts = services.rollouts()
        async with visitor(app, peer="127.0.0.1") as owner, visitor(app) as guest:
            yield Scene(Recorder(rollouts), rollouts, settings, owner, guest)


async def test_a_list_is_narrowed_counted_sorted_and_paged_by_its_address(scene: Scene) -> None:
    for reward in (0.0, 0.25, 1.0):
        scene.recorder.done(reward, agent="terminus-2" if reward else "simple")
    scene.recorder.failed(env="acme/other")
    scene.recorder.queued(agent="nop")

    async def told(query: str) -> schemas.RunListAnswer:
        api = (await scene.owner.get(f"/api/runs?{query}")).json()
        twin = (await scene.owner.get(f"/runs?{query}&format=json")).json()
        assert api == twin
        return schemas.RunListAnswer.model_validate(api)

    everything = await told("")
    assert everything.total == 5
    counts = {facet.key: {item.value: item.n for item in facet.values} for facet in everything.facets}
    assert counts["agent"] == {"terminus-2": 2, "simple": 2, "nop": 1}
    assert counts["model"] == {"solve": 4, "none": 1}
    assert [card.reward for card in (await told("sort=reward")).cards][:3] == [1.0, 0.25, 0.0]
    assert [card.reward for card in (await told("f=agent:terminus-2&sort=-reward")).cards] == [0.25, 1.0]
    for query, total in (
        *(("f=model:none", 1), ("f=env:acme/other", 1), ("f=status:done;agent:simple", 1), ("outcome=solved", 1)),
        *(("outcome=unsolved", 2), ("outcome=ungraded", 1), ("outcome=active", 1), ("mine=1", 5)),
        *((f"f=env:{ENV}&ref={REF}", 4), (f"f=env:{ENV}&ref=tasks/none", 0)),
    ):
        assert (await told(query)).total == total, query
    second = await told("limit=2&page=2&sort=old")
    assert (second.offset, len(second.cards), second.page) == (2, 2, 2)
    page = (await scene.owner.get("/runs?f=agent:terminus-2&limit=1")).text
    assert 'rel="next" href="/runs?f=agent%3Aterminus-2&amp;offset=1&amp;limit=1"' in page
    assert "Terminus" not in page
    assert 'value="agent:terminus-2" checked' in page
    for wrong in ("f=colour:red", "f=status:odd", "ref=x", "sort=odd", "outcome=odd", "limit=0"):
        assert (await scene.owner.get(f"/runs?{wrong}")).status_code in {400, 422}, wrong


async def test_a_part_of_a_list_is_what_a_filter_changes_and_is_asked_for_again_while_one_goes_on(scene: Scene) -> None:
    scene.recorder.done(0.5)
    part = (await scene.owner.get("/runs?outcome=graded&part=results")).text
    assert re.findall(r'data-part="(\w+)"', part) == ["facets", "list"]
    assert "<html" not in part
    assert "part=" not in part.replace("data-part=", "")
    assert "data-building" not in part
    scene.recorder.queued()
    assert "data-building" in (await scene.owner.get("/runs?part=results")).text
    assert 'name="limit" value="7"' in (await scene.owner.get("/runs?limit=7")).text


async def test_everybody_sees_public_ones_and_owners_their_own(scene: Scene) -> None:
    assert "No rollouts yet" in (await scene.guest.get("/runs")).text
    private, shared = scene.recorder.done(), scene.recorder.done(visibility="public")
    mine = await scene.owner.get("/runs")
    theirs = await scene.guest.get("/runs")
    assert (f"/run/{private.id}" in mine.text, f"/run/{shared.id}" in mine.text) == (True, True)
    assert (f"/run/{private.id}" in theirs.text, f"/run/{shared.id}" in theirs.text) == (False, True)
    assert mine.headers["cache-control"] == "private, no-store"
    assert theirs.headers["cache-control"].startswith("public")
    assert "Only mine" not in theirs.text
    assert "There is no such page" in (await scene.guest.get("/runs?offset=50")).text
    assert "No rollout fits" in (await scene.guest.get("/runs?outcome=ungraded")).text
    markdown = (await scene.guest.get("/runs?format=md")).text
    assert shared.id in markdown
    assert private.id not in markdown


async def test_pages_of_a_task_and_an_environment_tell_what_came_of_attempts(scene: Scene) -> None:
    for url in (TASK, f"/d/{ENV}"):
        page = await scene.page(scene.owner, url)
        assert "Nobody has run an agent on this yet." in page.text
        assert page.headers["cache-control"].startswith("public")
    scene.recorder.done(0.5)
    scene.recorder.done(1.0, visibility="public")
    scene.recorder.done(1.0, ref="tasks/other")
    scene.recorder.oracle(visibility="public")
    for url, n, mean in ((TASK, 2, "0.75"), (f"/d/{ENV}", 3, "0.833")):
        own = await scene.page(scene.owner, url)
        strip = re.search(r'<h2 id="rollouts">.*?</section>', own.text, re.DOTALL)
        assert strip is not None
        assert f"<dd>{n}</dd>" in strip[0]
        assert f"<dd>{mean}</dd>" in strip[0]
        assert own.headers["cache-control"] == "private, no-store"
        theirs = await scene.page(scene.guest, url)
        assert "<dd>1</dd>" in theirs.text
        assert theirs.headers["cache-control"].startswith("public")


async def test_a_task_that_can_run_here_has_a_form_that_starts_it(scene: Scene) -> None:
    page = (await scene.page(scene.owner, TASK)).text
    told = (await scene.owner.get(f"/api/env/{ENV}/task?ref={REF}")).json()["run_options"]
    local = next(option for option in told if option["sandbox"] == "local")
    forms = [
        form for form in re.findall(r'<form class="run-form".*?</form>', page, re.DOTALL) if 'name="script"' in form
    ]
    assert len(forms) == sum(option["ok"] for option in told)
    if not local["ok"]:  # this machine has no sandbox: its page says so
        assert local["reason"] in page
        return
    for field in local["fields"]:
        assert f'name="field.{field["key"]}"' in forms[0]
    sent = {"env": ENV, "ref": REF, "option": "harbor/local", "agent": "nop", "script": "solve", "field.max_calls": "5"}
    answer = await scene.owner.post("/api/runs", data=sent)
    assert answer.status_code == 303, answer.text
    started = (await scene.owner.get(f"{answer.headers['location']}?format=json")).json()
    assert (started["agent"], started["status"], started["model"]) == ("nop", "queued", None)
    assert started["fields"]["max_calls"] == 5
    script = {**sent, "agent": "simple", "script": "wrong"}
    answer = await scene.owner.post("/api/runs", data=script)
    started = (await scene.owner.get(f"{answer.headers['location']}?format=json")).json()
    assert started["model"]["id"] == "wrong"
    told = await scene.owner.post("/api/runs", json={**ASKED, "visibility": "public"})
    assert told.status_code == 201
    assert schemas.RunAnswer.model_validate(told.json()).status == "queued"


async def test_whoever_is_not_known_signs_in_before_running_anything(scene: Scene) -> None:
    page = (await scene.page(scene.guest, TASK)).text
    assert 'class="run-form" method' not in page
    assert (await scene.guest.post("/api/runs", json=ASKED)).status_code in {400, 403}
    assert (await scene.owner.get("/api/runs")).json()["total"] == 0


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 400),
        ({**ASKED, "colour": "red"}, 400),
        ({**ASKED, "sandbox": "nowhere"}, 400),
        ({**ASKED, "agent": "nobody"}, 400),
        ({**ASKED, "fields": {"max_calls": 10**9}}, 400),
        ({**ASKED, "fields": {"what": 1}}, 400),
        ({**ASKED, "visibility": "friends"}, 400),
        ({**ASKED, "ref": "tasks/none"}, 404),
        ({**ASKED, "env": "acme/none"}, 404),
        ({**ASKED, "model": {"kind": "scripted", "id": "solve"}}, 400),
    ],
)
async def test_what_the_option_does_not_take_is_refused(scene: Scene, asked: dict[str, object], status: int) -> None:
    await scene.page(scene.owner, TASK)
    answer = await scene.owner.post("/api/runs", json=asked)
    assert answer.status_code == status, answer.text
    assert (await scene.owner.get("/api/runs")).json()["total"] == 0


async def test_writes_that_are_no_form_of_ours_are_refused(scene: Scene) -> None:
    for content, kind in ((b"{", "application/json"), (b"[]", "application/json"), (b"x", "text/plain")):
        answer = await scene.owner.post("/api/runs", content=content, headers={"content-type": kind})
        assert answer.status_code == 400
    cross = await scene.owner.post("/api/runs", json=ASKED, headers={"sec-fetch-site": "cross-site"})
    assert cross.status_code == 403
    assert (await scene.owner.post("/api/runs", data={"agent": "nop"})).status_code == 400


async def test_who_sends_a_form_that_is_refused_reads_why_on_a_page_without_what_was_secret(scene: Scene) -> None:
    told = {"env": ENV, "ref": REF, "agent": "nobody", "api_key": "sk-of-mine", "var.TOKEN": "token-of-mine"}
    browser = {"accept": "text/html,application/xhtml+xml"}
    answer = await scene.owner.post("/api/runs", data=told, headers=browser)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (400, "text/html")
    assert answer.headers["cache-control"] == "private, no-store"
    assert "of-mine" not in answer.text
    assert (await scene.owner.post("/api/runs", data=told)).headers["content-type"] == "application/json"


async def test_rollouts_that_are_switched_off_are_refused_and_the_page_says_so(scene: Scene) -> None:
    InstanceFile(scene.settings.store).save(Instance(rollouts_enabled=False))
    page = (await scene.page(scene.owner, TASK)).text
    assert 'class="run-form"' not in page
    assert (await scene.owner.post("/api/runs", json=ASKED)).status_code in {400, 403}
