"""Who opens a repository of folders, and that a walk finds what a listing does."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rlx.formats.base import Environment
from rlx.ids import make_key
from rlx.model import ANONYMOUS, TaskQuery
from rlx.services import create_services
from rlx.settings import Settings
from rlx.twins.tasks import task_markdown

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hub"
KEY = make_key("dataset", "acme", "mixed")
ROWS = '{"question": "1+1?", "answer": "2"}\n'


@asynccontextmanager
async def opened(folder: Path, hub: Path, name: str = "mixed", deadline: float = 99.0) -> AsyncIterator[Environment]:
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache", listing_deadline=deadline)
    async with create_services(settings) as made:
        yield await made.library.open(make_key("dataset", "acme", name), ANONYMOUS, wait=None)


def folders(*names: str) -> dict[str, str]:
    return {f"{name}/{file}": "Do it.\n" for name in names for file in ("prompt.md", "check.py")}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (folders("a", "b"), "folders"),
        ({**folders("a", "b"), "a/data.csv": "x,y\n1,2\n"}, "folders"),
        ({**folders("a", "b"), "data/train.jsonl": ROWS * 9, "data/test.jsonl": ROWS * 9}, "rows"),
        ({**folders("tasks/a", "tasks/b"), "tasks/a/task.toml": "", "tasks/a/tests/test.sh": ""}, "harbor"),
        ({**folders("a"), "b/x.md": ""}, "files"),
    ],
)
async def test_the_surest_format_opens_it(tmp_path: Path, files: Mapping[str, str], expected: str) -> None:
    for path, text in {"README.md": "# Mixed\n", **files}.items():
        file = tmp_path / "hub" / "datasets" / "acme" / "mixed" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    async with opened(tmp_path, tmp_path / "hub") as environment:
        assert environment.format == expected


async def test_a_walk_finds_the_terminal_bench_tasks_that_a_listing_finds(tmp_path: Path) -> None:
    pages = []
    for deadline in (99.0, 0.0):
        async with opened(tmp_path / str(deadline), FIXTURES, "folders-terminal", deadline) as environment:
            found = await environment.tasks(TaskQuery())
            prompts = [(await environment.task(card.ref)).sections[0] for card in found.items]
            pages.append(([(card.ref, card.title, card.facets["graded"]) for card in found.items], prompts))
    assert pages[0] == pages[1]
    assert len(pages[0][0]) == 3


async def test_a_shown_task_tells_no_answer_of_its_folder(tmp_path: Path) -> None:
    async with opened(tmp_path, FIXTURES, "folders-exercises") as environment:
        for card in (await environment.tasks(TaskQuery())).items:
            page = task_markdown(await environment.task(card.ref), KEY)
            assert "RLX-SHOWN-EXERCISE" in page
            assert "RLX-CANARY" not in page
