"""The catalog over a local hub: what was read here, what was published, what one visitor alone may see."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from rlx.answers import name
from rlx.hub.info import read_info
from rlx.ids import EnvKey, parse_key
from rlx.index.catalog import same_hub
from rlx.index.env_cards import listed_card
from rlx.index.snapshot.publish import publish
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.localhub import LocalHub
from rlx.model import ANONYMOUS, EnvQuery, TaskSearch, Viewer
from rlx.services import Services, create_services, hub_name
from rlx.settings import Settings
from rlx.store.instance import Instance
from rlx.store.storage import open_storage

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parent.parent / "fixtures" / "hub"
TASKS = parse_key("acme/layout-tasks")
ALICE = Viewer("session", "alice", "hf_alice")


@asynccontextmanager
async def services(folder: Path, *, keep: bool = False) -> AsyncIterator[Services]:
    settings = Settings(hub=str(FIXTURES), store=folder / "store", cache_dir=folder / "cache")
    async with create_services(settings, keep_catalog=keep) as made:
        yield made


def one(hub: str) -> Content:
    """A catalog of one environment that no fixture holds."""
    info = read_info("dataset", {"id": "other/published", "tags": ["harbor"]})
    rows = [TaskRow("tasks/a", name("Count the published sheep"), name("A brief."), {"difficulty": (name("Easy"),)})]
    return Content([listed_card(info)], {info.key: rows}, datetime.now(UTC), hub=hub)


def publish_one(folder: Path, *, hub: str) -> None:
    publish(open_storage(folder / "store"), one(hub), folder / "work", now=datetime.now(UTC))


async def test_what_was_read_here_is_searched_by_the_words_of_its_tasks(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        await made.catalog.all(ANONYMOUS, tasks=True)
        hits = (await made.catalog.tasks(TaskSearch("task", limit=100))).items
        named = ["task" in f"{hit.card.ref.rpartition('/')[2]} {hit.card.title}".lower() for hit in hits]
        assert len({hit.key for hit in hits}) > 1
        assert named == sorted(named, reverse=True)
        assert len((await made.catalog.tasks(TaskSearch("task", limit=2))).items) == 2
        assert made.catalog.status().source == "process"


async def test_filters_count_what_the_others_leave_and_pins_come_first(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        cards = await made.catalog.all(ANONYMOUS)
        last = cards[-1]
        made.instance.save(Instance(pinned=(str(last.key),)))
        query = EnvQuery(filters={"size": ("Under 10",)}, limit=100)
        page = await made.catalog.search(query, ANONYMOUS)
        assert {str(card.facets["size"][0]) for card in page.items} == {"Under 10"}
        sizes = next(facet for facet in page.facets if facet.key == "size")
        assert sum(value.n for value in sizes.values) == page.environments
        assert next(value for value in sizes.values if value.selected).n == page.total
        everything = await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)
        assert everything.items[0].key == last.key


async def test_hidden_environments_leave_lists_tasks_ranks_and_chance(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        await made.catalog.all(ANONYMOUS, tasks=True)
        found = await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)
        with_tasks = [card for card in found.items if card.tasks]
        kept, *gone = (card.key for card in with_tasks)
        made.instance.save(Instance(hidden=frozenset(map(str, gone))))
        page = await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)
        hits = await made.catalog.tasks(TaskSearch(limit=100))
        assert page.environments == found.environments - len(gone)
        assert {hit.key for hit in hits.items} == {kept}
        assert hits.total == len(hits.items)
        assert [await made.catalog.rank(key) for key in gone] == [None] * len(gone)
        assert [await made.catalog.card(key) for key in gone] == [None] * len(gone)
        for _ in range(20):
            chance = await made.catalog.random()
            assert chance is not None
            assert chance[0] == kept


async def test_a_published_snapshot_is_used_in_place_of_reading(tmp_path: Path) -> None:
    publish_one(tmp_path, hub=hub_name(str(FIXTURES)))
    async with services(tmp_path, keep=True) as made:
        page = await made.catalog.search(EnvQuery(), ANONYMOUS)
        assert [str(card.key) for card in page.items] == ["other/published"]
        assert not page.building
        (hit,) = (await made.catalog.tasks(TaskSearch("sheep"))).items
        assert (hit.card.ref, hit.in_title) == ("tasks/a", ((20, 25),))
        status = made.catalog.status()
        assert (status.source, status.error) == ("published", None)
        assert status.db is not None
        assert status.counts is not None
        assert status.counts.tasks == 1


async def test_a_snapshot_of_another_hub_is_not_used_and_that_is_told(tmp_path: Path) -> None:
    publish_one(tmp_path, hub="https://hub.example")
    async with services(tmp_path, keep=True) as made:
        page = await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)
        assert "other/published" not in {str(card.key) for card in page.items}
        assert "another hub, https://hub.example" in str(made.catalog.status().error)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://huggingface.co", "https://huggingface.co", True),
        ("http://127.0.0.1:8000", "http://localhost:9000", True),
        ("http://127.0.0.1:8000", "/folder", True),
        ("/folder", "/other", False),
        ("/folder", "https://huggingface.co", False),
        ("http://127.0.0.1:8000", "https://huggingface.co", False),
        ("", "https://huggingface.co", True),
    ],
)
def test_a_local_hub_is_one_hub_on_any_port(one: str, other: str, same: bool) -> None:
    assert same_hub(one, other) == same == same_hub(other, one)


async def test_private_environments_come_with_their_owners_list_alone(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        everybody = await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)
        mine = await made.catalog.search(EnvQuery(mine=True, limit=100), ALICE)
        keys = [card.key for card in mine.items]
        own = [key for key in keys if key not in {card.key for card in everybody.items}]
        assert own
        assert keys[: len(own)] == own
        assert mine.total == len(keys) == everybody.total + len(own)
        assert sum(n for _, n in mine.kinds) == mine.total
        assert (await made.catalog.search(EnvQuery(mine=True, limit=100), ANONYMOUS)).items == everybody.items
        assert (await made.catalog.search(EnvQuery(limit=100), ALICE)).items == everybody.items


async def test_pages_and_sorts_of_a_merged_list_are_those_of_the_whole(tmp_path: Path) -> None:
    async with services(tmp_path) as made:
        for sort in ("name", "updated", "downloads", "likes", "tasks"):
            whole = await made.catalog.search(EnvQuery(mine=True, sort=sort, limit=100), ALICE)
            paged: list[EnvKey] = []
            while len(paged) < whole.total:
                query = EnvQuery(mine=True, sort=sort, offset=len(paged), limit=2)
                paged += [card.key for card in (await made.catalog.search(query, ALICE)).items]
            assert paged == [card.key for card in whole.items]
            if sort == "name":
                assert paged == sorted(paged, key=lambda key: key.repo_id.lower())


async def test_on_a_hub_what_was_opened_before_is_searched_and_the_rest_is_known_by_its_tags(tmp_path: Path) -> None:
    settings = Settings(hub="https://hub.example", store=tmp_path / "store", cache_dir=tmp_path / "cache")
    transport = httpx2.ASGITransport(app=LocalHub(FIXTURES, cache_dir=tmp_path / "hub").app)
    async with create_services(settings, transport=transport) as made:
        await made.library.open(TASKS, ANONYMOUS, wait=None)
        assert made.catalog.status().source == "none"
    async with create_services(settings, transport=transport) as made:
        await made.catalog.look_through()
        assert {hit.key for hit in (await made.catalog.tasks(TaskSearch(limit=100))).items} == {TASKS}
        cards = (await made.catalog.search(EnvQuery(limit=100), ANONYMOUS)).items
        assert [card.key for card in cards if card.state == "ready"] == [TASKS]
        assert len(cards) > 1
