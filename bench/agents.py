"""Every agent on tasks of the demo in local sandboxes, with the scripted model: what it earned and what was captured.

`python -m bench.agents [--agents NAMES] [--tasks REFS] [--prepare]` starts a worker of its own. Layers are those of
this machine's cache; `--prepare` makes those that are missing, and tells how long that took.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from anyio.from_thread import start_blocking_portal

from rlx.agents.registry import agent
from rlx.demo import demo_hub
from rlx.model import Viewer
from rlx.rollout import Rollout
from rlx.runners.asked import Asked, ModelAsked
from rlx.runners.launch import Launcher
from rlx.runners.workers import living, workers_folder
from rlx.sandboxes.local.installed.layer import prepare, prepared
from rlx.sandboxes.local.kind import Local
from rlx.services import create_services
from rlx.settings import Settings

ENV = "rl-explorer/first-steps"
AGENTS = ("oracle", "nop", "simple", "terminus-2", "mini-swe-agent", "opencode", "pi")
TASKS = ("tidy-config", "sales-figures")
ME = Viewer("local")
PATIENCE = 300.0


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("it did not come to pass")
        time.sleep(0.05)


def steps_of(folder: Path) -> int:
    """Of the ATIF trajectory that was kept; 0 where there is none."""
    path = folder / "trajectory.json"
    return len(json.loads(path.read_text())["steps"]) if path.is_file() else 0


def row(rollout: Rollout, folder: Path) -> str:
    usage = rollout.usage
    inside = next((phase for phase in rollout.phases if phase.stage == "agent"), None)
    seconds = (inside.finished_at - inside.started_at).total_seconds() if inside and inside.finished_at else 0.0
    began, ended = rollout.started_at, rollout.finished_at
    whole = (ended - began).total_seconds() if began and ended else 0.0
    told = [rollout.ref, rollout.agent, f"{rollout.reward}", f"{usage.model_calls or 0}", f"{usage.tool_calls or 0}"]
    return f"| {' | '.join([*told, str(steps_of(folder)), f'{seconds:.1f}', f'{whole:.1f}'])} |"


def make_layers(settings: Settings, names: list[str]) -> None:
    layers = Local(settings).layers
    for name in names:
        if agent(name).installed is not None and prepared(layers, name) is None:
            began = time.perf_counter()
            made = prepare(layers, name)
            print(f"{name} {made.version}: {made.bytes / 2**20:,.0f} MB in {time.perf_counter() - began:.0f} s")


def measure(names: list[str], tasks: list[str], settings: Settings) -> bool:
    """Whether every agent but `nop` earned it all, and `nop` did not."""
    fine = True
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(create_services(settings)) as services:
        launcher, folder = Launcher(services), workers_folder(settings)
        print("| task | agent | reward | calls of the model | tool calls | ATIF steps | agent, s | rollout, s |")
        print("|---|---|---|---|---|---|---|---|")
        told = ["--hub", settings.hub, "--store", str(settings.store), "--slots", "1"]
        worker = subprocess.Popen([sys.executable, "-m", "rlx", "worker", *told], env=dict(os.environ))
        try:
            wait(lambda: any(card.pid == worker.pid for card in living(folder)))
            for task in tasks:
                for name in names:
                    model = ModelAsked(id="solve") if agent(name).needs_model else None
                    asked = Asked(env=ENV, ref=task, agent=name, model=model)
                    started = portal.call(launcher.start, asked, ME)
                    wait(lambda id=started.id: services.rollouts().views.find(id, ME).ended)  # type: ignore[misc]  # bound now
                    ended = services.rollouts().views.find(started.id, ME)
                    print(row(ended, settings.store / "runs" / ended.id), flush=True)
                    fine = fine and (ended.reward == 1.0) is (name != "nop")
                    if ended.failure is not None:
                        print(ended.failure.message, file=sys.stderr)
        finally:
            worker.terminate()
            worker.wait(60)
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", nargs="+", default=list(AGENTS))
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--prepare", action="store_true")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(hub=str(demo_hub()), store=Path(folder), trust_local=True)
        if told.prepare:
            make_layers(settings, told.agents)
        if not measure(told.agents, told.tasks, settings):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
