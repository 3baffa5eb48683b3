"""Tables are read from packages that are never imported, written the same every time, and what changed is told."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from rlx.errors import BadInput
from rlx.formats.frameworks.packages import open_package, sentence
from rlx.formats.frameworks.readers import nemo_gym, reasoning_gym, skyrl, verifiers, verl
from rlx.formats.frameworks.refresh import NAMES, changes, main
from rlx.formats.frameworks.tables import Name, made
from tests.formats.frameworks.fake import NEMO, PACKAGES, VERL, folder, wheel


def refreshed(tmp_path: Path, name: str, package: Path, *more: str) -> int:
    return main([name, "--package", str(package), "--date", "2030-01-02", *more], folder=tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_and_a_wheel_give_the_same_table_which_loads(tmp_path: Path, name: Name) -> None:
    package, contents = PACKAGES[name]
    here = folder(tmp_path / "site", package, contents)
    assert refreshed(tmp_path, name, here) == 0
    first = (tmp_path / f"{name}.toml").read_bytes()
    assert refreshed(tmp_path, name, wheel(tmp_path / "a.whl", package, contents)) == 0
    assert (tmp_path / f"{name}.toml").read_bytes() == first
    table = made(name, tomllib.loads(first.decode()))
    assert (table.source.version, table.source.date) == ("9.8.7", "2030-01-02")
    assert table.python == ">=3.12"


def test_a_check_writes_nothing_and_fails_where_something_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = folder(tmp_path / "old", "verl", VERL)
    assert refreshed(tmp_path, "verl", here, "--check") == 1
    assert not (tmp_path / "verl.toml").exists()
    refreshed(tmp_path, "verl", here)
    assert refreshed(tmp_path, "verl", here, "--check") == 0
    newer = {**VERL, "verl/utils/reward_score/sums.py": 'def compute_score(a, b):\n    """Pay half of it, always."""\n'}
    capsys.readouterr()
    assert refreshed(tmp_path, "verl", folder(tmp_path / "new", "verl", newer), "--check") == 1
    told = capsys.readouterr().out
    assert "~ scorers.sums.about: 'Pay 1 for the number that is kept.' -> 'Pay half of it, always.'" in told
    assert "verl: 1 changes against verl.toml" in told


def test_the_date_stays_where_nothing_else_changed(tmp_path: Path) -> None:
    here = folder(tmp_path / "site", "verl", VERL)
    refreshed(tmp_path, "verl", here)
    main(["verl", "--package", str(here), "--date", "2031-01-01"], folder=tmp_path)
    assert 'date = "2030-01-02"' in (tmp_path / "verl.toml").read_text()


def test_what_came_and_went_is_told() -> None:
    assert list(changes({"a": {"x": 1}, "b": 1}, {"a": {"y": 2}, "b": 2})) == ["- a.x", "+ a.y", "~ b: 1 -> 2"]


def plain(path: Path) -> Path:
    path.write_text("no wheel")
    return path


@pytest.mark.parametrize("make", [lambda path: path, lambda path: folder(path, "other", {}), plain])
def test_a_package_that_is_not_there_is_refused_with_its_name(tmp_path: Path, make: Any) -> None:
    with pytest.raises(BadInput, match="There is no package verl at"):
        open_package(make(tmp_path / "x"), "verl")
    assert refreshed(tmp_path, "verl", tmp_path / "x") == 2


def test_a_package_that_changed_its_ways_is_told_and_not_read_as_empty(tmp_path: Path) -> None:
    for reader, name in ((nemo_gym, "nemo-gym"), (verl, "verl"), (skyrl, "skyrl")):
        here = folder(tmp_path / name, name.replace("-", "_"), {"verl/utils/reward_score/__init__.py": "x = 1\n"})
        with pytest.raises(BadInput, match=r"9\.8\.7"):
            reader.read(open_package(here, name))


def test_servers_tell_what_they_read_of_a_row_and_how_they_verify(tmp_path: Path) -> None:
    told: Any = nemo_gym.read(open_package(folder(tmp_path, "nemo_gym", NEMO), "nemo-gym"))
    assert told["servers"]["quiz"] == {
        "domain": "knowledge",
        "about": "Questions with letters",
        "checks": "Compare the boxed letter with the one that is kept, and pay 1 for the same.",
        "tools": ["look_up"],
        "verify": ["letter"],
        "prompt": ["choices"],
        "beside": ["origin"],
        "config": "quiz",
    }
    assert told["servers"]["essay"] == {
        "about": "Essays that a model judges, one at a time.",
        "checks": "The reward is 1 where the judge agrees with all of the rubric.",
        "judge": True,
        "config": "essay/long",
    }
    assert told["agents"]["quiz_agent"] == {
        "kind": "simple_agent",
        "config": "resources_servers/quiz/configs/quiz.yaml",
        "server": "quiz",
        "max_steps": 3,
    }
    assert told["agents"]["quiz_again_agent"]["server"] == "quiz"
    assert told["datasets"] == {"acme/quiz-rows": ["quiz_agent"]}
    assert told["loops"] == {"simple_agent": "An agent that calls tools until it answers."}


def test_scorers_keep_their_order_sources_and_beginnings(tmp_path: Path) -> None:
    told: Any = verl.read(open_package(folder(tmp_path, "verl", VERL), "verl"))
    assert list(told["scorers"]) == ["sums", "local_code"]
    assert told["scorers"]["local_code"] == {"about": "", "sources": ["code_a", "code_b"], "prefixes": ["judge_"]}
    assert told["agent_loops"] == {"tool_agent": "Calls tools."}


def test_environments_tasks_and_tasksets_are_read(tmp_path: Path) -> None:
    package, contents = PACKAGES["skyrl"]
    told: Any = skyrl.read(open_package(folder(tmp_path / "a", package, contents), "skyrl"))
    assert told["envs"] == {
        "maze": {"about": "A maze to leave.", "needs": ["reward_spec"], "tools": ["Map"], "turns": 9}
    }
    package, contents = PACKAGES["reasoning_gym"]
    told = reasoning_gym.read(open_package(folder(tmp_path / "b", package, contents), "reasoning-gym"))
    assert told["tasks"]["maze"] == {"group": "games", "about": "Generates mazes. Of any size.", "exact": False}
    assert told["tasks"]["sums"]["exact"] is True
    package, contents = PACKAGES["verifiers"]
    told = verifiers.read(open_package(folder(tmp_path / "c", package, contents), "verifiers"))
    assert told == {"harnesses": ["bash"], "tasksets": {"text-games": {"about": "Games of words. Played."}}}


def test_a_long_sentence_is_cut_at_a_word() -> None:
    assert sentence("word " * 100) == f"{('word ' * 47).strip()}…"


def server(tmp_path: Path, docstring: str, readme: str, **configs: str) -> Any:
    """What is read of one server."""
    at = "resources_servers/essay"
    package = {
        **NEMO,
        f"{at}/app.py": f'class Essay:\n    def verify(self):\n        """{docstring}"""\n',
        f"{at}/README.md": f"# Essay\n\n{readme}\n",
        **{
            f"{at}/configs/{name}.yaml": f"{name}:\n  resources_servers:\n    essay: {{description: {text}}}\n"
            for name, text in configs.items()
        },
    }
    told: Any = nemo_gym.read(open_package(folder(tmp_path, "nemo_gym", package), "nemo-gym"))
    return told["servers"]["essay"]


@pytest.mark.parametrize(
    "beside",
    [
        "Already-scored resume rows are skipped; empty generations stay None.",
        "Return accumulated reward, close the environment, and clean up session state.",
        "Standard Gym verifier endpoint; evaluation always owns final cleanup.",
        "Aggregate metrics (compute_metrics) report pass@k over three per-rollout correctness scores.",
        "Key requirements: 1. Extract the model_patch from the input container Proposal 1.",
        "Upstream scoring: src/evaluation/evaluate_qa.py, which is scored by a judge.",
        "The verify response echoes expected_answer and the extracted_answer the grader actually saw.",
        "Grades each task with the dataset's own patch, which measures the dataset rather than a model.",
    ],
)
def test_what_is_beside_the_point_is_not_told_of_how_a_server_verifies(tmp_path: Path, beside: str) -> None:
    wanted = "The server verifies the letter that was chosen and returns reward 1.0 for the right one."
    assert server(tmp_path / "a", beside, f"{beside} {wanted}")["checks"] == wanted
    assert "checks" not in server(tmp_path / "b", beside, beside)


def test_a_server_of_several_environments_is_described_by_none_of_them(tmp_path: Path) -> None:
    readme = "An adapter for environments of all kinds, one at a time."
    assert server(tmp_path / "a", "", readme, coding="Runs code", maze="A maze")["about"] == readme
    assert server(tmp_path / "b", "", readme, coding="Runs code", essay="Essays")["about"] == "Essays"
    assert server(tmp_path / "c", "", readme, coding="Runs code")["about"] == "Runs code"
