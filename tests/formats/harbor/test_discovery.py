"""Tasks are found by where their task.toml lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.formats.harbor.discovery import are_harbor, common_root, group_of, places, task_roots
from rlx.hub.info import TreeEntry


def listing(*paths: str) -> dict[str, TreeEntry]:
    return {path: TreeEntry(path, 1, "") for path in sorted(paths)}


@pytest.mark.parametrize(
    ("paths", "roots"),
    [
        (["tasks/a/task.toml", "tasks/b/task.toml"], ["tasks/a", "tasks/b"]),
        (["tasks/math/hard/a/task.toml"], ["tasks/math/hard/a"]),
        (["a/task.toml", "b/task.toml"], ["a", "b"]),
        (["bench/tasks/a/task.toml"], ["bench/tasks/a"]),
        (["task.toml", "instruction.md"], [""]),
        (["a/task.toml", "x/y/z/b/task.toml"], ["a", "x/y/z/b"]),
        (["tasks/größe 50%/task.toml"], ["tasks/größe 50%"]),
    ],
)
def test_every_layout_is_found(paths: list[str], roots: list[str]) -> None:
    assert list(task_roots(paths)) == sorted(roots)


@pytest.mark.parametrize(
    "path", [".cache/a/task.toml", "tasks/.hidden/task.toml", "tasks/a/mytask.toml", "tasks/a/task.toml.bak"]
)
def test_other_files_and_dot_folders_are_no_tasks(path: str) -> None:
    assert task_roots([path]) == ()


def test_a_task_deeper_than_eight_folders_is_not_looked_for() -> None:
    assert task_roots(["1/2/3/4/5/6/7/8/task.toml"]) == ("1/2/3/4/5/6/7/8",)
    assert task_roots(["1/2/3/4/5/6/7/8/9/task.toml"]) == ()


def test_a_task_inside_a_task_is_a_fixture_of_it() -> None:
    found = task_roots(["a/task.toml", "a/instruction.md", "a/environment/fixture/task.toml", "a/tests/x/task.toml"])
    assert found == ("a",)


def test_settings_shared_by_the_folders_below_hide_none_of_them() -> None:
    assert task_roots(["task.toml", "tasks/a/task.toml", "tasks/a/instruction.md"]) == ("tasks/a",)


def test_a_name_that_no_page_could_be_asked_for_is_left_out() -> None:
    assert task_roots(["tasks/a\nb/task.toml", "tasks/c/task.toml"]) == ("tasks/c",)


def test_files_belong_to_the_task_around_them() -> None:
    found = places(listing("README.md", "tasks/a/task.toml", "tasks/a/tests/test.sh", "tasks/ab/task.toml"))
    assert [(place.ref, [entry.path for entry in place.files]) for place in found] == [
        ("tasks/a", ["tasks/a/task.toml", "tasks/a/tests/test.sh"]),
        ("tasks/ab", ["tasks/ab/task.toml"]),
    ]


def test_a_repository_that_is_one_task_is_called_dot_and_owns_every_file() -> None:
    (place,) = places(listing("task.toml", "instruction.md", "README.md"))
    assert place.ref == "."
    assert place.relative("instruction.md") == place.absolute("instruction.md") == "instruction.md"


@pytest.mark.parametrize(
    ("roots", "groups"),
    [
        (["tasks/a", "tasks/b"], ["", ""]),
        (["tasks/math/a", "tasks/text/b"], ["math", "text"]),
        (["alpha/tasks/a", "beta/tasks/b"], ["alpha", "beta"]),
        (["ci/test-tasks/a", "tasks/MCM/b"], ["ci/test-tasks", "tasks/MCM"]),
        (["tasks/a", "tasks/deep/er/b"], ["", "deep/er"]),
        ([""], [""]),
    ],
)
def test_a_group_is_what_lies_between_the_common_root_and_the_task(roots: list[str], groups: list[str]) -> None:
    common = common_root(roots)
    assert [group_of(root, common) for root in roots] == groups


def test_a_task_toml_of_another_tool_has_no_part_of_a_harbor_task() -> None:
    assert are_harbor(["a"], {"a/task.toml", "a/tests/test.sh"})
    assert not are_harbor(["a"], {"a/task.toml", "a/run.py"})


@given(st.lists(st.lists(st.sampled_from(["a", "b", "tasks", "environment", "task.toml"]), max_size=5), max_size=12))
def test_no_task_lies_in_another_and_each_holds_its_own_files(parts: list[list[str]]) -> None:
    tree = listing(*("/".join([*part, "task.toml"]) for part in parts))
    found = places(tree)
    roots = [place.root for place in found]
    assert not any(
        inner != outer and f"{inner}/".startswith(f"{outer}/") for inner in roots for outer in roots if outer
    )
    assert all(entry.path.startswith(f"{place.root}/") for place in found for entry in place.files if place.root)
