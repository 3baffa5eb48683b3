"""The demo's tasks are sound: each solution earns the full reward, and doing nothing earns less.

A task's environment, solution and grader really run, each in bubblewrap with no network, over the host's own /usr and
the Python that runs the tests.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rlx.demo import demo_hub

DATASET = demo_hub() / "datasets" / "rl-explorer" / "first-steps"
TASKS = sorted(path.parent for path in DATASET.glob("tasks/*/task.toml"))


@dataclass(slots=True)
class Sandbox:
    """A throw-away root with Harbor's folders, in which commands run."""

    bwrap: str
    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def folder(self, name: str) -> Path:
        path = self.root / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def run(self, script: str) -> None:
        python = Path(sys.base_prefix)
        command = [
            self.bwrap,
            "--unshare-all",
            "--die-with-parent",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--tmpfs",
            "/tmp",
        ]
        command += ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib64"):
            link = Path("/", name)
            if link.is_symlink():
                command += ["--symlink", f"usr/{name}", str(link)]
            elif link.is_dir():
                command += ["--ro-bind", str(link), str(link)]
        command += ["--ro-bind", str(python), str(python)]
        for name in ("app", "logs", "tests", "solution"):
            command += ["--bind", str(self.folder(name)), f"/{name}"]
        env = {"PATH": f"{python}/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", **self.env}
        command += ["--clearenv", *(part for item in env.items() for part in ("--setenv", *item))]
        subprocess.run([*command, "--chdir", "/app", "/bin/bash", "-c", script], check=False, timeout=60)


def build(box: Sandbox, environment: Path) -> None:
    """Replay the few instructions that the demo's own Dockerfiles use; loose files stand for a prebuilt image."""
    dockerfile = environment / "Dockerfile"
    if not dockerfile.exists():
        shutil.copytree(environment, box.folder("app"), dirs_exist_ok=True)
        return
    for line in re.sub(r"\\\n\s*", "", dockerfile.read_text()).splitlines():
        word, _, rest = line.partition(" ")
        if word == "ENV":
            box.env.update({name: value for name, _, value in (pair.partition("=") for pair in shlex.split(rest))})
        elif word == "COPY":
            source, target = rest.split()
            copy(environment / source, box.root / target.removeprefix("/") if target[0] == "/" else box.folder("app"))
        elif word == "RUN":
            box.run(rest)
        else:
            assert word in {"", "FROM", "WORKDIR"}


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def grade(box: Sandbox, *tests: Path) -> dict[str, float]:
    for name in ("tests", "logs"):
        shutil.rmtree(box.root / name, ignore_errors=True)
    for folder in tests:
        if folder.is_dir():
            shutil.copytree(folder, box.folder("tests"), dirs_exist_ok=True)
    box.run("bash /tests/test.sh")
    verifier = box.root / "logs" / "verifier"
    if (verifier / "reward.json").exists():
        return {key: float(value) for key, value in json.loads((verifier / "reward.json").read_text()).items()}
    return {"reward": float((verifier / "reward.txt").read_text())}


def trial(box: Sandbox, task: Path, *, solve: bool) -> list[dict[str, float]]:
    """The rewards of each step, up to the first that stays below its minimum."""
    build(box, task / "environment")
    steps = tomllib.loads((task / "task.toml").read_text()).get("steps", [])
    rewards = []
    for step in steps or [{}]:
        place = task / "steps" / step["name"] if step else task
        if (place / "workdir").is_dir():
            copy(place / "workdir", box.folder("app"))
        if solve:
            shutil.rmtree(box.folder("solution"))
            copy(place / "solution", box.root / "solution")
            box.run("bash /solution/solve.sh")
        rewards.append(grade(box, task / "tests", place / "tests"))
        if rewards[-1]["reward"] < step.get("min_reward", 0):
            break
    return rewards


@pytest.fixture
def box(tmp_path: Path, require_tool: Callable[[str], str]) -> Sandbox:
    return Sandbox(require_tool("bwrap"), tmp_path / "root")


def test_the_demo_has_tasks_of_at_least_four_kinds() -> None:
    categories = {tomllib.loads((task / "task.toml").read_text())["metadata"]["category"] for task in TASKS}
    assert len(categories) >= 4


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.name))
def test_the_solution_earns_the_full_reward(task: Path, box: Sandbox) -> None:
    rewards = trial(box, task, solve=True)
    steps = tomllib.loads((task / "task.toml").read_text()).get("steps", [])
    assert len(rewards) == max(len(steps), 1)
    assert all(value == 1 for scores in rewards for value in scores.values())


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.name))
def test_doing_nothing_earns_less(task: Path, box: Sandbox) -> None:
    assert trial(box, task, solve=False)[-1]["reward"] < 0.5
