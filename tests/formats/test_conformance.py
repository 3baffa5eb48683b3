"""Promises every format keeps, over every repository of the fixture hub, and a format that comes from outside."""

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rlx.errors import Forbidden, NotFound
from rlx.formats.base import Environment
from rlx.formats.registry import FORMATS, formats
from rlx.ids import EnvKey, check_ref, decode_ref, encode_ref, make_key
from rlx.model import ANONYMOUS, Blob, Listing, TaskQuery
from rlx.services import Services, create_services
from rlx.settings import Settings
from rlx.twins.jsonable import to_json
from rlx.twins.markdown import summary_markdown
from rlx.twins.tasks import task_markdown

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"
PLUGIN = Path(__file__).parents[1] / "plugin"
CANARY = re.compile(r"RLX-CANARY-[A-Z0-9-]{6,}")
KEYS = sorted(
    make_key("space" if kind == "spaces" else "dataset", path.parent.name, path.name)
    for kind in ("datasets", "spaces")
    for path in (FIXTURES / kind).glob("*/*")
)


@asynccontextmanager
async def services(tmp_path: Path, hub: Path = FIXTURES) -> AsyncIterator[Services]:
    settings = Settings(hub=str(hub), store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings) as made:
        yield made


async def all_refs(environment: Environment) -> list[str]:
    refs: list[str] = []
    while True:
        page = await environment.tasks(TaskQuery(offset=len(refs), limit=3))
        refs += [card.ref for card in page.items]
        if not page.items:
            assert len(refs) == page.total
            return refs


def test_names_are_unique_and_every_entry_loads() -> None:
    loaded = formats()
    assert len({format_.name for format_ in loaded}) == len(loaded) >= len(FORMATS)
    assert [format_.name for format_ in loaded[: len(FORMATS)]] == [entry.name for entry in FORMATS]


async def test_every_format_opens_a_fixture_of_its_own(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        opened = {(await made.library.open(key, ANONYMOUS, wait=None)).format for key in KEYS if readable(key)}
    assert {format_.name for format_ in formats()} <= opened


def readable(key: EnvKey) -> bool:
    """Whether the fixture hub lets everybody read it."""
    sidecar = FIXTURES / "hub.json"
    meta = json.loads(sidecar.read_text()) if sidecar.exists() else {}
    repos = meta.get("repos", meta)
    mine = repos.get(f"{key.kind}s/{key.repo_id}", {})
    return not (mine.get("private") or mine.get("gated"))


@pytest.mark.parametrize("key", [key for key in KEYS if readable(key)], ids=str)
async def test_an_environment_keeps_the_contract(key: EnvKey, tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        environment = await made.library.open(key, ANONYMOUS, wait=None)
        summary = await environment.summary()
        shown = [json.dumps(to_json(summary)), summary_markdown(summary)]
        refs = await all_refs(environment)
        assert len(set(refs)) == len(refs)
        assert summary.tasks == (len(refs) if refs else summary.tasks)
        assert (summary.tasks is None) == (summary.why is not None)
        for ref in refs:
            assert decode_ref(encode_ref(check_ref(ref))) == ref
            assert await environment.canonical(ref) == ref
            task = await environment.task(ref)
            assert task.ref == ref
            assert task.total == len(refs)
            assert task.title.strip()
            assert all(option.ok or option.reason for option in task.run_options)
            shown += [json.dumps(to_json(task)), task_markdown(task, key)]
            shown += await shown_files(environment, ref)
            assert await environment.aliases(ref) == ()
        shown += await shown_files(environment, None)
        chosen = await environment.random()
        assert chosen in refs if refs else chosen is None
        with pytest.raises(NotFound):
            await environment.task("no/such/task")
        with pytest.raises(NotFound):
            await environment.files(None, "../../etc/passwd")
    assert [CANARY.findall(text) for text in shown if CANARY.search(text)] == []


async def shown_files(environment: Environment, ref: str | None) -> list[str]:
    """Everything the file viewer shows of a task or a repository."""
    texts: list[str] = []
    folders = [""]
    while folders:
        listing = await environment.files(ref, folders.pop())
        assert isinstance(listing, Listing)
        texts.append(json.dumps(to_json(listing)))
        for entry in listing.entries:
            if entry.is_dir:
                folders.append(entry.path)
                continue
            try:
                blob = await environment.files(ref, entry.path)
            except Forbidden as error:
                texts.append(error.message)
                continue
            assert isinstance(blob, Blob)
            assert entry.withheld is None
            assert (blob.text is None) != (blob.data is None)
            texts.append(blob.text if blob.text is not None else (blob.data or b"").decode("latin-1"))
    return texts


@pytest.fixture
def toy_hub(tmp_path: Path) -> Path:
    repo = tmp_path / "hub" / "datasets" / "acme" / "toys"
    repo.mkdir(parents=True)
    tasks = [
        {"ref": "a/1", "prompt": "Add one and one.", "answer": "RLX-CANARY-TOY-ANSWER-1"},
        {"ref": "b 2%#?", "prompt": "Say {{ nothing }}.", "meta": {"goldAnswer": "RLX-CANARY-TOY-ANSWER-2"}},
    ]
    (repo / "toy.json").write_text(json.dumps(tasks))
    (repo / "README.md").write_text("---\ntags: [rl-environment]\n---\n# Toys\n")
    return tmp_path / "hub"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("env", "claim", "acme/toys"), "toy.json"),
        (("env", "ls", "--format", "json"), '"toy"'),
        (("task", "ls", "acme/toys"), "b 2%#?"),
        (("task", "show", "acme/toys", "a/1"), "Add one and one."),
        (("task", "show", "acme/toys", "b 2%#?", "--format", "json"), "{{ nothing }}"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_format_from_outside_works_by_entry_point_alone(
    toy_hub: Path, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(PLUGIN),
        "RLX_STORE": str(tmp_path / "store"),
        "RLX_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "rlx", *arguments, "--hub", str(toy_hub)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    assert "RLX-CANARY" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("env", "show", "acme/riddles"), "It has a column of riddles."),
        (("task", "ls", "acme/riddles", "--search", "keys"), "What has keys"),
        (("task", "show", "acme/riddles", "train/0"), "What has keys but no locks?"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_processor_from_outside_works_by_entry_point_alone(
    tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    repo = tmp_path / "hub" / "datasets" / "acme" / "riddles"
    repo.mkdir(parents=True)
    (repo / "train.jsonl").write_text(
        json.dumps({"riddle": "What has keys but no locks?", "answer": "RLX-CANARY-RIDDLE-1"}) + "\n"
    )
    environment = os.environ | {
        "PYTHONPATH": str(PLUGIN),
        "RLX_STORE": str(tmp_path / "store"),
        "RLX_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "rlx", *arguments, "--hub", str(tmp_path / "hub")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    assert "RLX-CANARY" not in done.stdout + done.stderr
