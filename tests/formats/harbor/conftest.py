"""Tasks written down in a test, read as the index reads them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from rlx.answers.stored import stored_json
from rlx.formats.harbor.reader import HarborReader
from rlx.hub.info import TreeEntry
from rlx.ids import parse_key
from rlx.index.records import Finished, TaskRecord
from rlx.model import Task
from rlx.twins.tasks import task_markdown

type Files = Mapping[str, str | bytes]

SIMPLE: dict[str, str | bytes] = {
    "task.toml": 'version = "1.0"\n[metadata]\ndifficulty = "easy"\n',
    "instruction.md": "Sort the numbers in /app/in.txt.\n",
    "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\n",
    "tests/test.sh": "#!/bin/bash\npytest /tests/test_state.py && echo 1 > /logs/verifier/reward.txt\n",
    "tests/test_state.py": "def test_sorted():\n    assert True\n",
    "solution/solve.sh": "sort /app/in.txt\n",
}


def to_bytes(files: Files) -> dict[str, bytes]:
    return {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}


def tree_of(files: Files) -> dict[str, TreeEntry]:
    return {path: TreeEntry(path, len(data), "") for path, data in sorted(to_bytes(files).items())}


def records_of(files: Files) -> list[TaskRecord]:
    """Read every task of a repository, its settings as they come back from a store."""
    reader, data = HarborReader(), to_bytes(files)
    records = [reader.read(plan, {path: data[path] for path in plan.wanted}) for plan in reader.plan(tree_of(files))]
    return [replace(item, settings=stored_json(json.loads(json.dumps(item.settings.value)))) for item in records]


@pytest.fixture
def simple() -> dict[str, str | bytes]:
    """The files of a small ordinary task, to be changed by the test."""
    return dict(SIMPLE)


@pytest.fixture
def read_task() -> Callable[[Files], TaskRecord]:
    """Reads a repository that is one task."""

    def read(files: Files) -> TaskRecord:
        (record,) = records_of(files)
        return record

    return read


@pytest.fixture
def page() -> Callable[..., str]:
    """The Markdown twin of a repository that is one task; `review` is what Harbor said of it."""

    def show(files: Files, review: Mapping[str, str | bool | None] | None = None) -> str:
        (record,) = records_of(files)
        if review is not None:
            record = replace(record, review=stored_json(dict(review)))
        view, card = HarborReader().task_view(record), record.card
        task = Task(
            ref=card.ref,
            title=card.title,
            brief=card.brief,
            sections=view.sections,
            glance=view.glance,
            withheld=record.withheld,
            run_options=view.run_options,
            support=view.support,
            facets=card.facets,
            problem=card.problem,
        )
        return task_markdown(task, parse_key("org/name"))

    return show


@pytest.fixture
def finish() -> Callable[[Files], "Finished"]:
    """Both passes over a repository of tasks; manifests among its files are read."""

    def both(files: Files) -> Finished:
        from rlx.formats.harbor.finish import finish as second

        shared = HarborReader().shared(tree_of(files))
        return second(records_of(files), {path: to_bytes(files)[path] for path in shared})

    return both
