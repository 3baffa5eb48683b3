"""Rollouts in Hugging Face sandboxes: a worker of its own, and a local hub that runs their jobs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from rlx.demo import demo_hub
from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.localhub import LocalHubServer
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.runners.launch import Launcher
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from tests.jobs.machine import CANARY, Machine, machine, scripted, until, write_task
from tests.localhub.jobs_hub import TOKEN, jobs_hub
from tests.sandboxes.kinds import local_kind

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(300), pytest.mark.xdist_group("hf-worker")]

VISITOR = Viewer("local", token=TOKEN)
DEMO = "rl-explorer/first-steps"
LOOKING = r"""#!/bin/bash
echo hf_visi''tor > /tmp/decoy
bash -c 'exec -a "$0" sleep 1000' "hf_visi""tor" > /dev/null 2>&1 &
until grep -q "hf_visi""tor" "/proc/$!/cmdline"; do sleep 0.01; done
grep -rlI "hf_visi""tor" /tmp /root /app /home /etc /logs /run /srv /tests /var/tmp 2> /dev/null
for process in /proc/[0-9]*; do
  cat "$process/environ" "$process/cmdline" 2> /dev/null | tr '\0' '\n' | grep -o "hf_visi""tor[A-Za-z]*"
done
env | grep -o "hf_visi""tor[A-Za-z]*"
echo 1 > /logs/verifier/reward.txt
"""
"""A grader that looks for the token. It finds what it planted itself: a file, and the name of a process."""
BUILT = """#!/bin/bash
[ "$(id -un):$PWD:$PLACE:${PATH%%:*}" = "nobody:/work/in:here:/own/bin" ] && cat /work/in/one.txt /made > /tmp/done
"""
BUILT_GRADER = """#!/bin/bash
[ "$(cat /tmp/done)" = $'one\\nmade' ] && echo 1 > /logs/verifier/reward.txt
"""
BUILT_IMAGE = """FROM python:3.12-slim
ENV PLACE=here PATH=/own/bin:$PATH
WORKDIR /work
RUN echo made > /made
WORKDIR in
COPY --chown=nobody one.txt .
USER nobody
"""
STAGED = "FROM debian:12 AS one\nRUN true\nFROM debian:12\nCOPY --from=one /etc/a /\n"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    return local_kind(Settings(cache_dir=tmp_path_factory.mktemp("jobs")))


@pytest.fixture(scope="module")
def hub(local: Local, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHubServer]:
    folder = tmp_path_factory.mktemp("hub")
    (folder / "datasets").mkdir()
    (folder / "datasets" / "rl-explorer").symlink_to(demo_hub() / "datasets" / "rl-explorer")
    write_task(folder, "looking", {"tests/test.sh": LOOKING})
    write_task(folder, "slow", {"solution/solve.sh": "#!/bin/bash\nsleep 1000\n"})
    built = {"environment/one.txt": "one\n", "solution/solve.sh": BUILT, "tests/test.sh": BUILT_GRADER}
    write_task(folder, "built", built, dockerfile=BUILT_IMAGE)
    write_task(folder, "staged", {}, dockerfile=STAGED)
    write_task(folder, "offline", {}, toml='[environment]\nnetwork_mode = "no-network"\n')
    write_task(folder, "gpu", {}, toml="[environment]\ngpus = 1\n")
    write_task(folder, "composed", {"environment/docker-compose.yaml": "services:\n  other:\n    image: redis\n"})
    with jobs_hub(folder, local) as server:
        yield server


@pytest.fixture(scope="module")
def made(hub: LocalHubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with machine(hub.url, tmp_path_factory.mktemp("machine")) as here:
        here.work(slots=4)
        yield here


@pytest.fixture
def api(hub: LocalHubServer) -> HfApi:
    return HfApi(endpoint=hub.url, token=TOKEN)


def start(made: Machine, ref: str, agent: str = "oracle", **more: Any) -> Rollout:
    return made.start(f"tasks/{ref}", agent, viewer=VISITOR, sandbox="hf", **more)


def stages_of(api: HfApi, rollout: Rollout) -> list[str]:
    return [str(job.status.stage) for job in api.list_jobs(namespace="me", labels={"rlx-rollout": rollout.id})]


@pytest.fixture(scope="module")
def done(made: Machine) -> Mapping[str, Rollout]:
    """Rollouts that ran beside each other."""
    started = {
        "oracle": start(made, "fix-median", env=DEMO),
        "simple": start(made, "fix-median", "simple", env=DEMO, model=scripted("solve")),
        "built": start(made, "built"),
        "looking": start(made, "looking", "simple", model=scripted("wrong")),
    }
    return {name: made.ended(rollout) for name, rollout in started.items()}


@pytest.mark.parametrize("name", ["oracle", "simple", "built", "looking"])
def test_a_rollout_is_graded_and_its_sandbox_gone(done: Mapping[str, Rollout], api: HfApi, name: str) -> None:
    rollout = done[name]
    assert (rollout.status, rollout.reward, rollout.sandbox) == ("done", 1.0, "hf"), rollout.failure
    assert any("replayed on python:3.12-slim" in note for note in rollout.notes)
    assert stages_of(api, rollout) == ["CANCELED"]


def test_what_an_agent_did_there_is_kept(made: Machine, done: Mapping[str, Rollout]) -> None:
    assert "trajectory.json" in made.files(done["simple"])
    assert any(event.kind == "files" for event in made.events(done["simple"]))


def test_the_visitors_token_is_nowhere_but_in_memory(made: Machine, done: Mapping[str, Rollout]) -> None:
    found = made.files(done["looking"])["verifier/test-stdout.txt"].decode().split()
    assert found == ["/tmp/decoy", "[token]"]  # what the grader planted, as a log shows it
    for rollout in done.values():
        everything = made.everything(rollout)
        assert TOKEN not in everything
        assert CANARY not in everything
    for folder in (made.settings.store, made.settings.cache_dir):
        for path in folder.rglob("*"):
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path
    for name in ("environ", "cmdline"):
        assert TOKEN.encode() not in Path(f"/proc/{made.workers[0].pid}/{name}").read_bytes()


def test_a_rollout_that_is_stopped_leaves_no_sandbox(made: Machine, api: HfApi) -> None:
    rollout = start(made, "slow")
    until(lambda: made.find(rollout).status == "running")
    assert stages_of(api, rollout) == ["RUNNING"]

    made.services.rollouts().queue.stop(rollout.id)
    assert made.ended(rollout).status == "cancelled"
    assert stages_of(api, rollout) == ["CANCELED"]


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("offline", "no network"),
        ("gpu", "GPU"),
        ("composed", "compose"),
        ("staged", "stages"),
    ],
)
def test_what_such_a_sandbox_cannot_keep_is_refused_with_the_reason(made: Machine, ref: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        start(made, ref)
    assert why in str(refused.value)


def test_without_a_token_it_is_refused(made: Machine) -> None:
    with pytest.raises(BadInput, match="not signed in"):
        made.start("tasks/slow", "oracle", sandbox="hf")


def test_harbors_others_are_refused_till_they_are_switched_on(made: Machine) -> None:
    with pytest.raises(BadInput, match="not switched on"):
        made.start("tasks/slow", "oracle", sandbox="daytona")
    options = made.portal.call(Launcher(made.services).options, parse_key("acme/tasks"), "tasks/slow", VISITOR)
    assert [option.sandbox for option in options] == ["local", "docker", "hf"]


def test_what_a_worker_left_that_is_gone_is_ended_by_the_next_rollout(
    made: Machine, done: Mapping[str, Rollout], api: HfApi
) -> None:
    """What lives on is left alone, and so is what another machine made."""
    [job] = api.list_jobs(namespace="me", labels={"rlx-rollout": done["oracle"].id})
    host, worker = (job.labels or {})["rlx-host"], (job.labels or {})["rlx-worker"]

    def sandbox(host: str, worker: str) -> str:
        labels = {"rlx-host": host, "rlx-worker": worker}
        return api.run_job(image="python:3.12-slim", command=["sleep", "1000"], labels=labels, namespace="me").id

    gone, lives, others = sandbox(host, "0-1-1"), sandbox(host, worker), sandbox("other", "0-1-1")
    until(lambda: all(stage(api, id) == "RUNNING" for id in (gone, lives, others)))

    assert made.ended(start(made, "built")).reward == 1.0
    assert [stage(api, id) for id in (gone, lives, others)] == ["CANCELED", "RUNNING", "RUNNING"]


def stage(api: HfApi, id: str) -> str:
    return str(api.inspect_job(job_id=id, namespace="me").status.stage)
