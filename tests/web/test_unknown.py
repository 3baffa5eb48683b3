"""What is not known of a repository too big to list is told as unknown: on pages and in their twins, never as 0."""

from dataclasses import replace

import httpx2
import pytest

from rlx.formats.base import Environment
from rlx.ids import EnvKey
from rlx.model import Blob, Changes, FileEntry, Listing, Progress, Summary, TaskChanges, Viewer
from rlx.texts import say, words
from tests.toy import ToyEnvironment, ToyLibrary, ToyServices

pytestmark = pytest.mark.anyio

ENTRIES = tuple(FileEntry(f"many/{n:04}.txt", 1) for n in range(1000))


class Big(ToyEnvironment):
    """A folder without end, and tasks that are still read."""

    async def summary(self, subset: str | None = None) -> Summary:
        progress = Progress("reading", 3, 13, 13, unit="tasks")
        return replace(await super().summary(subset), progress=progress)

    async def files(self, ref: str | None, path: str = "", *, offset: int = 0) -> Listing | Blob:
        if path == "many":
            return Listing(path, ENTRIES, None, truncated=offset == 0, offset=offset)
        if path.startswith("many/"):
            return replace(await super().files(ref, "run.py"), path=path)
        found = await super().files(ref, path, offset=offset)
        if path or not isinstance(found, Listing):
            return found
        return replace(found, entries=(FileEntry("many", 0, is_dir=True), *found.entries), total=None)


class BigLibrary(ToyLibrary):
    async def open(
        self, key: EnvKey, viewer: Viewer, *, wait: float | None = 2.0, revision: str | None = None
    ) -> Environment:
        await super().open(key, viewer, wait=wait, revision=revision)
        return Big(key)

    async def changes(self, key: EnvKey, viewer: Viewer, old: str, new: str) -> Changes:
        return Changes(old, new, added=(), removed=(), changed=(".",), same=0, unknown=("50%", "what?"))

    async def task_changes(self, key: EnvKey, viewer: Viewer, old: str, new: str, ref: str) -> TaskChanges:
        return TaskChanges(ref, (), partial=True)


@pytest.fixture
def services(services: ToyServices) -> ToyServices:
    services.library = BigLibrary()
    return services


async def test_a_folder_without_end_has_no_total(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/files/many")).text
    assert words(say("viewer.range_open", first=1, last=1000)) in page
    assert 'rel="next"' in page
    last = (await client.get("/d/toy/main/files/many?from=1001")).text
    assert words(say("viewer.range_open", first=1001, last=2000)) in last
    assert 'rel="next"' not in last
    assert (await client.get("/api/env/toy/main/folder?path=many")).json()["total"] is None
    told = (await client.get("/d/toy/main/files/many?format=md")).text
    assert words(say("web.more_files")) in told


async def test_beside_a_file_such_a_folder_is_told_to_go_on(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main/files/many/0001.txt")).text
    assert f"<span>{words(say('viewer.more_unknown'))}</span>" in page


async def test_a_page_says_that_its_tasks_are_still_read(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/d/toy/main")).text
    assert words(say("env.filling")) in page
    assert words(say("env.tasks_read", done=3, n=13)) in page
    assert 'data-filling="/d/toy/main/progress"' in page
    assert (await client.get("/d/toy/main?format=json")).json()["progress"]["done"] == 3


async def test_changes_that_are_not_known_are_counted_and_named(client: httpx2.AsyncClient) -> None:
    url = f"/d/toy/main/revisions?old={'2' * 40}&new={'1' * 40}"
    page = (await client.get(f"{url}&task=.")).text
    assert words(say("env.unknown_tasks", n=2)) in page
    assert words(say("env.unlisted")) in page
    told = (await client.get(f"{url}&task=.&format=md")).text
    assert words(say("env.unknown_tasks", n=2)) in told
    assert "- [`what?`](" in told
    assert words(say("env.unlisted")) in told
    assert (await client.get(f"{url}&format=json")).json()["changes"]["unknown"] == ["50%", "what?"]
