"""Opening environments: who may see what, first readings, damaged and killed ones."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from rlx.errors import Forbidden, NotFound, NotReady, Upstream
from rlx.ids import EnvKey, parse_key
from rlx.localhub import Fault, LocalHub
from rlx.model import ANONYMOUS, EnvQuery, TaskQuery, TaskSearch, Viewer
from rlx.services import LOCAL_HUB, Services, create_services
from rlx.settings import Settings
from rlx.store.instance import Instance
from rlx.texts import words

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hub"
ALICE = Viewer("session", "alice", "hf_alice")
BOB = Viewer("session", "bob", "hf_bob")
PRIVATE = parse_key("acme/private-tasks")
GATED = parse_key("acme/gated-tasks")
TASKS = parse_key("acme/layout-tasks")


@asynccontextmanager
async def services(
    folder: Path, *, hub: Path = FIXTURES, transport: httpx2.AsyncBaseTransport | None = None
) -> AsyncIterator[Services]:
    settings = Settings(hub=str(hub), store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings, transport=transport) as made:
        yield made


async def test_a_private_environment_is_unknown_to_all_but_its_owner(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        for viewer in (ANONYMOUS, BOB):
            with pytest.raises(NotFound, match="or it is private"):
                await made.library.open(PRIVATE, viewer)
        environment = await made.library.open(PRIVATE, ALICE, wait=None)
        assert (await environment.tasks(TaskQuery())).total > 0
        with pytest.raises(NotFound):
            await made.library.open(PRIVATE, ANONYMOUS)
        found = await made.catalog.search(EnvQuery(limit=100), ALICE)
        assert PRIVATE not in {card.key for card in found.items}


async def test_a_gated_environment_opens_only_for_those_it_was_granted(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        for viewer in (ANONYMOUS, BOB):
            with pytest.raises(Forbidden, match="gated"):
                await made.library.open(GATED, viewer)
        assert (await made.library.open(GATED, ALICE, wait=None)).format == "harbor"


async def test_what_a_token_read_never_reaches_the_store(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        await made.library.open(PRIVATE, ALICE, wait=None)
        await made.library.open(TASKS, ALICE, wait=None)
    stored = {path.relative_to(tmp_path / "store").parts[1] for path in (tmp_path / "store").rglob("*.db")}
    assert stored == {TASKS.slug}
    private = list((tmp_path / "cache" / "private").rglob("*.db"))
    assert private
    assert not any("hf_alice" in str(path) for path in private)


async def test_the_second_process_reads_what_the_first_indexed(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        first = await (await made.library.open(TASKS, ANONYMOUS, wait=None)).summary()
    async with services(tmp_path) as made:
        assert await (await made.library.open(TASKS, ANONYMOUS, wait=0)).summary() == first


async def test_a_long_first_reading_is_told_and_followed(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        with pytest.raises(NotReady):
            await made.library.open(TASKS, ANONYMOUS, wait=0)
        assert await made.library.progress(TASKS, ANONYMOUS) is not None
        told = [progress async for progress in made.library.follow(TASKS, ANONYMOUS)]
        assert list(dict.fromkeys(progress.step for progress in told)) == [
            "listing",
            "reading",
            "parsing",
            "saving",
            "done",
        ]
        environment = await made.library.open(TASKS, ANONYMOUS, wait=0)
        assert told[-1].tasks == (await environment.tasks(TaskQuery())).total


async def test_a_first_reading_that_fails_says_why_and_may_be_tried_again(tmp_path: Path) -> None:
    hub = LocalHub(FIXTURES)
    hub.faults.add(Fault(path="*/tree/*", status=500))
    async with services(tmp_path, transport=httpx2.ASGITransport(app=hub.app)) as made:
        with pytest.raises(NotReady):
            await made.library.open(TASKS, ANONYMOUS, wait=0)
        last = [progress async for progress in made.library.follow(TASKS, ANONYMOUS)][-1]
        assert last.step == "failed"
        assert "500" in words(last.message or "")
        hub.faults.clear()
        assert (await made.library.open(TASKS, ANONYMOUS, wait=None)).format == "harbor"


async def test_an_older_revision_is_read_and_followed_beside_the_newest(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    folder = hub / "datasets" / "acme" / "layout-tasks"
    shutil.copytree(FIXTURES / "datasets" / "acme" / "layout-tasks", folder)
    transport = httpx2.ASGITransport(app=LocalHub(hub, rescan=0).app)
    async with services(tmp_path, hub=hub, transport=transport) as made:
        old = (await made.library.info(TASKS, ANONYMOUS)).sha
        (folder / "NOTES.md").write_text("New.")
        new = await made.library.open(TASKS, ANONYMOUS, wait=None)
        assert (await new.summary()).revision != old
        with pytest.raises(NotReady):
            await made.library.open(TASKS, ANONYMOUS, wait=0, revision=old)
        assert await made.library.progress(TASKS, ANONYMOUS) is None
        steps = [item.step async for item in made.library.follow(TASKS, ANONYMOUS, revision=old)]
        assert steps[-1] == "done"
        assert (await (await made.library.open(TASKS, ANONYMOUS, wait=0, revision=old)).summary()).revision == old


async def test_the_revision_read_before_can_be_opened_while_the_newest_is_read(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    folder = hub / "datasets" / "acme" / "layout-tasks"
    shutil.copytree(FIXTURES / "datasets" / "acme" / "layout-tasks", folder)
    transport = httpx2.ASGITransport(app=LocalHub(hub, rescan=0).app)
    async with services(tmp_path, hub=hub, transport=transport) as made:
        with pytest.raises(NotReady) as first:
            await made.library.open(TASKS, ANONYMOUS, wait=0)
        assert first.value.before is None
        old = await (await made.library.open(TASKS, ANONYMOUS, wait=None)).summary()
        (folder / "NOTES.md").write_text("New.")
        with pytest.raises(NotReady) as reading:
            await made.library.open(TASKS, ANONYMOUS, wait=0)
        assert reading.value.before == old.revision
        assert await (await made.library.open(TASKS, ANONYMOUS, wait=0, revision=old.revision)).summary() == old


@pytest.mark.parametrize("damage", [b"", b"garbage" * 1000])
async def test_a_damaged_index_is_built_again(tmp_path: Path, damage: bytes) -> None:
    async with services(tmp_path) as made:
        await made.library.open(TASKS, ANONYMOUS, wait=None)
    for path in [*tmp_path.rglob("store/indexes/**/*.db"), *tmp_path.rglob("cache/**/indexes/**/*.db")]:
        path.write_bytes(damage)
    async with services(tmp_path) as made:
        environment = await made.library.open(TASKS, ANONYMOUS, wait=None)
        assert (await environment.tasks(TaskQuery())).total > 0


@pytest.mark.parametrize("damage", [b"", b"garbage" * 1000])
async def test_a_damaged_pack_is_built_again(tmp_path: Path, damage: bytes) -> None:
    async with services(tmp_path) as made:
        await made.library.open(TASKS, ANONYMOUS, wait=None)
    for path in [*tmp_path.rglob("store/packs/**/*.db"), *tmp_path.rglob("cache/**/packs/**/*.db")]:
        path.write_bytes(damage)
    async with services(tmp_path) as made:
        environment = await made.library.open(TASKS, ANONYMOUS, wait=None)
        ref = (await environment.tasks(TaskQuery())).items[0].ref
        assert (await environment.task(ref)).ref == ref


async def test_a_new_revision_is_read_anew(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    shutil.copytree(FIXTURES / "datasets" / "acme" / "layout-tasks", hub / "datasets" / "acme" / "layout-tasks")
    local = LocalHub(hub, rescan=0)
    async with services(tmp_path, hub=hub, transport=httpx2.ASGITransport(app=local.app)) as made:
        before = await (await made.library.open(TASKS, ANONYMOUS, wait=None)).summary()
        task = next((hub / "datasets" / "acme" / "layout-tasks").rglob("task.toml")).parent
        shutil.copytree(task, task.with_name("one-more-task"))
        after = await (await made.library.open(TASKS, ANONYMOUS, wait=None)).summary()
    assert after.revision != before.revision
    assert after.tasks == (before.tasks or 0) + 1


async def test_two_revisions_are_compared_task_by_task(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    folder = hub / "datasets" / "acme" / "layout-tasks"
    shutil.copytree(FIXTURES / "datasets" / "acme" / "layout-tasks", folder)
    transport = httpx2.ASGITransport(app=LocalHub(hub, rescan=0).app)
    async with services(tmp_path, hub=hub, transport=transport) as made:
        environment = await made.library.open(TASKS, ANONYMOUS, wait=None)
        old = (await environment.summary()).revision
        refs = [card.ref for card in (await environment.tasks(TaskQuery())).items]
        removed, changed = refs[0], refs[1]
        shutil.copytree(folder / changed, folder / changed / ".." / "brand-new")
        shutil.rmtree(folder / removed)
        (folder / changed / "instruction.md").write_text("Something else.\n")
        await made.library.open(TASKS, ANONYMOUS, wait=None)
        new = (await made.library.revisions(TASKS, ANONYMOUS))[0].sha
        changes = await made.library.changes(TASKS, ANONYMOUS, old, new)
        assert (changes.removed, changes.changed) == ((removed,), (changed,))
        assert [ref.rpartition("/")[2] for ref in changes.added] == ["brand-new"]
        assert changes.same == len(refs) - 2
        found = await made.library.task_changes(TASKS, ANONYMOUS, old, new, changed)
        (edited,) = found.files
        assert (edited.path, edited.kind, edited.cut) == ("instruction.md", "changed", False)
        assert "+Something else." in str(edited.diff).splitlines()
        for ref, kind in ((removed, "removed"), (changes.added[0], "added")):
            found = await made.library.task_changes(TASKS, ANONYMOUS, old, new, ref)
            assert "instruction.md" in {item.path for item in found.files}
            assert {item.kind for item in found.files} == {kind}
        with pytest.raises(NotFound):
            await made.library.task_changes(TASKS, ANONYMOUS, old, new, "no-such-task")
        with pytest.raises(NotFound):
            await made.library.changes(TASKS, ANONYMOUS, old, "0" * 40)


async def test_a_hidden_environment_is_served_to_nobody(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        await made.library.open(TASKS, ANONYMOUS, wait=None)
        made.instance.save(Instance(hidden=frozenset({str(TASKS)})))
        with pytest.raises(NotFound, match="not shown"):
            await made.library.open(TASKS, ALICE)
        found = await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)
        assert TASKS not in {card.key for card in found.items}
        assert TASKS not in {hit.key for hit in (await made.catalog.tasks(TaskSearch("task", limit=100))).items}


async def test_a_hub_that_is_down_leaves_what_was_read_and_says_so(tmp_path: Path) -> None:
    def down(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    settings = Settings(hub=LOCAL_HUB, store=tmp_path / "store", cache_dir=tmp_path / "cache")
    async with create_services(settings, transport=httpx2.MockTransport(down)) as made:
        with pytest.raises(Upstream, match="could not be reached"):
            await made.library.open(EnvKey("dataset", "acme", "x"), ANONYMOUS)
        with pytest.raises(Upstream):
            await made.catalog.search(EnvQuery(), ANONYMOUS)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from rlx.model import ANONYMOUS
from rlx.ids import parse_key
from rlx.services import create_services
from rlx.settings import Settings

original = Path.replace
count = 0
def replace(self, target):
    global count
    count += 1
    if count == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return original(self, target)
Path.replace = replace

async def main():
    folder = Path(sys.argv[2])
    async with create_services(Settings(hub=sys.argv[1], store=folder / "store", cache_dir=folder / "cache")) as made:
        await made.library.open(parse_key("acme/layout-tasks"), ANONYMOUS, wait=None)
asyncio.run(main())
"""


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
async def test_a_process_killed_while_publishing_leaves_a_store_that_works(tmp_path: Path, moment: int) -> None:
    command = [sys.executable, "-c", KILLED, str(FIXTURES), str(tmp_path), str(moment)]
    done = subprocess.run(command, env=os.environ, capture_output=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    async with services(tmp_path) as made:
        environment = await made.library.open(TASKS, ANONYMOUS, wait=None)
        page = await environment.tasks(TaskQuery())
        assert (await environment.task(page.items[0].ref)).title


async def test_a_repository_that_is_one_task_without_a_title_is_called_by_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "hub" / "datasets" / "acme" / "sole-task"
    (folder / "tests").mkdir(parents=True)
    (folder / "task.toml").write_text('version = "1.0"\n')
    (folder / "instruction.md").write_text("Do it.\n")
    (folder / "tests" / "test.sh").write_text("exit 0\n")
    async with services(tmp_path, hub=tmp_path / "hub") as made:
        environment = await made.library.open(parse_key("acme/sole-task"), ANONYMOUS, wait=None)
        (card,) = (await environment.tasks(TaskQuery())).items
        assert (card.ref, card.title) == (".", "sole-task")
        assert (await environment.task(".")).title == "sole-task"
