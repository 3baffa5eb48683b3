"""Repositories too big to list: the index that fills in is the one a listing gives, and a killed reading goes on."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import anyio
import httpx2
import pytest

from rlx.answers import Shown, name
from rlx.answers.stored import stored, stored_json
from rlx.errors import Forbidden, NotReady, Upstream
from rlx.formats.base import Claim, Environment
from rlx.formats.harbor.discovery import MARKS
from rlx.formats.harbor.reader import HarborReader
from rlx.hub.client import HubClient
from rlx.hub.repo import Repo
from rlx.ids import EnvKey, make_key, parse_key
from rlx.index.build import build
from rlx.index.environment import IndexedEnvironment
from rlx.index.pack import Pack
from rlx.index.records import TaskRecord
from rlx.index.saving import names
from rlx.index.tasks import TaskIndex
from rlx.index.unfinished import record_in, record_out
from rlx.localhub import Fault, LocalHub
from rlx.model import ANONYMOUS, Blob, Listing, Page, TaskCard, TaskQuery, Viewer
from rlx.services import Services, create_services
from rlx.settings import Settings
from rlx.store.shelf import Shelf
from rlx.texts import say, words
from rlx.web.app import create_app

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"
SETS = sorted(
    make_key("dataset", path.parent.name, path.name)
    for path in (FIXTURES / "datasets").glob("*/*")
    if any(path.rglob("task.toml")) and path.name not in {"private-tasks", "gated-tasks"}
)
KEY = parse_key("acme/big-tasks")
TASKS = 14
EVERYTHING = TaskQuery(limit=1000)


def write_tasks(hub: Path, tasks: int = TASKS) -> Path:
    """Tasks of many kinds in folders of folders: steps, scripts that call scripts, one broken, one without a prompt."""
    root = hub / "datasets" / KEY.repo_id
    for n in range(tasks):
        task = root / ("sets/easy" if n % 3 else "more/deep/er/hard") / "tasks" / f"task-{n:03}"
        level = ("easy", "medium", "hard")[n % 3]
        files = {
            "task.toml": f'version = "1.0"\n[metadata]\ndifficulty = "{level}"\ncategory = "kind {n % 4}"\n',
            "instruction.md": f"Solve puzzle {n} and write the answer.\n",
            "environment/Dockerfile": f"FROM python:3.{8 + n % 3}\n",
            "environment/deep/data.csv": f"n\n{n}\n",
            "solution/solve.sh": "echo RLX-CANARY-BIG-SOLUTION\n",
            "tests/test.sh": "bash /tests/lib/run.sh\n",
            "tests/lib/run.sh": "python /tests/grade.py\n",
            "tests/grade.py": "import scoring\nopen('/logs/verifier/reward.json', 'w')\n",
            "tests/scoring.py": 'REWARD = {"accuracy": 1.0, "speed": 0.5}  # reward.json\n',
        }
        if n == 3:
            files["task.toml"] = "[broken\n"
        if n == 4:
            del files["instruction.md"]
        if n == 5:
            files["task.toml"] += '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
            files |= {f"steps/{step}/{name}": f"{step}\n" for step in ("one", "two") for name in ("instruction.md",)}
            files["steps/two/tests/test.sh"] = "python /tests/grade.py\n"
        for path, text in files.items():
            (task / path).parent.mkdir(parents=True, exist_ok=True)
            (task / path).write_text(text)
    (root / "README.md").write_text(
        "---\npretty_name: Big\n---\nTasks of many kinds, more than can be listed at once.\n"
    )
    (root / "dataset.toml").write_text('[dataset]\nname = "big"\n')
    (root / ".github").mkdir(exist_ok=True)
    (root / ".github" / "x.yml").write_text("a: 1\n")
    return hub


class Gate(httpx2.AsyncBaseTransport):
    """A hub in this process. `before` is asked before each request and may wait, cancel or refuse."""

    def __init__(self, hub: LocalHub) -> None:
        self.hub = hub
        self.seen: list[str] = []
        self.before: Callable[[str], None] = lambda path: None
        self.held: dict[str, anyio.Event] = {}
        self._inner = httpx2.ASGITransport(app=hub.app)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.raw_path.decode()
        self.seen.append(path)
        self.before(path)
        for part, event in self.held.items():
            if part in path:
                await event.wait()
        return await self._inner.handle_async_request(request)

    def files(self) -> list[str]:
        return [path for path in self.seen if "/resolve/" in path]


@asynccontextmanager
async def opened(hub: Path, *, deadline: float | None = 0.0) -> AsyncIterator[tuple[Repo, Gate]]:
    gate = Gate(LocalHub(hub))
    client = HubClient("http://hub.test", transport=gate, connections=4, pause=0.0001)
    try:
        info = await client.info(KEY, token=False)
        yield Repo(client, info, False, deadline=deadline, marks=MARKS), gate
    finally:
        await client.aclose()


@asynccontextmanager
async def services(
    folder: Path, hub: Path, *, deadline: float = 0.0, gate: Gate | None = None
) -> AsyncIterator[Services]:
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache", listing_deadline=deadline)
    async with create_services(settings, transport=gate or Gate(LocalHub(hub)), clock=lambda: 0.0) as made:
        yield made


async def read(repo: Repo, shelf: Shelf, *, on_published: Callable[[], None] = lambda: None, together: int = 3) -> None:
    await build(
        repo,
        HarborReader(),
        shelf,
        on_progress=lambda progress: None,
        pack_budget=1 << 20,
        turn=nullcontext,
        on_published=on_published,
        together=together,
    )


def kept(repo: Repo, shelf: Shelf) -> tuple[TaskIndex, Pack]:
    index, pack = map(shelf.find, names(repo, HarborReader()))
    assert index is not None
    assert pack is not None
    return TaskIndex(index), Pack(pack)


def told(index: TaskIndex) -> tuple[Page[TaskCard], dict[str, str], object]:
    header = index.header
    facts = (header.title, header.brief, header.readme, header.facts, header.facet_order, header.tile, header.subsets)
    return index.page(EVERYTHING), index.digests(), facts


async def whole(folder: Path, hub: Path) -> tuple[Page[TaskCard], dict[str, str], object]:
    """What a listing of everything gives."""
    async with opened(hub, deadline=None) as (repo, _):
        await read(repo, Shelf(None, folder))
        index, _ = kept(repo, Shelf(None, folder))
        assert not index.header.walked
        return told(index)


async def test_an_index_that_filled_in_is_the_one_a_listing_gives(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    expected = await whole(tmp_path / "whole", hub)
    shelf = Shelf(None, tmp_path / "walked")
    async with opened(hub) as (repo, gate):
        await read(repo, shelf)
        index, pack = kept(repo, shelf)
        assert told(index) == expected
        assert (index.header.walked, index.header.pending, index.header.unsearched) == (True, 0, 0)
        assert pack.unfinished() == {}
        assert not [path for path in gate.seen if "recursive=true" in path]
        assert len(gate.files()) == len(set(gate.files()))
    graded = next(facet for facet in expected[0].facets if facet.key == "graded")
    assert {str(value.value) for value in graded.values} >= {"Named scores"}


@pytest.mark.parametrize("key", SETS, ids=str)
async def test_every_set_reads_the_same_walked_as_listed(tmp_path: Path, key: EnvKey) -> None:
    found = []
    for deadline in (99.0, 0.0):
        async with services(tmp_path / str(deadline), FIXTURES, deadline=deadline) as made:
            opened = await made.library.open(key, ANONYMOUS, wait=None)
            assert isinstance(opened, IndexedEnvironment)
            assert opened.index.header.walked == (deadline == 0)
            found.append((told(opened.index), (await opened.summary()).sections))
    assert found[0] == found[1]


async def test_it_is_published_before_a_file_of_a_task_is_read_and_as_it_grows(tmp_path: Path) -> None:
    shelf = Shelf(None, tmp_path / "shelf")
    seen: list[tuple[int, int, list[str]]] = []
    async with opened(write_tasks(tmp_path / "hub")) as (repo, gate):

        def look() -> None:
            index, _ = kept(repo, shelf)
            of_tasks = [path for path in gate.files() if "/tasks/" in path]
            seen.append(
                (index.header.pending, len(of_tasks), [str(card.title) for card in index.page(EVERYTHING).items])
            )

        await read(repo, shelf, on_published=look)
    assert seen[0][:2] == (TASKS, 0)
    assert set(seen[0][2]) == {f"task-{n:03}" for n in range(TASKS)}
    assert [pending for pending, _, _ in seen] == [14, 11, 8, 2]  # as many again as were read before


@pytest.mark.parametrize("fatal", [1, 4, 9, 15, 25, 40, 60, 75])
async def test_a_reading_killed_at_any_request_goes_on_from_what_was_published(tmp_path: Path, fatal: int) -> None:
    hub = write_tasks(tmp_path / "hub")
    expected = await whole(tmp_path / "whole", hub)
    shelf = Shelf(None, tmp_path / "shelf")
    async with opened(hub) as (repo, gate):
        with anyio.CancelScope() as scope:
            gate.before = lambda path: scope.cancel() if len(gate.seen) > fatal else None
            await read(repo, shelf)
    async with opened(hub) as (repo, gate):
        named = shelf.find(names(repo, HarborReader())[0]) is not None
        done: set[str] = set()
        if named:
            index, pack = kept(repo, shelf)
            done = {record.card.ref for record in pack.unfinished().values()}
            assert index.header.pending == TASKS - len(done)
        await read(repo, shelf)
        index, _ = kept(repo, shelf)
        assert told(index) == expected
        assert not [path for path in gate.files() if any(f"/{ref}/" in path for ref in done)]
        assert not (named and [path for path in gate.seen if "/tree/" in path])


async def test_a_hub_that_fails_leaves_all_that_was_read_to_go_on_with(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    shelf = Shelf(None, tmp_path / "shelf")
    async with opened(hub) as (repo, gate):
        gate.hub.faults.add(Fault(path="*/resolve/*task-008*", status=429, reset=7))
        with pytest.raises(Upstream, match="rate limit"):
            await read(repo, shelf, together=2)
        index, pack = kept(repo, shelf)
        before = index.header.pending
        assert 0 < before < TASKS
        assert len(pack.unfinished()) == TASKS - before
        gate.hub.faults.clear()
        await read(repo, shelf, together=2)
        index, _ = kept(repo, shelf)
    assert told(index) == await whole(tmp_path / "whole", hub)


async def test_a_damaged_draft_is_begun_anew(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub", 4)
    shelf = Shelf(None, tmp_path / "shelf")
    async with opened(hub) as (repo, gate):
        gate.hub.faults.add(Fault(path="*/resolve/*", after=1, status=404, code="EntryNotFound"))
        with pytest.raises(Exception, match="No "):
            await read(repo, shelf)
        pack = shelf.find(names(repo, HarborReader())[1])
        assert pack is not None
        pack.write_bytes(b"garbage" * 999)
        gate.hub.faults.clear()
        await read(repo, shelf)
        index, _ = kept(repo, shelf)
    assert told(index) == await whole(tmp_path / "whole", hub)


async def test_it_opens_while_it_is_read_and_says_so(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    gate = Gate(LocalHub(hub))
    held = gate.held["task-000/task.toml"] = anyio.Event()
    async with services(tmp_path, hub, gate=gate) as made:
        opened = await made.library.open(KEY, ANONYMOUS)
        assert isinstance(opened, IndexedEnvironment)
        assert opened.is_pending
        assert (await opened.tasks(EVERYTHING)).total == TASKS
        progress = (await opened.summary()).progress
        assert progress is not None
        assert (progress.unit, progress.done, progress.total) == ("tasks", 0, TASKS)

        ref = "sets/easy/tasks/task-007"
        task = await opened.task(ref)
        assert str(task.brief) == "Solve puzzle 7 and write the answer."
        assert words(task.facets["graded"][0]) == "Named scores"
        assert (task.position, task.total) == (list(opened.index.refs()).index(ref), TASKS)
        with pytest.raises(Forbidden):
            await opened.files(ref, "solution/solve.sh")

        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=create_app(made)), base_url="http://127.0.0.1"
        ) as client:
            page = (await client.get(KEY.page)).text
            assert words(say("env.filling")) in page
            assert words(say("env.tasks_read", done=0, n=TASKS)) in page
            assert "task-013" in page
            assert "puzzle 7" in (await client.get(KEY.task_page(ref))).text
            held.set()
            assert (await made.library.open(KEY, ANONYMOUS, wait=None)) is not opened
            page = (await client.get(KEY.page)).text
            assert words(say("env.filling")) not in page
            assert words(say("index.walked")) in page
        again = await made.library.open(KEY, ANONYMOUS)
        assert isinstance(again, IndexedEnvironment)
        assert (await again.summary()).progress is None
        assert (await again.task(ref)).sections == task.sections
    assert told(again.index) == await whole(tmp_path / "whole", hub)


async def test_a_reading_that_failed_half_way_rests_and_then_goes_on(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    gate = Gate(LocalHub(hub))
    gate.hub.faults.add(Fault(path="*/resolve/*task-000*", status=503))
    async with services(tmp_path, hub, gate=gate) as made:
        with pytest.raises(Upstream):
            await made.library.open(KEY, ANONYMOUS, wait=None)
        opened = await made.library.open(KEY, ANONYMOUS)
        assert (await opened.summary()).tasks == TASKS
        assert await made.library.progress(KEY, ANONYMOUS) is None
        gate.hub.faults.clear()
        gate.seen.clear()
        await made.library.open(KEY, ANONYMOUS, wait=None)
        assert not [path for path in gate.seen if "/tree/" in path]


async def test_another_process_opens_what_was_named_and_goes_on(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    gate = Gate(LocalHub(hub))
    gate.held["task.toml"] = anyio.Event()
    async with services(tmp_path, hub, gate=gate) as made:
        assert (await (await made.library.open(KEY, ANONYMOUS)).summary()).progress is not None
    gate = Gate(LocalHub(hub))
    async with services(tmp_path, hub, gate=gate) as made:
        assert (await (await made.library.open(KEY, ANONYMOUS, wait=0)).summary()).tasks == TASKS
        opened = await made.library.open(KEY, ANONYMOUS, wait=None)
        assert (await opened.summary()).progress is None
    assert not [path for path in gate.seen if "/tree/" in path]


async def test_files_that_no_walk_saw_are_listed_when_they_are_opened(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    async with services(tmp_path, hub) as made:
        await made.library.open(KEY, ANONYMOUS, wait=None)
    gate = Gate(LocalHub(hub))
    async with services(tmp_path, hub, gate=gate) as made:
        opened = await made.library.open(KEY, ANONYMOUS, wait=0)
        ref = "sets/easy/tasks/task-007"
        top = await opened.files(None)
        assert isinstance(top, Listing)
        assert [entry.path for entry in top.entries] == [".github", "more", "sets", "README.md", "dataset.toml"]
        folder = await opened.files(ref, "environment")
        assert isinstance(folder, Listing)
        assert [entry.path for entry in folder.entries] == ["environment/deep", "environment/Dockerfile"]
        for path, text in (("environment/deep/data.csv", "n\n7\n"), ("instruction.md", "Solve puzzle 7")):
            blob = await opened.files(ref, path)
            assert isinstance(blob, Blob)
            assert str(blob.text).startswith(text)
        own = await opened.files(ref)
        assert isinstance(own, Listing)
        assert [(entry.path, entry.withheld is not None) for entry in own.entries if entry.is_dir] == [
            ("environment", False),
            ("solution", True),
            ("tests", False),
        ]
        with pytest.raises(Forbidden):
            await opened.files(ref, "solution/solve.sh")
        made_folder = await opened.materialize(ref, tmp_path / "out")
        assert (made_folder / "environment" / "deep" / "data.csv").read_text() == "n\n7\n"
        below = f"/tree/{(await opened.summary()).revision}/sets%2Feasy%2Ftasks%2Ftask-007?recursive=true"
        assert [path for path in gate.seen if "recursive=true" in path and below not in path] == []


async def test_a_repository_without_tasks_is_browsed_and_not_counted(tmp_path: Path) -> None:
    root = tmp_path / "hub" / "datasets" / KEY.repo_id
    for path in ("README.md", "data/a.txt", ".github/b.txt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)

    class Thorough:
        name = "thorough"

        async def claim(self, repo: Repo) -> Claim | None:
            return Claim(1.0, name("All of it.")) if await repo.tree() else None

        async def open(self, repo: Repo, viewer: Viewer) -> Environment:
            raise AssertionError("It wants every file, and claims nothing where there are too many.")

    settings = Settings(hub=str(tmp_path / "hub"), store=tmp_path / "s", cache_dir=tmp_path / "c", listing_deadline=0)
    async with create_services(settings, known_formats=[Thorough()]) as made:
        opened = await made.library.open(KEY, ANONYMOUS, wait=None)
        summary = await opened.summary()
        assert (opened.format, summary.tasks, summary.how) == ("files", None, (say("files.how_many"),))
        inner = await opened.files(None, ".github")
        assert isinstance(inner, Listing)
        assert [entry.path for entry in inner.entries] == [".github/b.txt"]


async def test_a_walked_and_a_listed_revision_are_compared_task_by_task(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    changed = "sets/easy/tasks/task-007"
    local = LocalHub(hub, rescan=0)
    async with services(tmp_path, hub, deadline=99.0, gate=Gate(local)) as made:
        old = (await (await made.library.open(KEY, ANONYMOUS, wait=None)).summary()).revision
    task = hub / "datasets" / KEY.repo_id / changed
    (task / "environment" / "deep" / "data.csv").write_text("n\n8888\n")
    (task / "instruction.md").write_text("Another puzzle.\n")
    async with services(tmp_path, hub, gate=Gate(local)) as made:
        new = (await (await made.library.open(KEY, ANONYMOUS, wait=None)).summary()).revision
        changes = await made.library.changes(KEY, ANONYMOUS, old, new)
        assert (changes.changed, changes.same, changes.unknown) == ((changed,), TASKS - 1, ())
        found = await made.library.task_changes(KEY, ANONYMOUS, old, new, changed)
        assert found.partial
        assert [(item.path, item.kind) for item in found.files] == [("instruction.md", "changed")]


async def test_where_folders_have_no_ids_changes_are_not_known(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub", 3)

    class Silent(Gate):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = await super().handle_async_request(request)
            if "/tree/" not in request.url.path and "/paths-info/" not in request.url.path:
                return answer
            entries = json.loads(await answer.aread())
            bare = [{**entry, "oid": None} if entry["type"] == "directory" else entry for entry in entries]
            return httpx2.Response(200, json=bare)

    local = LocalHub(hub, rescan=0)
    async with services(tmp_path, hub, deadline=99.0, gate=Gate(local)) as made:
        old = (await (await made.library.open(KEY, ANONYMOUS, wait=None)).summary()).revision
    (hub / "datasets" / KEY.repo_id / "NOTES.md").write_text("New.")
    async with services(tmp_path, hub, gate=Silent(local)) as made:
        opened = await made.library.open(KEY, ANONYMOUS, wait=None)
        changes = await made.library.changes(KEY, ANONYMOUS, old, (await opened.summary()).revision)
    assert (changes.changed, changes.same, len(changes.unknown)) == ((), 0, 3)


async def test_a_first_reading_is_waited_for_till_its_tasks_are_named(tmp_path: Path) -> None:
    hub = write_tasks(tmp_path / "hub")
    gate = Gate(LocalHub(hub))
    held = gate.held["paths-info"] = anyio.Event()
    async with services(tmp_path, hub, gate=gate) as made:
        with pytest.raises(NotReady):
            await made.library.open(KEY, ANONYMOUS, wait=0)
        steps = []
        held.set()
        async for progress in made.library.follow(KEY, ANONYMOUS):
            steps.append((progress.step, progress.unit))
        assert [step for step in dict.fromkeys(steps) if step[0] != "parsing"] == [
            ("listing", "files"),
            ("reading", "tasks"),
            ("saving", "files"),
            ("done", "files"),
        ]


async def test_what_the_second_pass_wants_survives_being_kept() -> None:
    notes = {"briefs": (stored("a"), stored("b")), "metadata": {"k": ("x", "y")}, "numbers": {"n": 1.5, "m": None}}
    card = TaskCard("r", stored("t"), stored("b"), {"f": (stored("v"),)}, say("env.same"))
    record = TaskRecord(card, "searched", stored_json(None), {}, (), notes=notes)
    found = record_in(json.loads(json.dumps(record_out(record))))
    assert found == record
    assert all(isinstance(text, Shown) for text in found.notes["briefs"])  # type: ignore[attr-defined]  # notes are the format's
    assert not any(isinstance(text, Shown) for text in found.notes["metadata"]["k"])  # type: ignore[index]  # as above
