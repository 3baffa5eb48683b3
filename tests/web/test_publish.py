"""Proposing tags and reporting a task on the site of a hub that takes them, as somebody who is signed in."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi

from rlx.model import Viewer
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.app import create_app
from rlx.web.viewer import COOKIE
from tests.publish.hubs import environment, serving
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio

TASK = "tasks/first"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[tuple[httpx2.AsyncClient, HfApi]]:
    """A visitor who has signed in as bob, and alice's own client."""
    with serving(tmp_path) as server:
        api = HfApi(endpoint=server.url, token="hf_alice")
        folder = environment(tmp_path / "env", "first")
        (folder / "README.md").write_text("---\nlicense: mit\n---\n# Steps\n")
        api.create_repo("alice/steps", repo_type="dataset")
        api.upload_folder(repo_id="alice/steps", folder_path=folder, repo_type="dataset")
        settings = Settings(hub=server.url, store=tmp_path / "store", cache_dir=tmp_path / "cache")
        async with create_services(settings) as services:
            app = create_app(services, token=lambda settings: None)
            started = app.state.site.doorman.sessions.start(Viewer("session", name="bob", token="hf_bob"))
            async with visitor(app) as client:
                client.cookies.set(COOKIE, started)
                yield client, api


async def test_tags_are_shown_and_proposed_once(site: tuple[httpx2.AsyncClient, HfApi]) -> None:
    client, api = site
    assert 'href="/d/alice/steps/tags"' in (await client.get("/d/alice/steps/use")).text
    page = (await client.get("/d/alice/steps/tags")).text
    assert "+- rl-environment" in page
    assert "Open a pull request" in page
    sent = await client.post("/d/alice/steps/tags", headers={"origin": str(client.base_url)})
    assert sent.status_code == 303
    again = await client.post("/d/alice/steps/tags", headers={"origin": str(client.base_url)})
    assert again.headers["location"] == sent.headers["location"]
    (made,) = api.get_repo_discussions("alice/steps", repo_type="dataset")
    assert (made.url, made.author, made.is_pull_request) == (sent.headers["location"], "bob", True)
    assert "bob opened a pull request" in (await client.get("/d/alice/steps/tags")).text
    assert (await client.get("/d/alice/steps/tags?format=json")).json()["open"] == made.url


async def test_a_report_is_looked_over_sent_and_added_to(site: tuple[httpx2.AsyncClient, HfApi]) -> None:
    client, api = site
    page = (await client.get(f"/d/alice/steps/report?task={TASK}")).text
    assert "Send the report" not in page
    page = (await client.get(f"/d/alice/steps/report?task={TASK}&message=It%20%3Cb%3Efails")).text
    assert "It &lt;b&gt;fails" in page
    assert "Send the report" in page
    form = {"task": TASK, "message": "It <b>fails"}
    sent = await client.post("/d/alice/steps/report", data=form, headers={"origin": str(client.base_url)})
    assert sent.status_code == 303
    (made,) = api.get_repo_discussions("alice/steps", repo_type="dataset")
    assert (made.title, made.author) == (f"Broken task: {TASK}", "bob")
    page = (await client.get(f"/d/alice/steps/report?task={TASK}&message=more")).text
    assert made.url in page
    more = {**form, "thread": str(made.num)}
    await client.post("/d/alice/steps/report", data=more, headers={"origin": str(client.base_url)})
    assert len(api.get_discussion_details("alice/steps", made.num, repo_type="dataset").events) == 2
    none = {**form, "thread": "77"}
    odd = await client.post("/d/alice/steps/report", data=none, headers={"origin": str(client.base_url)})
    assert odd.status_code == 400


async def test_nothing_is_sent_for_who_is_not_signed_in_or_comes_from_another_site(
    site: tuple[httpx2.AsyncClient, HfApi],
) -> None:
    client, api = site
    form = {"task": TASK, "message": "It fails"}
    elsewhere = {"origin": "https://elsewhere.example"}
    assert (await client.post("/d/alice/steps/report", data=form, headers=elsewhere)).status_code == 403
    assert (await client.post("/d/alice/steps/tags", headers=elsewhere)).status_code == 403
    client.cookies.clear()
    ours = {"origin": str(client.base_url)}
    assert (await client.post("/d/alice/steps/report", data=form, headers=ours)).status_code == 403
    assert (await client.post("/d/alice/steps/tags", headers=ours)).status_code == 403
    assert "Sign in" in (await client.get("/d/alice/steps/tags")).text
    assert list(api.get_repo_discussions("alice/steps", repo_type="dataset")) == []
