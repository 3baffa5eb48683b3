"""Which files are wanted, what a record holds, and which repositories are claimed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rlx.formats.harbor.format import Harbor
from rlx.formats.harbor.reader import MAX_SCRIPT, MAX_SCRIPTS, HarborReader
from rlx.hub.client import HubClient
from rlx.hub.info import RepoInfo, TreeEntry, read_info
from rlx.hub.repo import Repo
from rlx.hub.tree import Tree
from rlx.index.records import TaskRecord
from rlx.texts import Say, words

type Files = dict[str, str | bytes]

SHA = "0123456789" * 4


def listing(**sizes: int) -> dict[str, TreeEntry]:
    return {path: TreeEntry(path, size, "") for path, size in sorted(sizes.items())}


def info(kind: str) -> RepoInfo:
    tags = ["harbor", "rl-environment"]
    return read_info("space" if kind == "space" else "dataset", {"id": "org/name", "sha": SHA, "tags": tags})


async def claim(paths: list[str], kind: str = "dataset") -> tuple[float, str] | None:
    client = HubClient("http://127.0.0.1:9")
    repo = Repo(client, info(kind), False, _tree=Tree(listing(**dict.fromkeys(paths, 1)), {}))
    found = await Harbor().claim(repo)
    await client.aclose()
    return (found.confidence, words(found.evidence)) if found else None


@pytest.mark.anyio
async def test_a_repository_is_claimed_by_its_task_folders_with_the_count() -> None:
    sure = ["tasks/a/task.toml", "tasks/a/tests/test.sh", "tasks/b/task.toml", "README.md"]
    assert await claim(sure) == (1.0, "2 folders hold a task.toml, tasks/a the first.")
    assert await claim(["a/task.toml", "a/instruction.md"]) == (1.0, "a holds a task.toml.")
    assert await claim(["task.toml", "instruction.md"]) == (
        1.0,
        "The repository itself is one task: its root holds a task.toml.",
    )


@pytest.mark.anyio
async def test_a_task_toml_alone_is_claimed_less_surely_and_a_tag_alone_not_at_all() -> None:
    assert (await claim(["jobs/task.toml"]) or (0, ""))[0] == 0.6
    assert await claim(["data/rows.parquet", "README.md"]) is None
    assert await claim(["a/task.toml"], kind="space") is None


def test_settings_and_instructions_come_first_then_what_grades() -> None:
    tree = listing(
        **{
            "t/task.toml": 1,
            "t/instruction.md": 1,
            "t/tests/deep/er/x.py": 1,
            "t/tests/grade.py": 1,
            "t/tests/test.sh": 1,
            "t/environment/Dockerfile": 1,
            "t/environment/data.bin": 9,
            "t/README.md": 1,
        }
    )
    (plan,) = HarborReader().plan(tree)
    assert [path.removeprefix("t/") for path in plan.wanted] == [
        "task.toml",
        "instruction.md",
        "tests/test.sh",
        "environment/Dockerfile",
        "tests/grade.py",
        "tests/deep/er/x.py",
    ]
    assert plan.judged == ("t/task.toml", "t/instruction.md")


def test_withheld_large_and_surplus_files_are_not_fetched() -> None:
    sizes = {"task.toml": 1, "solution/solve.sh": 1, "tests/expected.json": 1, "tests/big.py": MAX_SCRIPT + 1}
    sizes |= {f"tests/many/{n:04}.py": 1 for n in range(500)}
    (plan,) = HarborReader().plan(listing(**sizes))
    assert len(plan.wanted) == 1 + MAX_SCRIPTS
    assert not {"solution/solve.sh", "tests/expected.json", "tests/big.py"} & set(plan.wanted)


def test_instructions_of_steps_are_wanted_and_read_in_the_order_of_the_steps(
    read_task: Callable[[Files], TaskRecord],
) -> None:
    files: Files = {"task.toml": '[[steps]]\nname = "z"\n[[steps]]\nname = "a"\n'}
    files |= {f"steps/{name}/instruction.md": f"First thing of {name}." for name in ("a", "z")}
    assert read_task(files).card.brief == "First thing of z."


@pytest.mark.parametrize(
    ("settings", "instruction", "title"),
    [
        ('[metadata]\ntitle = "Mend it"', "# A heading here", "Mend it"),
        ('[task]\nname = "o/n"\ndescription = "Short words."', "# A heading here", "Short words"),
        (f'[task]\nname = "o/n"\ndescription = "{"long " * 40}"', "# A heading here", "A heading here"),
        ('[metadata]\ntitle = "{title}"', "Prose only.", "fix-it"),
        ("[metadata]\ntitle = 5", "", "fix-it"),
    ],
)
def test_titles_are_taken_from_what_says_most(settings: str, instruction: str, title: str) -> None:
    files = {"tasks/fix-it/task.toml": settings.encode(), "tasks/fix-it/instruction.md": instruction.encode()}
    reader = HarborReader()
    (plan,) = reader.plan(listing(**{path: len(data) for path, data in files.items()}))
    assert reader.read(plan, files).card.title == title


def test_settings_that_were_listed_and_not_read_are_a_problem() -> None:
    reader = HarborReader()
    (plan,) = reader.plan(listing(**{"task.toml": 10**9, "instruction.md": 1}))
    record = reader.read(plan, {"instruction.md": b"x"})
    assert isinstance(record.card.problem, Say)
    assert "could not be read" in words(record.card.problem)


def test_the_instruction_and_tags_are_searched_and_the_solution_is_not(
    simple: Files, read_task: Callable[[Files], TaskRecord]
) -> None:
    simple["task.toml"] = '[metadata]\ntags = ["numbers"]\nsolution_explanation = "quicksort"\n'
    search = read_task(simple).search
    assert "numbers" in search
    assert "Sort the numbers" in search
    assert "quicksort" not in search


def test_every_harbor_task_of_the_fixture_hub_is_read(fixture_hub: Path) -> None:
    reader, problems = HarborReader(), {}
    count = 0
    for repo in sorted(path for path in (fixture_hub / "datasets").glob("*/*") if path.is_dir()):
        files = {str(path.relative_to(repo)): path for path in sorted(repo.rglob("*")) if path.is_file()}
        plans = reader.plan({path: TreeEntry(path, file.stat().st_size, "") for path, file in files.items()})
        for plan in plans:
            record = reader.read(plan, {path: files[path].read_bytes() for path in plan.wanted})
            view = reader.task_view(record)
            count += 1
            assert [section.id for section in view.sections][-1] == "files"
            if isinstance(record.card.problem, Say):
                problems[f"{repo.name}/{plan.ref}"] = record.card.problem.key.rpartition(".")[2]
    assert count > 50
    assert problems["broken-toml/tasks/duplicate-key"] == "toml_at"
    assert problems["broken-toml/tasks/no-instruction"] == "missing"
    assert problems["odd-bytes/tasks/bom"] == "mark"
    assert problems["odd-bytes/tasks/latin-1"] == "not_utf8"
