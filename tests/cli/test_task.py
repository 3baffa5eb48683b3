"""`rlx task` over the fixture hub and the demo."""

import json
from pathlib import Path
from typing import get_args

import pytest

from rlx.cli.task import Sort
from rlx.model.tasks import TaskSort
from tests.cli.conftest import Rlx

ENV = "acme/layout-tasks"
TASK = (ENV, "tasks/fix-parser")


@pytest.fixture
def hub(fixture_hub: Path) -> tuple[str, str]:
    return ("--hub", str(fixture_hub))


def test_a_list_has_what_scripts_rely_on(rlx: Rlx, hub: tuple[str, str]) -> None:
    tasks = rlx("task", "ls", ENV, *hub, "--format", "json").json()
    assert {str(task["ref"]) for task in tasks} == {
        "tasks/fix-parser",
        "tasks/write-report",
        "tasks/no-solution",
        "tasks/no-grader",
    }
    assert all(set(task) == {"ref", "title", "brief", "facets", "problem"} for task in tasks)


def test_tasks_that_are_odd_are_listed_with_the_reason(rlx: Rlx, hub: tuple[str, str]) -> None:
    tasks = rlx("task", "ls", "acme/broken-toml", *hub, "--format", "json").json()
    problems = {str(task["ref"]): str(task["problem"] or "") for task in tasks}
    assert len(problems) == 10
    assert "line 4" in problems["adapters/alpha/template"]
    assert problems["tasks/unknown-keys"] == ""


def test_a_list_sorts_by_whatever_the_pages_sort_by() -> None:
    assert get_args(Sort) == get_args(TaskSort)


def test_a_list_is_sorted_by_a_facet_from_either_end(rlx: Rlx, hub: tuple[str, str]) -> None:
    up = rlx("task", "ls", ENV, *hub, "--sort", "difficulty", "--columns", "difficulty").rows
    down = rlx("task", "ls", ENV, *hub, "--sort=-difficulty", "--columns", "difficulty").rows
    told = [row[0] for row in up[1:] if row[0]]
    assert len(set(told)) > 1
    assert [row[0] for row in down[1:] if row[0]] == told[::-1]


def test_filters_search_and_columns_narrow_the_list(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("task", "ls", ENV, *hub, "--filter", "difficulty=Hard", "--columns", "ref,difficulty")
    assert result.rows == [["ref", "difficulty"], ["tasks/no-solution", "Hard"]]
    assert rlx("task", "ls", ENV, *hub, "--search", "parser", "--format", "quiet").out == "tasks/fix-parser\n"


def test_filters_of_any_case_are_understood(rlx: Rlx, hub: tuple[str, str]) -> None:
    assert rlx("task", "ls", ENV, *hub, "--filter", "difficulty=hARD", "--format", "quiet").out == "tasks/no-solution\n"


@pytest.mark.parametrize(("typed", "named"), [("colour=red", "difficulty, "), ("difficulty=odd", "Easy, Medium, Hard")])
def test_unknown_filters_and_values_are_answered_with_those_there_are(
    rlx: Rlx, hub: tuple[str, str], typed: str, named: str
) -> None:
    result = rlx("task", "ls", ENV, *hub, "--filter", typed)
    assert (result.code, result.out) == (2, "")
    assert named in result.err


def test_an_environment_without_tasks_has_no_filters(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("task", "ls", "acme/plain-files", *hub, "--filter", "difficulty=Hard")
    assert result.code == 2
    assert "nothing to filter by" in result.err


def test_a_limit_says_how_many_there_are(rlx: Rlx, hub: tuple[str, str]) -> None:
    limited = rlx("task", "ls", "acme/settings", *hub, "--limit", "3", "--format", "quiet")
    everything = rlx("task", "ls", "acme/settings", *hub, "--limit", "0", "--format", "quiet")
    assert limited.out.splitlines() == everything.out.splitlines()[:3]
    assert f"3 of {len(everything.out.splitlines())} shown" in limited.err
    assert everything.err == ""


def test_refs_go_back_into_the_next_command_whatever_they_hold(rlx: Rlx, hub: tuple[str, str]) -> None:
    refs = rlx("task", "ls", "acme/odd-names", *hub, "--format", "quiet").out.splitlines()
    assert len(refs) == 13
    for ref in refs:
        assert rlx("task", "show", "acme/odd-names", ref, *hub, "--format", "quiet").out == f"acme/odd-names\t{ref}\n"


def test_a_task_is_shown_with_what_scripts_rely_on_and_no_answer(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("task", "show", *TASK, *hub, "--format", "json")
    (task,) = result.json()
    assert set(task) >= {"id", "ref", "title", "sections", "withheld", "run_options"}
    assert "RLX-SHOWN-INSTRUCTION" in result.out
    assert "RLX-CANARY" not in result.out


def test_a_task_reads_as_markdown_without_answers(rlx: Rlx, hub: tuple[str, str]) -> None:
    text = rlx("task", "show", *TASK, *hub).out
    assert text.startswith("# Mend ")
    assert "RLX-SHOWN-GRADER-DOCSTRING" in text
    assert "RLX-CANARY" not in text


def test_files_are_listed_and_withheld_ones_say_why(rlx: Rlx, hub: tuple[str, str]) -> None:
    top = rlx("task", "files", *TASK, *hub, "--format", "json").json()
    assert {"task.toml", "instruction.md", "environment", "solution", "tests"} <= {str(item["path"]) for item in top}
    solution = rlx("task", "files", *TASK, "solution", *hub, "--format", "json").json()
    assert all(item["withheld"] for item in solution)
    assert {str(item["path"]) for item in top if item["withheld"]} == {"solution"}
    environment = rlx("task", "files", *TASK, "environment", *hub, "--format", "json").json()
    reasons = {str(item["path"]): item["withheld"] for item in environment}
    assert reasons["environment/parser.py"] is None
    assert reasons["environment/bug.patch"]


def test_a_file_is_printed_as_it_is(rlx: Rlx, hub: tuple[str, str], fixture_hub: Path) -> None:
    path = "environment/parser.py"
    printed = rlx("task", "files", *TASK, path, *hub).out
    assert printed == (fixture_hub / "datasets" / ENV / TASK[1] / path).read_text()


def test_a_withheld_file_is_not_permitted(rlx: Rlx, hub: tuple[str, str]) -> None:
    for path in ("solution/solve.sh", "environment/bug.patch", "tests/expected_result.json"):
        result = rlx("task", "files", *TASK, path, *hub)
        assert result.code == 4
        assert "RLX-CANARY" not in result.out + result.err


@pytest.mark.parametrize("path", ["nowhere.txt", "../write-report/task.toml", "/etc/passwd", "nul\0"])
def test_a_path_that_is_not_the_tasks_is_bad_input(rlx: Rlx, hub: tuple[str, str], path: str) -> None:
    assert rlx("task", "files", *TASK, path, *hub).code == 2
    assert rlx("task", "files", *TASK, path, "--reveal", *hub).code == 2


def test_reveal_shows_withheld_files_of_a_folder_of_ones_own(rlx: Rlx, hub: tuple[str, str], fixture_hub: Path) -> None:
    solution = (fixture_hub / "datasets" / ENV / TASK[1] / "solution/solve.sh").read_text()
    assert rlx("task", "files", *TASK, "solution/solve.sh", "--reveal", *hub).out == solution
    shown = rlx("task", "show", *TASK, "--reveal", *hub, "--format", "json").json()[0]
    revealed = shown["revealed"]
    assert isinstance(revealed, dict)
    assert revealed["solution/solve.sh"] == solution
    assert "RLX-CANARY" in rlx("task", "show", *TASK, "--reveal", *hub).out


def test_reveal_lists_every_file(rlx: Rlx, hub: tuple[str, str]) -> None:
    listing = rlx("task", "files", *TASK, "solution", "--reveal", *hub, "--format", "json").json()
    assert {str(entry["path"]) for entry in listing} == {
        "solution/README.md",
        "solution/fix.patch",
        "solution/solve.sh",
    }


def test_a_random_task_can_be_shown(rlx: Rlx) -> None:
    (picked,) = rlx("task", "random", "--demo", "--format", "json").json()
    assert picked["id"] in {"rl-explorer/first-steps", "rl-explorer/model-graded"}
    shown = rlx("task", "show", str(picked["id"]), str(picked["ref"]), "--demo", "--format", "json")
    assert shown.json()[0]["title"] == picked["title"]


def test_an_environment_without_tasks_has_no_random_one(rlx: Rlx, hub: tuple[str, str]) -> None:
    result = rlx("task", "random", "acme/plain-files", *hub)
    assert result.code == 2
    assert "no tasks" in result.err


def test_the_owner_of_a_folder_sees_a_row_as_it_is(rlx: Rlx, hub: tuple[str, str]) -> None:
    shown = rlx("task", "show", "acme/rows-verl", "train/0", *hub, "--reveal", "--format", "json")
    revealed = json.loads(shown.out)["revealed"]
    assert "RLX-CANARY" in revealed["row.json"]
    raw = rlx("task", "files", "acme/rows-verl", "train/0", "row.json", *hub, "--reveal")
    assert "RLX-CANARY" in raw.out
    assert "RLX-CANARY" not in rlx("task", "show", "acme/rows-verl", "train/0", *hub, "--format", "json").out
    assert "RLX-CANARY" not in rlx("task", "files", "acme/rows-verl", "train/0", "row.json", *hub).out
