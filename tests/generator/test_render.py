"""What is written: the same bytes each time, clean source, the shared modules unchanged, nothing hidden."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.errors import BadInput
from rlx.generator.registry import targets
from rlx.generator.render import SPEC_FILE, copies, render, write
from rlx.generator.spec import FRAMEWORKS, EnvSpec, Target
from tests.generator.trees import ARCHETYPES, connect_four, example, tree


@pytest.mark.parametrize("name", ARCHETYPES)
def test_the_same_specification_gives_the_same_bytes(name: str) -> None:
    assert render(example(name)) == tree(name)


@pytest.mark.parametrize("name", ARCHETYPES)
def test_what_is_written_is_clean_source(name: str, tmp_path: Path) -> None:
    write(tree(name), tmp_path)
    assert_clean(tmp_path)


def assert_clean(folder: Path) -> None:
    """Ruff finds nothing, and would format nothing."""
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ARCHETYPES)
def test_every_variant_carries_the_shared_modules_byte_for_byte(name: str) -> None:
    for framework in FRAMEWORKS:
        found = copies(example(name), framework)
        assert len(found) == 2
        assert all(tree(name)[path] == tree(name)[source] for path, source in found.items())


@pytest.mark.parametrize("name", ARCHETYPES)
def test_shared_modules_import_no_framework(name: str) -> None:
    spec = example(name)
    for path in (f"{spec.module}.py", "tasks.py"):
        imported = {
            (node.module or "").split(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name.split(".")[0]
            for node in ast.walk(ast.parse(tree(name)[path]))
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert not imported & {"openenv", "fastmcp", "openreward", "verifiers", "nemo_gym", "pydantic"}


@pytest.mark.parametrize("name", ARCHETYPES)
def test_what_is_hidden_is_nowhere_but_in_the_specification_and_the_tasks(name: str) -> None:
    keys = {key for task in example(name).tasks for key in task.hidden}
    assert keys
    allowed = {SPEC_FILE, "tasks.py", f"{example(name).module}.py", f"tests/test_{example(name).module}.py"}
    leaking = {
        path
        for path, text in tree(name).items()
        if Path(path).name not in {"tasks.py", f"{example(name).module}.py"} and path not in allowed
        for key in keys
        if f'"{key}"' in text
    }
    assert leaking == set()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_variant_has_what_everybody_looks_for(framework: str) -> None:
    folder = connect_four().target.folder(framework)
    mine = {path.removeprefix(f"{folder}/") for path in tree("board_game") if path.startswith(f"{folder}/")}
    assert {"pyproject.toml", "README.md", "rollout.py"} <= mine
    assert any("tests/" in path for path in mine)
    assert targets()[framework].requirement in tree("board_game")[f"{folder}/pyproject.toml"]
    if targets()[framework].served:
        assert "Dockerfile" in mine
        assert "rl-environment" in tree("board_game")[f"{folder}/README.md"]


def test_folders_do_not_shadow_packages_unless_that_is_asked_for() -> None:
    tops = {path.split("/")[0] for path in tree("board_game")}
    assert tops & {"openenv", "ors", "verifiers", "nemo_gym"} == set()
    plain = connect_four().model_copy(update={"target": Target(layout="plain")})
    assert {"openenv", "ors", "verifiers", "nemo_gym"} <= {path.split("/")[0] for path in render(plain)}


def test_folders_of_ones_own_win() -> None:
    own = connect_four().model_copy(update={"target": Target(folders={"ors": "servers/reward"}, frameworks=("ors",))})
    assert "servers/reward/server.py" in render(own)


def test_only_the_frameworks_asked_for_are_written() -> None:
    tops = {path.split("/")[0] for path in render(connect_four(), ["ors"]) if "/" in path}
    assert tops == {"ors_env", "tests"}


def test_the_toolkit_for_trl_is_written_when_asked_for() -> None:
    path = "verifiers_env/trl_toolkit.py"
    assert path not in tree("board_game")
    asked = connect_four().model_copy(update={"target": Target(extras=("verifiers_trl",))})
    methods = {node.name for node in ast.walk(ast.parse(render(asked)[path])) if isinstance(node, ast.FunctionDef)}
    assert methods == {"reset", "drop_piece", "show_board", "reward"}


def test_what_is_written_on_request_is_clean_source_too(tmp_path: Path) -> None:
    extras = ("verifiers_trl", "verifiers_legacy")
    write(render(connect_four().model_copy(update={"target": Target(extras=extras)})), tmp_path)
    assert (tmp_path / "verifiers_env" / "legacy" / "connect_four_legacy.py").is_file()
    assert_clean(tmp_path)


def test_what_is_undecided_is_not_rendered() -> None:
    with pytest.raises(BadInput, match="leaves open: reward"):
        render(connect_four().model_copy(update={"undecided": ("reward",)}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"options": {"colour": "red"}}, "no option 'colour'"),
        ({"options": {"rows": 99}}, "from 2 to 20"),
        ({"reward": connect_four().reward.model_copy(update={"style": "per_step"})}, "rewarded at its end"),
        ({"options": {"gravity": False}}, "takes row and column"),
    ],
)
def test_what_an_archetype_cannot_serve_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        render(connect_four().model_copy(update=change))


def test_tagged_text_is_not_rendered_as_if_it_were_tools() -> None:
    action = connect_four().action.model_copy(update={"surface": "text", "insist": True})
    with pytest.raises(BadInput, match="they call tools"):
        render(connect_four().model_copy(update={"action": action}))


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(BadInput, match="There is no target 'gymnasium'"):
        render(connect_four(), ["gymnasium"])


def test_another_text_is_not_overwritten_unless_that_is_asked_for(tmp_path: Path) -> None:
    write(tree("board_game"), tmp_path)
    assert write(tree("board_game"), tmp_path) == []
    (tmp_path / "game.py").write_text("mine")
    with pytest.raises(BadInput, match=r"such as game\.py"):
        write(tree("board_game"), tmp_path)
    assert (tmp_path / "game.py").read_text() == "mine"
    assert write(tree("board_game"), tmp_path, force=True) == [tmp_path / "game.py"]


def hostile() -> EnvSpec:
    """Connect four whose texts try to leave their quotes."""
    text = "\"\"\" + __import__('os').abort() + ''' {{ 7 * 7 }} \\"
    spec = connect_four()
    tool = spec.action.tools[0].model_copy(update={"description": text})
    action = spec.action.model_copy(update={"tools": (tool, *spec.action.tools[1:])})
    return spec.model_copy(update={"title": text, "goal": text, "action": action})


def test_texts_stay_texts_whatever_they_hold() -> None:
    assert "{{ 7 * 7 }}" in render(hostile())["README.md"]
    for path, text in render(hostile()).items():
        if path.endswith(".py"):
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
            assert not any(isinstance(call.func, ast.Name) and call.func.id == "__import__" for call in calls), path
