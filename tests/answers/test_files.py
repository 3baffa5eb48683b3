"""Files by their path: what is shown, looked into, and withheld."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers import file_bytes_ok, file_verdict

TASK = "tasks/one"

WITHHELD = """
solution/solve.sh solution/fix.patch solution/oracle/x/solution.py steps/implement/solution/solve.sh
environment/bug.patch environment/fix.diff gold.json reference_patch.json oracle_intents.json
oracle_session.jsonl original_session.json canonical_goals.json user_simulation_prompt.md fix_summary.md
scoring_table.md solution.sh solve.sh notes.md data.csv tests/expected_result.json tests/item.json
tests/eval_inputs.jsonl tests/config.json tests/reference.png tests/answers.txt tests/Data/x.py
tests/fixtures/a.ts tests/a/__snapshots__/b.test.js.snap tests/golden/a.py tests/expected/run.sh
tests/deep/expected_index.js tests/solution.py tests/oracle_solution.py steps/implement/tests/expected.txt
environment/expected_output.json environment/answers/a.txt environment/data/gold.jsonl
environment/audio.label.txt environment/solutions/a.py .git/config
reference_implementation.py golden.py canonical_model.rs .meta/example.py .meta/src/lib.rs .meta/config.json sol.cpp
answer_key.csv problem.json prompt/gold.md prompt.gold.md data/problem.md prompts.md solution.yaml expected_output.txt
"""
SHOWN = """
instruction.md README.md README LICENSE steps/one/instruction.md prompt.md prompt.txt problem_statement.md question.txt
description.md .docs/instructions.md .docs/introduction.md .docs/instructions.append.md
"""
LOOKED_INTO = """
task.toml tests/test.sh tests/test_outputs.py tests/Dockerfile tests/helpers.sh tests/grade.py
tests/src/a.test.ts tests/check_solution.py tests/oracle_task.py environment/Dockerfile
environment/docker-compose.yaml environment/setup.sh environment/data/problem.md environment/oracle/init.sql
environment/oracle-service/server.py environment/reference.bib environment/src/solutions.py
environment/golden_retriever.csv environment/train_labels.csv environment/reference.fasta
environment/app/tests/fixtures/a.json db.json tools.py gen_db.py trajectory.json run-tests.sh config.yaml
task.yaml meta.json check_reference.py bowling_test.py
steps/one/workdir/setup.sh steps/one/workdir/config.txt
"""


@pytest.mark.parametrize("path", WITHHELD.split())
def test_a_task_keeps_its_answers(path: str) -> None:
    verdict = file_verdict(path, task_root=TASK)
    assert verdict.kind == "withhold"
    assert verdict.reason is not None


@pytest.mark.parametrize("path", SHOWN.split())
def test_what_the_agent_reads_is_shown(path: str) -> None:
    assert file_verdict(path, task_root=TASK).kind == "show"


@pytest.mark.parametrize("path", LOOKED_INTO.split())
def test_what_is_needed_to_understand_a_task_is_looked_into(path: str) -> None:
    assert file_verdict(path, task_root=TASK).kind == "look"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tasks/a/solution/solve.sh", "withhold"),
        ("tasks/a/environment/bug.patch", "withhold"),
        ("tasks/a/tests/expected_result.json", "withhold"),
        ("tasks/a/tests/test.sh", "look"),
        ("datasets/general-agent/a/gold.json", "withhold"),
        ("tasks/a/oracle_session.jsonl", "withhold"),
        ("tasks/a/fix_summary.md", "withhold"),
        ("tasks/a/solution.sh", "withhold"),
        ("tasks/a/steps/b/tests/expected.txt", "withhold"),
        ("tasks/a/instruction.md", "show"),
        ("README.md", "show"),
        ("data/test.jsonl", "look"),
        ("rows.sqlite", "withhold"),
        ("answers.jsonl", "withhold"),
        ("data/gold.csv", "withhold"),
        ("src/solutions.py", "look"),
        ("reference.bib", "look"),
        ("server/Dockerfile", "look"),
        ("openenv.yaml", "look"),
        ("jobs/a/b__c/verifier/test-stdout.txt", "look"),
        ("jobs/a/b__c/agent/oracle.txt", "withhold"),
    ],
)
def test_a_repository_is_judged_by_where_its_tasks_lie(path: str, kind: str) -> None:
    assert file_verdict(path, task_root=None).kind == kind


@pytest.mark.parametrize(
    ("path", "task_root", "allowed"),
    [
        ("environment/media/rotor.png", TASK, True),
        ("environment/audio.wav", TASK, True),
        ("environment/data/book.xlsx", TASK, True),
        ("environment/data/tool", TASK, True),
        ("environment/data.csv", TASK, False),
        ("tests/reference.png", TASK, False),
        ("solution/plot.png", TASK, False),
        ("assets/logo.png", None, True),
        ("images/0001.jpg", None, True),
        ("expected_output.png", None, False),
        ("data/train.parquet", None, False),
        ("data/rows.jsonl", None, False),
        ("tasks.tar", None, False),
        ("a.zip", None, False),
        ("data/HumanEval.jsonl.gz", None, False),
        ("weights.bin", None, False),
        ("page.svg", None, False),
    ],
)
def test_bytes_are_served_where_they_cannot_hold_an_answer(path: str, task_root: str | None, allowed: bool) -> None:
    assert (file_bytes_ok(path, task_root) is None) is allowed


@given(st.lists(st.text(max_size=12), max_size=6).map("/".join), st.sampled_from([None, "", TASK]))
def test_any_path_gets_a_verdict(path: str, task_root: str | None) -> None:
    verdict = file_verdict(path, task_root=task_root)
    assert (verdict.kind == "withhold") == (verdict.reason is not None)


@given(
    st.sampled_from(["solution", "Solution", "solutions"]),
    st.lists(st.sampled_from(["a", "environment", "tests", "src"]), max_size=4),
    st.lists(st.sampled_from(["a", "environment", "tests", "src"]), max_size=3),
    st.sampled_from([None, "", TASK]),
)
def test_nothing_below_a_solution_folder_is_ever_shown(
    folder: str, above: list[str], below: list[str], task_root: str | None
) -> None:
    path = "/".join([*above, folder, *below, "README.md"])
    assert file_verdict(path, task_root=task_root).kind == "withhold"
