"""What real sets are, written from their raw files before any code read them; a later edit carries a reason.

A set is `harbor` (folders with a task.toml), `packed` (archives of tasks) or `rows`. A split of rows tells how many
there are, which `processor` shows them and `why`, and which paths play which of the `roles`, the first that a row has
first; `also` names processors that fit as well, `refused` counts files that only point to their content, `broken`
lines that are no JSON. `beside` are files of rows that are in no split.

A path goes through lists and through JSON in strings, and stands for all that is below it. `answers` are withheld;
`shown` are not, though a name might suggest it; `perhaps` gives an answer away in part or in some rows, and may be
either. What an answer and the task's own words have in common is no leak.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
TABLE: dict[str, dict[str, Any]] = json.loads((HERE / "shared_processors.json").read_text())
COLUMNS: dict[str, dict[str, Any]] = json.loads((HERE / "shared_columns.json").read_text())
LAYOUT: dict[str, dict[str, Any]] = json.loads((HERE / "shared_sets.json").read_text())

PROCESSORS = {
    "harbor-packed",
    "nemo-gym",
    "nemo-gym-rollouts",
    "prompts",
    "skyrl",
    "swe-bench",
    "traces",
    "verifiers",
    "verifiers-evals",
    "verl",
}
ROLES = {"task", "id", "title", "grading", "environment"}
SET_KEYS = {"format", "splits", "answers", "perhaps", "shown", "beside", "note"}
SPLIT_KEYS = {"config", "split", "rows", "processor", "why", "roles", "also", "broken", "refused"}
FILE_KEYS = {"path", "rows", "processor", "answers", "shown", "broken", "note"}
ROWS = {repo: known for repo, known in TABLE.items() if known["format"] == "rows"}


def covers(path: str, other: str) -> bool:
    return path == other or other.startswith(path + ".")


def clashes(kinds: list[list[str]]) -> Iterator[tuple[str, str]]:
    for index, paths in enumerate(kinds):
        for path in paths:
            for other in (other for later in kinds[index + 1 :] for other in later):
                if covers(path, other) or covers(other, path):
                    yield path, other


def test_every_real_set_is_in_the_table() -> None:
    assert list(TABLE) == list(LAYOUT)
    assert Counter(known["format"] for known in TABLE.values()) == {"rows": 104, "harbor": 13, "packed": 2}


def test_sets_of_folders_and_archives_tell_how_many_tasks_they_hold() -> None:
    for repo in TABLE.keys() - ROWS.keys():
        assert TABLE[repo].keys() <= {"format", "tasks", "note"}
        assert TABLE[repo]["tasks"] > 0


@pytest.mark.parametrize("repo", ROWS)
def test_a_set_of_rows_is_well_formed(repo: str) -> None:
    known = ROWS[repo]
    assert {"format", "splits", "answers"} <= known.keys() <= SET_KEYS
    assert known["splits"]
    for split in known["splits"]:
        assert {"config", "split", "rows", "processor", "why", "roles"} <= split.keys() <= SPLIT_KEYS
        assert {split["processor"], *split.get("also", [])} <= PROCESSORS
        assert split["why"]
        assert split["roles"].keys() <= ROLES
    for file in known.get("beside", []):
        assert {"path", "rows", "processor"} <= file.keys() <= FILE_KEYS
        assert file["processor"] in PROCESSORS


@pytest.mark.parametrize("repo", ROWS)
def test_rows_are_counted_in_the_splits_and_files_that_the_layout_tells(repo: str) -> None:
    laid_out = {(config, split): paths for config, split, _, paths in LAYOUT[repo]["splits"]}
    told = {(split["config"], split["split"]): split for split in ROWS[repo]["splits"]}
    if laid_out:
        assert told.keys() == laid_out.keys()
    for name, split in told.items():
        whole = len(laid_out.get(name, [])) - split.get("refused", 0)
        assert whole >= 0
        assert split["rows"] >= whole
        assert bool(split["rows"]) == bool(whole or not laid_out)
    in_splits = {path for paths in laid_out.values() for path in paths}
    beside = [file["path"] for file in ROWS[repo].get("beside", [])]
    assert not in_splits & set(beside)
    assert set(LAYOUT[repo]["paths"]) & COLUMNS[repo].get("beside", {}).keys() <= set(beside)


@pytest.mark.parametrize("repo", ROWS)
def test_paths_begin_with_a_column_of_the_set(repo: str) -> None:
    known = ROWS[repo]
    roles = [path for split in known["splits"] for paths in split["roles"].values() for path in paths]
    named = [*known["answers"], *known.get("perhaps", []), *known.get("shown", []), *roles]
    assert {path.split(".")[0] for path in named} <= set(COLUMNS[repo]["columns"])
    for file in known.get("beside", []):
        paths = [*file.get("answers", []), *file.get("shown", [])]
        assert {path.split(".")[0] for path in paths} <= set(COLUMNS[repo]["beside"][file["path"]])


@pytest.mark.parametrize("repo", ROWS)
def test_no_path_is_both_withheld_and_shown(repo: str) -> None:
    known = ROWS[repo]
    kinds = [known["answers"], known.get("perhaps", []), known.get("shown", [])]
    assert not list(clashes(kinds))
    assert all(len(paths) == len(set(paths)) for paths in kinds)
    for file in known.get("beside", []):
        assert not list(clashes([file.get("answers", []), file.get("shown", [])]))
