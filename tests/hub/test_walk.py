"""The walk through repositories that are too big to list: it finds the tasks a listing finds, within its bounds."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.errors import NotFound, TooLarge, Upstream
from rlx.formats.harbor.discovery import MARKS, MAX_DEPTH, task_roots
from rlx.hub.client import PATHS_A_CALL, HubClient
from rlx.hub.info import TreeEntry
from rlx.hub.repo import Repo
from rlx.hub.tree import Folder, Listed, Marks, Tree, together
from rlx.hub.walk import Walk
from rlx.ids import EnvKey
from rlx.localhub import Fault, LocalHub

KEY = EnvKey("dataset", "acme", "walked")

type Layout = dict[str, "Layout | None"]
"""Names in a folder; None for a file."""

FILES = st.sampled_from(("task.toml", "instruction.md", "notes.txt", "instruction.md.bak", "z"))
FOLDERS = st.sampled_from(("a", "a-b", "b", "tasks", "tests", "environment", "steps", ".hidden", "instruction.md"))
LAYOUTS = st.recursive(
    st.dictionaries(FILES, st.none(), min_size=1, max_size=3),
    lambda inner: st.dictionaries(FOLDERS, inner, min_size=1, max_size=4).flatmap(
        lambda folders: st.dictionaries(FILES, st.none(), max_size=3).map(lambda files: {**files, **folders})
    ),
    max_leaves=12,
)


def write(folder: Path, layout: Layout) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, inner in layout.items():
        if inner is None:
            (folder / name).write_text(name)
        else:
            write(folder / name, inner)


def write_paths(folder: Path, *paths: str) -> None:
    for path in paths:
        file = folder / "datasets" / KEY.repo_id / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)


@asynccontextmanager
async def opened(
    folder: Path, *, deadline: float | None = 0.0, max_files: int = 1000, marks: Marks = MARKS
) -> AsyncIterator[tuple[Repo, LocalHub]]:
    hub = LocalHub(folder)
    client = HubClient("http://hub.test", transport=httpx2.ASGITransport(app=hub.app), pause=0.0001)
    try:
        info = await client.info(KEY, token=False)
        yield Repo(client, info, False, max_files=max_files, deadline=deadline, marks=marks), hub
    finally:
        await client.aclose()


def calls(hub: LocalHub) -> list[str]:
    return [path.partition("/datasets/acme/walked/")[2] for _, path in hub.requests]


async def both(layout: Layout, given_entries: int) -> tuple[Tree, Tree]:
    """A whole listing, and a walk that begins with some entries of one that was given up."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "datasets", KEY.repo_id), layout)
        async with opened(Path(folder), deadline=None) as (repo, _):
            whole = await repo.listing()
            listed = Listed()
            entries = [entry async for entry in repo.client.tree(KEY, repo.sha, token=False, limit=1000)]
            for entry in islice(entries, given_entries):
                listed.add(entry)
            walk = Walk(repo.client, KEY, repo.sha, token=False, marks=MARKS, max_files=1000, given=listed)
            return whole, await walk.run(lambda known: None)


@given(LAYOUTS, st.integers(0, 40))
def test_a_walk_finds_the_tasks_that_a_listing_finds(layout: Layout, given_entries: int) -> None:
    whole, walked = anyio.run(both, layout, given_entries)
    assert task_roots(walked.entries) == task_roots(whole.files)
    assert walked.files.items() <= whole.files.items()
    assert {path: oid for path, oid in walked.folders.items() if oid}.items() <= whole.folders.items()
    missing = whole.files.keys() - walked.files.keys()
    assert all(any(f"{path}/".startswith(f"{up}/") for up in walked.unlisted) for path in missing)


@pytest.mark.anyio
@pytest.mark.parametrize("depth", [0, 1, MAX_DEPTH, MAX_DEPTH + 1])
async def test_tasks_are_found_down_to_the_depth_a_listing_knows(tmp_path: Path, depth: int) -> None:
    write_paths(tmp_path, "/".join([*"abcdefghij"[:depth], "task.toml"]))
    async with opened(tmp_path, deadline=None) as (repo, _):
        whole = task_roots(await repo.tree())
    async with opened(tmp_path) as (repo, _):
        assert task_roots((await repo.listing()).entries) == whole
    assert len(whole) == (depth <= MAX_DEPTH)


@pytest.mark.anyio
async def test_folders_of_tasks_are_asked_for_together_and_never_listed(tmp_path: Path) -> None:
    tasks = [f"sets/one/tasks/t{n:04}" for n in range(PATHS_A_CALL + 20)]
    write_paths(
        tmp_path, "README.md", *(f"{task}/{name}" for task in tasks for name in ("task.toml", "instruction.md"))
    )
    async with opened(tmp_path, max_files=5000) as (repo, hub):
        hub.requests.clear()
        tree = await repo.listing()
        assert task_roots(tree.entries) == tuple(tasks)
        made = [call.partition("?")[0].removesuffix(f"/{repo.sha}") for call in calls(hub)]
    assert not tree.is_whole
    assert [call for call in made if "t0" in call] == []
    assert (
        made.count("paths-info") == 3 + 2 + 2
    )  # each level down to the tasks, the tasks, and the first part they have
    assert sum(call.startswith("tree") for call in made) == 4


@pytest.mark.anyio
async def test_what_a_listing_gave_before_it_was_given_up_is_not_asked_again(tmp_path: Path) -> None:
    write_paths(
        tmp_path, *(f"{part}/x/task.toml" for part in "abc"), *(f"a/x/tests/{n}" for n in range(9)), "d/f", "e/f"
    )
    async with opened(tmp_path, max_files=20) as (repo, hub):
        repo.deadline = None
        hub.requests.clear()
        tree = await repo.listing()
        assert task_roots(tree.entries) == ("a/x", "b/x", "c/x")
        listed = {call.partition("?")[0].partition(repo.sha)[2] for call in calls(hub) if "recursive=false" in call}
    assert "/a" not in listed
    assert {"", "/d", "/e"} <= listed


@pytest.mark.anyio
async def test_a_walk_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    write_paths(tmp_path, *(f"{part}/t/{name}" for part in "abcd" for name in ("task.toml", "instruction.md")))
    async with opened(tmp_path) as (repo, hub):
        hub.faults.add(Fault(path="*/tree/*/c*", status=429, reset=9))
        with pytest.raises(Upstream, match="rate limit"):
            await repo.listing()
        before = set(calls(hub))
        hub.faults.clear()
        hub.requests.clear()
        tree = await repo.listing()
        again = set(calls(hub))
    assert task_roots(tree.entries) == ("a/t", "b/t", "c/t", "d/t")
    assert all("paths-info" in call or "/c?" in call for call in before & again)


@pytest.mark.anyio
async def test_a_walk_past_its_bounds_says_how_many_folders_it_left(tmp_path: Path) -> None:
    write_paths(tmp_path, *(f"{part}/t/{name}" for part in "abcdef" for name in ("task.toml", "instruction.md")))
    async with opened(tmp_path, deadline=None) as (repo, _):
        walk = Walk(repo.client, KEY, repo.sha, token=False, marks=MARKS, max_files=99, given=Listed(), max_listed=3)
        tree = await walk.run(lambda known: None)
    assert task_roots(tree.entries) == ("a/t", "b/t")
    assert tree.unsearched == 4
    assert {"c", "f"} <= tree.unlisted


@pytest.mark.anyio
async def test_a_folder_of_too_many_entries_is_known_in_part(tmp_path: Path) -> None:
    write_paths(tmp_path, *(f"images/{n:03}.png" for n in range(60)), "tasks/t/task.toml", "tasks/t/tests/test.sh")
    async with opened(tmp_path, max_files=30) as (repo, _):
        tree = await repo.listing()
        assert task_roots(tree.entries) == ("tasks/t",)
        assert "images" in tree.unlisted
        assert tree.unsearched
        with pytest.raises(TooLarge):
            await repo.tree()


@pytest.mark.anyio
async def test_where_not_everything_is_listed_files_and_folders_are_asked_for(tmp_path: Path) -> None:
    write_paths(tmp_path, "README.md", "t/task.toml", "t/tests/a/b.txt", "t/tests/c.txt")
    async with opened(tmp_path) as (repo, hub):
        assert not (await repo.listing()).is_whole
        folder = await repo.look("t/tests")
        assert isinstance(folder, Folder)
        assert (folder.folders, [file.path for file in folder.files]) == (("t/tests/a",), ["t/tests/c.txt"])
        assert await repo.read("t/tests/a/b.txt") == b"t/tests/a/b.txt"
        assert await repo.look("t/nothing") is None
        with pytest.raises(NotFound):
            await repo.read("t/tests")
        assert [entry.path for entry in await repo.below("t")] == ["t/task.toml", "t/tests/a/b.txt", "t/tests/c.txt"]
        hub.requests.clear()
        assert await repo.look("t/tests") == folder
        assert not hub.requests
        repo.forget()
        assert isinstance(await repo.look("t/task.toml"), TreeEntry)
        assert "recursive=true" not in "".join(calls(hub))


@pytest.mark.anyio
async def test_without_marks_only_the_top_is_listed(tmp_path: Path) -> None:
    write_paths(tmp_path, "README.md", "a/task.toml")
    async with opened(tmp_path, marks=together([])) as (repo, _):
        tree = await repo.listing()
    assert (list(tree.files), tree.unlisted) == (["README.md"], frozenset({"a"}))
