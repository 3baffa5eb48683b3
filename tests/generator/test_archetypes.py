"""Every archetype: its own tests pass, and its script and its guesses are calls of its tools."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.generator.registry import archetype
from rlx.generator.render import render, write
from rlx.generator.spec import Action, Parameter, Tool
from tests.generator.trees import ARCHETYPES, connect_four, example, tree


def run_tests(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".", "tests"],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # as where nothing but pytest is installed
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ARCHETYPES)
def test_the_rules_pass_their_own_tests(name: str, tmp_path: Path) -> None:
    write(tree(name), tmp_path)
    done = run_tests(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ARCHETYPES)
def test_script_and_guesses_call_tools_that_there_are(name: str) -> None:
    spec, kind = example(name), archetype(name)
    tools = {tool.name: {each.name for each in tool.parameters} for tool in spec.action.tools}
    task = spec.tasks[0]
    known = {"id": task.id, "split": task.split, "prompt": task.prompt, **task.given, **task.hidden}
    source = random.Random(0)  # noqa: S311  # games, not secrets
    calls = [*kind.script(spec), *(kind.guess(spec, source, known) for _ in range(50))]
    assert all(set(call.arguments) <= tools[call.tool] for call in calls)


def test_a_board_without_gravity_is_another_game_of_the_same_archetype(tmp_path: Path) -> None:
    spec = connect_four()
    place = Tool(
        name="place",
        description="Place a piece.",
        parameters=tuple(Parameter(name=name, type="integer", description=name) for name in ("row", "column")),
    )
    hidden = tuple(task.model_copy(update={"given": {"moves": []}}) for task in spec.tasks)
    options = {"rows": 3, "columns": 3, "connect": 3, "gravity": False}
    other = spec.model_copy(
        update={"name": "tic-tac-toe", "action": Action(tools=(place,)), "options": options, "tasks": hidden}
    )
    write(render(other), tmp_path)
    done = run_tests(tmp_path)
    assert done.returncode == 0, done.stdout
