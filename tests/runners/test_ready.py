"""What agents want before they can work in a sandbox."""

from pathlib import Path

from rlx.agents.registry import agent, agents
from rlx.runners.ready import PROTOCOLS, need
from rlx.sandboxes.local.installed.recipes import recipes
from rlx.sandboxes.local.layers import FACTS, LayerStore
from rlx.texts import Say, words


def why(name: str, sandbox: str, folder: Path, *, network: bool = True, reachable: bool = True) -> str | None:
    found = need(agent(name), sandbox, LayerStore(folder), network=network, reachable=reachable)
    assert found is not None
    return words(found.reason) if isinstance(found.reason, Say) else found.reason


def test_agents_outside_of_the_sandbox_want_nothing_of_it(tmp_path: Path) -> None:
    for name in ("oracle", "nop", "simple", "terminus-2"):
        assert need(agent(name), "local", LayerStore(tmp_path), network=True, reachable=True) is None


def test_a_layer_that_is_not_prepared_is_told_with_the_command_that_makes_it(tmp_path: Path) -> None:
    for name, recipe in recipes().items():
        assert f"rlx sandbox prepare --agent {name}" in (why(name, "local", tmp_path, network=False) or "")
        (tmp_path / recipe.key).mkdir()
        (tmp_path / recipe.key / FACTS).write_text('{"bytes": 1}')
        assert why(name, "local", tmp_path, network=False) is None


def test_what_is_wanted_names_the_protocol_and_the_size(tmp_path: Path) -> None:
    found = need(agent("opencode"), "local", LayerStore(tmp_path), network=True, reachable=True)
    assert found is not None
    told = " ".join(words(each) for each in found.wants if isinstance(each, Say))
    assert PROTOCOLS["chat"] in told
    assert f"{recipes()['opencode'].megabytes} MB on disk" in told


def test_an_agent_without_pinned_files_runs_in_no_local_sandbox(tmp_path: Path) -> None:
    for entry in agents():
        if entry.installed is not None and entry.name not in recipes():
            assert "no files are pinned" in (why(entry.name, "local", tmp_path) or "")
            assert why(entry.name, "docker", tmp_path) is None


def test_an_installer_needs_a_network_and_its_agent_a_way_to_the_model(tmp_path: Path) -> None:
    assert "this task has none" in (why("pi", "docker", tmp_path, network=False) or "")
    assert "RLX_PUBLIC_URL" in (why("pi", "docker", tmp_path, reachable=False) or "")
