"""Every answer, order and facet of a snapshot is the reference's, for any catalog and query."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.answers.stored import stored
from rlx.hub.info import read_info
from rlx.ids import EnvKey
from rlx.index.env_cards import listed_card
from rlx.index.snapshot.opened import Snapshot, check
from rlx.index.snapshot.rows import Content, Counts, Likeness, TaskRow
from rlx.index.snapshot.write import write_snapshot
from rlx.model import KINDS, EnvCard, EnvPage, EnvQuery, Facets, TaskHits, TaskSearch
from rlx.store.instance import Collection, Instance
from tests.index.snapshot import reference

WORDS = (
    *("git", "GitHub", "fix-bug", "bugs", "a", "ab", "regex", "server", "Café", "ß", "o'neil", "NEAR", "OR", '"x"'),
    *(
        "환경",
        "학습환경에서",
        "환",
        "環境",
        "強化学習環境",
        "탐색",
        "データ",
        "x*",
        "title:git",
        "snake_case",
        "v2.1",
        "𝒙",
    ),
    *(
        "\u1112\u116a\u11ab경",
        "ﾌﾟﾛｸﾞ",
        "プログラム",
        "Cafe\u0301",
        "x\u0302y",
        "हिन्दी",
        "नमस्ते",
        "หัดเขียนโค้ด",
        "เขียน",
        "Strasse",
    ),
)
VALUES = {
    "difficulty": ("Easy", "Hard", "Expert", "Odd", "odd"),
    "category": ("code", "Code", "math and logic", "git"),
    "language": ("python", "c"),
    "graded": ("One score", "Named scores"),
    "sandbox": ("Local", "Docker", "None"),
}
ENV_VALUES = {
    "tag": ("rl-environment", "benchmark"),
    "framework": ("Harbor", "Verifiers"),
    "size": ("Under 10", "10 to 99", "Not counted"),
    "licence": ("mit", "MIT", "apache-2.0"),
    "difficulty": ("Easy", "Hard"),
}
phrases = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
texts = phrases | st.lists(st.sampled_from([*WORDS, *(word[:2] for word in WORDS)]), max_size=3).map(" ".join)


def facets(values: dict[str, tuple[str, ...]]) -> st.SearchStrategy[Facets]:
    some = {key: st.lists(st.sampled_from(own), unique=True, max_size=2) for key, own in values.items()}
    return st.fixed_dictionaries({}, optional=some).map(
        lambda found: {key: tuple(map(stored, own)) for key, own in found.items() if own}
    )


def filters(values: dict[str, tuple[str, ...]]) -> st.SearchStrategy[dict[str, tuple[str, ...]]]:
    known = {key: st.lists(st.sampled_from([*own, "unknown"]), max_size=2).map(tuple) for key, own in values.items()}
    return st.fixed_dictionaries({}, optional=known)


counts = st.none() | st.integers(0, 3)


@st.composite
def cards(draw: st.DrawFn, place: int) -> EnvCard:
    kind = draw(st.sampled_from(KINDS))
    org = draw(st.sampled_from(["FineEnvs", "git", "acme"]))
    return EnvCard(
        key=EnvKey("space" if kind in ("openenv", "servers") else "dataset", org, f"set{place}"),
        title=stored(draw(phrases)),
        brief=stored(draw(phrases)),
        kind=kind,
        framework=kind,
        format=None,
        tasks=draw(counts),
        why=None,
        revision=None,
        tags=tuple(map(stored, draw(st.lists(st.sampled_from(["code", "환경", "a b"]), max_size=2)))),
        graded=(),
        runs=(),
        levels=(),
        facets=draw(facets(ENV_VALUES)),
        modified=draw(st.none() | st.integers(0, 3).map(lambda day: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(day))),
        downloads=draw(counts),
        likes=draw(counts),
        trending=None,
        state="listed",
    )


@st.composite
def rows(draw: st.DrawFn, number: int) -> TaskRow:
    folder = draw(st.sampled_from(["tasks/", "git/", ""]))
    name = draw(st.sampled_from(["fix-bug", "regex_환경", "a", "git"]))
    return TaskRow(
        ref=f"{folder}{name}-{number}",
        title=stored(draw(phrases)),
        brief=stored(draw(phrases)),
        facets=draw(facets(VALUES)),
        words=draw(phrases),
    )


@st.composite
def contents(draw: st.DrawFn) -> Content:
    envs = [draw(cards(place)) for place in range(draw(st.integers(0, 6)))]
    tasks = {
        card.key: [draw(rows(number)) for number in range(draw(st.integers(0, 5)))]
        for card in envs
        if draw(st.booleans())
    }
    return Content(envs, tasks, datetime(2026, 1, 1, tzinfo=UTC))


@st.composite
def instances(draw: st.DrawFn, content: Content) -> Instance:
    keys = st.lists(st.sampled_from([*(str(card.key) for card in content.envs), "gone/away"]), max_size=3, unique=True)
    collection = Collection(id="picks", title="Picks", environments=tuple(draw(keys)))
    return Instance(
        hidden=frozenset(draw(st.just([]) | keys)),
        pinned=tuple(draw(keys)),
        collections=(collection,),
        curated=draw(st.sampled_from(["FineEnvs", "fineenvs", "acme"])),
    )


def opened(content: Content, *, most: int = 10_000) -> Iterator[Snapshot]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "catalog.db"
        counts = write_snapshot(path, content)
        assert check(path) == counts
        yield Snapshot(path, most=most)


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_environments_are_found_ordered_and_counted_as_the_reference_does(data: st.DataObject) -> None:
    content = data.draw(contents())
    instance = data.draw(instances(content))
    for snapshot in opened(content):
        for _ in range(4):
            query = EnvQuery(
                text=data.draw(texts),
                kind=data.draw(st.none() | st.sampled_from(KINDS)),
                filters=data.draw(filters(ENV_VALUES)),
                collection=data.draw(st.none() | st.sampled_from(["picks", "none"])),
                sort=data.draw(st.sampled_from(["trending", "updated", "tasks", "name", "downloads", "likes"])),
                offset=data.draw(st.integers(0, 3)),
                limit=data.draw(st.integers(0, 4)),
            )
            assert told_envs(snapshot.environments(query, instance)) == reference.environments(content, query, instance)


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_tasks_are_found_ordered_and_counted_as_the_reference_does(data: st.DataObject) -> None:
    content = data.draw(contents())
    instance = data.draw(instances(content))
    most = data.draw(st.sampled_from([2, 5, 10_000]))
    keys = [card.key for card in content.envs]
    for snapshot in opened(content, most=most):
        for _ in range(4):
            search = TaskSearch(
                text=data.draw(texts),
                filters=data.draw(filters({**VALUES, "framework": ENV_VALUES["framework"]})),
                environment=data.draw(st.none() | st.sampled_from([*keys, EnvKey("dataset", "gone", "away")])),
                offset=data.draw(st.integers(0, 3)),
                limit=data.draw(st.integers(0, 4)),
            )
            found = snapshot.tasks(search, instance)
            assert told_tasks(found) == reference.tasks(content, search, instance, most)


def told_envs(page: EnvPage) -> reference.Answer:
    return reference.Answer(
        [str(card.key) for card in page.items], page.total, False, list(page.kinds), told_facets(page)
    )


def told_tasks(page: TaskHits) -> reference.Answer:
    return reference.Answer(
        [f"{hit.key} {hit.card.ref}" for hit in page.items], page.total, page.more, [], told_facets(page)
    )


def told_facets(page: EnvPage | TaskHits) -> list[tuple[str, reference.Values, int]]:
    return [
        (facet.key, [(str(item.value), item.n, item.selected) for item in facet.values], facet.more)
        for facet in page.facets
    ]


def test_an_empty_catalog_answers(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    assert write_snapshot(path, Content((), {}, datetime.now(UTC))) == Counts(0, 0, 0, 0) == check(path)
    snapshot = Snapshot(path)
    assert snapshot.environments(EnvQuery("x"), Instance()).total == 0
    assert snapshot.tasks(TaskSearch("x"), Instance()).total == 0
    assert snapshot.tasks(TaskSearch(), Instance()).total == 0
    assert snapshot.random(Instance()) is None


def listed(place: int) -> EnvCard:
    return listed_card(read_info("dataset", {"id": f"acme/set{place}", "tags": ["harbor"]}))


def row(ref: str, digest: str = "") -> TaskRow:
    return TaskRow(ref, stored(f"Title of {ref}"), stored(""), {}, digest=digest)


def test_relatives_are_the_same_tasks_then_those_that_say_nearly_the_same(tmp_path: Path) -> None:
    one, two, three = cards = [listed(place) for place in range(3)]
    tasks = {one.key: [row("a", "x"), row("b")], two.key: [row("a2", "x"), row("c")], three.key: [row("d", "x")]}
    alike = [
        Likeness(one.key, "a", two.key, "c", 0.5),
        Likeness(one.key, "a", one.key, "b", 0.9),
        Likeness(one.key, "a", two.key, "gone", 0.9),
    ]
    path = tmp_path / "catalog.db"
    write_snapshot(path, Content(cards, tasks, datetime.now(UTC), alike))
    snapshot = Snapshot(path)

    def told(instance: Instance) -> list[tuple[str, float, bool]]:
        return [(item.hit.card.ref, item.score, item.same) for item in snapshot.relatives(one.key, "a", instance)]

    assert told(Instance()) == [("a2", 1.0, True), ("d", 1.0, True), ("b", 0.9, False), ("c", 0.5, False)]
    assert told(Instance(hidden=frozenset({str(two.key)}))) == [("d", 1.0, True), ("b", 0.9, False)]
    assert told(Instance(hidden=frozenset({str(one.key)}))) == []
    assert snapshot.relatives(one.key, "b", Instance()) == ()
    assert snapshot.relatives(one.key, "nowhere", Instance()) == ()
    assert snapshot.relatives(EnvKey("dataset", "no", "where"), "a", Instance()) == ()


def test_ranks_count_those_of_a_kind_that_are_not_hidden(tmp_path: Path) -> None:
    cards = [listed(place) for place in range(3)]
    path = tmp_path / "catalog.db"
    write_snapshot(path, Content(cards, {}, datetime.now(UTC)))
    snapshot = Snapshot(path)
    assert [snapshot.rank(card.key, Instance()) for card in cards] == [(1, 3), (2, 3), (3, 3)]
    hidden = Instance(hidden=frozenset({str(cards[0].key)}))
    assert [snapshot.rank(card.key, hidden) for card in cards] == [None, (1, 2), (2, 2)]
