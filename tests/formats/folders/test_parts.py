"""Which file of a folder plays which part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import file_verdict
from rlx.formats.folders.parts import is_test, read_parts

TERMINAL = ["Dockerfile", "docker-compose.yaml", "run-tests.sh", "solution.sh", "task.yaml", "tests/test_outputs.py"]
NAMES = st.sampled_from(
    [
        *TERMINAL,
        "README.md",
        "prompt.md",
        ".docs/instructions.md",
        ".meta/example.py",
        "check.py",
        "solution/a.py",
        "tests/",
        "expected.txt",
        "a/b/c.txt",
        "gold.patch",
        "test.patch",
        "package.json",
        "",
        "/",
        "Ünï.md",
        "tests/a/b.json",
    ]
)


@pytest.mark.parametrize(
    ("paths", "rule", "prompts"),
    [
        (TERMINAL, "settings", ["task.yaml"]),
        (["task.yml", "tests/"], "settings", ["task.yml"]),
        ([".docs/instructions.md", ".docs/introduction.md", "a_test.go"], "docs", None),
        (["Prompt.txt", "README.md", "check.py"], "name", ["Prompt.txt"]),
        (["description.md", "problem_statement.md", "grade.py"], "name", ["problem_statement.md"]),
        (["README.md", "verify.sh"], "readme", ["README.md"]),
        (["README.md", "solution.py"], "readme", ["README.md"]),
    ],
)
def test_the_prompt_is_told_by_the_surest_rule(paths: list[str], rule: str, prompts: list[str] | None) -> None:
    found = read_parts(paths)
    assert found is not None
    assert (found.rule, list(found.prompts)) == (rule, prompts or [".docs/introduction.md", ".docs/instructions.md"])


@pytest.mark.parametrize(
    "path",
    [
        "run-tests.sh",
        "test.py",
        "bowling_test.py",
        "TestBowling.java",
        "check_solution.py",
        "verify.js",
        "grade.py",
        "tests/a.py",
        "src/test/java/BowlingTest.java",
        "checker/main.cpp",
        "test.patch",
        "scorer.rs",
        "leap.spec.ts",
        "tests/",
    ],
)
def test_what_grades_is_a_checker(path: str) -> None:
    found = read_parts(["prompt.md", path])
    assert found is not None
    assert found.checkers == (path,)
    assert found.solutions == found.expected == ()


@pytest.mark.parametrize(
    "path",
    [
        "solution.sh",
        "solution/main.rs",
        "solutions/1.py",
        "solve.py",
        "reference_implementation.py",
        ".meta/example.py",
        "fix.patch",
        ".meta/proof.ci.js",
        "my_solution.txt",
        "oracle.py",
    ],
)
def test_what_solves_is_a_solution_and_withheld(path: str) -> None:
    found = read_parts(["prompt.md", path])
    assert found is not None
    assert found.solutions == (path,)
    assert file_verdict(path, task_root="a").kind == "withhold"


@pytest.mark.parametrize(
    "path",
    [
        "expected_output.txt",
        "label.txt",
        "ground_truth.sql",
        "answer.txt",
        "answer_key.csv",
        "1.out",
        "tests/case.json",
        "rubric.json",
        "gold.json",
        "tests.json",
    ],
)
def test_what_is_expected_is_data_and_withheld(path: str) -> None:
    found = read_parts(["prompt.md", path])
    assert found is not None
    assert found.expected == (path,)
    assert file_verdict(path, task_root="a").kind == "withhold"


@pytest.mark.parametrize(
    "paths",
    [
        ["prompt.md"],
        ["check.py"],
        ["prompt.md", "main.py", "data.csv"],
        ["README.md", "tests/test_a.py"],
        ["README.md", "package.json", "check.js"],
        ["README.md", "setup.py", "solution.py"],
        ["task.yaml", "pipeline.yaml"],
        ["docs/prompt.md", "check.py"],
        [],
    ],
)
def test_a_folder_without_a_prompt_and_what_grades_or_solves_it_is_no_task(paths: list[str]) -> None:
    assert read_parts(paths) is None


@given(st.lists(NAMES | st.text(max_size=30), max_size=12, unique=True))
def test_any_paths_give_parts_that_are_among_them_once(paths: list[str]) -> None:
    found = read_parts(paths)
    if found is not None:
        parts = [*found.prompts, *found.checkers, *found.expected, *found.solutions]
        assert len(set(parts)) == len(parts)
        assert set(parts) <= set(paths)
        assert found.checkers or found.expected or found.solutions


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("leap.spec.js", True),
        ("run-tests.sh", True),
        ("BowlingTest.java", True),
        ("tests/", True),
        ("verify.py", False),
        ("checker/main.cpp", False),
        ("latest.py", False),
    ],
)
def test_tests_are_told_from_programs_that_grade_by_themselves(path: str, expected: bool) -> None:
    assert is_test(path) is expected
