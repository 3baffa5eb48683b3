"""Agents that work inside of a local sandbox, from end to end: their layers, their model, and what graders see."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rlx.demo import demo_hub
from rlx.errors import BadInput
from rlx.ids import parse_key
from rlx.runners.launch import Launcher
from rlx.sandboxes.local.installed.layer import prepared
from rlx.sandboxes.local.installed.recipes import recipes
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings
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


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's hub, and a task that looks around when it grades."""
    folder = tmp_path_factory.mktemp("hub")
    for owner in (demo_hub() / "datasets").iterdir():
        (folder / "datasets" / owner.name).mkdir(parents=True)
        for dataset in owner.iterdir():
            (folder / "datasets" / owner.name / dataset.name).symlink_to(dataset)
    write_task(folder, "looking", {"tests/test.sh": LOOKING})
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


def test_each_says_what_it_needs_and_how_to_get_what_is_lacking(here: Machine, tmp_path: Path, hub: Path) -> None:
    options = here.portal.call(lambda: Launcher(here.services).options(parse_key(ENV), NO_NETWORK, ME))
    [local] = [option for option in options if option.sandbox == "local"]
    told = {each.agent: each for each in local.agent_needs}
    assert all(told[name].reason is None and name in local.agents for name in AGENTS)
    assert told["codex"].reason is not None
    assert "codex" not in local.agents
    with machine(hub, tmp_path) as bare, pytest.raises(BadInput, match="rlx sandbox prepare --agent opencode"):
        bare.start(NO_NETWORK, "opencode", env=ENV, model=scripted("solve"))
