"""Jobs and sandboxes of a local hub, as the unmodified client uses them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from rlx.errors import BadInput
from rlx.localhub import LocalHub, LocalHubServer
from rlx.localhub.jobs.book import Jobs
from rlx.localhub.jobs.routes import JobRoutes
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from tests.localhub.jobs_hub import OTHER, TOKEN, jobs_hub
from tests.sandboxes.kinds import local_kind

pytestmark = pytest.mark.timeout(300)

IMAGE = "python:3.12-slim"
_ENDED = ("COMPLETED", "CANCELED", "ERROR")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    return local_kind(Settings(cache_dir=tmp_path_factory.mktemp("jobs")))


@pytest.fixture(scope="module")
def hub(local: Local, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    with jobs_hub(tmp_path_factory.mktemp("hub"), local, most=4, longest=60) as server:
        yield server


@pytest.fixture
def me(hub: LocalHubServer) -> HfApi:
    return HfApi(endpoint=hub.url, token=TOKEN)


def run(api: HfApi, command: str, **more: Any) -> str:
    return api.run_job(image=more.pop("image", IMAGE), command=["sh", "-c", command], **more).id


def ended(api: HfApi, id: str) -> tuple[str, str | None]:
    end = time.monotonic() + 60
    while (status := api.inspect_job(job_id=id).status).stage not in _ENDED:
        assert time.monotonic() < end, "the job does not end"
        time.sleep(0.05)
    return str(status.stage), status.message


def test_a_job_runs_its_command_and_tells_its_lines(me: HfApi) -> None:
    id = run(me, "echo one; sleep 0.3; echo $GREETING $SECRET; exit 4", env={"GREETING": "hi"}, secrets={"SECRET": "s"})

    assert list(me.fetch_job_logs(job_id=id, follow=True)) == ["one", "hi s"]
    assert ended(me, id) == ("ERROR", "Job failed with exit code: 4")
    assert list(me.fetch_job_logs(job_id=id, tail=1)) == ["hi s"]
    assert "secrets" not in httpx2.get(f"{me.endpoint}/api/jobs/me/{id}", headers=bearer(TOKEN)).json()


def test_jobs_are_listed_by_label_and_cancelled(me: HfApi) -> None:
    id = run(me, "sleep 1000", labels={"purpose": "test"})

    assert [job.id for job in me.list_jobs(namespace="me", labels={"purpose": "test"})] == [id]
    assert not list(me.list_jobs(namespace="me", labels={"purpose": "other"}))
    me.cancel_job(job_id=id)
    assert ended(me, id) == ("CANCELED", None)


def test_what_this_machine_cannot_stand_in_for_is_told(me: HfApi) -> None:
    stage, message = ended(me, run(me, "true", image="alpine:3.20"))

    assert stage == "ERROR"
    assert "another C library" in str(message)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"flavor": "a10g-small"}, "flavor"),
        ({"expose_public": [8000]}, "no port to everybody"),
        ({"ssh": True}, "ssh"),
        ({"network_group": "us"}, "network"),
    ],
)
def test_what_is_not_emulated_is_refused(me: HfApi, more: dict[str, Any], why: str) -> None:
    with pytest.raises(HfHubHTTPError, match=why):
        run(me, "true", **more)


def test_nobody_without_a_token_and_no_other_user_reaches_a_job(me: HfApi, hub: LocalHubServer) -> None:
    id = run(me, "sleep 1000")
    other = HfApi(endpoint=hub.url, token=OTHER)

    assert httpx2.get(f"{hub.url}/api/jobs/me/{id}").status_code == 401
    assert httpx2.post(f"{hub.url}/api/jobs/me", json={}).status_code == 401
    with pytest.raises(HfHubHTTPError, match="404"):
        other.inspect_job(job_id=id, namespace="me")
    with pytest.raises(HfHubHTTPError, match="404"):
        other.cancel_job(job_id=id, namespace="me")
    with pytest.raises(HfHubHTTPError, match="403"):
        list(other.list_jobs(namespace="me"))
    me.cancel_job(job_id=id)


def test_no_more_jobs_run_than_may(me: HfApi) -> None:
    ids = [run(me, "sleep 1000") for _ in range(4)]
    with pytest.raises(HfHubHTTPError, match="429"):
        run(me, "true")
    for id in ids:
        me.cancel_job(job_id=id)
    assert ended(me, run(me, "true")) == ("COMPLETED", None)


def test_a_job_ends_after_its_time(me: HfApi) -> None:
    assert ended(me, run(me, "sleep 1000", timeout=1)) == ("ERROR", "Job timeout")


def test_a_hub_that_others_reach_runs_no_jobs(local: Local, tmp_path: Path) -> None:
    server = LocalHubServer(LocalHub(tmp_path, jobs=JobRoutes(Jobs(local))), host="0.0.0.0")  # noqa: S104  # refused
    with pytest.raises(BadInput, match="loopback"):
        server.bind()


def test_a_hub_without_jobs_answers_as_if_there_were_none(tmp_path: Path) -> None:
    with LocalHubServer(LocalHub(tmp_path, users={TOKEN: "me"})) as server:
        answer = httpx2.post(f"{server.url}/api/jobs/me", json={"command": ["true"]}, headers=bearer(TOKEN))
    assert answer.status_code == 403


def test_the_unmodified_sandbox_client_works(hub: LocalHubServer, tmp_path: Path) -> None:
    """In a process of its own: the client reads its Hub's address when it is imported."""
    env = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path)}
    env.pop("HF_HUB_DISABLE_IMPLICIT_TOKEN", None)
    command = [sys.executable, "-c", _CLIENT]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)

    assert found["run"] == [3, "a b\n", "err\n"]
    assert found["argv"] == "x y|$A|"
    assert found["stdin"] == "told"
    assert found["slow"] is True
    assert found["streamed"] == 3_000_000
    assert found["large"] is True
    assert found["rewritten"] == "small"
    assert found["mode"] == "640"
    assert found["listed"] == ["big", "sub"]
    assert found["missing"] == [False, 404]
    assert found["deleted"] is False
    assert found["process"] == [True, True, False]
    assert found["connected"] == "again\n"
    assert found["other_token"] in (401, 404)
    assert found["idle"] == "COMPLETED"
    assert TOKEN not in found["environment"]
    assert "SBX_" not in found["environment"]


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


_CLIENT = """
import json, os, time
import httpx2
from huggingface_hub import HfApi, Sandbox
from huggingface_hub.errors import SandboxError
found = {}
with Sandbox.create("python:3.12-slim", env={"A": "a b"}) as box:
    done = box.run("echo $A; echo err >&2; exit 3", check=False)
    found["run"] = [done.exit_code, done.stdout, done.stderr]
    found["argv"] = box.run(["printf", "%s|", "x y", "$A"]).stdout
    found["stdin"] = box.run("cat", stdin="told").stdout
    found["slow"] = box.run("sleep 1000", timeout=0.3, check=False).timed_out
    pieces = []
    box.run("head -c 3000000 /dev/zero | tr '\\\\0' x", capture_output=False, on_stdout=pieces.append)
    found["streamed"] = sum(map(len, pieces))
    large = os.urandom(3 * 1024 * 1024 + 7)
    box.files.write("/data/big", large, mode="640")
    found["large"] = box.files.read("/data/big") == large
    box.files.write("/data/big", "small")
    found["rewritten"], found["mode"] = box.files.read_text("/data/big"), box.files.stat("/data/big").mode
    box.files.mkdir("/data/sub/deep")
    found["listed"] = [entry.name for entry in box.files.list("/data")]
    try:
        box.files.read("/nothing")
    except SandboxError as error:
        found["missing"] = [box.files.exists("/nothing"), error.status_code]
    box.files.delete("/data/sub", recursive=True)
    found["deleted"] = box.files.exists("/data/sub")
    process = box.run("sleep 1000", background=True)
    [told] = box.processes()
    found["process"] = [told.running, process.kill(), process.kill()]
    again = Sandbox.connect(box.id)
    found["connected"] = again.run("echo again").stdout
    again.close()
    headers = {**box.proxy_headers, "X-Sandbox-Token": "guess"}
    found["other_token"] = httpx2.get(box._server.base_url + "/health", headers=headers).status_code
    found["environment"] = box.run("env; cat /proc/*/environ 2> /dev/null | tr '\\\\0' '\\\\n'").stdout
idle = Sandbox.create("python:3.12-slim", idle_timeout=1)
end = time.monotonic() + 60
while (stage := HfApi().inspect_job(job_id=idle.id).status.stage) == "RUNNING" and time.monotonic() < end:
    time.sleep(0.1)
found["idle"] = stage
print(json.dumps(found))
"""
