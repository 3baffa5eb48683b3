"""Agents that work inside of a local sandbox, from end to end: their layers, their model, and what graders see."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rlx.agents import scripted as scripted_model
from rlx.demo import demo_hub
from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.runners.asked import ModelAsked
from rlx.runners.launch import Launcher
from rlx.sandboxes.local.installed.layer import prepared
from rlx.sandboxes.local.installed.recipes import recipes
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
from tests.endpoints import endpoint
from tests.jobs.machine import ME, Machine, machine, scripted, write_task

pytestmark = [pytest.mark.run_extra, pytest.mark.timeout(600)]
ENV = "rl-explorer/first-steps"
NO_NETWORK = "tasks/sales-figures"
AGENTS = ("mini-swe-agent", "opencode", "pi")
LOOKING = """#!/bin/bash
ls /opt/rlx-agents
env | grep -E '^(PATH|PYTHONPATH|PYTHONHOME|NODE_PATH|LD_LIBRARY_PATH|OPENAI_API_KEY|MSWEA_API_KEY)=' | sort
command -v pi opencode mini-swe-agent
echo 0 > /logs/verifier/reward.txt
"""
LEFT = """
import json, pathlib, sys, time, urllib.error, urllib.request

def ask(key, said):
    told = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    chat = {"model": "m", "messages": [{"role": "user", "content": said}]}
    address = "http://127.0.0.1:8484/capture/v1/chat/completions"
    try:
        with urllib.request.urlopen(urllib.request.Request(address, json.dumps(chat).encode(), told)) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"

def keys():
    for place in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            told = place.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        for item in told.split(chr(0)):
            name, _, value = item.partition("=")
            if name in ("OPENAI_API_KEY", "MSWEA_API_KEY") and value:
                yield value

if len(sys.argv) > 1:
    print("judge", ask(sys.argv[1], "the grader asks"))
    raise SystemExit
key = next(keys())
pathlib.Path("/app/before").write_text(ask(key, "while the agent works"))
while not pathlib.Path("/app/grading").exists():
    time.sleep(0.05)
told = ask(key, "while it is graded")
pathlib.Path("/app/told").write_text(told)
pathlib.Path("/app/told").rename("/app/after")
"""
"""What an agent leaves running: it asks the agent's model, with the agent's key, before and while it is graded."""
LEAVE = (
    "setsid python3 /app/left.py > /tmp/left.txt 2>&1 & "
    "for i in $(seq 200); do [ -s /app/before ] && break; sleep 0.05; done; cat /tmp/left.txt"
)
GRADING = """#!/bin/bash
touch /app/grading
for i in $(seq 200); do [ -e /app/after ] && break; sleep 0.05; done
echo before $(cat /app/before)
echo after $(cat /app/after)
python3 /app/left.py "$OPENAI_API_KEY"
echo 1 > /logs/verifier/reward.txt
"""
JUDGED = '[verifier.env]\nOPENAI_API_KEY = "${OPENAI_API_KEY}"\n'


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's hub, and a task that looks around when it grades."""
    folder = tmp_path_factory.mktemp("hub")
    for owner in (demo_hub() / "datasets").iterdir():
        (folder / "datasets" / owner.name).mkdir(parents=True)
        for dataset in owner.iterdir():
            (folder / "datasets" / owner.name / dataset.name).symlink_to(dataset)
    write_task(folder, "looking", {"tests/test.sh": LOOKING})
    leaving = {"tests/test.sh": GRADING, "environment/left.py": LEFT}
    dockerfile = "FROM python:3.12-slim\nWORKDIR /app\nCOPY left.py /app/left.py\n"
    write_task(folder, "leaving", leaving, toml=JUDGED, dockerfile=dockerfile)
    return folder


@pytest.fixture(scope="module")
def here(hub: Path, tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]) -> Iterator[Machine]:
    """With a worker that has the layers of this machine's own cache, which `rlx sandbox prepare` made."""
    require_tool("bwrap")
    own = Local(Settings()).layers
    lacking = [name for name in AGENTS if prepared(own, name) is None]
    if lacking and os.environ.get("RLX_REQUIRE_TOOLS") == "1":
        pytest.fail(f"no layer of {', '.join(lacking)} is prepared", pytrace=False)
    if lacking:
        pytest.skip(f"no layer of {', '.join(lacking)} is prepared")
    with machine(hub, tmp_path_factory.mktemp("machine")) as made:
        layers = Local(made.settings).layers.folder
        layers.mkdir(parents=True)
        for name in AGENTS:
            key = recipes()[name].key
            (layers / key).symlink_to(own.folder / key)
        made.work(slots=3)
        yield made


def test_each_solves_a_task_without_network_and_is_captured(here: Machine, capfd: pytest.CaptureFixture[str]) -> None:
    started = [here.start(NO_NETWORK, name, env=ENV, model=scripted("solve")) for name in AGENTS]
    looked = here.start("looking", "pi", model=scripted("wrong"))
    networked = here.ended(here.start("tasks/tidy-config", "opencode", env=ENV, model=scripted("solve")))
    kept = {item["path"] for event in here.events(networked) if event.kind == "files" for item in event.data["items"]}
    assert networked.reward == 1.0
    assert not [path for path in kept if "npm" in path or "node_modules" in path], "it fetched something"
    for name, rollout in zip(AGENTS, started, strict=True):
        ended = here.ended(rollout)
        assert (ended.reward, ended.failure) == (1.0, None), name
        assert ended.usage.tool_calls is not None
        assert ended.usage.tool_calls >= 2, name
        trajectory = json.loads(here.files(rollout)["trajectory.json"])
        assert trajectory["schema_version"].startswith("ATIF-"), name
        called = [call for step in trajectory["steps"] for call in step.get("tool_calls") or ()]
        assert len(called) >= 2, name
        written = [
            item["path"] for event in here.events(rollout) if event.kind == "files" for item in event.data["items"]
        ]
        assert "/app/figures.json" in written, name
        assert not [path for path in written if path.startswith("/opt/rlx-agents")], name
    assert here.ended(looked).reward == 0.0
    seen = here.files(looked)["verifier/test-stdout.txt"].decode().splitlines()
    assert seen[0] == "pi"
    assert [line for line in seen[1:] if not line.startswith("PATH=")] == []
    assert "rlx-agents" not in "".join(seen[1:])
    assert "Running command" not in capfd.readouterr().err


def test_what_an_agent_leaves_running_asks_no_model_while_it_is_graded_and_the_grader_does(here: Machine) -> None:
    asked: list[str] = []

    def leaving(body: Mapping[str, Any]) -> tuple[int, bytes]:
        """An agent that starts a program and is done. Whoever brings no tools is answered in words."""
        asked.append(json.dumps(body["messages"]))
        answer = scripted_model.answer({**body, "model": "wrong"})
        for call in answer["choices"][0]["message"].get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            if "pwd" in arguments["command"]:
                call["function"]["arguments"] = json.dumps({**arguments, "command": LEAVE})
        return 200, json.dumps(answer).encode()

    with endpoint(leaving) as (url, _):
        own = ModelAsked("endpoint", "org/model", url, "sk-somebodys", 1.0, 1.0)
        fields = {"judge": "same", "keep_processes": True}
        done = here.run("tasks/leaving", "mini-swe-agent", model=own, fields=fields)

    assert (done.status, done.reward, done.failure) == ("done", 1.0, None)
    told = here.files(done)["verifier/test-stdout.txt"].decode()
    assert "before 200" in told
    assert "answers no more" in told
    assert "judge 200" in told
    heard = "\n".join(asked)
    assert "while the agent works" in heard
    assert "while it is graded" not in heard
    assert (done.usage.model_calls, done.judge_calls) == (len(asked) - 1, 1)


def test_each_says_what_it_needs_and_how_to_get_what_is_lacking(here: Machine, tmp_path: Path, hub: Path) -> None:
    options = here.portal.call(lambda: Launcher(here.services).options(parse_key(ENV), NO_NETWORK, ME))
    [local] = [option for option in options if option.sandbox == "local"]
    told = {each.agent: each for each in local.agent_needs}
    assert all(told[name].reason is None and name in local.agents for name in AGENTS)
    assert told["codex"].reason is not None
    assert "codex" not in local.agents
    with machine(hub, tmp_path) as bare, pytest.raises(BadInput, match="rlx sandbox prepare --agent opencode"):
        bare.start(NO_NETWORK, "opencode", env=ENV, model=scripted("solve"))
