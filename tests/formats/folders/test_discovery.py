"""Which folders are tasks: those of one make, side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.folders.discovery import are_main, places
from rlx.formats.folders.reader import FoldersReader
from rlx.hub.info import TreeEntry
from rlx.ids import check_ref


def listing(*paths: str, size: int = 10) -> dict[str, TreeEntry]:
    return {path: TreeEntry(path, size, "") for path in sorted(paths)}


def folders(prompt: str, check: str, *names: str) -> list[str]:
    return [f"{name}/{file}" for name in names for file in (prompt, check)]


@pytest.mark.parametrize(
    ("paths", "roots"),
    [
        (folders("prompt.md", "check.py", "tasks/a", "tasks/b"), ["tasks/a", "tasks/b"]),
        (folders("problem.txt", "solution.txt", "a", "b", "c"), ["a", "b", "c"]),
        (folders("prompt.md", "check.py", "tasks/x/a", "tasks/y/b"), ["tasks/x/a", "tasks/y/b"]),
        (folders(".docs/instructions.md", "a_test.py", "practice/a", "practice/b"), ["practice/a", "practice/b"]),
        (["task.yaml", "run-tests.sh", "tests/test_outputs.py"], [""]),
        ([*folders("prompt.md", "check.py", "a", "b"), "docs/x.md", "scripts/y.py", ".github/z"], ["a", "b"]),
    ],
)
def test_folders_of_one_make_are_tasks(paths: list[str], roots: list[str]) -> None:
    assert [place.root for place in places(listing(*paths))] == roots


@pytest.mark.parametrize(
    "paths",
    [
        folders("prompt.md", "check.py", "tasks/a"),
        ["prompt.md", "check.py"],
        [*folders("prompt.md", "check.py", "a", "b"), "c/x", "d/x"],
        [*folders("prompt.md", "check.py", "a"), *folders("question.md", "check.py", "b")],
        folders("prompt.md", "check.py", ".a/x", ".a/y"),
        folders("prompt.md", "check.py", "tests/a", "tests/b"),
        folders("prompt.md", "check.py", "tasks/a\nb", "tasks/a\nc"),
        folders("README.md", "tests/test_a.py", "packages/a", "packages/b"),
    ],
)
def test_what_may_be_anything_is_no_task(paths: list[str]) -> None:
    assert places(listing(*paths)) == ()


def test_what_harbor_reads_is_left_to_it() -> None:
    harbor = [f"tasks/{name}/{file}" for name in "ab" for file in ("task.toml", "instruction.md", "solution/solve.sh")]
    assert places(listing(*harbor)) == ()
    steps = folders("instruction.md", "solution.sh", "tasks/a/steps/1", "tasks/a/steps/2")
    assert places(listing(*harbor, *steps)) == ()


def test_a_task_inside_a_task_is_a_part_of_it() -> None:
    inner = folders("problem.md", "expected.txt", "tasks/a/cases/1", "tasks/a/cases/2")
    found = places(listing(*folders("prompt.md", "check.py", "tasks/a", "tasks/b"), *inner))
    assert [place.root for place in found] == ["tasks/a", "tasks/b"]
    assert [entry.path for entry in found[0].files if "cases" in entry.path] == sorted(inner)


def test_a_readme_around_tasks_tells_of_them() -> None:
    inner = folders("prompt.md", "check.py", "x/a", "x/b", "y/a", "y/b")
    found = places(listing(*inner, *folders("README.md", "grade.py", "x", "y")))
    assert [place.root for place in found] == ["x/a", "x/b", "y/a", "y/b"]


def test_where_not_everything_is_listed_only_terminal_bench_is_found() -> None:
    paths = [*folders("prompt.md", "check.py", "a", "b"), *folders("task.yaml", "tests/", "t/c", "t/d"), "more/"]
    assert [place.root for place in places(listing(*paths))] == ["t/c", "t/d"]


@pytest.mark.parametrize(
    ("others", "card", "expected"),
    [
        ([], {}, True),
        (["index.jsonl"], {}, True),
        (["data/train.parquet", "data/test.parquet"], {}, False),
        (["data/train.jsonl"], {"configs": [{"data_files": "data/*"}]}, False),
        (["notes.md", "index.json"], {}, True),
    ],
)
def test_folders_beside_rows_are_not_what_a_repository_is_about(
    others: list[str], card: dict[str, object], expected: bool
) -> None:
    tree = listing(*folders("prompt.md", "check.py", "a", "b", "c"), *others)
    assert are_main(places(tree), tree, card) is expected


PATHS = st.lists(st.sampled_from(["a", "b", "tasks", "tests", "x", ".docs", "Ü", "solution"]), max_size=5).flatmap(
    lambda parts: st.sampled_from(
        [
            "prompt.md",
            "check.py",
            "task.yaml",
            "run-tests.sh",
            "README.md",
            "instructions.md",
            "task.toml",
            "x.jsonl",
            "expected.txt",
        ]
    ).map(lambda file: "/".join([*parts, file]))
)


@given(st.lists(PATHS | st.text(min_size=1, max_size=20), max_size=40, unique=True))
def test_plans_of_any_listing_are_sorted_apart_and_addressable(paths: list[str]) -> None:
    tree = listing(*paths)
    plans = FoldersReader().plan(tree)
    roots = [plan.root for plan in plans]
    assert roots == sorted(set(roots))
    for plan in plans:
        assert check_ref(plan.ref)
        assert not any(other != plan.root and plan.root.startswith(f"{other}/") for other in roots if other)
        assert set(plan.wanted) <= {entry.path for entry in plan.files} <= set(tree)
