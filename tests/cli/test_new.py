"""`rlx new`: an environment written from its specification, and what it refuses."""

import json
from pathlib import Path

from rlx.generator.skills import UMBRELLA, render_skills
from rlx.generator.spec import dump_spec
from tests.cli.conftest import Rlx
from tests.endpoints import endpoint
from tests.generator.trees import connect_four, tree


def test_an_example_is_written_and_its_files_are_told(rlx: Rlx, tmp_path: Path) -> None:
    told = rlx("new", "--example", "board_game", "--out", str(tmp_path / "c4"), "--format", "json")
    assert told.code == 0
    assert {str(item["path"]) for item in told.json()} == {str(tmp_path / "c4" / path) for path in tree("board_game")}
    assert "Next: rlx new --check" in told.err


def test_what_was_written_is_written_again_from_its_own_file_without_a_change(rlx: Rlx, tmp_path: Path) -> None:
    folder = str(tmp_path / "c4")
    rlx("new", "--example", "board_game", "--out", folder)
    again = rlx("new", "--spec", f"{folder}/environment.toml", "--out", folder, "--format", "json")
    assert (again.code, again.json()) == (0, [])


def test_one_framework_alone_is_written(rlx: Rlx, tmp_path: Path) -> None:
    rlx("new", "--example", "board_game", "--out", str(tmp_path), "--target", "ors")
    assert (tmp_path / "ors_env" / "server.py").is_file()
    assert not (tmp_path / "openenv_env").exists()


def test_where_it_is_written_is_never_guessed(rlx: Rlx) -> None:
    told = rlx("new", "--example", "board_game")
    assert told.code == 2
    assert "Add --out DIR" in told.err


def test_rules_of_ones_own_stand_beside_the_specification(rlx: Rlx, tmp_path: Path) -> None:
    spec = connect_four().model_copy(update={"archetype": None, "domain": "rules.py"})
    (tmp_path / "my.toml").write_text(dump_spec(spec))
    (tmp_path / "rules.py").write_text(tree("board_game")["game.py"])
    assert rlx("new", "--spec", str(tmp_path / "my.toml"), "--out", str(tmp_path / "out")).code == 0
    assert (tmp_path / "out" / "ors_env" / "game.py").read_text() == tree("board_game")["game.py"]


def test_rules_elsewhere_are_refused(rlx: Rlx, tmp_path: Path) -> None:
    spec = connect_four().model_copy(update={"archetype": None, "domain": "../rules.py"})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "my.toml").write_text(dump_spec(spec))
    (tmp_path / "rules.py").write_text("SECRET = 1")
    told = rlx("new", "--spec", str(tmp_path / "in" / "my.toml"), "--out", str(tmp_path / "out"))
    assert told.code == 2
    assert "no file beside the specification" in told.err


def test_two_wishes_at_once_are_refused(rlx: Rlx, tmp_path: Path) -> None:
    told = rlx("new", "--example", "board_game", "--check", str(tmp_path))
    assert told.code == 2
    assert "Say one of" in told.err


def test_a_folder_that_holds_no_environment_is_not_checked(rlx: Rlx, tmp_path: Path) -> None:
    told = rlx("new", "--check", str(tmp_path))
    assert told.code == 2
    assert "environment.toml cannot be read" in told.err


def test_a_description_gets_all_of_it_in_one_flow(rlx: Rlx, tmp_path: Path) -> None:
    told = rlx("new", "--yes", "the agent plays connect-four", "--out", str(tmp_path / "c4"))
    assert told.code == 0
    assert "because two sides put pieces on a board" in told.err
    assert (tmp_path / "c4" / "game.py").read_text() == tree("board_game")["game.py"]


def test_a_file_answers_the_questions(rlx: Rlx, tmp_path: Path) -> None:
    answers = tmp_path / "answers.toml"
    answers.write_text(f'goal = "tic-tac-toe"\ntermination = "7"\npath = "{tmp_path / "ttt"}"\n')
    assert rlx("new", "some game", "--answers", str(answers)).code == 0
    assert "max_calls = 7" in (tmp_path / "ttt" / "environment.toml").read_text()
    answers.write_text('colour = "red"\n')
    assert "answers 'colour', which is not asked" in rlx("new", "some game", "--answers", str(answers)).err


def test_what_nothing_serves_is_written_as_a_specification_alone_and_fails(rlx: Rlx, tmp_path: Path) -> None:
    told = rlx("new", "--yes", "the agent plays chess", "--out", str(tmp_path / "chess"))
    assert told.code == 1
    assert "No archetype fits" in told.err
    assert [path.name for path in (tmp_path / "chess").iterdir()] == ["environment.toml"]
    again = rlx("new", "--spec", str(tmp_path / "chess" / "environment.toml"), "--out", str(tmp_path / "out"))
    assert (again.code, "leaves open: domain" in again.err) == (2, True)


def test_skills_are_written_and_overwrites_only_when_told(rlx: Rlx, tmp_path: Path) -> None:
    told = rlx("new", "--skill", str(tmp_path), "--format", "json")
    assert {str(item["path"]) for item in told.json()} == {str(tmp_path / path) for path in render_skills()}
    assert rlx("new", "--skill", str(tmp_path), "--format", "json").json() == []
    (tmp_path / UMBRELLA / "SKILL.md").write_text("mine")
    refused = rlx("new", "--skill", str(tmp_path))
    assert refused.code == 2
    assert "--force" in refused.err
    assert (tmp_path / UMBRELLA / "SKILL.md").read_text() == "mine"


def test_a_model_reads_the_description_before_anything_is_asked(rlx: Rlx, tmp_path: Path) -> None:
    said = {"question": "termination", "answer": "14 calls", "quote": "fourteen goes are all it gets"}
    call = {"function": {"name": "answer", "arguments": json.dumps({"answers": [said]})}}
    data = json.dumps({"choices": [{"message": {"tool_calls": [call]}}]}).encode()
    with endpoint(lambda body: (200, data)) as (url, heard):
        told = rlx(
            *("new", "An environment where the agent steers a lift; fourteen goes are all it gets", "--yes"),
            *("--out", str(tmp_path), "--ask-model", "--model", "m", "--base-url", url),
        )
    assert told.code == 1, "no archetype steers lifts"
    assert len(heard) == 1
    assert "at most 3 calls of 1,000 tokens" in told.err
    assert "max_calls = 14" in (tmp_path / "environment.toml").read_text()
