"""The task index against a plain reading of the same cards."""

import tempfile
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.answers.stored import stored, stored_json
from rlx.index.records import Finished
from rlx.index.tasks import Extra, Header, TaskIndex, add_reviews, write_index
from rlx.model import TaskCard, TaskQuery, Unknown
from rlx.texts import say

VALUES = {"difficulty": ("easy", "hard", "medium"), "tags": ("a", "b", "c d", "é"), "group": ("g1", "g2")}
ORDER = ("easy", "medium", "hard")

cards = st.lists(
    st.fixed_dictionaries(
        {key: st.lists(st.sampled_from(values), unique=True, max_size=3) for key, values in VALUES.items()}
        | {"title": st.text("abXYé\u0301eﾌ ", min_size=1, max_size=8)}
    ),
    max_size=40,
)
queries = st.builds(
    TaskQuery,
    text=st.sampled_from(["", "a", "B", "a x", "%_'", "é", "E\u0301", "ａ"]),
    filters=st.dictionaries(
        st.sampled_from([*VALUES, "unknown"]),
        st.lists(st.sampled_from(["easy", "hard", "a", "c d", "g1", "none"]), max_size=3).map(tuple),
        max_size=3,
    ),
    subset=st.sampled_from([None, None, "g1", "g2", "nowhere"]),
    sort=st.sampled_from(["order", "title", "difficulty", "-difficulty", "length", "-length", "timeout"]),
    offset=st.integers(0, 5),
    limit=st.integers(0, 50),
)


def make_index(path: Path, raw: list[dict[str, object]]) -> list[TaskCard]:
    made = [
        TaskCard(
            ref=f"tasks/{place}",
            title=stored(str(item["title"])),
            brief=stored("brief"),
            facets={key: tuple(stored(value) for value in item[key]) for key in VALUES},  # type: ignore[attr-defined]
            problem=say("index.not_read") if place == 0 else None,
        )
        for place, item in enumerate(raw)
    ]
    lengths = tuple(float(len(card.title)) if place % 3 else None for place, card in enumerate(made))
    finished = Finished(
        tuple(made), {}, stored_json({}), tuple(VALUES), {"difficulty": ORDER}, numbers={"length": lengths}
    )
    header = Header(
        key="org/name",
        sha="a" * 40,
        format="toy",
        reader_version=1,
        built_at=datetime(2026, 1, 1, tzinfo=UTC),
        tasks=len(made),
        title=stored("Name"),
        brief=stored(""),
        readme=None,
        facts=stored_json({"n": 1}),
        facet_order=finished.facet_order,
        ordered=finished.ordered,
        tile=None,
        subsets=True,
        withheld=(),
    )
    write_index(path, header, finished, [Extra("", f"digest-{card.title}") for card in made])
    return made


def sorted_by(sort: str, found: list[TaskCard]) -> list[TaskCard]:
    """By definition: tasks that have a value by it, either way, then the others; ties in listed order."""

    def value(card: TaskCard) -> float | None:
        place = int(card.ref.removeprefix("tasks/"))
        if sort.endswith("length"):
            return float(len(card.title)) if place % 3 else None
        levels = [ORDER.index(str(level)) for level in card.facets["difficulty"]]
        return min(levels) if levels and sort.endswith("difficulty") else None

    told = [card for card in found if value(card) is not None]
    told.sort(key=lambda card: (value(card) or 0) * (-1 if sort.startswith("-") else 1))
    return told + [card for card in found if value(card) is None]


def folded(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFKC", composed.casefold())


def expected(made: list[TaskCard], query: TaskQuery, *, without: str | None = None) -> list[TaskCard]:
    """The query by definition, with the filter on one facet left out."""

    def kept(card: TaskCard) -> bool:
        text = folded(f"{card.ref} {card.title} {card.brief} ")
        if not all(word in text for word in folded(query.text).split()):
            return False
        wanted = {key: set(values) for key, values in query.filters.items() if values and key != without}
        if query.subset is not None and without != "group" and query.subset not in card.facets["group"]:
            return False
        return all(values & set(card.facets.get(key, ())) for key, values in wanted.items())

    found = [card for card in made if kept(card)]
    return sorted(found, key=lambda card: str(card.title).lower()) if query.sort == "title" else found


@settings(max_examples=150, deadline=None)
@given(cards, queries)
def test_pages_and_counts_are_what_the_cards_say(raw: list[dict[str, object]], query: TaskQuery) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = make_index(Path(folder) / "index.db", raw)
        index = TaskIndex(Path(folder) / "index.db")
        page = index.page(query)
    found = expected(made, query)
    assert page.total == len(found)
    if query.sort != "title":
        assert list(page.items) == sorted_by(query.sort, found)[query.offset : query.offset + query.limit]
    for facet in page.facets:
        left = expected(made, query, without=facet.key)
        for value in facet.values:
            assert value.n == sum(value.value in card.facets[facet.key] for card in left)
            assert value.selected == (value.value in query.filters.get(facet.key, ()))
    occurring = {key for key in VALUES if any(card.facets[key] for card in expected(made, query, without=key))}
    assert occurring <= {facet.key for facet in page.facets}


def test_ordered_facets_keep_their_order_and_others_go_by_count(tmp_path: Path) -> None:
    raw: list[dict[str, object]] = [
        {"title": "t", "difficulty": [level], "tags": tags, "group": []}
        for level, tags in [("hard", ["b"]), ("hard", ["b", "a"]), ("easy", ["c d"])]
    ]
    make_index(tmp_path / "index.db", raw)
    facets = {facet.key: facet for facet in TaskIndex(tmp_path / "index.db").page(TaskQuery()).facets}
    assert [value.value for value in facets["difficulty"].values] == ["easy", "hard"]
    assert [(value.value, value.n) for value in facets["tags"].values] == [("b", 2), ("a", 1), ("c d", 1)]


def test_tasks_are_found_by_ref_and_by_their_last_folder(tmp_path: Path) -> None:
    made = make_index(tmp_path / "index.db", [{"title": "t", "difficulty": [], "tags": [], "group": []}] * 12)
    index = TaskIndex(tmp_path / "index.db")
    assert index.find("tasks/3") == 3
    assert index.find("../tasks/3") is None
    assert index.ending("3") == "tasks/3"
    assert index.ending("%") is None
    assert index.card(0).problem == made[0].problem
    assert index.random() in set(index.refs())


def test_reviews_are_added_to_a_copy_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    make_index(path, [{"title": "t", "difficulty": [], "tags": [], "group": []}] * 2)
    assert TaskIndex(path).review(1) is None
    add_reviews(path, {"tasks/1": stored_json({"ok": True}), "tasks/9": stored_json({})})
    index = TaskIndex(path)
    assert index.header.reviewed
    assert index.review(1) == stored_json({"ok": True})
    assert index.review(0) is None


def test_threads_that_list_at_once_see_whole_answers(tmp_path: Path) -> None:
    make_index(
        tmp_path / "index.db", [{"title": f"t{n}", "difficulty": [], "tags": ["a"], "group": []} for n in range(60)]
    )
    index = TaskIndex(tmp_path / "index.db")

    def lists(n: int) -> bool:
        page = index.page(TaskQuery(text="t", offset=n % 50, limit=5))
        return [card.ref for card in page.items] == [f"tasks/{place}" for place in range(n % 50, n % 50 + 5)]

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(lists, range(800)))


def test_an_open_index_outlives_its_name(tmp_path: Path) -> None:
    make_index(tmp_path / "index.db", [{"title": "t", "difficulty": [], "tags": [], "group": []}])
    index = TaskIndex(tmp_path / "index.db")
    (tmp_path / "index.db").unlink()
    assert index.page(TaskQuery()).total == 1


def test_a_file_that_is_no_index_is_refused(tmp_path: Path) -> None:
    import sqlite3

    (tmp_path / "garbage.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(sqlite3.DatabaseError):
        TaskIndex(tmp_path / "garbage.db")


def test_tasks_are_found_however_their_words_are_composed(tmp_path: Path) -> None:
    titles = ("학습환경", "\u1112\u116a\u11ab\u1100\u1167\u11bc", "un cafe\u0301", "ﾌﾟﾛｸﾞﾗﾑ")
    make_index(tmp_path / "index.db", [{"title": title, "difficulty": [], "tags": [], "group": []} for title in titles])
    index = TaskIndex(tmp_path / "index.db")
    found = {
        text: index.page(TaskQuery(text=text)).total for text in ("환경", "CAFÉ", "プログラム", "\u1112\u116a\u11ab경")
    }
    assert found == {"환경": 2, "CAFÉ": 1, "プログラム": 1, "\u1112\u116a\u11ab경": 2}


def test_capitals_of_a_value_do_not_matter_and_what_is_not_known_is_told(tmp_path: Path) -> None:
    made = make_index(tmp_path / "index.db", [{"difficulty": ["hard"], "tags": [], "group": [], "title": "a"}])
    index = TaskIndex(tmp_path / "index.db")
    page = index.page(TaskQuery(filters={"difficulty": ("HARD", "odd"), "tags": ()}))
    assert [card.ref for card in page.items] == [made[0].ref]
    assert page.unknown == (Unknown("difficulty", "odd"),)
    assert page.facets[0].values[0].selected
    strange = index.page(TaskQuery(filters={"hardness": ("hard",)}))
    assert (strange.total, strange.unknown) == (0, (Unknown("hardness", facets=tuple(VALUES)),))
