"""The tables that come with the package: they load, are whole, and say what code relies on."""

from importlib.resources import files

import pytest

from rlx.formats.frameworks import table
from rlx.formats.frameworks.refresh import NAMES
from rlx.formats.frameworks.tables import Name, made
from rlx.texts import DEFAULT, catalog


@pytest.mark.parametrize("name", NAMES)
def test_a_table_names_its_package_its_release_and_when_it_was_read(name: Name) -> None:
    told = table(name)
    assert told.source.package
    assert told.source.version.count(".") >= 1
    assert len(told.source.date) == len("2026-01-01")
    assert told.python.lstrip("<>=!~")[0] == "3"
    assert table(name) is told


def test_every_table_has_a_file_and_every_file_a_table() -> None:
    found = {entry.name for entry in files("rlx.formats.frameworks").iterdir() if entry.name.endswith(".toml")}
    assert found == {f"{name}.toml" for name in NAMES}


def test_what_is_wrong_in_a_table_raises() -> None:
    with pytest.raises(KeyError):
        made("verl", {"source": "verl", "version": "1", "date": "2026-01-01", "python": ""})
    with pytest.raises(TypeError):
        made("skyrl", {"source": "x", "version": "1", "date": "d", "python": "", "envs": {"a": {"unknown": 1}}})


def test_agents_of_nemo_gym_lead_to_servers_that_are_known() -> None:
    told = table("nemo_gym")
    assert {agent.server for agent in told.agents.values() if agent.server} <= told.servers.keys()
    assert {name for agents in told.datasets.values() for name in agents} <= told.agents.keys()
    assert len(told.servers) > 100
    assert told.servers["mcqa"].domain == "knowledge"
    assert "expected_answer" in told.servers["mcqa"].verify


@pytest.mark.parametrize(
    ("source", "scorer"),
    [("openai/gsm8k", "gsm8k"), ("aime2024", "math_dapo"), ("taco", "prime_code"), ("acme/own", None), ("", None)],
)
def test_verl_picks_a_reward_function_by_the_data_source(source: str, scorer: str | None) -> None:
    found = table("verl").scorer(source)
    assert (found.name if found else None) == scorer


def test_every_scorer_and_environment_is_told_in_words_of_ours() -> None:
    known = catalog(DEFAULT)
    assert {f"verl.scorer.{name}" for name in table("verl").scorers} <= known.keys()
    assert {f"skyrl.env.{name}" for name in table("skyrl").envs} <= known.keys()


def test_tasks_of_reasoning_gym_are_told_by_name() -> None:
    tasks = table("reasoning_gym").tasks
    assert len(tasks) > 90
    assert tasks["knights_knaves"].group == "logic"
    assert not tasks["countdown"].exact
