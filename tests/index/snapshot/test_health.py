"""Health as a facet of the catalog: applied per query, at the revision that is listed."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlx.answers import name, prose
from rlx.hub.info import read_info
from rlx.ids import EnvKey
from rlx.index.env_cards import listed_card
from rlx.index.snapshot.opened import Snapshot
from rlx.index.snapshot.rows import Content, TaskRow
from rlx.index.snapshot.write import write_snapshot
from rlx.model import EnvQuery, TaskSearch
from rlx.store.health import Book, EnvHealth, State, TaskHealth
from rlx.store.instance import Instance

KEYS = tuple(EnvKey("dataset", "acme", each) for each in ("sound", "faulty", "unknown"))
NOBODY = Instance()
SHA = "1" * 40


def known(key: EnvKey, revision: str = SHA, **states: State) -> EnvHealth:
    now = datetime.now(UTC)
    tasks = {ref: TaskHealth(ref=ref, revision=revision, state=state, checked_at=now) for ref, state in states.items()}
    return EnvHealth(env=str(key), tasks=tasks)


BOOK: Book = {
    str(KEYS[0]): known(KEYS[0], a="proven", b="unproven"),
    str(KEYS[1]): known(KEYS[1], a="proven", b="broken"),
    str(KEYS[2]): known(KEYS[2], "0" * 40, a="proven"),
    "acme/gone": known(KEYS[2], a="proven"),
}


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    infos = [read_info("dataset", {"id": key.repo_id, "tags": ["harbor"], "sha": SHA}) for key in KEYS]
    rows = [TaskRow(ref, prose(f"Fix parser {ref}"), prose(""), {"difficulty": (name("Easy"),)}) for ref in "abc"]
    path = tmp_path / "catalog.db"
    write_snapshot(path, Content([listed_card(info) for info in infos], dict.fromkeys(KEYS, rows), datetime.now(UTC)))
    return Snapshot(path, most=5)


def search(snapshot: Snapshot, text: str = "", book: Book = BOOK, **filters: str) -> tuple[list[str], dict[str, int]]:
    hits = snapshot.tasks(TaskSearch(text, {key: (value,) for key, value in filters.items()}), NOBODY, book)
    facet = next((facet for facet in hits.facets if facet.key == "health"), None)
    counts = {str(value.value): value.n for value in facet.values} if facet is not None else {}
    return [f"{hit.key.name}/{hit.card.ref}" for hit in hits.items], counts


def test_environments_are_narrowed_and_counted_by_what_is_known_at_their_revision(snapshot: Snapshot) -> None:
    page = snapshot.environments(EnvQuery(filters={"health": ("proven",)}), NOBODY, BOOK)
    facet = next(facet for facet in page.facets if facet.key == "health")

    assert [card.key.name for card in page.items] == ["sound"]
    assert {str(value.value): value.n for value in facet.values}["Broken"] == 1
    assert page.items[0].facets["health"] == ("Proven",)
    assert [str(value.value) for value in facet.values][:2] == ["Proven", "Broken"]


def test_where_nothing_is_known_there_is_no_such_facet(snapshot: Snapshot) -> None:
    page = snapshot.environments(EnvQuery(filters={"health": ("Proven",)}), NOBODY)

    assert page.total == 0
    assert page.unknown[0].key == "health"
    assert search(snapshot, book={})[1] == {}


@pytest.mark.parametrize("text", ["", "parser"])
def test_tasks_are_narrowed_with_words_and_without(snapshot: Snapshot, text: str) -> None:
    assert search(snapshot, text, health="Proven")[0] == ["sound/a", "faulty/a"]
    assert search(snapshot, text, health="Broken")[0] == ["faulty/b"]
    found, counts = search(snapshot, text, health="Unproven", difficulty="Easy")
    assert "sound/a" not in found
    assert counts["Broken"] <= 1


def test_counts_are_over_what_other_filters_leave(snapshot: Snapshot) -> None:
    assert search(snapshot)[1] == {"Proven": 2, "Broken": 1, "Unproven": 6}
    assert search(snapshot, difficulty="Hard")[1] == {}


def test_a_change_is_seen_by_the_next_query(snapshot: Snapshot) -> None:
    fixed: Book = {**BOOK, str(KEYS[1]): known(KEYS[1], a="proven", b="proven")}

    assert search(snapshot, health="Broken")[0] == ["faulty/b"]
    assert search(snapshot, book=fixed, health="Proven")[0] == ["sound/a", "faulty/a", "faulty/b"]
