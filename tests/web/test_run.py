"""The page of a rollout, its twins, its files, its API: what they say, to whom, and what they withhold."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from rlx.jobs.queue_service import Rollouts
from rlx.rollout import EventKind, Rollout
from rlx.services import create_services
from rlx.settings import Settings
from rlx.web.api import schemas
from rlx.web.app import create_app
from tests.recorded import CANARY, SECRET, START, TALK, Happening, Recorder, phases
from tests.web.conftest import visitor

pytestmark = pytest.mark.anyio


@dataclass
class Scene:
    """A store with rollouts, this machine's own user, and a visitor from elsewhere."""

    recorder: Recorder
    rollouts: Rollouts
    owner: httpx2.AsyncClient
    guest: httpx2.AsyncClient


@pytest.fixture
async def scene(fixture_hub: Path, tmp_path: Path) -> AsyncIterator[Scene]:
    settings = Settings(hub=str(fixture_hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as services:
        app = create_app(services, token=lambda settings: None)
        rollouts = services.rollouts()
        recorder = Recorder(rollouts, env="acme/layout-tasks", ref="tasks/fix-parser")
        async with visitor(app, peer="127.0.0.1") as owner, visitor(app) as guest:
            yield Scene(recorder, rollouts, owner, guest)


async def test_a_page_tells_what_happened_in_it(scene: Scene) -> None:
    run = scene.recorder.done()
    answer = await scene.owner.get(f"/run/{run.id}")
    page = answer.text
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "private, no-store"
    for text in (
        "simple on Fix the median",
        "Fix the &lt;median&gt; of a list.",
        "An even list has two middles.",
        "cat stats.py",
        "def median(values): ...",
        "/app/stats.py",
        "test_odd",
        "1,734",
        "verifier/ctrf.json",
        "Provision",
    ):
        assert text in page, text
    assert page.index("python fix.py") < page.index("boom") < page.index("What graded it")
    assert 'data-run="' not in page


async def test_its_twins_say_the_same(scene: Scene) -> None:
    run = scene.recorder.done()
    told = (await scene.owner.get(f"/run/{run.id}?format=json")).json()
    assert schemas.RunPageAnswer.model_validate(told)
    assert told == (await scene.owner.get(f"/api/runs/{run.id}")).json()
    assert {"id", "status", "reward", "rewards", "error", "agent", "sandbox", "usage", "cost"} <= set(told)
    assert told["cost"] is None
    assert told["usage"]["tokens_cached"] is None
    assert [message["kind"] for message in told["messages"]] == [
        *("message", "reasoning", "message", "call", "output"),
        *("message", "call", "output"),
    ]
    markdown = (await scene.owner.get(f"/run/{run.id}?format=md")).text
    assert "simple on Fix the median" in markdown
    assert "An even list has two middles." in markdown


@pytest.mark.parametrize("agent", ["oracle", "nop"])
async def test_no_answer_leaves_by_any_address_of_a_reference_rollout(scene: Scene, agent: str) -> None:
    run = getattr(scene.recorder, agent)(visibility="public")
    found = await everything(scene.owner, run) | await everything(scene.guest, run)
    assert len(found) > 20
    assert [url for url, body in found.items() if CANARY in body] == []
    assert any("RLX-SHOWN-LOG" in body for body in found.values()) == (agent == "nop")


async def test_no_answer_leaves_by_a_failure_or_by_what_graded_an_agent(scene: Scene) -> None:
    for run in (scene.recorder.done(visibility="public"), scene.recorder.failed()):
        found = await everything(scene.owner, run) | await everything(scene.guest, run)
        assert [url for url, body in found.items() if CANARY in body] == []


async def everything(client: httpx2.AsyncClient, run: Rollout) -> dict[str, str]:
    """Whatever can be asked of a rollout, by address and who asks."""
    api = f"/api/runs/{run.id}"
    names = [
        *("trajectory.json", "verifier/test-stdout.txt", "verifier/ctrf.json", "verifier/report.xml"),
        *("artifacts/app/stats.py", "artifacts/solution/solve.sh", f"artifacts/{CANARY}-made", "artifacts/app/dot.png"),
    ]
    urls = [
        *(f"/run/{run.id}?format={form}" for form in ("html", "json", "md")),
        *(f"/run/{run.id}?path={name}&format={form}" for name in names for form in ("html", "json", "md")),
        *(f"{api}{rest}" for rest in ("", "/events", "/export", "/export?as=parquet")),
        *(f"{api}/artifacts/{name}" for name in names),
        *("/runs", "/runs?format=json", "/runs?format=md", "/api/runs", "/api/runs/export", "/runs?lang=ko"),
    ]
    found = {}
    for url in urls:
        answer = await client.get(url)
        said = answer.text if "parquet" not in url else answer.content.decode("latin-1")
        # What was asked for may be said again.
        found[f"{id(client)} {url}"] = said.replace(f"artifacts/{CANARY}-made", "").replace(f"{CANARY}-made", "")
    stream = await client.get(f"{api}/events", headers={"accept": "text/event-stream"})
    return {**found, f"{id(client)} stream": stream.text}


async def test_others_see_what_is_public_and_graded_and_nothing_else(scene: Scene) -> None:
    private, ungraded = scene.recorder.done(), scene.recorder.done(None, visibility="public")
    shared = scene.recorder.done(visibility="public", owner="ada-lovelace")
    for hidden in (private, ungraded):
        for url in (f"/run/{hidden.id}", f"/api/runs/{hidden.id}", f"/api/runs/{hidden.id}/events"):
            assert (await scene.guest.get(url)).status_code == 404
    for odd in ("nothing", "0" * 16, "..%2f.."):
        assert (await scene.guest.get(f"/run/{odd}")).status_code == 404
    page = await scene.guest.get(f"/run/{shared.id}")
    assert page.status_code == 200
    assert "ada-lovelace" not in page.text
    assert "verifier/ctrf.json" not in page.text
    assert (await scene.guest.get(f"/run/{shared.id}?path=verifier/ctrf.json")).status_code == 403
    assert (await scene.guest.get(f"/api/runs/{shared.id}/artifacts/trajectory.json")).status_code == 403
    for change in ("cancel", "visibility"):
        answer = await scene.guest.post(f"/api/runs/{shared.id}/{change}", json={"visibility": "private"})
        assert answer.status_code == 403
        answer = await scene.guest.post(f"/api/runs/{private.id}/{change}", json={"visibility": "private"})
        assert answer.status_code == 404


async def test_states_that_are_no_end_or_no_good_one_are_told(scene: Scene) -> None:
    failed = scene.recorder.failed("sandbox")
    gone = scene.recorder.failed("worker", "interrupted")
    stopped = scene.recorder.failed("person", "cancelled")
    empty = scene.recorder.done(None, (), {})
    held = scene.recorder.held(())
    queued = scene.recorder.queued()
    for run, text in (
        (failed, "The sandbox could not be made"),
        (gone, "The worker that ran it is gone"),
        (stopped, "Somebody stopped it"),
        (empty, "without a reward that counts"),
        (held.rollout, "The agent is at work"),
        (queued, "It waits for a worker"),
    ):
        page = (await scene.owner.get(f"/run/{run.id}")).text
        assert text in page
        assert ("Stop this rollout" in page) == (run.id in {queued.id, held.rollout.id})
        assert "no reward" in page
        assert (await scene.owner.get(f"/run/{run.id}?format=md")).status_code == 200
    held.close()


async def test_events_come_as_they_happen_and_from_where_a_reader_was(scene: Scene) -> None:
    held = scene.recorder.held(TALK[:3])
    url = f"/api/runs/{held.rollout.id}/events"
    known = (await scene.owner.get(url)).json()
    assert schemas.EventsAnswer.model_validate(known)
    assert not known["ended"]
    streamed: list[str] = []

    async def follow() -> None:
        headers = {"accept": "text/event-stream", "last-event-id": str(known["last"] - 1)}
        streamed.append((await scene.owner.get(url, headers=headers)).text)

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        await anyio.lowlevel.checkpoint()
        for kind, data in TALK[3:]:
            held.emit(kind, data)
        held.update(status="verifying")
        held.update(status="done", reward=1.0, rewards={"reward": 1.0}, graded=True)
    ids = [int(line.removeprefix("id: ")) for line in streamed[0].splitlines() if line.startswith("id: ")]
    assert ids[0] == known["last"]
    assert ids[:-1] == list(range(ids[0], ids[-1] + 1))
    assert streamed[0].count("event: end") == 1
    assert "Now I mend it." in streamed[0]
    rest = (await scene.owner.get(f"{url}?after={ids[-1] - 2}")).json()
    assert [event["n"] for event in rest["events"]] == [ids[-1] - 1, ids[-1]]
    assert rest["ended"]


async def test_files_open_inert_and_masked(scene: Scene) -> None:
    run = scene.recorder.done()
    api = f"/api/runs/{run.id}/artifacts"
    log = await scene.owner.get(f"{api}/verifier/test-stdout.txt")
    assert "RLX-SHOWN-LOG" in log.text
    assert log.headers["content-type"] == "text/plain; charset=utf-8"
    assert log.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert log.headers["cache-control"] == "private, no-store"
    assert "RLX-SHOWN-CTRF" in (await scene.owner.get(f"{api}/verifier/ctrf.json")).text
    assert "RLX-SHOWN-STEP" in (await scene.owner.get(f"{api}/trajectory.json")).text
    assert "RLX-SHOWN-ARTIFACT" in (await scene.owner.get(f"/run/{run.id}?path=artifacts/app/stats.py")).text
    assert (await scene.owner.get(f"{api}/artifacts/app/dot.png")).headers["content-type"] == "image/png"
    assert (await scene.owner.get(f"{api}/artifacts/solution/solve.sh")).status_code == 403
    for missing in ("rollout.json", "events.jsonl", "artifacts/../rollout.json", "artifacts/nothing"):
        assert (await scene.owner.get(f"{api}/{missing.replace('..', '%2e%2e')}")).status_code in {403, 404}


async def test_a_rollout_is_stopped_and_shared_by_forms_and_by_json(scene: Scene) -> None:
    queued = scene.recorder.queued()
    form = await scene.owner.post(f"/api/runs/{queued.id}/visibility", data={"visibility": "public"})
    assert (form.status_code, form.headers["location"]) == (303, f"/run/{queued.id}")
    told = (await scene.owner.post(f"/api/runs/{queued.id}/cancel", json={})).json()
    assert schemas.RunAnswer.model_validate(told)
    assert (told["status"], told["visibility"], told["error"]["cause"]) == ("cancelled", "public", "person")
    assert (await scene.owner.post(f"/api/runs/{queued.id}/visibility", json={"visibility": "x"})).status_code == 400
    elsewhere = {"sec-fetch-site": "cross-site"}
    refused = await scene.owner.post(f"/api/runs/{queued.id}/cancel", json={}, headers=elsewhere)
    assert refused.status_code == 403


async def test_an_export_holds_chat_messages_with_tools_and_nothing_private(scene: Scene) -> None:
    model = {"id": "mine", "provider": "endpoint", "host": "secret-host.example:8000"}
    told = (("message", {"text": f"I saw {SECRET} at /home/ada/x on secret-host.example"}), *TALK)
    run = scene.recorder.done(0.5, told, model=model, owner=None)
    scene.recorder.held(()).close()
    rows = [json.loads(line) for line in (await scene.owner.get("/api/runs/export")).text.splitlines()]
    assert [row["id"] for row in rows] == [run.id]
    row = rows[0]
    assert row["reward"] == 0.5
    assert json.loads(row["trajectory"])["schema_version"].startswith("ATIF")
    assert [message["role"] for message in row["messages"]] == [
        *("assistant", "user", "assistant", "tool", "assistant", "tool")
    ]
    call = row["messages"][2]["tool_calls"][0]
    assert call["function"] == {"name": "bash", "arguments": '{"command": "cat stats.py"}'}
    assert row["messages"][3]["tool_call_id"] == call["id"]
    written = json.dumps(rows)
    for private in (SECRET, "/home/ada", "secret-host", '"owner"'):
        assert private not in written


async def test_a_row_tells_the_tools_that_were_offered_and_whether_it_is_complete(scene: Scene, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    bash = {"type": "function", "function": {"name": "bash", "parameters": _nested(30)}}
    offered: Happening = ("tools", {"items": [json.dumps(bash), "{ torn", json.dumps(["no", "tool"])]})
    newer = {"type": "function", "function": {"name": "bash", "description": f"In /home/ada with {SECRET}."}}
    whole = scene.recorder.done(1.0, (offered, *TALK))
    changed = scene.recorder.done(1.0, (offered, *TALK, ("tools", {"items": [json.dumps(newer)]})))
    cut = scene.recorder.done(1.0, (*TALK, ("message", {"text": "x" * 70_000})))
    path = tmp_path / "runs.parquet"
    path.write_bytes((await scene.owner.get("/api/runs/export?as=parquet")).content)
    rows = {row["id"]: row for row in pq.read_table(path).to_pylist()}
    assert json.loads(rows[whole.id]["tools"]) == [bash]
    assert [json.loads(rows[changed.id]["tools"])[0]["function"]["name"], rows[cut.id]["tools"]] == ["bash", None]
    assert "/home/ada" not in rows[changed.id]["tools"]
    assert SECRET not in rows[changed.id]["tools"]
    assert [rows[run.id]["complete"] for run in (whole, changed, cut)] == [True, True, False]
    events = (await scene.owner.get(f"/api/runs/{whole.id}/events")).json()["events"]
    assert [event["data"] for event in events if event["kind"] == "tools"] == [{"items": [bash]}]


def _nested(depth: int) -> dict[str, object]:
    return {"type": "object", "properties": {"in": _nested(depth - 1)}} if depth else {"type": "string"}


async def test_the_same_rows_come_as_parquet(scene: Scene, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    runs = [scene.recorder.done(float(n), visibility="public") for n in range(3)]
    scene.recorder.oracle(visibility="public")
    path = tmp_path / "runs.parquet"
    path.write_bytes((await scene.guest.get("/api/runs/export?as=parquet&sort=old")).content)
    rows = pq.read_table(path).to_pylist()
    lines = (await scene.guest.get("/api/runs/export?as=jsonl&sort=old")).text.splitlines()
    assert rows == [json.loads(line) for line in lines]
    assert {row["id"] for row in rows} > {run.id for run in runs}
    assert [row["messages"] for row in rows if row["agent"] == "oracle"] == [[]]


async def test_every_column_of_an_export_has_a_type_whatever_its_rows_hold(scene: Scene) -> None:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    def untyped(kind: pa.DataType) -> bool:
        inner = [kind.field(at).type for at in range(kind.num_fields)]
        return bool(pa.types.is_null(kind)) or any(map(untyped, inner))

    schemas_seen = []
    for count in range(2):
        told = (await scene.owner.get("/api/runs/export?as=parquet")).content
        table = pq.read_table(io.BytesIO(told))
        assert table.num_rows == count
        assert [field.name for field in table.schema if untyped(field.type)] == []
        schemas_seen.append(table.schema)
        scene.recorder.done(None, (), {})  # says nothing, calls nothing, earns nothing
    assert schemas_seen[0] == schemas_seen[1]
    calls = schemas_seen[0].field("messages").type.value_type.field("tool_calls").type
    assert {"id", "type", "function"} == {field.name for field in calls.value_type}


async def test_words_of_a_record_are_told_in_the_readers_language(scene: Scene) -> None:
    fields = {"max_calls": 60, "max_dollars": None, "keep_processes": True, "of_a_plugin": "odd"}
    run = scene.recorder.failed(fields=fields)
    english = (await scene.owner.get(f"/run/{run.id}")).text
    for text in ("Model calls at most", "Keep processes", "Yes", "of_a_plugin", "Local sandbox", "It wrote no reward"):
        assert text in english, text
    for page in (english, (await scene.owner.get(f"/run/{run.id}?format=md")).text):
        assert not any(raw in page for raw in ("keep_processes", "no-reward", "max_calls", "Dollars at most"))
    assert "프로세스 유지" in (await scene.owner.get(f"/run/{run.id}?lang=ko")).text


async def test_stages_tell_how_long_they_go_on_and_what_is_to_come(scene: Scene) -> None:
    held = scene.recorder.held(TALK)
    stages = [{**phases("agent")[0], "finished_at": None}]
    held.update(phases=[*phases("provision"), *stages])
    page = (await scene.owner.get(f"/run/{held.rollout.id}")).text
    assert f'data-since="{START.isoformat()}"' in page
    assert page.count("to come") == 2
    assert "1 call of the model" in page
    done = held.update(status="done", finished_at=START + timedelta(seconds=9))
    page = (await scene.owner.get(f"/run/{done.id}")).text
    assert "data-since" not in page
    assert "to come" not in page
    assert "9.0 s" in page


async def test_a_rollout_that_says_nothing_yet_is_asked_for_again_by_scripts(scene: Scene) -> None:
    held = scene.recorder.held(TALK)
    page = (await scene.owner.get(f"/run/{held.rollout.id}")).text
    last = scene.rollouts.files.events(held.rollout.id).events[-1].n
    assert f'data-run="/api/runs/{held.rollout.id}/events?after={last}"' in page
    assert "/run.js" in page
    assert "810" in page
    held.close()


async def test_a_long_rollout_is_read_from_its_end_and_back_to_its_beginning(scene: Scene) -> None:
    talk: list[tuple[EventKind, Mapping[str, Any]]] = [
        ("message", {"text": f"message {number} of many"}) for number in range(1, 4_501)
    ]
    run = scene.recorder.done(happened=talk)
    page = (await scene.owner.get(f"/run/{run.id}")).text
    assert "message 4500 of many" in page
    assert "message 1 of many" not in page
    told = (await scene.owner.get(f"/run/{run.id}?format=json")).json()
    seen = set()
    while True:
        seen |= {message["text"] for message in told["messages"]}
        if not told["left_out"]:
            break
        assert f'href="/run/{run.id}?before={told["left_out"] + 1}#timeline"' in page
        page = (await scene.owner.get(f"/run/{run.id}?before={told['left_out'] + 1}")).text
        told = (await scene.owner.get(f"/run/{run.id}?before={told['left_out'] + 1}&format=json")).json()
    assert seen >= {data["text"] for _, data in talk}
    assert (await scene.owner.get(f"/run/{run.id}?before=x")).status_code == 400
