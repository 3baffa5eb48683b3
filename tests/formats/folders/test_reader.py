"""Records and pages of folders, whatever they hold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.answers.stored import stored_json
from rlx.formats.folders.reader import FoldersReader
from rlx.hub.info import TreeEntry
from rlx.ids import parse_key
from rlx.index.records import Counts, TaskRecord
from rlx.model import Prompt, Section, Task
from rlx.twins.jsonable import to_json
from rlx.twins.tasks import task_markdown

READER = FoldersReader()
CHECK = "EXPECTED = 'RLX-CANARY-CHECK-1'\n\n\ndef check(x):\n    return x == EXPECTED\n"
TERMINAL = {
    "task.yaml": "instruction: Sort it.\ndifficulty: hard\ntags: [x]\nanswer: RLX-CANARY-YAML-1\n",
    "run-tests.sh": "pytest\n",
    "solution.sh": "echo RLX-CANARY-SOLVE-1\n",
    "Dockerfile": "FROM a:1\nWORKDIR /w\n",
}


def records_of(files: Mapping[str, str]) -> Sequence[TaskRecord]:
    """Every task of a repository, as it comes back from a store."""
    data = {path: text.encode() for path, text in files.items()}
    tree = {path: TreeEntry(path, len(value), "") for path, value in sorted(data.items())}
    read = [READER.read(plan, {path: data[path] for path in plan.wanted}) for plan in READER.plan(tree)]
    return [replace(item, settings=stored_json(json.loads(json.dumps(item.settings.value)))) for item in read]


def page_of(record: TaskRecord) -> str:
    view = READER.task_view(record)
    task = Task(
        record.card.ref,
        record.card.title,
        record.card.brief,
        view.sections,
        view.glance,
        record.withheld,
        view.run_options,
        view.support,
        record.card.facets,
    )
    return task_markdown(task, parse_key("acme/folders")) + json.dumps(to_json(task))


def prompts_of(record: TaskRecord) -> list[str]:
    sections: Sequence[Section] = READER.task_view(record).sections
    return [block.text for section in sections for block in section.blocks if isinstance(block, Prompt)]


def pair(files: Mapping[str, str]) -> dict[str, str]:
    return {f"tasks/{name}/{path}": text for name in ("a", "b") for path, text in files.items()}


def test_a_terminal_bench_task_tells_what_its_harness_makes_of_it() -> None:
    first, _ = records_of(pair(TERMINAL))
    page = page_of(first)
    assert prompts_of(first) == ["Sort it."]
    assert "harbor task migrate -i tasks/a -o harbor-tasks" in page
    assert first.card.facets["difficulty"] == ("Hard",)
    assert first.card.facets["timeout"] == ("Up to 15 min",)
    assert first.card.facets["runs"] == ("Dockerfile",)
    assert "RLX-CANARY" not in page


def test_a_repository_that_is_one_task_is_read() -> None:
    (only,) = records_of(TERMINAL)
    assert only.card.ref == "."
    assert "harbor task migrate -i . -o harbor-tasks" in page_of(only)


def test_what_was_inferred_is_said_with_its_rule() -> None:
    files = {"prompt.md": "# Fix the clock\n\nIt is slow.\n", "check.py": CHECK, "answer.txt": "RLX-CANARY-ANSWER-1"}
    first, _ = records_of(pair(files))
    page = page_of(first)
    assert str(first.card.title) == "Fix the clock"
    assert first.card.facets["graded"] == ("Checker",)
    assert "Likely: named as one." in page
    assert "answer.txt" in page
    assert "RLX-CANARY" not in page


def test_a_prompt_that_could_not_be_read_is_a_problem() -> None:
    tree = {path: TreeEntry(path, 5, "") for path in pair({"prompt.md": "", "check.py": ""})}
    (plan, _) = READER.plan(tree)
    record = READER.read(plan, {})
    assert record.card.problem is not None
    assert "could not be read" in page_of(record)


def test_settings_that_cannot_be_read_claim_no_limits() -> None:
    first, _ = records_of(pair({**TERMINAL, "task.yaml": "instruction: [\n"}))
    assert first.card.problem is not None
    assert "timeout" not in first.card.facets
    assert "harbor task migrate" not in page_of(first)


async def _finished(records: Sequence[TaskRecord]) -> str:
    made = await READER.finish(records, {})
    return json.dumps(to_json(READER.summary_view(made.header, Counts(len(records), {}))))


@pytest.mark.parametrize("files", [TERMINAL, {"prompt.md": "Do it.", "check.py": CHECK}])
def test_a_summary_says_how_parts_were_told(files: Mapping[str, str]) -> None:
    told = anyio.run(_finished, records_of(pair(files)))
    assert ("Terminal-Bench's of the first format" if "task.yaml" in files else "was told by names") in told


TEXTS = st.text(max_size=60) | st.sampled_from([*TERMINAL.values(), CHECK, '{"difficulty": [1]}', "{", "a: {b: [c]}"])
FILES = st.dictionaries(
    st.sampled_from(
        [
            *TERMINAL,
            "prompt.md",
            "check.py",
            "tests/test_a.py",
            "meta.json",
            "metadata.json",
            "docker-compose.yaml",
            ".docs/instructions.md",
            "README.md",
            "solution.py",
            "tests/x/y.json",
        ]
    ),
    TEXTS,
    max_size=9,
)


@given(FILES)
def test_no_folder_raises_and_none_tells_its_solution(files: Mapping[str, str]) -> None:
    marked = {
        path: f"{text}\nRLX-CANARY-ANY-1" if path.startswith("solution") else text for path, text in files.items()
    }
    records = records_of(pair(marked))
    for record in records:
        assert "RLX-CANARY-ANY-1" not in page_of(record)
    if records:
        anyio.run(_finished, records)
